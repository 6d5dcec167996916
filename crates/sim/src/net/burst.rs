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

use super::pool::{Pool, RecordId};
use perhop_core::count::Count;
use perhop_core::port::Fates;
use perhop_core::verdict::{Fate, Reason};

/// Segments of bursts that a port met and did not count: those behind the first. The burst has their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beyond(pub Fates);

impl Beyond {
    /// The burst's own fate when it arrives at a queue.
    pub fn arrive(&mut self, fate: Fate, more: Count) {
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
    pub(super) fn gather(&mut self, first: RecordId) {
        let mut next = self.next(first);
        while let Some(segment) = next {
            let bytes = std::mem::take(&mut self.get_mut(segment).packet.size);
            self.get_mut(first).packet.size += bytes;
            next = self.next(segment);
        }
    }

    /// Each segment gets its own bytes again, and the mark of the first. Nothing happens to a packet that is no burst.
    pub(super) fn scatter(&mut self, first: RecordId) {
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
