//! `check`: all errors of files in one pass, and warnings.

use crate::args::{Check, Configuration, Settings, Source};
use crate::configured::{self, File};
use crate::{Exit, Failure, complain, say, show};
use perhop_config::import::is_configuration as looks;
use perhop_config::text::Text;
use perhop_core::params::Problems;
use perhop_core::units::counted;
use perhop_runs::request;
use perhop_scenario::sections::{kind::OF_POLICY, model::SECTIONS};
use perhop_scenario::text::{file, toml};
use perhop_scenario::{Diagnostic, Diagnostics, Document, Options, Sweep};
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

/// A file's name in messages and, without its ending, in results.
pub(crate) fn name(file: &Path) -> String {
    if file == Path::new("-") { "stdin".into() } else { file.to_string_lossy().into_owned() }
}

/// The text of a file; `-` is standard input, read once.
pub(crate) fn text(path: &Path) -> Result<String, Diagnostics> {
    file::decoded(&name(path), read(path).as_deref())
}

/// The bytes of a file, which may be a configuration.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    read(path).map_err(|error| {
        let help = "give the path of a device's configuration";
        Diagnostics::of_file(&name(path), "E007", [format!("cannot read the file: {error}"), help.into()])
    })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    static INPUT: OnceLock<io::Result<Vec<u8>>> = OnceLock::new();
    if path != Path::new("-") {
        return fs::read(path);
    }
    let input = INPUT.get_or_init(|| {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    });
    match input {
        Ok(bytes) => Ok(bytes.clone()),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    }
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

/// What a scenario is read from, with these axes.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn source(source: &Source, vary: &[String]) -> Result<request::Source, Failure> {
    let options = vary.iter().fold(options(&source.file, &source.settings), |options, text| options.vary(text));
    Ok(request::Source { text: accepted(text(&source.file), "nothing was run")?, options })
}

/// Loads a scenario with its points.
pub(crate) fn load(source: &Source, options: &Options) -> Result<Sweep, Failure> {
    let read = text(&source.file).and_then(|text| Sweep::parse(&text, options));
    let (sweep, warnings) = accepted(read, "nothing was run")?;
    warn(&warnings);
    Ok(sweep)
}

/// What was read; errors end it, and `therefore` says what that means.
pub(crate) fn accepted<T>(read: Result<T, Diagnostics>, therefore: &str) -> Result<T, Failure> {
    read.map_err(|errors| Failure::Error(format!("{errors:#}\n{}, {therefore}", errors.summary())))
}

/// Prints warnings.
pub(crate) fn warn(warnings: &Diagnostics) {
    if !warnings.list.is_empty() {
        complain!("{warnings:#}");
    }
}

/// Everything found in a file, and notes, which are no fault of it.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) list: Vec<Diagnostic>,
    pub(crate) notes: Vec<String>,
}

fn diagnose(path: &Path, args: &Check) -> Found {
    let (name, options) = (name(path), options(path, &args.settings));
    let bytes = match read(path) {
        Ok(bytes) if is_configuration(&bytes, &args.configuration) => {
            return configured::found(&File { name: &name, bytes: &bytes }, &args.configuration, &options);
        }
        bytes => bytes,
    };
    let read = file::decoded(&name, bytes.as_deref());
    let found = read.and_then(|text| Document::check(&text, &options));
    let (found, notes) = found.unwrap_or_else(|errors| (errors, Vec::new()));
    let notes = notes.iter().map(|note| format!("{name}: note: {note}")).collect();
    Found { list: found.list, notes }
}

/// Whether a file is the configuration of a device: it is said to be one, or it looks like one and not like TOML.
fn is_configuration(bytes: &[u8], asked: &Configuration) -> bool {
    let toml = |text: &str| toml::parse(text, 0, &mut Problems::default()).is_some() || text.lines().any(is_section);
    asked.from.is_some() || !std::str::from_utf8(bytes).is_ok_and(toml) && looks(&Text::new(bytes))
}

/// Whether a line begins a section of a scenario or a policy, whatever is wrong with the rest of the file.
fn is_section(line: &str) -> bool {
    line.strip_prefix('[').is_some_and(|line| {
        let known =
            |section: &&'static str| line.strip_prefix(*section).is_some_and(|rest| rest.starts_with([']', '.']));
        SECTIONS.iter().chain(&OF_POLICY).any(known)
    })
}

pub(crate) fn check(args: &Check) -> Result<Exit, Failure> {
    let mut all = Diagnostics::default();
    for file in &args.files {
        let Found { list, notes } = diagnose(file, args);
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
