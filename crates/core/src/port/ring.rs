//! What waits in one queue, first come first; on a line whose future is known also what has been sent since and is not
//! yet taken.
//!
//! From the front: sent, [`Ring::started`] of them, then waiting. Queue and line stay two things, in one array: a packet
//! is written once and read once, however long the line.

use super::{Sent, Transmission};
use crate::count::Count;
use crate::units::Time;
use std::collections::VecDeque;

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

#[derive(Clone, Debug)]
pub(super) struct Ring<H> {
    entries: VecDeque<Entry<H>>,
    started: usize,
    waiting_bytes: u64,
}

impl<H: Copy> Ring<H> {
    pub(super) fn new() -> Self {
        Self { entries: VecDeque::with_capacity(8), started: 0, waiting_bytes: 0 }
    }

    /// Appends a waiting packet.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry<H>) {
        self.waiting_bytes += u64::from(entry.size);
        self.entries.push_back(entry);
    }

    /// Counts as sent every packet whose transmission has begun by `now`.
    #[inline]
    pub(super) fn start_until(&mut self, now: Time) {
        while let Some(entry) = self.entries.get(self.started).filter(|entry| entry.sent.starts <= now) {
            self.started += 1;
            self.waiting_bytes -= u64::from(entry.size);
        }
    }

    /// The part counted as waiting that will have been sent by `now`.
    pub(super) fn begun(&self, now: Time) -> Count {
        let mut begun = Count::default();
        let waiting = self.entries.iter().skip(self.started);
        waiting.take_while(|entry| entry.sent.starts <= now).for_each(|entry| begun.add(entry.size));
        begun
    }

    /// The first waiting packet.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entry<H>> {
        self.entries.get(self.started)
    }

    /// Takes the packet at the front, sent or not.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Entry<H>> {
        let entry = self.entries.pop_front()?;
        if self.started > 0 {
            self.started -= 1;
        } else {
            self.waiting_bytes -= u64::from(entry.size);
        }
        Some(entry)
    }

    /// The packet at the front, if its transmission has a time.
    #[inline]
    pub(super) fn front(&self) -> Option<Sent<H>> {
        self.entries.front().map(Entry::sent)
    }

    /// Packets waiting.
    #[inline]
    pub(super) fn waiting(&self) -> u32 {
        (self.entries.len() - self.started) as u32
    }

    /// Bytes waiting.
    #[inline]
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// All packets, front first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<H>> {
        self.entries.iter()
    }
}

impl<H: Copy> Entry<H> {
    #[inline]
    pub(super) fn sent(&self) -> Sent<H> {
        Sent { handle: self.handle, arrived: self.arrived, sent: self.sent }
    }
}
