//! Deleting a run: its replications' directories, of what perhop has written alone.

use super::disk::{MANIFEST, directories};
use super::inventory::{self, Found, Listed, listed};
use super::opened::{Refused, there};
use perhop_core::units::counted;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Runs that a refusal names.
const MOST_NAMED: usize = 5;

/// A run, and what is deleted with it.
#[derive(Clone, Debug, Serialize)]
pub struct Doomed {
    /// It.
    pub run: Listed,
    /// Its files.
    pub files: Vec<PathBuf>,
    /// Their size.
    pub bytes: u64,
    /// Files in its directories that perhop has not written: they stay.
    pub left: Vec<PathBuf>,
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
    pub fn at(address: &Path) -> Result<Self, String> {
        let sound = |dir: &Path| Ok(inventory::found(dir).into_iter().flatten().collect());
        let found = there(address, sound).map_err(|refused| match refused {
            Refused::Missing(what) | Refused::Unfit(what) => format!("error[E029] {what}"),
        })?;
        let mut runs = listed(found.clone());
        let run = runs.pop().filter(|_| runs.is_empty()).ok_or_else(|| several(address, listed(found.clone())))?;
        let run = Listed { address: address.to_owned(), ..run };
        let dirs: BTreeSet<_> =
            found.iter().flat_map(|found| [found.dir.clone(), found.point_dir().to_owned()]).collect();
        if let Some(link) = dirs.iter().find(|dir| dir.is_symlink()) {
            let what = format!("error[E029] {} is a link: its target may belong to another user", link.display());
            return Err(format!("{what}\n   help: delete the run where it is"));
        }
        Ok(Self::of(run, &found, dirs))
    }

    fn of(run: Listed, found: &[Found], dirs: BTreeSet<PathBuf>) -> Self {
        let doomed: BTreeSet<_> = found.iter().map(|found| found.dir.as_path()).collect();
        // a point that keeps replications of other runs keeps its captures
        let emptied = |dir: &Path| directories(dir).iter().all(|(_, dir)| doomed.contains(dir.as_path()));
        let (mut files, mut left) = (Vec::new(), Vec::new());
        for dir in &dirs {
            let of_replications = doomed.contains(dir.as_path());
            for file in entries(dir).filter(|path| !path.is_dir()) {
                let is_ours = if of_replications { is_result(&file) } else { is_capture(&file) && emptied(dir) };
                if is_ours { &mut files } else { &mut left }.push(file);
            }
        }
        let bytes = files.iter().filter_map(|file| Some(fs::symlink_metadata(file).ok()?.len())).sum();
        let home = found.first().and_then(|found| found.point_dir().parent()).unwrap_or(Path::new(".")).to_owned();
        Self { run, files, bytes, left, dirs: dirs.into_iter().rev().collect(), home }
    }

    /// Deletes it: manifests first, so that what is left of it after a failure is no result to any reader.
    ///
    /// # Errors
    /// A run is writing there, or a file cannot be deleted; E020.
    pub fn delete(&self) -> Result<(), String> {
        let refused =
            |(path, error): (PathBuf, io::Error)| format!("error[E020] cannot delete {}: {error}", path.display());
        let _alone = self.lock()?;
        let (manifests, others): (Vec<_>, Vec<_>) = self.files.iter().partition(|file| file.ends_with(MANIFEST));
        let remove = |file: &&PathBuf| fs::remove_file(file).map_err(|error| refused(((*file).clone(), error)));
        manifests.iter().chain(&others).try_for_each(remove)?;
        // one that is not empty stays, with what it holds
        self.dirs.iter().chain([&self.home]).for_each(|dir| drop(fs::remove_dir(dir)));
        Ok(())
    }

    /// No other process writes there while this is held.
    fn lock(&self) -> Result<Option<File>, String> {
        let Ok(file) = File::open(&self.home) else { return Ok(None) };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let what = format!(
                    "error[E020] cannot delete {}: a run is writing in {}",
                    self.run.address.display(),
                    self.home.display()
                );
                Err(format!("{what}\n   help: wait until it is complete"))
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

fn several(address: &Path, runs: Vec<Listed>) -> String {
    let names: Vec<_> = runs.iter().rev().take(MOST_NAMED).map(|run| run.address.display().to_string()).collect();
    let more = runs.len().checked_sub(MOST_NAMED + 1).map_or(String::new(), |n| format!(" and {} more", n + 1));
    let help = format!("name one of them: {}{more}", names.join(", "));
    format!("error[E029] {} holds {} runs\n   help: {help}", address.display(), runs.len())
}

fn is_result(file: &Path) -> bool {
    file.ends_with(MANIFEST) || file.extension().is_some_and(|it| it == "parquet")
}

/// Of `--pcap`.
fn is_capture(file: &Path) -> bool {
    file.extension().is_some_and(|it| it == "pcap")
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}
