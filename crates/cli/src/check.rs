//! `check`: all errors of files in one pass, and warnings.

use crate::args::{Check, Format, Settings, Source};
use crate::{Exit, Failure, complain, say, show};
use perhop_core::units::counted;
use perhop_scenario::text::file;
use perhop_scenario::{Diagnostics, Options, Policy, Sweep};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// A file's name in messages and, without its ending, in results.
fn name(file: &Path) -> String {
    if file == Path::new("-") { "stdin".into() } else { file.to_string_lossy().into_owned() }
}

/// A scenario that was read, checked and carried out elsewhere, so that only the answer is left.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its text.
    pub text: String,
    /// Directory in which the results are.
    pub out: PathBuf,
    /// Points and replications that were run now; the others were there before.
    pub made: BTreeSet<(usize, u32)>,
    /// What it took.
    pub took: Duration,
}

static GIVEN: RwLock<Option<Given>> = RwLock::new(None);

/// Takes what is given into use for the next command line, or forgets it.
pub(crate) fn give(it: Option<Given>) {
    *GIVEN.write().unwrap_or_else(PoisonError::into_inner) = it;
}

/// What is given.
pub(crate) fn given() -> Option<Given> {
    GIVEN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The text of a file; `-` is standard input, read once.
pub(crate) fn text(path: &Path) -> Result<String, Diagnostics> {
    if let Some(given) = given() {
        return Ok(given.text);
    }
    static INPUT: OnceLock<io::Result<Vec<u8>>> = OnceLock::new();
    if path != Path::new("-") {
        return file::text(path);
    }
    let read = || {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    };
    file::decoded(&name(path), INPUT.get_or_init(read).as_deref())
}

/// The options given on the command line.
pub(crate) fn options(file: &Path, settings: &Settings) -> Options {
    let mut options = Options::new(&name(file));
    let keys = [
        ("seed", &settings.seed),
        ("duration", &settings.duration),
        ("warmup", &settings.warmup),
        ("replications", &settings.replications),
    ];
    for (key, value) in keys {
        if let Some(value) = value {
            options = options.setting(key, value);
        }
    }
    settings.set.iter().fold(options, |options, text| options.set(text))
}

/// Loads a scenario with its points; warnings are printed, errors end it.
pub(crate) fn load(source: &Source, options: &Options) -> Result<Sweep, Failure> {
    match text(&source.file).and_then(|text| Sweep::parse(&text, options)) {
        Ok((sweep, warnings)) => {
            if !warnings.list.is_empty() && given().is_none() {
                complain!("{warnings:#}");
            }
            Ok(sweep)
        }
        Err(diagnostics) => Err(Failure::Error(format!("{diagnostics:#}\n{}, nothing was run", diagnostics.summary()))),
    }
}

/// Whether a text is a policy: it has a `[policy]` table, or conditioners without a port.
pub(crate) fn is_policy(text: &str) -> bool {
    let has = |section: &str| text.lines().any(|line| line.trim_start().starts_with(section));
    has("[policy]") || (has("[conditioner") && !has("[traffic") && !has("[scenario]") && !has("[dumbbell"))
}

/// Everything found in a file, and notes, which are no fault of it.
fn diagnose(file: &Path, settings: &Settings) -> (Diagnostics, Vec<&'static str>) {
    let options = options(file, settings);
    let parse = |text: String| match is_policy(&text) {
        true => Policy::parse(&text, &options).map(|ok| (ok.1, Vec::new())),
        false => Sweep::check(&text, &options),
    };
    text(file).and_then(parse).unwrap_or_else(|errors| (errors, Vec::new()))
}

pub(crate) fn check(args: &Check) -> Result<Exit, Failure> {
    let mut all = Diagnostics::default();
    for file in &args.files {
        let (found, notes) = diagnose(file, &args.settings);
        match args.format {
            Format::Json => {}
            Format::Text if found.list.is_empty() => say!("{}: no errors, no warnings", name(file)),
            Format::Text => show::coloured(format_args!("{found:#}\n{}", summary(&found, file, args.files.len()))),
        }
        if matches!(args.format, Format::Text) {
            notes.iter().for_each(|note| complain!("{}: note: {note}", name(file)));
        }
        all.list.extend(found.list);
    }
    match args.format {
        Format::Json => say!("{}", all.to_json()),
        Format::Text if args.files.len() > 1 && !all.list.is_empty() => {
            say!("{}: {}", counted(args.files.len(), ["file", "files"]), all.summary());
        }
        Format::Text => {}
    }
    Ok(match (all.errors(), all.warnings()) {
        (0, 0) => Exit::Fine,
        (0, _) => Exit::Warnings,
        _ => Exit::Error,
    })
}

/// What was found in one of several files.
fn summary(found: &Diagnostics, file: &Path, files: usize) -> String {
    if files == 1 { found.summary() } else { format!("{}: {}\n", name(file), found.summary()) }
}
