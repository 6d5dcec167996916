//! Deleting a run: its replications' directories, of what perhop has written alone.

use super::captures;
use super::disk::leftovers::is_leftover;
use super::disk::{MANIFEST, directories, numbers};
use super::events;
use super::inventory::{self, Listed, ReplicationDir, listed};
use super::opened::{Refused, there};
use super::paths::lossy;
use perhop_capture::output;
use perhop_core::units::counted;
use perhop_results::tables::NAMES;
use perhop_scenario::Diagnostic;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Runs that a refusal names.
const MOST_NAMED: usize = 5;

/// A run, and what is deleted with it.
#[derive(Clone, Debug, Serialize)]
pub struct Doomed {
    /// It.
    pub run: Listed,
    /// Its files: tables and manifests, captures at its links, and what writers that were killed have left half-written.
    #[serde(serialize_with = "lossy")]
    pub files: Vec<PathBuf>,
    /// Their size.
    pub bytes: u64,
    /// What else is in its directories and perhop has not written: it stays.
    #[serde(serialize_with = "lossy")]
    pub left: Vec<PathBuf>,
    /// What perhop has written there, but of results that are not deleted: of other replications, or damaged. It stays.
    #[serde(serialize_with = "lossy")]
    pub kept: Vec<PathBuf>,
    /// Directories of replications and of points, each before the one it is in.
    #[serde(skip)]
    dirs: Vec<PathBuf>,
    /// The directory of its scenario.
    #[serde(skip)]
    home: PathBuf,
}

impl Doomed {
    /// The one run at an address, as `plot` takes it.
    ///
    /// # Errors
    /// There is none, or more than one (E029); a directory is a link (E029).
    pub fn at(address: &Path) -> Result<Self, Diagnostic> {
        let sound = |dir: &Path| Ok(inventory::scan(dir).into_iter().flatten().collect());
        let found = there(address, sound).map_err(|refused| match refused {
            Refused::Missing(what) | Refused::Unfit(what) => Diagnostic::error("E029", what, ""),
        })?;
        let mut runs = listed(found.clone());
        let run = runs.pop().filter(|_| runs.is_empty()).ok_or_else(|| several(address, listed(found.clone())))?;
        let run = Listed { address: address.to_owned(), ..run };
        let dirs = found.iter().flat_map(|found| [found.dir.as_path(), found.point_dir()]);
        if let Some(link) = dirs.into_iter().find(|dir| dir.is_symlink()) {
            let what = format!("{} is a link: its target may belong to another user", link.display());
            return Err(Diagnostic::error("E029", what, "delete the run where it is"));
        }
        Ok(Self::of(run, &found))
    }

    fn of(run: Listed, found: &[ReplicationDir]) -> Self {
        let home = found.first().and_then(|found| found.point_dir().parent()).unwrap_or(Path::new(".")).to_owned();
        let mut doomed = Self { run, files: vec![], bytes: 0, left: vec![], kept: vec![], dirs: vec![], home };
        let of_replications: BTreeSet<_> = found.iter().map(|found| found.dir.as_path()).collect();
        of_replications.iter().for_each(|dir| doomed.sort_results(dir));
        let points: BTreeSet<_> = found.iter().map(ReplicationDir::point_dir).collect();
        for point in points {
            let of_point = found.iter().find(|found| found.point_dir() == point);
            doomed.sort_point(&Point::of(point, of_point, &of_replications));
        }
        doomed.bytes = doomed.files.iter().filter_map(|file| Some(fs::symlink_metadata(file).ok()?.len())).sum();
        doomed
    }

    /// What is in a directory of replications, complete or half-written.
    fn sort_results(&mut self, dir: &Path) {
        for entry in entries(dir) {
            let path = entry.path();
            if is_file(&entry) && is_result(&path) { &mut self.files } else { &mut self.left }.push(path);
        }
        self.dirs.push(dir.to_owned());
    }

    /// What is in a directory of a point.
    fn sort_point(&mut self, point: &Point<'_>) {
        for entry in entries(point.dir) {
            let path = entry.path();
            match point.what(&entry) {
                What::Deleted => {}
                What::Leftover if is_file(&entry) => self.files.push(path),
                What::Leftover => self.sort_results(&path),
                What::Capture => self.files.push(path),
                What::Kept => self.kept.push(path),
                What::Foreign => self.left.push(path),
            }
        }
        self.dirs.push(point.dir.to_owned());
    }

    /// Deletes it: manifests first, so that what is left of it after a failure is no result to any reader.
    ///
    /// # Errors
    /// A run is writing there, or a file cannot be deleted; E020.
    pub fn delete(&self) -> Result<(), Diagnostic> {
        let _alone = self.lock()?;
        let (manifests, others): (Vec<_>, Vec<_>) = self.files.iter().partition(|file| file.ends_with(MANIFEST));
        let remove = |file: &&PathBuf| match fs::remove_file(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Diagnostic::error("E020", format!("cannot delete {}: {error}", file.display()), ""))
            }
            _ => Ok(()),
        };
        manifests.iter().chain(&others).try_for_each(remove)?;
        // one that is not empty stays, with what it holds
        self.dirs.iter().chain([&self.home]).for_each(|dir| drop(fs::remove_dir(dir)));
        Ok(())
    }

    /// # Errors
    /// It could not be deleted now: a run is writing there; E020.
    pub fn is_free(&self) -> Result<(), Diagnostic> {
        self.lock().map(drop)
    }

    /// No other process writes there while this is held.
    fn lock(&self) -> Result<Option<File>, Diagnostic> {
        let Ok(file) = File::open(&self.home) else { return Ok(None) };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let (run, home) = (self.run.address.display(), self.home.display());
                let what = format!("cannot delete {run}: a run is writing in {home}");
                Err(Diagnostic::error("E020", what, "wait until it is complete"))
            }
            _ => Ok(Some(file)),
        }
    }

    /// What it is, in words: `runs/small/first: 1 point, 2 replications, 24 kB`.
    pub fn text(&self) -> String {
        let replications = self.run.points.iter().map(|point| point.replications).sum::<usize>();
        format!(
            "{}: {}, {}, {} in {}",
            self.run.address.display(),
            counted(self.run.points.len(), ["point", "points"]),
            counted(replications, ["replication", "replications"]),
            super::inventory_table::size(self.bytes),
            counted(self.files.len(), ["file", "files"])
        )
    }
}

fn several(address: &Path, runs: Vec<Listed>) -> Diagnostic {
    let names: Vec<_> = runs.iter().rev().take(MOST_NAMED).map(|run| run.address.display().to_string()).collect();
    let more = runs.len().checked_sub(MOST_NAMED + 1).map_or(String::new(), |n| format!(" and {} more", n + 1));
    let help = format!("name one of them: {}{more}", names.join(", "));
    Diagnostic::error("E029", format!("{} holds {} runs", address.display(), runs.len()), help)
}

/// What something in a point's directory is.
enum What {
    /// A directory of replications that are deleted.
    Deleted,
    /// What a killed writer has left.
    Leftover,
    /// Of `--pcap`.
    Capture,
    /// Of results that are not deleted.
    Kept,
    /// What perhop has not written.
    Foreign,
}

/// The directory of a point, of which all replications or some are deleted.
struct Point<'a> {
    dir: &'a Path,
    deleted: &'a BTreeSet<&'a Path>,
    /// The captures at its links, whether they are there or not; none if its scenario is of another version, and cannot be read.
    captures: BTreeSet<PathBuf>,
    /// What becomes a capture, or would have.
    temporaries: BTreeSet<PathBuf>,
    /// Some replications stay, and with them the captures.
    stays: bool,
    /// Its file system has locks: what is half-written is of no process at work once its home is locked.
    locks: bool,
}

impl<'a> Point<'a> {
    fn of(dir: &'a Path, found: Option<&ReplicationDir>, deleted: &'a BTreeSet<&'a Path>) -> Self {
        let names = found.map_or_else(BTreeSet::new, |found| captures::file_names(&found.common.effective));
        let captures: BTreeSet<_> = names.into_iter().map(|name| dir.join(name)).collect();
        let temporaries = captures.iter().flat_map(|capture| output::temporaries(capture)).collect();
        let stays = directories(dir).iter().any(|(_, dir)| !deleted.contains(dir.as_path()));
        let locks = File::open(dir).is_ok_and(|file| !matches!(file.try_lock_shared(), Err(TryLockError::Error(_))));
        Self { dir, deleted, captures, temporaries, stays, locks }
    }

    fn what(&self, entry: &DirEntry) -> What {
        let path = entry.path();
        let (is_dir, is_file) = (entry.file_type().is_ok_and(|kind| kind.is_dir()), is_file(entry));
        let if_not = |kept: bool, what| if kept { What::Kept } else { what };
        match () {
            () if is_dir && self.deleted.contains(path.as_path()) => What::Deleted,
            () if is_dir && numbers(&path).is_some() => What::Kept,
            () if (is_dir || is_file) && is_leftover(&path) => if_not(!self.locks, What::Leftover),
            () if is_file && self.captures.contains(&path) => if_not(self.stays, What::Capture),
            () if is_file && self.temporaries.contains(&path) => if_not(!output::is_abandoned(&path), What::Leftover),
            () => What::Foreign,
        }
    }
}

/// A table or a manifest.
fn is_result(file: &Path) -> bool {
    NAMES.into_iter().chain([events::NAME]).any(|name| file.ends_with(format!("{name}.parquet")))
        || file.ends_with(MANIFEST)
}

/// No link either: perhop writes none.
fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_file())
}

/// What is in a directory, by name.
fn entries(dir: &Path) -> Vec<DirEntry> {
    let mut found: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().collect();
    found.sort_by_key(DirEntry::file_name);
    found
}
