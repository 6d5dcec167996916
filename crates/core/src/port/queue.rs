//! A queue of a port, with its own gate.

use super::ring::{Entry, Ring};
use super::{Buffers, Fates, Gate, Leaving, MOST_HEAD_DROPS, Sent, Transmission};
use crate::aqm::{Aqm as _, AqmParams, Backlog, Departure};
use crate::count::Count;
use crate::counter::Below;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::ParamError;
use crate::scope::Scope;
use crate::units::Time;
use crate::verdict::{Fate, Reason, Verdict};

/// What waits without the first of these, in a queue of which a packet is in transmission until `busy_until`.
#[inline]
fn behind<H: Copy>(ring: &Ring<H>, busy_until: Time, now: Time, first: Count) -> Backlog {
    let packets = ring.waiting() - first.packets as u32;
    let idle = busy_until <= now && packets == 0;
    Backlog {
        packets,
        bytes: ring.waiting_bytes() - first.bytes,
        idle_since: idle.then_some(busy_until),
        ..Backlog::default()
    }
}

fn one(size: u32) -> Count {
    Count { packets: 1, bytes: size.into() }
}

/// A first-in first-out queue behind a gate.
#[derive(Clone, Debug)]
// In this order: what every packet asks for lies together.
#[repr(C)]
pub struct Queue<H> {
    pub(super) ring: Ring<H>,
    /// Until when a packet of it was or will be in transmission.
    busy_until: Time,
    pub(super) gate: Gate,
    pub(super) sent: Count,
    /// Which queue of the specification it is; the flows of a scheduler are one.
    row: usize,
}

impl<H: Copy> Queue<H> {
    pub(super) fn new(gate: Gate) -> Self {
        Self { gate, ring: Ring::new(), busy_until: Time::ZERO, sent: Count::default(), row: 0 }
    }

    /// The queue number `row` of its specification.
    pub(super) fn in_row(self, row: usize) -> Self {
        Self { row, ..self }
    }

    /// As its AQM sees it at `now`. It is idle while nothing waits in it and nothing from it is in transmission,
    /// whatever the port's other queues send.
    pub fn backlog(&self, now: Time) -> Backlog {
        self.behind(now, self.ring.begun(now))
    }

    /// The backlog without the first of these.
    #[inline]
    fn behind(&self, now: Time, first: Count) -> Backlog {
        behind(&self.ring, self.busy_until, now, first)
    }

    /// A packet arrives.
    #[inline]
    pub(super) fn arrive(&mut self, now: Time, packet: &mut Packet, handle: H) -> Fate {
        let Self { gate, ring, busy_until, .. } = self;
        let fate = gate.arrive(now, || behind(ring, *busy_until, now, Count::default()), packet);
        self.keep(now, packet, handle, fate)
    }

    /// As [`Queue::arrive`], of a packet of which those above it in a tree said `above`.
    #[inline]
    pub(super) fn arrive_below(&mut self, now: Time, packet: &mut Packet, handle: H, above: Verdict) -> Fate {
        let Self { gate, ring, busy_until, .. } = self;
        let fate = gate.arrive_below(now, || behind(ring, *busy_until, now, Count::default()), packet, above);
        self.keep(now, packet, handle, fate)
    }

    #[inline]
    fn keep(&mut self, now: Time, packet: &Packet, handle: H, fate: Fate) -> Fate {
        if fate.stays() {
            self.ring.push(Entry { handle, size: packet.size, arrived: now, sent: Transmission::NEVER });
        }
        fate
    }

    #[inline(always)]
    pub(super) fn arrive_ahead(
        &mut self,
        now: Time,
        packet: &mut Packet,
        handle: H,
        line: impl FnOnce(Time) -> Transmission,
    ) -> Result<Option<Time>, Reason> {
        // Most often, on most links, the line is free: no packet has to be looked at.
        if self.busy_until <= now {
            self.ring.start_all()
        } else {
            self.ring.start_until(now)
        }
        let Self { gate, ring, busy_until, .. } = self;
        let fate = gate.arrive(now, || behind(ring, *busy_until, now, Count::default()), packet);
        if let Fate::Dropped(reason) = fate {
            return Err(reason);
        }
        let sent = line(now);
        let first = ring.is_empty().then_some(sent.ends);
        *busy_until = sent.ends;
        ring.push(Entry { handle, size: packet.size, arrived: now, sent });
        Ok(first)
    }

    /// The packet at the head.
    #[inline]
    pub(super) fn first(&self) -> Option<Entry<H>> {
        self.ring.first().copied()
    }

    /// What waits without the packet at the head.
    pub(super) fn without_first(&self, now: Time) -> Backlog {
        self.ring.first().map_or_else(Backlog::default, |first| self.behind(now, one(first.size)))
    }

    /// The packet that is sent next; those that the AQM drops instead go back to `host`.
    pub(super) fn next(&mut self, now: Time, needs: Needs, host: &mut impl Buffers<H>) -> Option<Leaving<H>> {
        let mut drops = 0;
        loop {
            let first = self.first()?;
            if needs.contains(Needs::DEPARTURES) {
                let packet = host.packet(first.handle);
                if let Fate::Dropped(reason) = self.depart(now, packet, drops < MOST_HEAD_DROPS, Verdict::Pass) {
                    drops += 1;
                    host.dropped(first.handle, reason);
                    continue;
                }
            }
            self.take();
            return Some(Leaving { handle: first.handle, arrived: first.arrived, queue: 0, leaf: 0 });
        }
    }

    /// A waiting packet that has to go now that another has come, by its place from the head: one that its AQM has drawn, or
    /// the first, where the packet that arrives is let in and the one at the head goes.
    pub(super) fn surplus(&mut self) -> Option<(u32, Reason)> {
        if self.gate.is_overfull(self.ring.waiting(), self.ring.waiting_bytes()) {
            return Some((0, Reason::Overflow));
        }
        self.gate.evicts()
    }

    /// The waiting packet at this place from the head.
    pub(super) fn nth(&self, place: u32) -> Option<Entry<H>> {
        self.ring.nth(place).copied()
    }

    /// The packet at the tail.
    pub(super) fn last(&self) -> Option<Entry<H>> {
        self.nth(self.ring.waiting().checked_sub(1)?)
    }

    /// What waits, first come first.
    pub(super) fn waiting_handles(&self) -> impl ExactSizeIterator<Item = H> {
        (0..self.ring.waiting() as usize).map(|place| self.ring.nth(place as u32).expect("it waits").handle)
    }

    /// The waiting packet at this place is dropped.
    pub(super) fn evict(&mut self, now: Time, packet: &mut Packet, place: u32, reason: Reason) {
        self.gate.evict(now, self.behind(now, one(packet.size)), packet, reason);
        self.ring.remove(place);
    }

    /// Drops what has to go since a packet has arrived.
    pub(super) fn make_room(&mut self, now: Time, host: &mut impl Buffers<H>) {
        while let Some((place, reason)) = self.surplus() {
            let Some(gone) = self.nth(place) else { return };
            self.evict(now, host.packet(gone.handle), place, reason);
            host.dropped(gone.handle, reason);
        }
    }

    /// Asks the AQM about the packet at the head. If it is dropped it is gone, and the queue was not idle until now.
    pub(super) fn depart(&mut self, now: Time, packet: &mut Packet, may_drop: bool, above: Verdict) -> Fate {
        let Some(&Entry { arrived, size, .. }) = self.ring.first() else { return Fate::Queued };
        let at = Departure { now, arrived, backlog: self.behind(now, one(size)) };
        let fate = self.gate.depart(at, packet, may_drop, above);
        if !fate.stays() {
            self.ring.take();
            if arrived < now {
                self.busy_until = self.busy_until.max(now);
            }
        }
        fate
    }

    /// The packet at the head leaves to be sent.
    #[inline]
    pub(super) fn take(&mut self) {
        let taken = self.ring.take().map(|entry| entry.size);
        taken.into_iter().for_each(|size| self.sent.add(size));
    }

    pub(super) fn busy_until(&mut self, ends: Time) {
        self.busy_until = ends;
    }

    #[inline(always)]
    pub(super) fn take_sent(&mut self) -> (Sent<H>, Option<Time>) {
        let Some(taken) = self.ring.take_sent() else { panic!("nothing was sent") };
        (taken.sent(), self.ring.front().map(|next| next.sent.ends))
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        self.ring.start_until(now);
        let backlog = self.behind(now, Count::default());
        self.gate.on_timer(now, &backlog);
    }

    pub(super) fn retune(&mut self, now: Time, params: &AqmParams, scope: &Scope) -> Result<(), ParamError> {
        self.gate.retune(now, params, scope)
    }

    pub(super) fn reserve(&mut self) {
        self.gate.reserve();
    }

    /// Which queue of the specification it is; the flows of a scheduler are one.
    #[inline]
    pub fn row(&self) -> usize {
        self.row
    }

    /// AQM, limit, counts.
    #[inline]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The packets that left by [`super::Port::next`].
    pub fn sent(&self) -> Count {
        self.sent
    }

    /// What waits.
    pub fn waiting(&self) -> Count {
        Count { packets: u64::from(self.ring.waiting()), bytes: self.ring.waiting_bytes() }
    }

    /// What has passed it, what has not, and what of that its parent has taken out.
    pub(super) fn below(&self, now: Time, kept: Count) -> Below {
        let fates = self.gate.fates().values().fold(Fates::default(), |sum, fates| sum.plus(fates));
        let Backlog { packets, bytes, .. } = self.backlog(now);
        let waiting = Count { packets: packets.into(), bytes };
        let at_tail = fates.lost().packets - fates.dropped_at_head.packets;
        let for_others = if self.gate.drops_at_head() { fates.dropped[Reason::Overflow as usize].packets } else { 0 };
        let below = Below { fates, waiting, kept, refused: at_tail + for_others, overlimits: None };
        Below { overlimits: Some(self.gate.aqm().overlimits(&below)), ..below }
    }

    /// On a line whose future is known: when the first packet that has not been taken will have been sent.
    pub(super) fn sends_at(&self) -> Option<Time> {
        self.ring.front().map(|first| first.sent.ends)
    }

    /// All it holds, first come first, and when each one's transmission begins, [`Time::MAX`] if that is unknown. On a line
    /// whose future is known, what is sent and not yet taken comes first.
    pub fn held(&self) -> impl Iterator<Item = (H, Time)> {
        self.ring.iter().map(|entry| (entry.handle, entry.sent.starts))
    }
}
