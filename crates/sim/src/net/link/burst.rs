//! A burst at the port of its host: one packet there, and its segments on the wire.
//!
//! Source: Linux 6.12. A host hands the segments of a burst to its queue as one packet (GSO), and what leaves the queue is
//! taken apart before the wire, by the kernel or by the network card. The packet counts the bytes that its segments have on
//! the wire, headers included (`qdisc_pkt_len_init`).
//!
//! - The first segment stands for the burst: while it waits, it has the bytes of all, and the others have none.
//! - Limits in packets, quanta and AQMs meet one packet. What drops or marks it does so to all segments.
//! - A queue may ask for the segments one by one ([`Port::takes_apart`](perhop_core::port::Port::takes_apart)).
//! - Counts of links and flows are those of the wire: [`Beyond`] has what a port did not count, the segments behind the first.
//!   Those of a port's queues are of the packets that they met.
//!
//! Deviations from Linux: a port with conditioners takes bursts apart before them, and so does one that has nothing but a
//! drop-tail queue, whose limit in packets counts segments ([`Port::keeps_bursts`](perhop_core::port::Port::keeps_bursts)).
//!
//! Decision: docs/decisions/116-a-burst-is-one-packet-in-its-host.md

use super::{Held, Link, Wakes};
use crate::net::{Pool, RecordId};
use perhop_core::conditioner::Passage;
use perhop_core::count::Count;
use perhop_core::port::{Fates, Leaving, Sent};
use perhop_core::units::Time;
use perhop_core::verdict::{Fate, Reason};

/// Segments of bursts that a port met and did not count: those behind the first. The burst has their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beyond(pub Fates);

impl Beyond {
    /// The burst's own fate when it arrives at a queue.
    fn arrive(&mut self, fate: Fate, more: Count) {
        self.0.arrived += more;
        match fate {
            Fate::Dropped(reason) => return self.0.dropped[reason as usize] += more,
            Fate::Marked => self.0.marked += more,
            Fate::Queued => {}
        }
        self.0.queued += more;
    }

    /// The burst is dropped when its turn has come.
    pub fn dropped_at_head(&mut self, reason: Reason, more: Count) {
        self.0.dropped[reason as usize] += more;
        self.0.dropped_at_head += more;
    }
}

impl Pool {
    /// Segments behind the first of a burst.
    pub(super) fn beyond(&self, first: RecordId) -> Count {
        Count { packets: self.burst(first).count() as u64 - 1, bytes: 0 }
    }

    /// The first segment of a burst gets the bytes of all.
    fn gather(&mut self, first: RecordId) {
        let mut next = self.next(first);
        while let Some(segment) = next {
            let bytes = std::mem::take(&mut self.get_mut(segment).packet.size);
            self.get_mut(first).packet.size += bytes;
            next = self.next(segment);
        }
    }

    /// Each segment gets its own bytes again, and the mark of the first. Nothing happens to a packet that is no burst.
    pub(in crate::net) fn scatter(&mut self, first: RecordId) {
        let segments = self.burst(first).count() as u32;
        let wire: u32 = self.burst(first).map(|it| self.get(it).bytes()).sum();
        let of_burst = self.get(first).packet;
        let counted = (of_burst.size - wire) / segments;
        let mut next = Some(first);
        while let Some(segment) = next {
            let it = self.get_mut(segment);
            (it.packet.size, it.packet.ecn) = (it.bytes() + counted, of_burst.ecn);
            next = self.next(segment);
        }
    }
}

impl Link {
    /// A burst comes to its host's port; whether to [`Link::begin`].
    ///
    /// # Errors
    /// Why it was dropped.
    pub(super) fn arrive_burst(
        &mut self,
        at: &Passage<'_>,
        first: RecordId,
        pool: &mut Pool,
        dropped: &mut Vec<(RecordId, Reason)>,
    ) -> Result<bool, Reason> {
        let more = pool.beyond(first);
        pool.gather(first);
        let packet = &mut pool.get_mut(first).packet;
        let mut fate = Fate::Queued;
        if self.port.takes_apart(packet) {
            self.arrive_apart(at, first, pool, dropped);
        } else {
            fate = self.port.arrive(at, packet, first);
            let ecn = packet.ecn;
            self.beyond.at(packet.class, packet.colour).arrive(fate, more);
            // What the burst is marked with from now on, it is marked with at its departure.
            pool.next(first)
                .filter(|_| fate.stays())
                .into_iter()
                .for_each(|second| pool.get_mut(second).packet.ecn = ecn);
        }
        let evicts = self.port.evicts();
        if evicts {
            self.port.evict(at.now, &mut Held { pool, dropped, beyond: &mut self.beyond });
        }
        match fate {
            Fate::Dropped(reason) => Err(reason),
            Fate::Queued | Fate::Marked => Ok(!self.transmitting || evicts || !dropped.is_empty()),
        }
    }

    /// The transmission of a burst begins: of one segment behind the other.
    pub(super) fn begin_burst(&mut self, now: Time, leaving: &Leaving<RecordId>, pool: &mut Pool) -> Wakes {
        let (first, arrived) = (leaving.handle, leaving.arrived);
        let (packet, more) = (pool.get(first).packet, pool.beyond(first));
        if pool.next(first).is_some_and(|second| pool.get(second).packet.ecn != packet.ecn) {
            self.beyond.at(packet.class, packet.colour).0.marked += more;
        }
        pool.scatter(first);
        let alone = self.wire.is_empty();
        for handle in pool.burst(first) {
            let sent = self.serialiser.send(now, pool.get(handle).bytes());
            self.wire.push_back(Sent { handle, arrived, sent });
            self.ends = sent.ends;
        }
        self.transmitting = true;
        self.port.busy_until(leaving, self.ends);
        if let Some(waits) = self.waits.get_mut(leaving.queue) {
            waits.observe(now.since(arrived).ns());
        }
        let delivery = if alone { self.wire.front().map(|sent| sent.sent.ends + self.delay) } else { None };
        Wakes { delivery, transmit_done: Some(self.ends), departure: Some(first), ..Wakes::default() }
    }

    /// The segments of a burst wait one by one.
    fn arrive_apart(
        &mut self,
        at: &Passage<'_>,
        first: RecordId,
        pool: &mut Pool,
        dropped: &mut Vec<(RecordId, Reason)>,
    ) {
        pool.scatter(first);
        let mut next = Some(first);
        while let Some(segment) = next {
            next = pool.part(segment);
            if let Fate::Dropped(reason) = self.port.arrive(at, &mut pool.get_mut(segment).packet, segment) {
                dropped.push((segment, reason));
            }
        }
    }
}
