//! The answer of `import` on a terminal, or in a file.

use super::{ImportAnswer, bytes, findings, written};
use crate::configured::{self, File};
use crate::request::Import;
use crate::terminal::show::{complain, say};
use crate::{Exit, Failure, places, reading};
use perhop_config::account::{Entry, Verdict};
use perhop_config::import::Imported;
use perhop_core::units::counted;
use perhop_scenario::text::printable;

pub(crate) fn import(args: &Import) -> Result<Exit, Failure> {
    let name = reading::name(&args.file);
    let bytes = bytes(args)?;
    let file = File::new(&name, &bytes, args.configuration.door);
    let mut imported = file.read(&args.configuration)?;
    let written = written(&file, &mut imported, args)?;
    if !args.json {
        account(&imported);
    }
    let stub = written.map_err(|fault| file.refused(fault))?;
    let findings = if args.json { findings(&file, args) } else { Vec::new() };
    let answer = ImportAnswer { form: args.form, findings, imported, stub };
    if args.json {
        say!("{}", answer.to_json());
    }
    match &args.output {
        Some(output) => places::write(output, answer.stub.text.as_bytes(), places::existing(args.force))?,
        None if args.json => {}
        None => say!("{}", answer.stub.text.trim_end()),
    }
    let lost = answer.imported.read.account.count(&Verdict::NotModelled) > 0;
    Ok(if lost && !args.allow { Exit::Warnings } else { Exit::Fine })
}

/// What became of each line, for people.
fn account(imported: &Imported) {
    for (number, text, Entry { verdict, notes, .. }) in imported.lines() {
        complain!("{number:>5}  {:<12}  {}", verdict.name(), printable::cut(&text));
        notes.iter().for_each(|note| complain!("{:21}{note}", ""));
    }
    let taken = imported.read.account.count(&Verdict::Taken);
    let others = configured::not_taken(imported);
    let others = if others.is_empty() { others } else { format!(", {others}") };
    complain!("{}{others}", counted(taken, ["line is taken", "lines are taken"]));
}
