//! The counts of a capture's run.

use std::collections::BTreeMap;

use perhop_core::count::Count;
use perhop_core::packet::Packet;

use crate::headers::Unread;
use crate::pump::Fate;

/// IP packets longer than this were never on an Ethernet: the capture was taken before segmentation or after merging.
pub(crate) const ETHERNET_MTU: u32 = 1500;

/// The outcome of a flow's packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowCounts {
    /// Kept, by colour on leaving.
    pub(crate) colours: [Count; 4],
    /// Dropped by a conditioner or an action.
    pub(crate) dropped: Count,
    /// It is return traffic from outside.
    pub(crate) reverse: bool,
}

/// Counts of a whole capture; bytes as meters count them.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) forward: Count,
    pub(crate) reverse: Count,
    pub(crate) dropped: Count,
    /// Forward packets that no conditioner colours, by colour on arrival.
    pub(crate) unmatched: [Count; 4],
    /// Forward packets by code point, on arrival and on leaving.
    pub(crate) before: [Count; 64],
    pub(crate) after: [Count; 64],
    pub(crate) flows: Vec<FlowCounts>,
    pub(crate) unread: BTreeMap<Unread, u64>,
    /// Readable packets without a time.
    pub(crate) untimed: u64,
    /// IP packets longer than [`ETHERNET_MTU`], and the longest, bytes.
    pub(crate) long: u64,
    pub(crate) longest: u32,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            forward: Count::default(),
            reverse: Count::default(),
            dropped: Count::default(),
            unmatched: Default::default(),
            before: [Count::default(); 64],
            after: [Count::default(); 64],
            flows: Vec::new(),
            unread: BTreeMap::new(),
            untimed: 0,
            long: 0,
            longest: 0,
        }
    }
}

impl Ledger {
    /// A packet that went through the edge: `before` it and `after`, and whether a conditioner coloured it.
    pub(crate) fn forward(&mut self, before: &Packet, after: &Packet, coloured: bool, fate: Fate) {
        let size = before.size;
        self.forward.add(size);
        self.before[usize::from(before.dscp.get())].add(size);
        if !coloured {
            self.unmatched[before.colour.index()].add(size);
        }
        let flow = self.flow(before);
        if fate == Fate::Drop {
            flow.dropped.add(size);
            self.dropped.add(size);
        } else {
            flow.colours[after.colour.index()].add(size);
            self.after[usize::from(after.dscp.get())].add(size);
        }
    }

    /// A packet of the other direction.
    pub(crate) fn reverse(&mut self, packet: &Packet) {
        self.reverse.add(packet.size);
        let flow = self.flow(packet);
        flow.reverse = true;
        flow.colours[packet.colour.index()].add(packet.size);
    }

    fn flow(&mut self, packet: &Packet) -> &mut FlowCounts {
        let slot = packet.flow.0 as usize;
        if self.flows.len() <= slot {
            self.flows.resize(slot + 1, FlowCounts::default());
        }
        &mut self.flows[slot]
    }

    /// An IP packet of `length` bytes, header included.
    pub(crate) fn ip_length(&mut self, length: u32) {
        self.long += u64::from(length > ETHERNET_MTU);
        self.longest = self.longest.max(length);
    }
}
