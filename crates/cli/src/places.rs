//! What a verb reads and what it writes, and that no output is one of the inputs.
//!
//! Decision: docs/decisions/076-outputs-never-replace-inputs.md

use crate::Failure;
use crate::args::Verb;
use perhop_capture::{CaptureError, Existing, OutputFile, STANDARD_INPUT};
use perhop_runs::disk::MANIFEST;
use perhop_runs::disk::walk::walk;
use perhop_runs::opened::searched;
use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files and directories of a command line.
struct Places<'a> {
    /// Of a directory, the files of its runs.
    reads: Vec<&'a Path>,
    writes: Vec<PathBuf>,
}

impl<'a> Places<'a> {
    /// Directories in which a verb makes new files are not among what it writes.
    fn of(verb: &'a Verb) -> Self {
        let (reads, writes): (Vec<&PathBuf>, Vec<PathBuf>) = match verb {
            Verb::Run(a) => (vec![&a.source.file], a.shown.csv.iter().cloned().collect()),
            Verb::Sweep(a) => (vec![&a.source.file], a.shown.csv.iter().cloned().collect()),
            Verb::Lab(a) => (vec![&a.source.file], a.keep.iter().map(|dir| dir.join("scenario.json")).collect()),
            Verb::Tune(a) => (a.file.iter().collect(), a.output.iter().cloned().collect()),
            Verb::Meter(a) => (a.inputs.iter().chain(&a.policy).collect(), a.csv.iter().cloned().collect()),
            Verb::Mark(a) => (vec![&a.input, &a.policy], vec![a.output.clone()]),
            Verb::Plot(a) => (a.runs.iter().collect(), a.output.iter().cloned().collect()),
            Verb::Report(a) => (a.runs.iter().collect(), vec![a.output.clone()]),
            Verb::Import(a) => (a.load.iter().chain([&a.file]).collect(), a.output.iter().cloned().collect()),
            Verb::Predict(a) => (a.load.iter().chain([&a.file]).collect(), a.output.iter().cloned().collect()),
            Verb::Init(a) => (Vec::new(), vec![a.output.clone()]),
            Verb::Check(_) | Verb::Explain(_) | Verb::Compare(_) | Verb::Runs(_) => Default::default(),
            Verb::Forward(a) => (vec![&a.policy], Vec::new()),
            Verb::Reproduce(_) | Verb::Map(_) | Verb::Man(_) => Default::default(),
            Verb::List(_) | Verb::Completions(_) => Default::default(),
        };
        Self { reads: reads.into_iter().map(PathBuf::as_path).collect(), writes }
    }
}

/// # Errors
/// What the verb would write is what it reads, or its rows would replace a file of another kind.
pub(crate) fn check(verb: &Verb) -> Result<(), Failure> {
    let Places { reads, writes } = Places::of(verb);
    writes.iter().try_for_each(|output| refuse(output, &reads))?;
    match verb {
        Verb::Run(a) => keep_others(a.shown.csv.as_deref()),
        Verb::Sweep(a) => keep_others(a.shown.csv.as_deref()),
        Verb::Meter(a) => keep_others(a.csv.as_deref()),
        _ => Ok(()),
    }
}

/// `--csv` takes the next word as its file, which may be a capture that was meant as an input.
///
/// # Errors
/// A file is there whose name is not that of rows.
fn keep_others(csv: Option<&Path>) -> Result<(), Failure> {
    let is_rows = |file: &Path| file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    let is_device = |file: &Path| file.starts_with("/dev") || file.starts_with("/proc");
    match csv.filter(|file| file.is_file() && !is_rows(file) && !is_device(file)) {
        None => Ok(()),
        Some(file) => {
            let message = format!("{} exists, and its name does not end in .csv", file.display());
            let help = "give --csv a name that ends in .csv, or put --csv last: it takes the next word as its file";
            Err(Failure::Error(format!("error[E026] {message}\n   help: {help}")))
        }
    }
}

/// # Errors
/// `output` is one of the `inputs`, by whatever name.
pub(crate) fn refuse(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let Some(there) = fs::metadata(output).ok().filter(Metadata::is_file) else { return Ok(()) };
    let Some(input) = inputs.iter().find_map(|input| found(input, &there)) else { return Ok(()) };
    let message = format!("{} is {}, which is read: the input would be lost", output.display(), input.display());
    Err(Failure::Error(format!("error[E025] {message}\n   help: give the output another name")))
}

/// # Errors
/// The file is in no directory.
pub(crate) fn in_a_directory(file: &Path) -> Result<(), Failure> {
    match file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        None => Ok(()),
        Some(_) => {
            let (file, help) = (file.display(), "name a directory that exists");
            Err(Failure::Error(format!("error[E020] cannot write {file}: no such directory\n   help: {help}")))
        }
    }
}

/// The file that is `wanted`: `input`, or one of the runs at that address.
fn found(input: &Path, wanted: &Metadata) -> Option<PathBuf> {
    let place = if input.as_os_str() == STANDARD_INPUT { Path::new("/dev/stdin") } else { input };
    let is_it = |path: &Path| fs::metadata(path).is_ok_and(|it| (it.dev(), it.ino()) == (wanted.dev(), wanted.ino()));
    if fs::metadata(place).is_ok_and(|it| !it.is_dir()) {
        return is_it(place).then(|| input.to_path_buf());
    }
    let of_run = |path: &Path| path.ends_with(MANIFEST) || path.extension().is_some_and(|it| it == "parquet");
    let files = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    walk(searched(place), |_| true).into_iter().flat_map(files).find(|path| of_run(path) && is_it(path))
}

/// As [`refuse`], in words.
///
/// # Errors
/// It is.
pub fn not_read(output: &Path, inputs: &[&Path]) -> Result<(), String> {
    refuse(output, inputs).map_err(Failure::plain)
}

/// Writes a file, whole or not at all.
///
/// # Errors
/// It cannot be written; there is one that stays.
pub(crate) fn write(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), Failure> {
    let written = OutputFile::create(path, existing).and_then(|mut file| {
        let place = || path.display().to_string();
        file.write_all(bytes).map_err(|cause| CaptureError::Write { place: place(), cause })?;
        file.finish()
    });
    written.map_err(|error| unwritten(&error))
}

/// Why a file was not written, and what helps.
pub(crate) fn unwritten(error: &CaptureError) -> Failure {
    let (code, help) = match error {
        CaptureError::Exists { .. } => ("E026", "give another name, or --force to replace it"),
        _ => ("E020", "choose another place, or free some space"),
    };
    Failure::Error(format!("error[{code}] {error}\n   help: {help}"))
}
