//! From tables to disk, whole or not at all, whoever else writes the same directory.
//!
//! Decision: docs/decisions/086-one-sync-a-second.md

use super::join::{REPLICATION, join};
use super::leftovers;
use super::manifest::Labels;
use super::{Common, Entry, Failed, MANIFEST, Manifest, Stored, events_file, files, hash_files, load};
use crate::parquet::{Constant, One};
use perhop_results::tables::NAMES;
use perhop_results::tables::columns::Table;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How often another process may come first; more is a fault of the file system.
const ATTEMPTS: usize = 1000;

/// A directory of replications before it has its name. What is not completed goes when this is dropped.
#[derive(Debug)]
pub struct Draft {
    dir: PathBuf,
    temporary: PathBuf,
}

impl Draft {
    /// An empty one.
    ///
    /// # Errors
    /// The path that could not be written.
    pub fn begin(dir: &Path) -> Result<Self, Failed> {
        let parent = dir.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(|e| (parent.to_owned(), e))?;
        // A process of the same number on another machine, or an earlier one, may have taken the first names.
        for _ in 0..ATTEMPTS {
            let temporary = beside(dir, "partial");
            match fs::create_dir(&temporary) {
                Err(error) if is_taken(&error) => {}
                made => return made.map(|()| Self { dir: dir.to_owned(), temporary }).map_err(|e| (dir.to_owned(), e)),
            }
        }
        Err((dir.to_owned(), io::Error::other("all temporary names beside it are taken")))
    }

    /// The same under another name, in this file system.
    ///
    /// # Errors
    /// The path that could not be written.
    pub fn renamed(mut self, dir: PathBuf) -> Result<Self, Failed> {
        let parent = dir.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(|e| (parent.to_owned(), e))?;
        self.dir = dir;
        Ok(self)
    }

    /// The name that it will have.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where a file of it is until then.
    pub fn file(&self, name: &str) -> PathBuf {
        self.temporary.join(format!("{name}.parquet"))
    }

    /// Adds tables and manifest, and gives it its name.
    ///
    /// # Errors
    /// The path that could not be written; nothing is left of the attempt.
    pub fn complete(self, common: &Common, replications: Vec<Entry>, tables: &[Table]) -> Result<(), Failed> {
        let only = if let [entry] = replications.as_slice() { Some(entry.replication) } else { None };
        let files = files(tables, &constants(&common.point, only));
        let manifest = Manifest { common: common.clone(), files_hash: hash_files(&files), replications };
        let written = write_all(&self.temporary, &manifest, &files);
        written.and_then(|()| place(&self.temporary, &self.dir, &manifest)).map_err(|e| (self.dir.clone(), e))?;
        // a folder that had nothing but this
        let _ = self.temporary.parent().filter(|folder| Some(*folder) != self.dir.parent()).map(fs::remove_dir);
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After completion there is nothing here.
        if fs::remove_dir_all(&self.temporary).is_ok() {
            // The point's and the scenario's directories are removed too if they hold nothing else.
            for parent in [&self.dir, &self.temporary].map(|path| path.parent().unwrap_or(Path::new("."))) {
                let _ = fs::remove_dir(parent).and_then(|()| fs::remove_dir(parent.parent().unwrap_or(parent)));
            }
        }
    }
}

/// What all rows of a directory have in common: the labels of their point, and the number of its only replication.
pub fn constants(point: &Labels, only: Option<u32>) -> Vec<Constant> {
    let label =
        |(key, value): &(String, String)| Constant { name: key.clone(), value: One::Text(value.as_str().into()) };
    let number = only.map(|n| Constant { name: REPLICATION.to_owned(), value: One::Integer(i64::from(n)) });
    point.0.iter().map(label).chain(number).collect()
}

/// Replaces the manifest of a directory whose results stay; readers see the old one or the new one. Where the labels of the
/// point are others its tables are written again, with these.
///
/// # Errors
/// The path that could not be written.
pub fn rewrite(dir: &Path, manifest: &Manifest) -> Result<(), Failed> {
    match load(dir) {
        Ok(stored) if stored.manifest.common.point != manifest.common.point => relabel(dir, stored, manifest),
        _ => replace_manifest(dir, manifest),
    }
}

fn relabel(dir: &Path, stored: Stored, manifest: &Manifest) -> Result<(), Failed> {
    let draft = Draft::begin(dir)?;
    let events = events_file(dir);
    if events.exists() {
        let to = draft.file(crate::events::NAME);
        let only = manifest.replications.first().map(|entry| entry.replication);
        let labels = constants(&manifest.common.point, only);
        crate::events::relabel(&events, &to, &labels).map_err(|error| (to, error))?;
    }
    let files = |tables: Vec<Table>| tables.into_iter().filter(|table| NAMES.contains(&table.name)).collect();
    let each = stored.tables.into_iter().map(files);
    let each = manifest.replications.iter().map(|entry| entry.replication).zip(each).collect();
    draft.complete(&manifest.common, manifest.replications.clone(), &join(each))
}

fn replace_manifest(dir: &Path, manifest: &Manifest) -> Result<(), Failed> {
    let (path, temporary) = (dir.join(MANIFEST), beside(dir, "partial"));
    let written = write_manifest(&temporary, manifest).and_then(|()| fs::rename(&temporary, &path));
    written.map_err(|e| {
        let _ = fs::remove_file(&temporary);
        (path, e)
    })
}

/// A hidden name beside `dir`, used once, which says whose it is: `.rep-003.1234-567-89abcdef-0.partial`.
fn beside(dir: &Path, ending: &str) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    dir.with_file_name(format!(".{name}.{}-{number}.{ending}", leftovers::own()))
}

fn write_all(dir: &Path, manifest: &Manifest, files: &[(&'static str, Vec<u8>)]) -> io::Result<()> {
    for (name, bytes) in files {
        write_file(&dir.join(format!("{name}.parquet")), bytes)?;
    }
    write_manifest(&dir.join(MANIFEST), manifest)
}

fn write_manifest(path: &Path, manifest: &Manifest) -> io::Result<()> {
    write_file(path, manifest.to_json()?.as_bytes())
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(bytes)?;
    file.flush()
}

/// Renames the complete directory `new` to `dir`. If `dir` has the same results, from before or from another process
/// that was faster, its tables stay and only the manifest is replaced, and new events; any other directory there goes.
fn place(new: &Path, dir: &Path, manifest: &Manifest) -> io::Result<()> {
    for _ in 0..ATTEMPTS {
        match fs::rename(new, dir) {
            Err(error) if is_taken(&error) => {}
            done => return done,
        }
        if is_same(dir, manifest) {
            match replace(new, dir) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                renamed => return renamed.and_then(|()| fs::remove_dir_all(new)),
            }
        }
        remove(dir, |dir| !is_same(dir, manifest))?;
    }
    Err(io::Error::other("other processes keep writing it"))
}

/// Moves what may differ between directories of the same results and files.
fn replace(new: &Path, dir: &Path) -> io::Result<()> {
    let events = events_file(new);
    if events.exists() {
        fs::rename(events, events_file(dir))?;
    }
    fs::rename(new.join(MANIFEST), dir.join(MANIFEST))
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists)
}

fn is_same(dir: &Path, manifest: &Manifest) -> bool {
    let results = |m: &Manifest| {
        let each = m.replications.iter().map(|entry| (entry.replication, entry.result_hash.clone()));
        (m.common.point_hash.clone(), m.files_hash.clone(), each.collect::<Vec<_>>())
    };
    load(dir).is_ok_and(|stored| results(&stored.manifest) == results(manifest))
}

/// Removes a directory at once for those who look, if `is_bad` says so once more when no other process can change it;
/// another process may have removed or replaced it already.
pub(super) fn remove(dir: &Path, is_bad: impl Fn(&Path) -> bool) -> io::Result<()> {
    let aside = beside(dir, "old");
    match fs::rename(dir, &aside) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) if !is_bad(&aside) && fs::rename(&aside, dir).is_ok() => Ok(()),
        Ok(()) => fs::remove_dir_all(&aside),
    }
}

/// Makes the replications of a directory those of the run that `common` states, as far as its manifest goes.
///
/// # Errors
/// The path that could not be written.
pub fn claim(dir: &Path, common: &Common) -> Result<(), Failed> {
    let manifest = load::manifest(dir).map_err(|what| (dir.join(MANIFEST), io::Error::other(what)))?;
    rewrite(dir, &Manifest { common: common.clone(), ..manifest })
}
