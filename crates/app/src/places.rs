//! What a verb reads and what it writes, and that no output is one of the inputs.
//!
//! Decision: docs/decisions/076-outputs-never-replace-inputs.md

use crate::Failure;
use crate::request::Files;
use perhop_capture::{CaptureError, Existing, OutputFile, STANDARD_INPUT};
use perhop_core::door::Door;
use perhop_runs::disk::MANIFEST;
use perhop_runs::disk::walk::walk;
use perhop_runs::opened::searched;
use perhop_scenario::Diagnostic;
use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// # Errors
/// What a request would write is what it reads, or its rows would replace a file of another kind.
pub fn check(request: &dyn Files) -> Result<(), Failure> {
    let reads = request.reads();
    request.writes().iter().try_for_each(|output| refuse(output, &reads))?;
    keep_others(request.rows())
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
            Err(Failure::error("E026", message, help))
        }
    }
}

/// # Errors
/// `output` is one of the `inputs`, by whatever name.
pub fn refuse(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let Some(there) = fs::metadata(output).ok().filter(Metadata::is_file) else { return Ok(()) };
    let Some(input) = inputs.iter().find_map(|input| same_file(input, &there)) else { return Ok(()) };
    let message = format!("{} is {}, which is read: the input would be lost", output.display(), input.display());
    Err(Failure::error("E025", message, "give the output another name"))
}

/// # Errors
/// The file is in no directory.
pub fn in_a_directory(file: &Path) -> Result<(), Failure> {
    match file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        None => Ok(()),
        Some(_) => {
            let (file, help) = (file.display(), "name a directory that exists");
            Err(Failure::error("E020", format!("cannot write {file}: no such directory"), help))
        }
    }
}

/// The file that is `wanted`: `input`, or one of the runs at that address.
fn same_file(input: &Path, wanted: &Metadata) -> Option<PathBuf> {
    let place = if input.as_os_str() == STANDARD_INPUT { Path::new("/dev/stdin") } else { input };
    let is_it = |path: &Path| fs::metadata(path).is_ok_and(|it| (it.dev(), it.ino()) == (wanted.dev(), wanted.ino()));
    if fs::metadata(place).is_ok_and(|it| !it.is_dir()) {
        return is_it(place).then(|| input.to_path_buf());
    }
    let of_run = |path: &Path| path.ends_with(MANIFEST) || path.extension().is_some_and(|it| it == "parquet");
    let files = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    walk(searched(place), |_| true).into_iter().flat_map(files).find(|path| of_run(path) && is_it(path))
}

/// As `--force` says.
pub fn existing(force: bool) -> Existing {
    if force { Existing::Replaced } else { Existing::Kept }
}

/// Writes a file, whole or not at all.
///
/// # Errors
/// It cannot be written; there is one that stays.
pub fn write(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), Failure> {
    let written = OutputFile::create(path, existing).and_then(|mut file| {
        let place = || path.display().to_string();
        file.write_all(bytes).map_err(|cause| CaptureError::Write { place: place(), cause })?;
        file.finish()
    });
    written.map_err(|error| unwritten(&error, Door::default()))
}

/// Why a file was not written, and what helps.
pub fn unwritten(error: &CaptureError, door: Door) -> Failure {
    let (code, help) = match error {
        CaptureError::Exists { .. } => ("E026", "give another name, or ⟨force!⟩ to replace it"),
        _ => ("E020", "choose another place, or free some space"),
    };
    Diagnostic::error(code, error.to_string(), help).at(door).into()
}
