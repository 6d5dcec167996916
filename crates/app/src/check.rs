//! `check`: all errors of files in one pass, and warnings.

use crate::configured::{self, File, Findings};
use crate::reading::{is_toml, name, options, read};
use crate::request::{Check, Configuration};
use crate::terminal::show;
use crate::terminal::show::{complain, say};
use crate::{Exit, Failure};
use perhop_config::import::is_configuration as looks;
use perhop_config::text::Text;
use perhop_core::units::counted;
use perhop_scenario::text::file;
use perhop_scenario::{Diagnostics, Document};
use std::ffi::OsStr;
use std::path::Path;

fn diagnose(path: &Path, args: &Check) -> Findings {
    let (name, options) = (name(path), options(path, &args.settings));
    let bytes = match read(path) {
        Ok(bytes) if bytes.len() <= file::MOST && is_configuration(path, &bytes, &args.configuration) => {
            let found =
                configured::findings(&File::new(&name, &bytes, args.configuration.door), &args.configuration, &options);
            return if args.json { found } else { found.by_cause() };
        }
        bytes => bytes,
    };
    let read = file::decoded(&name, bytes.as_deref(), options.captures);
    let found = read.and_then(|text| Document::check(&text, &options));
    let (found, notes) = found.unwrap_or_else(|errors| (errors, Vec::new()));
    let notes = notes.iter().map(|note| format!("{name}: note: {note}")).collect();
    Findings { list: found.list, notes }
}

/// Whether a file is the configuration of a device: it is said to be one, or it looks like one and not like TOML. One that looks
/// like neither is one if its name does not say TOML but text.
fn is_configuration(path: &Path, bytes: &[u8], asked: &Configuration) -> bool {
    let text = ["txt", "cfg", "conf", "log", "ios", "sh", "tc"].map(OsStr::new);
    let named = || path.extension().is_some_and(|it| text.contains(&it));
    asked.from.is_some() || !std::str::from_utf8(bytes).is_ok_and(is_toml) && (looks(&Text::new(bytes)) || named())
}

/// Carries it out, and prints the answer.
///
/// # Errors
/// What is wrong with the request, or with what it reads.
pub fn check(args: &Check) -> Result<Exit, Failure> {
    let mut all = Diagnostics::default();
    for file in &args.files {
        let Findings { list, notes } = diagnose(file, args);
        let found = Diagnostics { list };
        if !args.json {
            print(file, args.files.len(), &found, &notes);
        }
        all.list.extend(found.list);
    }
    if args.json {
        say!("{}", all.to_json());
    } else if args.files.len() > 1 && !all.list.is_empty() {
        say!("{}: {}", counted(args.files.len(), ["file", "files"]), explained(&all));
    }
    Ok(match (all.errors(), all.warnings()) {
        (0, 0) => Exit::Fine,
        (0, _) => Exit::Warnings,
        _ => Exit::Error,
    })
}

/// What was found in a file, one of so many.
fn print(file: &Path, files: usize, found: &Diagnostics, notes: &[String]) {
    match found.list.is_empty() {
        true => say!("{}: no errors, no warnings", name(file)),
        false => show::coloured(format_args!("{found:#}\n{}", summary(found, file, files))),
    }
    notes.iter().for_each(|note| complain!("{note}"));
}

/// What was found in one of several files.
fn summary(found: &Diagnostics, file: &Path, files: usize) -> String {
    if files == 1 { explained(found) } else { format!("{}: {}\n", name(file), found.summary()) }
}

/// `2 errors; perhop list E212 explains the first`
fn explained(found: &Diagnostics) -> String {
    let Some(first) = found.list.first() else { return String::new() };
    let which = if found.list.len() == 1 { "it" } else { "the first" };
    format!("{}; `perhop list {}` explains {which}", found.summary(), first.code)
}
