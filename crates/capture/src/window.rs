//! A sliding window over the input: one buffer, so memory stays constant however long the capture.

use std::io::{ErrorKind, Read};

use crate::error::{CaptureError, Truncated};

/// Bytes asked from the input at a time; a longer block makes the buffer grow to its own length.
const WINDOW: usize = 256 * 1024;

/// With less than this the window [is low](Window::is_low): a packet of any common length still fits.
const LOW: usize = 16 * 1024;

/// The bytes of the file from `offset()` on, as far as they have been read; before them those that are kept.
pub(crate) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    /// Bytes from here to `start` are kept until they are taken.
    kept: usize,
    keeps: bool,
    start: usize,
    end: usize,
    offset: u64,
    /// The input is compressed, and ends before its own end.
    cut: bool,
}

impl<R: Read> Window<R> {
    pub(crate) fn new(input: R) -> Self {
        Window { input, buffer: vec![0; WINDOW], kept: 0, keeps: false, start: 0, end: 0, offset: 0, cut: false }
    }

    /// Position in the file of the first byte of the window.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// From now on bytes that are dropped are kept until they are taken.
    pub(crate) fn keep(&mut self) {
        self.keeps = true;
    }

    /// Drop the first `count` bytes of the window.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.offset += count as u64;
        if !self.keeps {
            self.kept = self.start;
        }
    }

    /// The kept bytes, which are kept no longer.
    pub(crate) fn take(&mut self) -> &[u8] {
        let kept = std::mem::replace(&mut self.kept, self.start);
        &self.buffer[kept..self.start]
    }

    /// Time to take what is kept: it would be copied when the window is filled next.
    #[inline]
    pub(crate) fn is_low(&self) -> bool {
        self.end - self.start < LOW
    }

    /// Read more until the window holds `need` bytes or the file ends; returns the number it holds.
    #[inline]
    pub(crate) fn fill(&mut self, need: usize) -> Result<usize, CaptureError> {
        if self.end - self.start < need {
            self.refill(need)?;
        }
        Ok(self.end - self.start)
    }

    #[cold]
    fn refill(&mut self, need: usize) -> Result<(), CaptureError> {
        self.make_room(need);
        while self.end - self.start < need && self.read_some()? > 0 {}
        Ok(())
    }

    /// # Errors
    /// The input was cut off, between two packets as it happens.
    pub(crate) fn whole(&self, packets: u64) -> Result<(), CaptureError> {
        let cut = Truncated { offset: self.offset, have: 0, need: 1, packets };
        if self.cut { Err(cut.into()) } else { Ok(()) }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.end]
    }

    /// Moves what is kept and what was not given out yet to the front.
    fn make_room(&mut self, need: usize) {
        self.buffer.copy_within(self.kept..self.end, 0);
        self.start -= self.kept;
        self.end -= self.kept;
        self.kept = 0;
        if self.buffer.len() < self.start + need {
            self.buffer.resize(self.start + need, 0);
        }
    }

    fn read_some(&mut self) -> Result<usize, CaptureError> {
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
                    self.cut = true;
                    return Ok(0);
                }
                Err(cause) => return Err(CaptureError::Read { offset: self.offset + self.end as u64, cause }),
            }
        }
    }
}
