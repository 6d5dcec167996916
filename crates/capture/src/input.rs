//! Where a capture comes from: a file or standard input, plain or compressed with gzip.

use std::fs::File;
use std::io::{self, Cursor, IsTerminal, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use flate2::read::MultiGzDecoder;
use rustix::fs::{Mode, OFlags};

use crate::error::CaptureError;
use crate::live::Live;

/// A capture's bytes.
pub type Input<'a> = Box<dyn Read + 'a>;

/// The name of standard input.
pub const STANDARD_INPUT: &str = "-";

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a file, or of standard input for `-`; what begins as gzip is decompressed. What is read while it is
/// written ends when `ended` says so.
pub(crate) fn open<'a>(path: &Path, ended: Option<&'a AtomicBool>) -> Result<Input<'a>, CaptureError> {
    let failed = |cause| CaptureError::Open { path: path.into(), cause };
    let file = if path.as_os_str() == STANDARD_INPUT { standard() } else { named(path, ended.is_some()) };
    let file = file.map_err(failed)?;
    let plain: Input<'a> = match ended {
        Some(ended) => Box::new(Live::new(file, ended)),
        None => Box::new(file),
    };
    decompressed(plain).map_err(|cause| CaptureError::Read { offset: 0, cause })
}

/// A pipe without a writer is opened all the same if it is `live`: reading waits.
fn named(path: &Path, live: bool) -> io::Result<File> {
    match live {
        false => File::open(path),
        true => Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?.into()),
    }
}

fn standard() -> io::Result<File> {
    let input = io::stdin();
    if input.is_terminal() {
        return Err(io::Error::other(
            "standard input is the terminal; pipe a capture into it, as in `tcpdump -w - | perhop meter -`",
        ));
    }
    Ok(input.as_fd().try_clone_to_owned()?.into())
}

fn decompressed(mut input: Input<'_>) -> io::Result<Input<'_>> {
    let mut start = Vec::new();
    input.by_ref().take(GZIP.len() as u64).read_to_end(&mut start)?;
    let packed = start == GZIP;
    let whole = Cursor::new(start).chain(input);
    Ok(if packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}
