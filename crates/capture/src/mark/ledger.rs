//! The counts of a capture's run.

use std::collections::BTreeMap;

use perhop_core::count::Count;
use perhop_edge::{Direction, Passed, Unread};

use super::codes::Codes;

/// IP packets longer than this were never on an Ethernet: the capture was taken before segmentation or after merging.
pub(crate) const ETHERNET_MTU: u32 = 1500;

/// Counts of a whole capture; bytes as meters count them.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) forward: Count,
    pub(crate) reverse: Count,
    pub(crate) dropped: Count,
    /// Forward packets that no conditioner colours, by colour on arrival.
    pub(crate) unmatched: [Count; 4],
    /// Forward packets by code point, on leaving.
    pub(crate) after: [Count; 64],
    /// By the octet of code point and ECN, on arrival: of forward direction, and of the other.
    pub(crate) octets: [[Count; 256]; 2],
    /// All packets by flow and by code point and ECN, on arrival.
    pub(crate) codes: Codes,
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
            after: [Count::default(); 64],
            octets: [[Count::default(); 256]; 2],
            codes: Codes::default(),
            unread: BTreeMap::new(),
            untimed: 0,
            long: 0,
            longest: 0,
        }
    }
}

impl Ledger {
    /// A packet of either direction that went through the edge.
    #[inline]
    pub(crate) fn passed(&mut self, it: &Passed<'_>) {
        let headers = it.arrived.headers;
        self.ip_length(headers.lengths.l3);
        let octet = headers.dscp << 2 | headers.ecn;
        self.codes.add(it.came.flow, octet);
        self.octets[it.arrived.direction as usize][usize::from(octet)].add(it.came.size);
        match it.arrived.direction {
            Direction::Forward => self.forward(it),
            Direction::Reverse => self.reverse.add(it.came.size),
        }
    }

    fn forward(&mut self, it: &Passed<'_>) {
        let size = it.came.size;
        self.forward.add(size);
        if it.taken.is_none() {
            self.unmatched[it.came.colour.index()].add(size);
        }
        match it.left {
            Some(left) => self.after[usize::from(left.dscp.get())].add(size),
            None => self.dropped.add(size),
        }
    }

    /// Forward packets of a code point on arrival, by ECN's two bits.
    pub(crate) fn before(&self, dscp: u8) -> &[Count] {
        &self.octets[Direction::Forward as usize][usize::from(dscp) << 2..][..4]
    }

    /// An IP packet of `length` bytes, header included.
    fn ip_length(&mut self, length: u32) {
        self.long += u64::from(length > ETHERNET_MTU);
        self.longest = self.longest.max(length);
    }
}
