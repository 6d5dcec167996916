//! Files of results as they are read: regular files of a bounded size, and nothing else.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The most bytes of a manifest.
pub const MOST_MANIFEST: u64 = 64 << 20;

/// The most bytes of a table: one is written from memory.
pub const MOST_TABLE: u64 = 16 << 30;

/// Opens a file without waiting, and looks at what was opened: a pipe, a socket, a device or a directory in its place is not
/// read.
///
/// # Errors
/// It cannot be opened, is no regular file, or has more than `most` bytes.
pub fn open(path: &Path, most: u64) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let it = file.metadata()?;
    match (it.is_file(), it.len()) {
        (false, _) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
        (true, bytes) if bytes > most => Err(too_large(bytes, most)),
        _ => Ok(file),
    }
}

/// The bytes of such a file.
///
/// # Errors
/// As [`open`] and [`read_all`].
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_all(open(path, most)?, most)
}

/// The bytes of a file that was opened.
///
/// # Errors
/// It grew beyond `most`.
pub fn read_all(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(bytes.len() as u64, most)) } else { Ok(bytes) }
}

fn too_large(bytes: u64, most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has {bytes} bytes, and {most} are the most"))
}
