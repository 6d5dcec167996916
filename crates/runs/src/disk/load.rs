//! From disk to tables: what is read is what was written, or an error that names the directory.
//!
//! Decision: docs/decisions/089-the-core-reads-results.md

use super::regular::{self, MOST_MANIFEST, MOST_TABLE};
use super::{MANIFEST, Manifest, hash_files, join};
use crate::{ef, parquet};
use perhop_results::hash::hash;
use perhop_results::tables;
use perhop_results::tables::columns::{Declared, Table};
use perhop_scenario::Diagnostic;
use rayon::prelude::*;
use std::fmt;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Replications read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Their manifest.
    pub manifest: Manifest,
    /// The tables of each, as they were before they were written.
    pub tables: Vec<Vec<Table>>,
}

/// Results that are not those that were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The directory of replications.
    pub dir: PathBuf,
    /// What is wrong, with the file's name.
    pub what: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let help = "run it again: `perhop run` and `perhop sweep` make it again; or remove that directory";
        let message = format!("damaged results in {}: {}", self.dir.display(), self.what);
        Diagnostic::error("E023", message, help).fmt(f)
    }
}

impl std::error::Error for Damaged {}

/// Reads a directory of one or more replications, and compares its files and their values with the hashes in its manifest.
///
/// # Errors
/// When its manifest is incomplete, or its files are not those that were written: missing, truncated, altered.
pub fn load(dir: &Path) -> Result<Stored, Damaged> {
    read_all(dir).map_err(|what| Damaged { dir: dir.to_owned(), what })
}

fn read_all(dir: &Path) -> Result<Stored, String> {
    let (manifest, files) = (manifest(dir)?, files(dir)?);
    if hash_files(&files) != manifest.files_hash {
        return Err(difference(&files, &manifest));
    }
    let numbers: Vec<_> = manifest.replications.iter().map(|entry| entry.replication).collect();
    let mut tables = join::split(read(files)?, &numbers)?;
    for (entry, tables) in manifest.replications.iter().zip(&mut tables) {
        let found = hash(tables);
        if found != entry.result_hash {
            let (number, stated) = (entry.replication, &entry.result_hash);
            return Err(format!("the hash of replication {number} is {found}, but its manifest says {stated}"));
        }
        tables.extend((!entry.ef.is_empty()).then(|| ef::table(&entry.ef).table));
    }
    Ok(Stored { manifest, tables })
}

/// [`load`] for several directories, on all threads.
///
/// # Errors
/// As [`load`], the first in their order.
pub fn load_all(dirs: &[PathBuf]) -> Result<Vec<Stored>, Damaged> {
    let read: Vec<_> = dirs.par_iter().map(|dir| load(dir)).collect();
    read.into_iter().collect()
}

/// A directory's manifest, with every field.
///
/// # Errors
/// What is wrong with it.
pub fn manifest(dir: &Path) -> Result<Manifest, String> {
    let unread = |error: &dyn fmt::Display| format!("{MANIFEST} cannot be read: {error}");
    let bytes = regular::read(&dir.join(MANIFEST), MOST_MANIFEST).map_err(|error| unread(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| unread(&error.utf8_error()))?;
    Manifest::from_json(&text).map_err(|e| format!("{MANIFEST} {e}"))
}

/// The bytes of its tables that are there, in the order of [`tables::NAMES`].
fn files(dir: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
    let mut files = Vec::new();
    for name in tables::NAMES {
        match file(&dir.join(format!("{name}.parquet"))) {
            Ok(bytes) => files.push((name, bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{name}.parquet cannot be read: {error}")),
        }
    }
    Ok(files)
}

/// What a Parquet file begins and ends with.
const MAGIC: [u8; 4] = *b"PAR1";

/// The bytes of a Parquet file, looked at from both ends before it is read.
fn file(path: &Path) -> io::Result<Vec<u8>> {
    let (file, mut ends) = (regular::open(path, MOST_TABLE)?, [[0; MAGIC.len()]; 2]);
    let last = file.metadata()?.len().saturating_sub(MAGIC.len() as u64);
    let read = file.read_exact_at(&mut ends[0], 0).and_then(|()| file.read_exact_at(&mut ends[1], last));
    match read.is_ok() && ends == [MAGIC; 2] {
        true => regular::read_all(file, MOST_TABLE),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "the file is cut short or not Parquet")),
    }
}

/// All tables, also those that have no file because they were empty.
fn read(files: Vec<(&'static str, Vec<u8>)>) -> Result<Vec<Table>, String> {
    let mut read = Vec::with_capacity(tables::NAMES.len());
    let mut files = files.into_iter().peekable();
    for name in tables::NAMES {
        let is_own = |column: &str| column == join::REPLICATION || is_declared(name, column);
        match files.next_if(|file| file.0 == name) {
            Some((_, bytes)) => {
                let table =
                    parquet::read(name, bytes, is_own).map_err(|e| format!("{name}.parquet cannot be read: {e}"))?;
                read.push(table);
            }
            None => read.extend(tables::declaration(name).filter(|_| tables::may_lack(name)).map(Declared::empty)),
        }
    }
    Ok(read)
}

fn is_declared(table: &str, column: &str) -> bool {
    tables::declaration(table).is_some_and(|of| of.column(column).is_some())
}

/// Why the files are not those of the manifest. They are not parsed: the library panics on some damage.
fn difference(files: &[(&'static str, Vec<u8>)], manifest: &Manifest) -> String {
    let there = |name: &str| files.iter().any(|file| file.0 == name);
    let missing = tables::NAMES.into_iter().find(|name| !tables::may_lack(name) && !there(name));
    missing.map(|name| format!("{name}.parquet is missing")).unwrap_or_else(|| {
        let (found, stated) = (hash_files(files), &manifest.files_hash);
        format!("the hash of the tables is {found}, but the manifest says {stated}: a table was altered")
    })
}
