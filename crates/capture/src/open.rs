//! Where a capture comes from: files, standard input and pipes.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use rustix::fs::{Mode, OFlags};

use crate::error::CaptureError;
use crate::file::Capture;
use crate::input::Input;
use crate::live::Live;

/// The name of standard input.
pub const STANDARD_INPUT: &str = "-";

impl Capture<Input<'static>> {
    /// Open the file at `path`, or standard input if that is `-`; gzip is decompressed as it is read. Errors: not there,
    /// empty, not a capture, header cut off.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CaptureError> {
        Self::plain_or_gzip(file(path.as_ref(), false)?)
    }
}

impl<'a> Capture<Input<'a>> {
    /// The same of what is read while it is written, such as a pipe: when `ended` becomes true, the input ends with what is
    /// there, and a pipe that is silent or has no writer is waited for no longer.
    pub fn live(path: impl AsRef<Path>, ended: &'a AtomicBool) -> Result<Self, CaptureError> {
        Self::plain_or_gzip(Live::new(file(path.as_ref(), true)?, ended))
    }
}

fn file(path: &Path, live: bool) -> Result<File, CaptureError> {
    let file = if path.as_os_str() == STANDARD_INPUT { standard() } else { named(path, live) };
    file.map_err(|cause| CaptureError::Open { path: path.into(), cause })
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
