//! One process among several in a scenario's directory: what a killed one left there is removed by the next, and what is
//! written reaches the disk in time.
//!
//! Decision: docs/decisions/088-results-are-renamed-when-complete.md

use super::Failed;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, TryLockError as Busy};
use std::time::Duration;

/// How much work a crash of the machine may cost; and, of what is gathered to be written together, a process that is killed.
const AT_STAKE: Duration = Duration::from_secs(1);

/// A scenario's directory in use. Everyone who writes there shares a lock on it, so the one that gets it alone knows that
/// what is half-written is of no running process.
#[derive(Debug)]
pub struct Home {
    dir: PathBuf,
    /// It, if it can be opened.
    file: Option<File>,
}

impl Home {
    /// Enters the directory, making it if it is missing; the first one in removes what was left half-written.
    ///
    /// # Errors
    /// When it cannot be made. On a file system without locks nothing is removed.
    pub fn enter(dir: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&dir)?;
        let file = File::open(&dir).ok();
        file.iter().for_each(|file| share(file, &dir));
        Ok(Self { dir, file })
    }

    /// What was written there is on the disk when this returns.
    fn sync(&self) -> Result<(), Failed> {
        self.file.as_ref().map_or(Ok(()), sync).map_err(|error| (self.dir.clone(), error))
    }
}

/// All that the file's disk has not yet written: one wait, whatever the number of small files.
#[cfg(target_os = "linux")]
fn sync(file: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

#[cfg(not(target_os = "linux"))]
fn sync(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// The directories of a run, for as long as it writes there.
#[derive(Debug)]
pub struct Homes {
    homes: Vec<Home>,
    /// Something was completed that is not synced yet.
    written: AtomicBool,
    /// When they were last synced, by the run's clock.
    synced: Mutex<Duration>,
}

impl Homes {
    /// From `now` on.
    pub fn new(homes: Vec<Home>, now: Duration) -> Self {
        Self { homes, written: AtomicBool::new(false), synced: Mutex::new(now) }
    }

    /// Something was completed: `write` writes what was gathered and all is synced if the last time was a second ago, unless
    /// another thread does so already.
    ///
    /// # Errors
    /// The directory that could not be written.
    pub fn completed(&self, now: Duration, write: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
        let mut synced = match self.synced.try_lock() {
            Ok(synced) => synced,
            Err(Busy::Poisoned(synced)) => synced.into_inner(),
            Err(Busy::WouldBlock) => return Ok(()),
        };
        if now.saturating_sub(*synced) < AT_STAKE {
            return Ok(());
        }
        *synced = now;
        write()?;
        self.sync()
    }

    /// A directory was written.
    pub fn written(&self) {
        self.written.store(true, Ordering::Relaxed);
    }

    /// What was completed is on the disk when this returns.
    ///
    /// # Errors
    /// The directory that could not be written.
    pub fn sync(&self) -> Result<(), Failed> {
        if !self.written.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        self.homes.iter().try_for_each(Home::sync)
    }
}

fn share(file: &File, dir: &Path) {
    match file.try_lock() {
        Ok(()) => remove_leftovers(dir),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(_)) => return,
    }
    // Without a lock nothing is removed.
    let _ = file.lock_shared();
}

fn remove_leftovers(dir: &Path) {
    for point in entries(dir) {
        for path in entries(&point).filter(|path| is_leftover(path)) {
            // What cannot be removed does no harm: no reader looks at hidden names.
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// `.rep-003.1234-0.partial`, `.reps-000-099.1234-0.old`
pub(crate) fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_ours = name.starts_with(".rep-") || name.starts_with(".reps-");
    is_ours && (name.ends_with(".partial") || name.ends_with(".old"))
}

impl Drop for Home {
    /// A directory in which nothing was written goes.
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.dir);
    }
}
