//! An output file that takes the old one's place only when it is complete.
//!
//! Decision: docs/decisions/088-results-are-renamed-when-complete.md

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process;

use crate::error::CaptureError;

/// Smaller pieces are collected; larger ones, as of a capture without drops, are written from where they are.
const BUFFER: usize = 128 * 1024;

/// Writes under a temporary name beside the target and renames it in `finish`. Dropped before that (an error, a
/// full disk, Ctrl-C), it removes the temporary file, and an existing target is untouched. A process that is killed cannot:
/// what it left is removed by the next one that writes to the same target. A writer holds a lock on its temporary file, so
/// those of others at work are not touched.
///
/// A target that is not a regular file (`/dev/null`, a pipe) is written to directly, and so is standard output under the
/// names it has; for a symbolic link, the file it points to is written. A file that may not be written is not replaced.
#[derive(Debug)]
pub struct OutputFile {
    target: PathBuf,
    /// `None` once renamed, or if the target is written to directly.
    temporary: Option<PathBuf>,
    existing: Existing,
    writer: BufWriter<File>,
}

/// What becomes of a file that has the output's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// The output takes its place.
    Replaced,
    /// It stays, and the output is an error.
    Kept,
}

impl Existing {
    /// # Errors
    /// There is a file, and it stays.
    fn check(self, target: &Path) -> io::Result<()> {
        let stays = self == Existing::Kept && fs::symlink_metadata(target).is_ok();
        if stays { Err(ErrorKind::AlreadyExists.into()) } else { Ok(()) }
    }
}

impl OutputFile {
    /// Begin writing for `target`. Errors: directory missing or not writable; a file that stays.
    pub fn create(target: impl AsRef<Path>, existing: Existing) -> Result<Self, CaptureError> {
        let target = target.as_ref();
        Self::start(target, existing).map_err(|cause| unwritten(target, cause))
    }

    fn start(target: &Path, existing: Existing) -> io::Result<Self> {
        if let Some(file) = direct(target)? {
            let writer = BufWriter::with_capacity(BUFFER, file);
            return Ok(OutputFile { target: target.into(), temporary: None, existing, writer });
        }
        let target = followed(target)?;
        existing.check(&target)?;
        let old = fs::metadata(&target).ok();
        if old.is_some() {
            OpenOptions::new().write(true).open(&target)?;
        }
        let (temporary, file) = create_beside(&target)?;
        let writer = BufWriter::with_capacity(BUFFER, file);
        let output = OutputFile { target, temporary: Some(temporary), existing, writer };
        if let Some(old) = old {
            output.writer.get_ref().set_permissions(old.permissions())?;
        }
        Ok(output)
    }

    /// Bring everything to the disk and put the file under its name.
    pub fn finish(mut self) -> Result<(), CaptureError> {
        self.replace().map_err(|cause| unwritten(&self.target, cause))
    }

    fn replace(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        if let Some(temporary) = &self.temporary {
            // some file systems report a full disk only here
            self.writer.get_ref().sync_data()?;
            // another may have written one meanwhile
            self.existing.check(&self.target)?;
            fs::rename(temporary, &self.target)?;
            self.temporary = None;
        }
        Ok(())
    }
}

fn unwritten(target: &Path, cause: io::Error) -> CaptureError {
    let place = target.display().to_string();
    if cause.kind() == ErrorKind::AlreadyExists {
        CaptureError::Exists { place }
    } else {
        CaptureError::Write { place, cause }
    }
}

/// What is written where it is: standard output and standard error under the names they have, devices, pipes.
fn direct(target: &Path) -> io::Result<Option<File>> {
    match target.to_str() {
        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => same(io::stdout()).map(Some),
        Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => same(io::stderr()).map(Some),
        _ if fs::metadata(target).is_ok_and(|old| !old.is_file()) => {
            OpenOptions::new().write(true).open(target).map(Some)
        }
        _ => Ok(None),
    }
}

/// It, and not the file that it was redirected to, so that what is printed comes behind what is written.
fn same(stream: impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// The file at the end of symbolic links, whether it is there or not.
fn followed(target: &Path) -> io::Result<PathBuf> {
    match (fs::canonicalize(target), fs::read_link(target)) {
        (Ok(file), _) => Ok(file),
        (Err(cause), Ok(to)) if cause.kind() == ErrorKind::NotFound => {
            followed(&target.parent().unwrap_or(Path::new("")).join(to))
        }
        (Err(cause), Ok(_)) => Err(cause),
        (Err(_), Err(_)) => Ok(target.to_path_buf()),
    }
}

/// A new file `.name.perhop-<process>-<n>` in the target's directory, so that the rename stays within one file system.
/// `n` counts past what other writers, or a killed one of the same process number, have left there.
fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let name =
        target.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "the path has no file name"))?;
    let prefix = prefix(name);
    temporaries(target).iter().for_each(|path| remove_abandoned(path));
    for n in 0u32.. {
        let mut hidden = prefix.clone();
        hidden.push(format!("{}-{n}", process::id()));
        let path = target.with_file_name(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => {
                // Another that cleans up may have been quicker with the lock: it then removes this file.
                if locked(&file) && path.exists() {
                    return Ok((path, file));
                }
            }
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(cause),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "no temporary name is free in its directory"))
}

/// Whether no other process holds a lock on a file; on a file system without locks none does.
fn locked(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// How temporary files of a target begin: PID-N follows.
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".perhop-");
    prefix
}

/// Temporary files of a target: of writers at work, and of those that are gone.
pub fn temporaries(target: &Path) -> Vec<PathBuf> {
    let prefix = prefix(target.file_name().unwrap_or_default());
    let folder = target.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let ours = |name: &OsStr| {
        let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        rest.is_some_and(|rest| !rest.is_empty() && rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-'))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| ours(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file()));
    ours.map(|entry| entry.path()).collect()
}

/// A temporary file that no process has locked: its writer is gone. It is locked until this is dropped.
fn abandoned(path: &Path) -> Option<File> {
    // what cannot be opened or locked does no harm
    File::open(path).ok().filter(|file| file.try_lock().is_ok())
}

/// Whether the writer of a temporary file is gone.
pub fn is_abandoned(path: &Path) -> bool {
    abandoned(path).is_some()
}

/// Removes a temporary file whose writer is gone.
pub fn remove_abandoned(path: &Path) {
    // The lock is held until the file is gone: its writer may be about to take it.
    if let Some(_locked) = abandoned(path) {
        let _ = fs::remove_file(path);
    }
}

impl Write for OutputFile {
    /// Errors carry the target's name.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes).map_err(|cause| named(&self.target, &cause))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(|cause| named(&self.target, &cause))
    }
}

fn named(target: &Path, cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{}: {cause}", target.display()))
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // nothing can be done about a failure here: the target is intact all the same
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty directory for a test.
    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("perhop-output-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_old_file_stays_until_the_new_one_is_complete() {
        let directory = directory("replace");
        let target = directory.join("out.pcap");
        fs::write(&target, "old").unwrap();
        let mut dropped = OutputFile::create(&target, Existing::Replaced).unwrap();
        dropped.write_all(b"half").unwrap();
        let mut finished = OutputFile::create(&target, Existing::Replaced).unwrap();
        assert_eq!(names(&directory).len(), 3, "two writers do not collide");
        drop(dropped);
        assert_eq!(fs::read(&target).unwrap(), b"old");
        finished.write_all(b"new").unwrap();
        finished.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(names(&directory), ["out.pcap"]);
        fs::remove_dir_all(directory).unwrap();
    }

    /// A killed writer's file has no lock; a living one's has, whatever its process number.
    #[test]
    fn what_a_killed_writer_left_is_removed() {
        let directory = directory("killed");
        let target = directory.join("out.pcap");
        for name in
            [".out.pcap.perhop-1-0", ".out.pcap.perhop-99999999-3", ".out.pcap.perhop-mine", ".other.perhop-1-0"]
        {
            fs::write(directory.join(name), "half").unwrap();
        }
        let living = OutputFile::create(&target, Existing::Replaced).unwrap();
        let next = OutputFile::create(&target, Existing::Replaced).unwrap();
        let own = |n| format!(".out.pcap.perhop-{}-{n}", process::id());
        let mut expected = vec![".other.perhop-1-0".to_owned(), own(0), own(1), ".out.pcap.perhop-mine".to_owned()];
        expected.sort();
        assert_eq!(names(&directory), expected);
        living.finish().unwrap();
        next.finish().unwrap();
        fs::remove_dir_all(directory).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn keeps_permissions_and_links() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = directory("links");
        let (target, link) = (directory.join("real"), directory.join("link"));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&target, &link).unwrap();
        let mut output = OutputFile::create(&link, Existing::Replaced).unwrap();
        output.write_all(b"new").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::remove_dir_all(directory).unwrap();
    }

    /// At the beginning, and if another comes first.
    #[test]
    fn a_file_that_stays_is_an_error() {
        let directory = directory("kept");
        let (target, link) = (directory.join("out"), directory.join("link"));
        std::os::unix::fs::symlink("out", &link).unwrap();
        let slow = OutputFile::create(&link, Existing::Kept).unwrap();
        OutputFile::create(&target, Existing::Kept).unwrap().finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "what it points to was written");
        for path in [&target, &link] {
            assert!(matches!(OutputFile::create(path, Existing::Kept), Err(CaptureError::Exists { .. })));
        }
        assert!(matches!(slow.finish(), Err(CaptureError::Exists { .. })));
        assert_eq!(names(&directory), ["link", "out"]);
        OutputFile::create("/dev/null", Existing::Kept).unwrap().finish().unwrap();
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn names_the_place_that_cannot_be_written() {
        let error = OutputFile::create("/no/such/directory/out.pcap", Existing::Replaced).unwrap_err().to_string();
        assert!(error.contains("cannot write /no/such/directory/out.pcap"), "{error}");
    }

    /// `/dev/full` fails every write as a full disk does.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_and_a_device_is_not_replaced() {
        let mut output = OutputFile::create("/dev/full", Existing::Replaced).unwrap();
        output.write_all(b"bytes").unwrap();
        let error = output.finish().unwrap_err().to_string();
        assert!(error.contains("/dev/full") && error.contains("No space left"), "{error}");
        OutputFile::create("/dev/null", Existing::Replaced).unwrap().finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
