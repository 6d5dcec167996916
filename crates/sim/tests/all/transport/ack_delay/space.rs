//! The receiver's memory in bytes, step by step: what arrivals take of it, how it grows, which window it leaves.

use super::MSS;
use perhop_core::units::Time;

/// A piece of memory takes as much beside the data of its segments.
const BESIDE: u64 = 960;
/// The unit of windows on the wire.
const UNIT: u64 = 64;

/// The space for what arrives, and the window that was offered last.
pub(super) struct Space {
    all: u64,
    clamp: u64,
    threshold: u64,
    /// Bytes that came in the round trip before this one.
    before: u64,
    /// When this one began, and how much had come.
    began: Option<(Time, u64)>,
    /// Of time stamps; us / 8.
    round_trip8: u64,
    stamp: u32,
    /// When a window was offered, and how many bytes in order are all of it.
    trip: Option<(u64, u64)>,
    /// Taken by what the application has not read.
    pub(super) taken: u64,
    /// Bytes offered last, and where they end, counted from the first segment on.
    pub(super) offered: u64,
    edge: u64,
}

/// 130 of 256 bytes of space are data.
fn data_of(space: u64) -> u64 {
    space * (MSS * 256 / (MSS + BESIDE)) / 256
}

/// What so many segments take, in so many pieces.
pub(super) fn memory(segments: usize, pieces: usize) -> u64 {
    segments as u64 * MSS + pieces as u64 * BESIDE
}

impl Space {
    pub(super) fn new() -> Self {
        let all = 128 * 1024;
        Self {
            all,
            clamp: data_of(all),
            threshold: 64 * 1024 - MSS,
            before: 10 * MSS,
            began: None,
            round_trip8: 0,
            stamp: 0,
            trip: None,
            taken: 0,
            offered: 65_535,
            edge: 65_535,
        }
    }

    /// Eighths of us.
    pub(super) fn round_trip8(&self) -> u64 {
        self.round_trip8
    }

    /// So many bytes are in order. Those that were offered once have not come in less than a round trip, so the shortest counts;
    /// then they are counted again.
    pub(super) fn filled(&mut self, now: Time, bytes: u64) {
        let us = now.ns() / 1000;
        match self.trip {
            Some((_, all)) if bytes < all => return,
            Some((since, _)) => {
                let sample = 8 * (us - since).max(1);
                self.round_trip8 = if self.round_trip8 == 0 { sample } else { self.round_trip8.min(sample) };
            }
            None => {}
        }
        self.trip = Some((us, bytes + self.offered));
    }

    /// A time stamp comes back after so many ms, and counts the first time. A shorter round trip counts at once, a longer one
    /// by an eighth.
    pub(super) fn stamped(&mut self, stamp: u32, passed: u64) {
        if stamp == self.stamp {
            return;
        }
        self.stamp = stamp;
        match passed * 8000 {
            0 => {}
            new if self.round_trip8 == 0 || new < self.round_trip8 => self.round_trip8 = new,
            _ => self.round_trip8 = self.round_trip8 - self.round_trip8 / 8 + passed * 1000,
        }
    }

    fn free(&self) -> u64 {
        data_of(self.all.saturating_sub(self.taken))
    }

    /// Whether the threshold rises while so many bytes of space are taken.
    pub(super) fn rises(&mut self, taken: u64) -> bool {
        let most = self.clamp.min(data_of(self.all.saturating_sub(taken)));
        let room = most.saturating_sub(self.threshold);
        self.threshold += room.min(2 * MSS);
        room > 0
    }

    /// Less than half of it is free.
    pub(super) fn is_short(&self) -> bool {
        self.free() < self.clamp.min(data_of(self.all)) / 2
    }

    /// What could be offered now, never mind what was.
    fn fits(&self) -> u64 {
        let mut free = self.free();
        if self.is_short() {
            free = free / UNIT * UNIT;
            if free < data_of(self.all) / 16 || free < MSS {
                return 0;
            }
        }
        free.min(self.threshold).next_multiple_of(UNIT)
    }

    /// As much as was offered last fits behind what has come since.
    pub(super) fn moves_on(&self) -> bool {
        self.fits() >= self.offered
    }

    /// An ACK of `bytes` is sent: the bytes that it offers. The edge stays at least where it is.
    pub(super) fn offer(&mut self, bytes: u64) -> u64 {
        let (left, fits) = (self.edge.saturating_sub(bytes), self.fits());
        self.offered = if fits < left { left.next_multiple_of(UNIT) } else { fits };
        self.edge = bytes + self.offered;
        self.offered
    }

    /// The application has read `bytes` in all, and `unread` wait.
    pub(super) fn read(&mut self, now: Time, bytes: u64, unread: u64) {
        let (since, from) = *self.began.get_or_insert((now, 0));
        if self.round_trip8 == 0 || now.ns() / 1000 - since.ns() / 1000 < self.round_trip8 / 8 {
            return;
        }
        let came = (bytes - from).saturating_sub(unread);
        if came > self.before {
            // Twice what came, and 16 segments; and as much again, twice, as the sender has got faster.
            let window = 2 * came + 16 * MSS;
            let window = window + window * (came - self.before) / self.before * 2;
            let space = (window * 256 / (MSS * 256 / (MSS + BESIDE))).min(6 * 1024 * 1024);
            if space > self.all {
                (self.all, self.clamp) = (space, data_of(space));
            }
            self.before = came;
        }
        self.began = Some((now, bytes));
    }
}
