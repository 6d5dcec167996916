//! An input that is read while it is written: it waits for what comes next, and ends when it is told to.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long it waits before it looks whether it has been told.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Reads after that: a writer that was told as well hands over what it still holds, and ends; one that goes on is left.
const LAST_READS: u32 = 16;

/// A pipe, a terminal, a socket.
pub(crate) struct Live<'a> {
    file: File,
    ended: &'a AtomicBool,
    left: u32,
}

impl<'a> Live<'a> {
    pub(crate) fn new(file: File, ended: &'a AtomicBool) -> Self {
        Live { file, ended, left: LAST_READS }
    }

    /// Whether something can be read, which may be the end, before it has to be given up.
    fn waits(&mut self) -> io::Result<bool> {
        loop {
            let ended = self.ended.load(Ordering::Relaxed);
            if ended && self.left == 0 {
                return Ok(false);
            }
            self.left -= u32::from(ended);
            if is_ready(&self.file)? {
                return Ok(true);
            }
            if ended {
                self.left = 0;
            }
        }
    }
}

impl Read for Live<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.waits()? {
            match self.file.read(buffer) {
                Err(cause) if matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                read => return read,
            }
        }
        Ok(0)
    }
}

fn is_ready(file: &File) -> io::Result<bool> {
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&WAIT)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// What is in a pipe when it ends is still read; then the input ends, whether it is closed or not.
    #[test]
    fn ends_when_told() {
        let (reader, mut writer) = io::pipe().unwrap();
        let ended = AtomicBool::new(false);
        let mut live = Live::new(File::from(std::os::fd::OwnedFd::from(reader)), &ended);
        let mut buffer = [0; 8];
        writer.write_all(b"one").unwrap();
        assert_eq!(live.read(&mut buffer).unwrap(), 3);
        writer.write_all(b"last").unwrap();
        ended.store(true, Ordering::Relaxed);
        assert_eq!(live.read(&mut buffer).unwrap(), 4);
        assert_eq!(live.read(&mut buffer).unwrap(), 0, "nothing came");
        writer.write_all(b"late").unwrap();
        assert_eq!(live.read(&mut buffer).unwrap(), 0, "it has ended");
    }

    /// A writer that goes on is left.
    #[test]
    fn does_not_wait_for_a_writer_that_goes_on() {
        let (reader, mut writer) = io::pipe().unwrap();
        let ended = AtomicBool::new(true);
        let mut live = Live::new(File::from(std::os::fd::OwnedFd::from(reader)), &ended);
        let reads = (0..).take_while(|_| {
            writer.write_all(b"more").unwrap();
            live.read(&mut [0; 8]).unwrap() > 0
        });
        assert_eq!(reads.count(), LAST_READS as usize);
    }

    #[test]
    fn a_pipe_that_is_closed_ends() {
        let (reader, writer) = io::pipe().unwrap();
        let ended = AtomicBool::new(false);
        let mut live = Live::new(File::from(std::os::fd::OwnedFd::from(reader)), &ended);
        drop(writer);
        assert_eq!(live.read(&mut [0; 8]).unwrap(), 0);
    }
}
