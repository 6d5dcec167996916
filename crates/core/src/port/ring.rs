//! What waits in one queue, first come, first served; on a line whose future is known, also what has been sent since
//! and not yet taken.
//!
//! From the front: sent up to `started`, waiting up to `tail`. Queue and line share one array, so a packet is written
//! and read once, however long the line.

use super::{Sent, Transmission};
use crate::count::Count;
use crate::units::Time;

/// A packet in the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<H> {
    pub(super) handle: H,
    /// Bytes that the queue counts.
    pub(super) size: u32,
    pub(super) arrived: Time,
    /// [`Time::MAX`] if unknown.
    pub(super) sent: Transmission,
}

/// The ring. Positions only increase; the array's size is a power of two.
#[derive(Clone, Debug)]
pub(super) struct Ring<H> {
    entries: Vec<Entry<H>>,
    head: usize,
    started: usize,
    tail: usize,
    waiting_bytes: u64,
}

impl<H: Copy> Ring<H> {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), head: 0, started: 0, tail: 0, waiting_bytes: 0 }
    }

    #[inline]
    fn at(&self, position: usize) -> &Entry<H> {
        &self.entries[position & (self.entries.len() - 1)]
    }

    /// Appends a waiting packet.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry<H>) {
        if self.tail - self.head == self.entries.len() {
            self.grow(entry);
        }
        let slot = self.tail & (self.entries.len() - 1);
        self.entries[slot] = entry;
        self.tail += 1;
        self.waiting_bytes += u64::from(entry.size);
    }

    #[cold]
    fn grow(&mut self, filler: Entry<H>) {
        let all: Vec<_> = self.iter().copied().collect();
        let room = (all.len() * 2).max(8);
        (self.started, self.tail, self.head) = (self.started - self.head, all.len(), 0);
        self.entries = all;
        self.entries.resize(room, filler);
    }

    /// Counts as sent every packet whose transmission has begun by `now`.
    #[inline]
    pub(super) fn start_until(&mut self, now: Time) {
        while self.started < self.tail {
            let entry = self.at(self.started);
            if entry.sent.starts > now {
                break;
            }
            self.waiting_bytes -= u64::from(entry.size);
            self.started += 1;
        }
    }

    /// Of what counts as waiting, what will have been sent by `now`.
    pub(super) fn begun(&self, now: Time) -> Count {
        let mut begun = Count::default();
        let waiting = (self.started..self.tail).map(|position| self.at(position));
        waiting.take_while(|entry| entry.sent.starts <= now).for_each(|entry| begun.add(entry.size));
        begun
    }

    /// The first waiting packet.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entry<H>> {
        (self.started < self.tail).then(|| self.at(self.started))
    }

    /// The packet at the front, sent or not.
    #[inline]
    pub(super) fn front(&self) -> Option<&Entry<H>> {
        (self.head < self.tail).then(|| self.at(self.head))
    }

    /// Takes the packet at the front.
    #[inline]
    pub(super) fn take(&mut self) -> Option<&Entry<H>> {
        if self.head == self.tail {
            return None;
        }
        if self.started == self.head {
            self.started += 1;
            self.waiting_bytes -= u64::from(self.at(self.head).size);
        }
        self.head += 1;
        Some(self.at(self.head - 1))
    }

    /// The last waiting packet.
    pub(super) fn last(&self) -> Option<&Entry<H>> {
        (self.started < self.tail).then(|| self.at(self.tail - 1))
    }

    /// Takes the last waiting packet.
    pub(super) fn take_last(&mut self) {
        let Some(size) = self.last().map(|last| last.size) else { return };
        self.waiting_bytes -= u64::from(size);
        self.tail -= 1;
    }

    /// Packets waiting.
    #[inline]
    pub(super) const fn waiting(&self) -> u32 {
        (self.tail - self.started) as u32
    }

    /// Bytes waiting.
    #[inline]
    pub(super) const fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// All packets, front first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<H>> {
        (self.head..self.tail).map(|position| self.at(position))
    }
}

impl<H: Copy> Entry<H> {
    #[inline]
    pub(super) fn sent(&self) -> Sent<H> {
        Sent { handle: self.handle, arrived: self.arrived, sent: self.sent }
    }
}
