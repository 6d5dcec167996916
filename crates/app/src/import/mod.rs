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
use perhop_scenario::Diagnostic;
use perhop_scenario::text::printable;
use serde_json::{Value, json};

#[cfg(not(target_family = "wasm"))]
pub(crate) use print::import;

/// What is made of a configuration.
pub struct ImportAnswer {
    /// The configuration, with what became of each line.
    pub imported: Imported,
    /// The scenario or the policy.
    pub stub: Stub,
    /// Which of the two it is.
    pub form: Form,
    /// What is wrong with it.
    pub findings: Vec<Diagnostic>,
}

/// What is made of the configuration in a file; of `text` in place of the file, if it is given.
///
/// # Errors
/// What is wrong with the request or with the configuration.
pub fn answer(args: &Import, text: Option<Vec<u8>>) -> Result<ImportAnswer, Failure> {
    let name = reading::name(&args.file);
    let bytes = text.map_or_else(|| bytes(args), Ok)?;
    let file = File::new(&name, &bytes, args.configuration.door);
    let mut imported = file.import(&args.configuration)?;
    let stub = written(&file, &mut imported, args)?.map_err(|fault| file.refused(fault))?;
    Ok(ImportAnswer { form: args.form, findings: findings(&file, args), imported, stub })
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
    for error in configured::check(file, imported, (stub, None), &captures::options(file.name)) {
        if let (Severity::Error, Some(spot)) = (error.severity, &error.spot) {
            imported.read.account.not_modelled(spot.line, format!("no scenario has this: {}", error.sentence()));
        }
    }
}

fn findings(file: &File<'_>, args: &Import) -> Vec<Diagnostic> {
    configured::findings(file, &args.configuration, &captures::options(file.name)).list
}

impl ImportAnswer {
    /// All of it.
    pub fn to_json(&self) -> Value {
        let Self { imported, stub, form, findings } = self;
        let port = imported.port();
        let line = |(number, text, entry): (usize, String, &Entry)| json!({ "line": number, "text": printable::cut(&text), "verdict": entry.verdict.name(), "notes": entry.notes });
        let kind = if *form == Form::Policy { "policy" } else { "scenario" };
        json!({
            "dialect": imported.dialect.name,
            "guessed": imported.guessed,
            "port": { "interface": port.interface.is, "direction": port.way.name(), "link_bit_s": stub.link.bit_s() },
            kind: stub.text,
            "account": imported.lines().map(line).collect::<Vec<_>>(),
            "findings": findings.iter().map(Diagnostic::to_json).collect::<Vec<_>>(),
        })
    }
}
