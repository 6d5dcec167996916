//! Counts of a link by colour, from what became of its packets.

use perhop_core::count::Count;
use perhop_core::packet::{Colour, Packet};
use perhop_core::port::Fates;
use perhop_core::verdict::Reason;
use perhop_sim::record::{ArrivalRow, Delays, HopRow, PortFate};

/// One colour.
#[derive(Clone, Debug, Default)]
struct Hop {
    policed: Count,
    fates: Fates,
    delivered: Count,
    lost: Count,
    waits: Delays,
}

/// A link; all packets are of one class.
#[derive(Clone, Debug, Default)]
pub(super) struct Hops([Hop; 4]);

impl Hops {
    /// A packet came to the queue.
    pub(super) fn arrived(&mut self, packet: &Packet) {
        let fates = &mut self.0[packet.colour.index()].fates;
        fates.arrived.add(packet.size);
        fates.queued.add(packet.size);
    }

    /// A packet that is about to be dropped had been let in.
    pub(super) fn at_head(&mut self, colour: Colour, size: u32) {
        let fates = &mut self.0[colour.index()].fates;
        fates.queued.add(size);
        fates.dropped_at_head.add(size);
    }

    /// What became of a packet that has left or was dropped; how long it waited.
    pub(super) fn add(&mut self, packet: &Packet, fate: PortFate, wait_ns: Option<u64>) {
        let (size, hop) = (packet.size, &mut self.0[packet.colour.index()]);
        wait_ns.into_iter().for_each(|ns| hop.waits.observe(ns));
        match fate {
            PortFate::Dropped(Reason::Policer) => return hop.policed.add(size),
            PortFate::Dropped(Reason::Wire) => hop.lost.add(size),
            PortFate::Dropped(reason) => {
                hop.fates.arrived.add(size);
                return hop.fates.dropped[reason as usize].add(size);
            }
            _ => hop.delivered.add(size),
        }
        if fate == PortFate::Marked {
            hop.fates.marked.add(size);
        }
        self.arrived(packet);
    }

    /// Rows of those that were seen.
    pub(super) fn rows(&self, link: usize) -> impl Iterator<Item = HopRow> + use<'_> {
        let row = move |(colour, it): (Colour, &Hop)| HopRow {
            link,
            class: 0,
            colour,
            policed: it.policed,
            fates: it.fates,
            delivered: it.delivered,
            lost: it.lost,
            wait: it.waits.quantiles(),
        };
        self.seen().map(row)
    }

    fn seen(&self) -> impl Iterator<Item = (Colour, &Hop)> {
        Colour::ALL.into_iter().zip(&self.0).filter(|(_, it)| it.fates.arrived.packets + it.policed.packets > 0)
    }

    /// What has passed, by colour. The delay is the time here.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = ArrivalRow> {
        let row = |(colour, it): (Colour, &Hop)| ArrivalRow {
            class: 0,
            colour,
            delivered: it.delivered,
            delay: it.waits.quantiles(),
            jitter: None,
            histogram: Vec::new(),
        };
        self.seen().filter(|(_, it)| it.delivered.packets > 0).map(row)
    }
}
