//! What waits in one queue, first come, first served; on a line whose future is known, also what has been sent since
//! and not yet taken.
//!
//! Packets up to `started` no longer wait, those up to `taken` have gone; `tail` is behind the last. Queue and line share one
//! array, so a packet is written and read once, however long the line. Where a packet is taken ahead of its time, `taken` is
//! ahead of `started`: the entry stays because it still waits by the clock.

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

/// The ring. Positions only increase, modulo 2^32, until it is empty; the array's size is a power of two.
#[derive(Clone, Debug)]
pub(super) struct Ring<H> {
    entries: Box<[Entry<H>]>,
    taken: u32,
    started: u32,
    tail: u32,
    waiting_bytes: u64,
}

impl<H: Copy> Ring<H> {
    pub(super) fn new() -> Self {
        Self { entries: Box::default(), taken: 0, started: 0, tail: 0, waiting_bytes: 0 }
    }

    /// Where in the array a position is.
    #[inline]
    fn slot(&self, position: u32) -> usize {
        position as usize & (self.entries.len() - 1)
    }

    #[inline]
    fn at(&self, position: u32) -> &Entry<H> {
        &self.entries[self.slot(position)]
    }

    /// Entries in use: of packets that are there, sent or not, and of those that still wait by the clock.
    #[inline]
    fn len(&self) -> u32 {
        self.tail.wrapping_sub(self.taken).max(self.waiting())
    }

    /// Whether there is no packet, sent or not.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.tail
    }

    /// Appends a waiting packet.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry<H>) {
        let len = self.len();
        if len == 0 {
            // From the start of the array: a queue that is mostly empty stays in one line of the cache.
            (self.taken, self.started, self.tail) = (0, 0, 0);
        }
        if len as usize == self.entries.len() {
            self.grow(entry.handle);
        }
        let slot = self.slot(self.tail);
        self.entries[slot] = entry;
        self.tail = self.tail.wrapping_add(1);
        self.waiting_bytes += u64::from(entry.size);
    }

    // Without the entry, which need not lie in memory for it.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, handle: H) {
        let filler = Entry { handle, size: 0, arrived: Time::ZERO, sent: Transmission::NEVER };
        let mut all: Vec<_> = Vec::with_capacity((self.entries.len() * 2).max(2));
        let first = self.tail.wrapping_sub(self.len());
        all.extend(self.from(first).copied());
        [self.taken, self.started, self.tail] = [self.taken, self.started, self.tail].map(|at| at.wrapping_sub(first));
        all.resize(all.capacity(), filler);
        self.entries = all.into();
    }

    /// Counts every packet as sent.
    #[inline]
    pub(super) fn start_all(&mut self) {
        (self.started, self.waiting_bytes) = (self.tail, 0);
    }

    /// Counts as sent every packet whose transmission has begun by `now`.
    #[inline]
    pub(super) fn start_until(&mut self, now: Time) {
        while self.started != self.tail {
            let entry = self.at(self.started);
            if entry.sent.starts > now {
                break;
            }
            self.waiting_bytes -= u64::from(entry.size);
            self.started = self.started.wrapping_add(1);
        }
    }

    /// Of what counts as waiting, what will have been sent by `now`.
    pub(super) fn begun(&self, now: Time) -> Count {
        let mut begun = Count::default();
        let waiting = self.from(self.started);
        waiting.take_while(|entry| entry.sent.starts <= now).for_each(|entry| begun.add(entry.size));
        begun
    }

    /// The first waiting packet.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entry<H>> {
        (self.started != self.tail).then(|| self.at(self.started))
    }

    /// The packet at the front, sent or not.
    #[inline]
    pub(super) fn front(&self) -> Option<&Entry<H>> {
        (!self.is_empty()).then(|| self.at(self.taken))
    }

    /// Takes the first waiting packet, where none has been sent that has not been taken.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Entry<H>> {
        debug_assert!(self.taken == self.started, "what was sent has to be taken first");
        let front = self.take_sent()?;
        self.started = self.taken;
        self.waiting_bytes -= u64::from(front.size);
        Some(front)
    }

    /// Takes the packet at the front, which may still wait by the clock.
    #[inline]
    pub(super) fn take_sent(&mut self) -> Option<Entry<H>> {
        let front = *self.front()?;
        self.taken = self.taken.wrapping_add(1);
        Some(front)
    }

    /// The waiting packet at this place from the first.
    pub(super) fn nth(&self, place: u32) -> Option<&Entry<H>> {
        (place < self.waiting()).then(|| self.at(self.started.wrapping_add(place)))
    }

    /// Takes the waiting packet at this place from the first, where none has been sent that has not been taken.
    pub(super) fn remove(&mut self, place: u32) -> Option<Entry<H>> {
        if place == 0 {
            return self.take();
        }
        let entry = *self.nth(place)?;
        for at in place + 1..self.waiting() {
            let [to, from] = [at - 1, at].map(|place| self.slot(self.started.wrapping_add(place)));
            self.entries[to] = self.entries[from];
        }
        self.waiting_bytes -= u64::from(entry.size);
        self.tail = self.tail.wrapping_sub(1);
        Some(entry)
    }

    /// Packets waiting.
    #[inline]
    pub(super) const fn waiting(&self) -> u32 {
        self.tail.wrapping_sub(self.started)
    }

    /// Bytes waiting.
    #[inline]
    pub(super) const fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// All packets, front first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<H>> {
        self.from(self.taken)
    }

    /// The packets from a position on.
    fn from(&self, position: u32) -> impl Iterator<Item = &Entry<H>> {
        (0..self.tail.wrapping_sub(position)).map(move |ahead| self.at(position.wrapping_add(ahead)))
    }
}

impl<H: Copy> Entry<H> {
    #[inline]
    pub(super) fn sent(&self) -> Sent<H> {
        Sent { handle: self.handle, arrived: self.arrived, sent: self.sent }
    }
}
