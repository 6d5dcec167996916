//! An interface in memory, for tests: frames come from a list and go to one.

use std::collections::VecDeque;

use crate::counts::Kernel;
use crate::io::{Frame, Offer, PacketIo, Sent};

/// An interface without a network.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Frames that come, and whether their checksum is unfinished.
    pub coming: VecDeque<(Vec<u8>, bool)>,
    /// Frames in the order in which they were sent.
    pub sent: Vec<Vec<u8>>,
    /// Frames in the buffer.
    buffer: VecDeque<Vec<u8>>,
    /// Frames for which the buffer has room.
    pub room: usize,
    /// The largest frame that may be sent.
    pub longest: usize,
    /// Whether the interface is up: if not, frames stay in the buffer.
    pub up: bool,
    /// Frames that were handed over.
    handed: u64,
    /// Frames that a kernel would have dropped because its ring is full.
    pub dropped: u64,
}

impl Default for Memory {
    fn default() -> Self {
        let (coming, sent, buffer) = Default::default();
        Self { coming, sent, buffer, room: 4096, longest: 1514, up: true, handed: 0, dropped: 0 }
    }
}

impl PacketIo for Memory {
    fn receive(&mut self, most: usize, each: &mut impl FnMut(Frame<'_>)) -> usize {
        let frames: Vec<_> = self.coming.drain(..most.min(self.coming.len())).collect();
        self.handed += frames.len() as u64;
        let came = frames.len();
        for (mut bytes, unfinished) in frames {
            let length = bytes.len() as u32;
            each(Frame { bytes: &mut bytes, length, unfinished });
        }
        came
    }

    fn offer(&mut self, bytes: &[u8]) -> Offer {
        if bytes.len() > self.longest {
            return Offer::TooLong;
        }
        if self.buffer.len() >= self.room {
            return Offer::Full;
        }
        self.buffer.push_back(bytes.to_vec());
        Offer::Taken
    }

    fn flush(&mut self) -> Sent {
        let before = self.sent.len();
        if self.up {
            self.sent.extend(self.buffer.drain(..));
        }
        Sent { sent: (self.sent.len() - before) as u64, errors: 0, waiting: self.buffer.len() as u64 }
    }

    fn kernel(&mut self) -> Kernel {
        Kernel { came: self.handed + self.coming.len() as u64 + self.dropped, dropped: self.dropped }
    }
}
