//! `check`: all errors and warnings of a file in one pass.

use crate::args::{Check, Format, Source};
use crate::{Exit, Failure, complain, say};
use perhop_scenario::{Diagnostics, Options, Policy, Sweep};

/// The options given on the command line.
pub(crate) fn options(source: &Source) -> Options {
    let mut options = Options::new(&source.file.to_string_lossy());
    let settings = [
        ("seed", &source.seed),
        ("duration", &source.duration),
        ("warmup", &source.warmup),
        ("replications", &source.replications),
    ];
    for (key, value) in settings {
        if let Some(value) = value {
            options = options.setting(key, value);
        }
    }
    source.set.iter().fold(options, |options, text| options.set(text))
}

/// Loads a scenario with its points; warnings are printed, errors end it.
pub(crate) fn load(source: &Source, options: &Options) -> Result<Sweep, Failure> {
    match Sweep::load(&source.file, options) {
        Ok((sweep, warnings)) => {
            if !warnings.list.is_empty() {
                complain!("{warnings}");
            }
            Ok(sweep)
        }
        Err(diagnostics) => Err(Failure::Error(format!("{diagnostics}\n{}, nothing was run", diagnostics.summary()))),
    }
}

/// Whether a file is a policy: it has a `[policy]` table, or conditioners without a port.
pub(crate) fn is_policy(file: &std::path::Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let has = |section: &str| text.lines().any(|line| line.trim_start().starts_with(section));
    has("[policy]") || (has("[conditioner") && !has("[traffic") && !has("[scenario]") && !has("[dumbbell"))
}

/// Everything found in a file.
pub(crate) fn diagnose(source: &Source) -> Diagnostics {
    let options = options(source);
    let found = if is_policy(&source.file) {
        Policy::load(&source.file, &options).map(|ok| ok.1)
    } else {
        Sweep::load(&source.file, &options).map(|ok| ok.1)
    };
    found.unwrap_or_else(|errors| errors)
}

pub(crate) fn check(args: &Check) -> Result<Exit, Failure> {
    let found = diagnose(&args.source);
    match args.format {
        Format::Json => say!("{}", found.to_json()),
        Format::Text if found.list.is_empty() => say!("{}: no errors, no warnings", args.source.file.display()),
        Format::Text => say!("{found}\n{}", found.summary()),
    }
    Ok(match (found.errors(), found.warnings()) {
        (0, 0) => Exit::Fine,
        (0, _) => Exit::Warnings,
        _ => Exit::Error,
    })
}
