//! What waits, is sent and propagates on one link: a ring with three positions.
//!
//! From the head: delivered up to `head`, in transmission or on the wire up to `started`, waiting up to
//! `tail`. Queue (waiting), link (serialising) and wire (propagating) stay three things, in one array.

use super::pool::RecordId;
use perhop_core::units::Time;

/// A packet on the link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// Start of its transmission; [`Time::MAX`] while unknown.
    pub starts: Time,
    /// Arrival at the other end.
    pub delivers: Time,
    /// The packet.
    pub record: RecordId,
    /// Bytes that the queue counts.
    pub size: u32,
}

/// In place of a record's index: the packet was dropped when its transmission was due to begin.
const DISCARDED: RecordId = RecordId::MAX;

/// The ring. Positions only increase; the array's size is a power of two.
#[derive(Clone, Debug)]
pub struct Fifo {
    entries: Vec<Entry>,
    head: usize,
    started: usize,
    tail: usize,
    waiting_bytes: u64,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { entries: vec![Entry::default(); 8], head: 0, started: 0, tail: 0, waiting_bytes: 0 }
    }
}

impl Fifo {
    #[inline]
    fn slot(&self, position: usize) -> usize {
        position & (self.entries.len() - 1)
    }

    /// Appends a waiting packet.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        if self.tail - self.head == self.entries.len() {
            self.grow();
        }
        let slot = self.slot(self.tail);
        self.entries[slot] = entry;
        self.tail += 1;
        self.waiting_bytes += u64::from(entry.size);
    }

    #[cold]
    fn grow(&mut self) {
        let all: Vec<_> = (self.head..self.tail).map(|p| self.entries[self.slot(p)]).collect();
        let room = all.len() * 2;
        (self.started, self.tail, self.head) = (self.started - self.head, all.len(), 0);
        self.entries = all;
        self.entries.resize(room, Entry::default());
    }

    /// Counts as started every packet whose transmission has begun by `now`.
    #[inline]
    pub fn start_until(&mut self, now: Time) {
        while self.started < self.tail {
            let entry = self.entries[self.slot(self.started)];
            if entry.starts > now {
                break;
            }
            self.started += 1;
            self.waiting_bytes -= u64::from(entry.size);
        }
    }

    /// The first waiting packet.
    #[inline]
    pub fn first_waiting(&mut self) -> Option<&mut Entry> {
        let slot = self.slot(self.started);
        (self.started < self.tail).then(|| &mut self.entries[slot])
    }

    /// Removes the first waiting packet (an AQM dropped it at its departure).
    pub fn discard_first_waiting(&mut self) {
        let slot = self.slot(self.started);
        self.waiting_bytes -= u64::from(self.entries[slot].size);
        self.entries[slot].record = DISCARDED;
        self.started += 1;
        if self.head + 1 == self.started {
            self.head = self.started;
        }
    }

    /// The packet that is delivered next, if its transmission has a time.
    #[inline]
    pub fn next_delivery(&self) -> Option<Time> {
        let entry = &self.entries[self.slot(self.head)];
        (self.head < self.tail && entry.starts != Time::MAX).then_some(entry.delivers)
    }

    /// Removes the packet at the head.
    #[inline]
    pub fn pop(&mut self) -> Entry {
        let entry = self.entries[self.slot(self.head)];
        if self.started == self.head {
            self.started += 1;
            self.waiting_bytes -= u64::from(entry.size);
        }
        self.head += 1;
        while self.head < self.started && self.entries[self.slot(self.head)].record == DISCARDED {
            self.head += 1;
        }
        entry
    }

    /// Packets waiting.
    #[inline]
    pub fn waiting(&self) -> u32 {
        (self.tail - self.started) as u32
    }

    /// Bytes waiting.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Whether the link is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// All packets on the link, head first.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        (self.head..self.tail).map(|p| &self.entries[self.slot(p)]).filter(|e| e.record != DISCARDED)
    }
}
