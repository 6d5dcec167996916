//! The answer of `check` on a terminal.

use super::{FileFindings, answer};
use crate::Exit;
use crate::request::Check;
use crate::terminal::show;
use crate::terminal::show::{complain, say};
use perhop_core::units::counted;
use perhop_scenario::Diagnostics;

/// Prints what is found in each file; as JSON, all of it at the end.
pub fn check(args: &Check) -> Exit {
    let mut all = Diagnostics::default();
    for findings in answer(args) {
        let findings = if args.json { findings } else { print(findings, args.files.len()) };
        all.list.extend(findings.found.list);
    }
    if args.json {
        say!("{}", all.to_json());
    } else if args.files.len() > 1 && !all.list.is_empty() {
        say!("{}: {}", counted(args.files.len(), ["file", "files"]), explained(&all));
    }
    match (all.errors(), all.warnings()) {
        (0, 0) => Exit::Fine,
        (0, _) => Exit::Warnings,
        _ => Exit::Error,
    }
}

/// Prints what is found in a file, one of so many; what was printed.
fn print(mut findings: FileFindings, files: usize) -> FileFindings {
    if findings.is_configuration {
        findings.found = findings.found.by_cause();
    }
    let FileFindings { file, found, notes, .. } = &findings;
    match found.list.is_empty() {
        true => say!("{file}: no errors, no warnings"),
        false if files == 1 => show::coloured(format_args!("{found:#}\n{}", explained(found))),
        false => show::coloured(format_args!("{found:#}\n{file}: {}\n", found.summary())),
    }
    notes.iter().for_each(|note| complain!("{note}"));
    findings
}

/// `2 errors; perhop list E212 explains the first`
fn explained(found: &Diagnostics) -> String {
    let Some(first) = found.list.first() else { return String::new() };
    let which = if found.list.len() == 1 { "it" } else { "the first" };
    format!("{}; `perhop list {}` explains {which}", found.summary(), first.code)
}
