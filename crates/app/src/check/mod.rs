//! `check`: all errors of files in one pass, and warnings.

/// The answer on a terminal.
mod print;

use crate::configured::{self, File, Findings};
use crate::reading::{is_toml, name, options, read};
use crate::request::{Check, Configuration};
use perhop_config::import::is_configuration as looks;
use perhop_config::text::Text;
use perhop_scenario::text::file;
use perhop_scenario::{Diagnostics, Document};
use std::ffi::OsStr;
use std::path::Path;

pub use print::check;

/// What is found in a file.
#[derive(Clone, Debug)]
pub struct FileFindings {
    /// The file's name.
    pub file: String,
    /// Errors and warnings.
    pub found: Diagnostics,
    /// What is no fault of it.
    pub notes: Vec<String>,
    /// Whether it is the configuration of a device.
    pub is_configuration: bool,
}

/// What is found in each of the files, which are read one by one.
pub fn answer(args: &Check) -> impl Iterator<Item = FileFindings> {
    args.files.iter().map(|path| of_file(path, args))
}

fn of_file(path: &Path, args: &Check) -> FileFindings {
    let (file, options, bytes) = (name(path), options(path, &args.settings), read(path));
    if let Ok(bytes) = &bytes
        && bytes.len() <= file::MOST
        && is_configuration(path, bytes, &args.configuration)
    {
        let configuration = File::new(&file, bytes, args.configuration.door);
        let Findings { list, notes } = configured::findings(&configuration, &args.configuration, &options);
        return FileFindings { file, found: Diagnostics { list }, notes, is_configuration: true };
    }
    let read = file::decoded(&file, bytes.as_deref(), options.captures);
    let found = read.and_then(|text| Document::check(&text, &options));
    let (found, notes) = found.unwrap_or_else(|errors| (errors, Vec::new()));
    let notes = notes.iter().map(|note| format!("{file}: note: {note}")).collect();
    FileFindings { file, found, notes, is_configuration: false }
}

/// Whether a file is the configuration of a device: it is said to be one, or it looks like one and not like TOML. One that looks
/// like neither is one if its name does not say TOML but text.
fn is_configuration(path: &Path, bytes: &[u8], asked: &Configuration) -> bool {
    let text = ["txt", "cfg", "conf", "log", "ios", "sh", "tc"].map(OsStr::new);
    let named = || path.extension().is_some_and(|it| text.contains(&it));
    asked.from.is_some() || !std::str::from_utf8(bytes).is_ok_and(is_toml) && (looks(&Text::new(bytes)) || named())
}
