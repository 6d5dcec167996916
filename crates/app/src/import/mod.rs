//! `import`: a device's configuration as a scenario or a policy, with an account of its lines.

/// The answer on a terminal, or in a file.
#[cfg(not(target_family = "wasm"))]
mod print;

use crate::captures;
use crate::configured::{self, File};
use crate::request::{Form, Import};
use crate::{Failure, reading};
use perhop_config::account::Entry;
use perhop_config::finding::Fault;
use perhop_config::import::Imported;
use perhop_config::stub::Stub;
use perhop_core::params::Severity;
use perhop_scenario::text::printable;
use perhop_scenario::{Diagnostic, Document};
use serde_json::{Value, json};

#[cfg(not(target_family = "wasm"))]
pub(crate) use print::import;

/// What an import answers: what was made, what became of each line, what is wrong with it. Of `text` in place of the file, if it
/// is given.
///
/// # Errors
/// What is wrong with the request or with the configuration.
pub fn answer(args: &Import, text: Option<Vec<u8>>) -> Result<Value, Failure> {
    let name = reading::name(&args.file);
    let bytes = text.map_or_else(|| bytes(args), Ok)?;
    let file = File::new(&name, &bytes, args.configuration.door);
    let mut imported = file.import(&args.configuration)?;
    let stub = written(&file, &mut imported, args)?.map_err(|fault| file.refused(fault))?;
    Ok(to_json(&file, &imported, &stub, args))
}

fn bytes(args: &Import) -> Result<Vec<u8>, Failure> {
    Ok(reading::bytes(&args.file)?)
}

/// What is made of a configuration, or why nothing is.
fn written(file: &File<'_>, imported: &mut Imported, args: &Import) -> Result<Result<Stub, Fault>, Failure> {
    let load = args.load.as_deref().map(configured::load).transpose()?.map(|it| it.load);
    let written = match args.form {
        Form::Scenario => imported.stub(&args.configuration.import_options(), load),
        Form::Policy => imported.policy(),
    };
    if let Ok(stub) = &written {
        refused(file, imported, stub);
    }
    Ok(written)
}

/// Lines whose values a scenario cannot have are not modelled, whatever the reader made of them.
fn refused(file: &File<'_>, imported: &mut Imported, stub: &Stub) {
    let found = Document::check(&stub.text, &captures::options(file.name)).err().unwrap_or_default();
    for error in configured::in_its_words(file, imported, (stub, None), found) {
        if let (Severity::Error, Some(spot)) = (error.severity, &error.spot) {
            imported.read.account.not_modelled(spot.line, format!("no scenario has this: {}", error.sentence()));
        }
    }
}

/// The same as JSON, with what was written.
fn to_json(file: &File<'_>, imported: &Imported, stub: &Stub, args: &Import) -> Value {
    let port = imported.port();
    let line = |(number, text, entry): (usize, String, &Entry)| json!({ "line": number, "text": printable::cut(&text), "verdict": entry.verdict.name(), "notes": entry.notes });
    let findings = configured::findings(file, &args.configuration, &captures::options(file.name)).list;
    let kind = if args.form == Form::Policy { "policy" } else { "scenario" };
    json!({
        "dialect": imported.dialect.name,
        "guessed": imported.guessed,
        "port": { "interface": port.interface.is, "direction": port.way.name(), "link_bit_s": stub.link.bit_s() },
        kind: stub.text,
        "account": imported.lines().map(line).collect::<Vec<_>>(),
        "findings": findings.iter().map(Diagnostic::to_json).collect::<Vec<_>>(),
    })
}
