//! What verbs read: files and standard input, with the options of the command line.

use crate::Failure;
use crate::captures;
use crate::request::run as request;
use crate::request::{Settings, Source};
use crate::terminal::show::complain;
use perhop_config::import::is_configuration;
use perhop_config::text::Text;
use perhop_core::params::Problems;
use perhop_scenario::sections::{kind::OF_POLICY, model::SECTIONS};
use perhop_scenario::text::{file, toml};
use perhop_scenario::{Diagnostics, Options, Sweep};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// A file's name in messages and, without its ending, in results.
pub fn name(file: &Path) -> String {
    if file == Path::new("-") { "stdin".into() } else { file.to_string_lossy().into_owned() }
}

/// The text of a file; `-` is standard input, read once.
pub fn text(path: &Path) -> Result<String, Diagnostics> {
    let text = file::decoded(&name(path), read(path).as_deref(), captures::reader())?;
    if is_of_device(&text) {
        let message = "this is the configuration of a device, and no TOML".to_owned();
        let help = "`perhop import` makes a scenario of it; `check` and `predict` read it as it is";
        return Err(Diagnostics::of_file(&name(path), "E001", [message, help.into()]));
    }
    Ok(text)
}

/// Whether a text in place of a scenario is the configuration of a device. No line of such a text is printed as one of a scenario.
fn is_of_device(text: &str) -> bool {
    !is_toml(text) && is_configuration(&Text::new(text.as_bytes()))
}

/// Whether a text is TOML, or has a section of a scenario or a policy.
pub fn is_toml(text: &str) -> bool {
    toml::parse(text, 0, &mut Problems::default()).is_some() || text.lines().any(is_section)
}

/// Whether a line begins a section of a scenario or a policy, whatever is wrong with the rest of the file.
fn is_section(line: &str) -> bool {
    line.strip_prefix('[').is_some_and(|line| {
        let known =
            |section: &&'static str| line.strip_prefix(*section).is_some_and(|rest| rest.starts_with([']', '.']));
        SECTIONS.iter().chain(&OF_POLICY).any(known)
    })
}

/// The bytes of a file, which may be a configuration.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    let bytes = read(path);
    file::bounded(&name(path), bytes.as_deref(), "give the path of a device's configuration")?;
    Ok(bytes.unwrap_or_default())
}

/// The bytes of a file, as far as a text may have them; `-` is standard input, read once.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    static INPUT: OnceLock<io::Result<Vec<u8>>> = OnceLock::new();
    if path != Path::new("-") {
        return file::read(path);
    }
    match INPUT.get_or_init(|| file::head(io::stdin().lock())) {
        Ok(bytes) => Ok(bytes.clone()),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    }
}

/// A policy, with what options say in place of its `[policy]`.
pub fn options_of_policy<'a>(file: &Path, stated: impl IntoIterator<Item = (&'a str, &'a Option<String>)>) -> Options {
    let given = stated.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
    given.fold(captures::options(&file.to_string_lossy()), |options, (key, value)| options.of_policy(key, value))
}

/// The options given on the command line.
pub fn options(file: &Path, settings: &Settings) -> Options {
    let mut options = captures::options(&name(file));
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
pub fn source(source: &Source, vary: &[String]) -> Result<request::Source, Failure> {
    let options = vary.iter().fold(options(&source.file, &source.settings), |options, text| options.vary(text));
    Ok(request::Source { text: accepted(text(&source.file), "nothing was run")?, options })
}

/// A scenario with its points, and its warnings.
///
/// # Errors
/// What is wrong with it.
pub fn load(source: &Source, options: &Options) -> Result<(Sweep, Diagnostics), Failure> {
    accepted(text(&source.file).and_then(|text| Sweep::parse(&text, options)), "nothing was run")
}

/// What was read; errors end it, and `therefore` says what that means.
pub fn accepted<T>(read: Result<T, Diagnostics>, therefore: &'static str) -> Result<T, Failure> {
    read.map_err(|found| Failure::Refused { found, therefore })
}

/// Prints warnings.
pub fn warn(warnings: &Diagnostics) {
    if !warnings.list.is_empty() {
        complain!("{warnings:#}");
    }
}
