//! One process among several in a scenario's directory: others see that it writes there, and what is written reaches the
//! disk in time.
//!
//! Decision: docs/decisions/088-results-are-renamed-when-complete.md

use super::Failed;
use super::leftovers::{self, Leftover};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, TryLockError as Busy};
use std::time::Duration;

/// How much work a crash of the machine may cost; and, of what is gathered to be written together, a process that is killed.
const AT_STAKE: Duration = Duration::from_secs(1);

/// A scenario's directory in use. Everyone who writes there shares a lock on it.
#[derive(Debug)]
pub struct Home {
    dir: PathBuf,
    /// It, if it can be opened.
    file: Option<File>,
}

impl Home {
    /// Enters a scenario's directory in `out`, making it if it is missing. What dead processes left half-written in `out` is
    /// removed; what stays comes with it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn enter(out: &Path, scenario: &str) -> io::Result<(Self, Vec<Leftover>)> {
        let (dir, stays) = (out.join(scenario), leftovers::remove(out));
        fs::create_dir_all(&dir)?;
        let file = File::open(&dir).ok();
        // on a file system without locks no other process is told
        file.iter().for_each(|file| _ = file.lock_shared());
        Ok((Self { dir, file }, stays))
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

impl Drop for Home {
    /// A directory in which nothing was written goes.
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.dir);
    }
}
