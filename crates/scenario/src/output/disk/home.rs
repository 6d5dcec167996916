//! One process among several in a scenario's directory: what a killed one left there is removed by the next.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// A scenario's directory in use. Everyone who writes there shares a lock on it, so the one that gets it alone knows that
/// what is half-written is of no running process.
#[derive(Debug)]
pub struct Home {
    dir: PathBuf,
    _lock: Option<File>,
}

impl Home {
    /// Enters the directory, making it if it is missing; the first one in removes what was left half-written.
    ///
    /// # Errors
    /// When it cannot be made. On a file system without locks nothing is removed.
    pub fn enter(dir: PathBuf) -> std::io::Result<Self> {
        fs::create_dir_all(&dir)?;
        let lock = File::open(&dir).ok().and_then(|file| shared(file, &dir));
        Ok(Self { dir, _lock: lock })
    }
}

fn shared(file: File, dir: &Path) -> Option<File> {
    match file.try_lock() {
        Ok(()) => remove_leftovers(dir),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(_)) => return None,
    }
    file.lock_shared().ok().map(|()| file)
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

/// `.rep-003.1234-0.partial`, `.rep-003.1234-0.old`
fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(".rep-") && (name.ends_with(".partial") || name.ends_with(".old"))
}

impl Drop for Home {
    /// A directory in which nothing was written goes.
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.dir);
    }
}
