//! `import`: a device's configuration as a scenario or a policy, with an account of its lines.

use crate::args::{Form, Import};
use crate::begin::existing;
use crate::configured::{self, File};
use crate::{Exit, Failure, complain, places, reading, say};
use perhop_config::account::{Entry, Verdict};
use perhop_config::import::Imported;
use perhop_config::rules;
use perhop_config::stub::Stub;
use perhop_core::params::Severity;
use perhop_core::units::counted;
use perhop_scenario::text::shown;
use perhop_scenario::{Document, Options};
use serde_json::{Value, json};

pub(crate) fn import(args: &Import) -> Result<Exit, Failure> {
    let name = reading::name(&args.file);
    let bytes = reading::bytes(&args.file).map_err(|found| Failure::Error(format!("{found:#}")))?;
    let file = File { name: &name, bytes: &bytes };
    let mut imported = file.read(&args.configuration)?;
    let load = args.load.as_deref().map(configured::load).transpose()?;
    let given = args.configuration.given();
    let written = match args.form {
        Form::Scenario => imported.stub(&given, load),
        Form::Policy => imported.policy(),
    };
    if let Ok(stub) = &written {
        refused(&file, &mut imported, stub);
    }
    if !args.json {
        account(&imported);
    }
    let stub = written.map_err(|fault| file.refused(fault))?;
    if args.json {
        say!("{}", answer(&file, &imported, &stub, args));
    }
    match &args.output {
        Some(output) => places::write(output, stub.text.as_bytes(), existing(args.force))?,
        None if args.json => {}
        None => say!("{}", stub.text.trim_end()),
    }
    let lost = imported.read.account.count(&Verdict::NotModelled) > 0;
    Ok(if lost && !args.allow { Exit::Warnings } else { Exit::Fine })
}

/// Lines whose values a scenario cannot have are not modelled, whatever the reader made of them.
fn refused(file: &File<'_>, imported: &mut Imported, stub: &Stub) {
    let found = Document::check(&stub.text, &Options::new(file.name)).err().unwrap_or_default();
    for error in configured::in_its_words(file, imported, stub, found) {
        if let (Severity::Error, Some(spot)) = (error.severity, error.spot) {
            imported.read.account.not_modelled(spot.line, format!("no scenario has this: {}", error.message));
        }
    }
}

/// What became of each line, for people.
fn account(imported: &Imported) {
    let account = &imported.read.account;
    let lines: Vec<_> = imported.text.lines().map(|line| line.text.trim()).collect();
    for (number, Entry { verdict, notes }) in &account.lines {
        let text = lines.get(number.wrapping_sub(1)).copied().unwrap_or_default();
        complain!("{number:>5}  {:<12}  {}", verdict.name(), shown::line(text));
        notes.iter().for_each(|note| complain!("{:21}{}", "", shown::line(note)));
    }
    let taken = account.count(&Verdict::Taken);
    let others = configured::not_taken(imported);
    let others = if others.is_empty() { others } else { format!(", {others}") };
    complain!("{}{others}", counted(taken, ["line is taken", "lines are taken"]));
}

/// The same as JSON, with what was written.
fn answer(file: &File<'_>, imported: &Imported, stub: &Stub, args: &Import) -> Value {
    let (read, text, port) = (&imported.read, &imported.text, imported.port());
    let lines: Vec<_> = text.lines().map(|line| line.text.trim()).collect();
    let line = |(number, entry): (&usize, &Entry)| json!({ "line": number, "text": lines.get(number.wrapping_sub(1)), "verdict": entry.verdict.name(), "notes": entry.notes });
    let findings = read.findings.iter().cloned().chain(rules::findings(read, text, &args.configuration.given()));
    let kind = if args.form == Form::Policy { "policy" } else { "scenario" };
    json!({
        "dialect": imported.dialect.name,
        "guessed": imported.guessed,
        "port": { "interface": port.interface.is, "direction": port.way.name(), "link_bit_s": stub.link.bit_s() },
        kind: stub.text,
        "account": read.account.lines.iter().map(line).collect::<Vec<_>>(),
        "findings": findings.map(|it| file.finding(text, it).to_json()).collect::<Vec<_>>(),
    })
}
