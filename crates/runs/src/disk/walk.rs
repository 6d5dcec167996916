//! Directories below a directory, whatever links there are.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A directory and those below it, in the order of their names; `enters` says in which of them others are looked for.
///
/// Each comes once, told by device and inode: under its own name, and under that of a link if only links lead to it. Links
/// that lead nowhere or in circles are passed over, and so is what cannot be read.
pub fn walk(dir: &Path, enters: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    let (mut real, mut links) = (vec![dir.to_owned()], VecDeque::new());
    while let Some(next) = real.pop().or_else(|| links.pop_front()) {
        if !fs::metadata(&next).is_ok_and(|it| it.is_dir() && seen.insert((it.dev(), it.ino()))) {
            continue;
        }
        for entry in fs::read_dir(&next).into_iter().flatten().flatten().filter(|_| enters(&next)) {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => real.push(entry.path()),
                Ok(kind) if kind.is_symlink() => links.push_back(entry.path()),
                _ => {}
            }
        }
        found.push(next);
    }
    found.sort();
    found
}
