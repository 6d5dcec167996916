//! Code points and ECN of each flow's packets as they came, by flow number.
//!
//! Memory: 16 bytes a flow. A flow with more than three kinds, or more than 4 billion packets of one, has the rest elsewhere.

use std::collections::BTreeMap;

use perhop_core::packet::FlowId;

/// Kinds that a flow has room for.
const ROOM: usize = 3;

/// Packets by type of service (IPv4) or traffic class (IPv6).
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    packets: [u32; ROOM],
    octets: [u8; ROOM],
    used: u8,
}

impl Kinds {
    /// Counts a packet; false, and nothing happens: there is no room.
    #[inline(never)]
    fn add(&mut self, octet: u8) -> bool {
        let used = usize::from(self.used);
        let place = self.octets[..used].iter().position(|it| *it == octet).unwrap_or(used);
        let Some(more) = self.packets.get(place).and_then(|it| it.checked_add(1)) else { return false };
        (self.packets[place], self.octets[place]) = (more, octet);
        self.used += u8::from(place == used);
        true
    }
}

/// All flows of a capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Codes {
    flows: Vec<Kinds>,
    rest: BTreeMap<(FlowId, u8), u64>,
}

impl Codes {
    /// Counts a packet by the octet that holds its code point and, in the lowest two bits, ECN.
    #[inline]
    pub(crate) fn add(&mut self, flow: FlowId, octet: u8) {
        let slot = flow.0 as usize;
        if self.flows.len() <= slot {
            self.flows.resize(slot + 1, Kinds::default());
        }
        let it = &mut self.flows[slot];
        // the first kind is that of most packets
        if it.used > 0 && it.octets[0] == octet && it.packets[0] < u32::MAX {
            it.packets[0] += 1;
        } else if !it.add(octet) {
            *self.rest.entry((flow, octet)).or_insert(0) += 1;
        }
    }

    /// A flow's packets by octet.
    pub(crate) fn of(&self, flow: FlowId) -> BTreeMap<u8, u64> {
        let mut found = BTreeMap::new();
        if let Some(it) = self.flows.get(flow.0 as usize) {
            let kinds = it.octets.iter().zip(&it.packets).take(it.used.into());
            kinds.for_each(|(octet, packets)| *found.entry(*octet).or_insert(0) += u64::from(*packets));
        }
        let rest = self.rest.range((flow, 0)..=(flow, u8::MAX));
        rest.for_each(|((_, octet), packets)| *found.entry(*octet).or_insert(0) += packets);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As a plain count, however many kinds there are.
        #[test]
        fn as_a_plain_count(packets in prop::collection::vec((0u32..3, 0u8..6), 0..60)) {
            let (mut codes, mut plain) = (Codes::default(), [const { BTreeMap::new() }; 3]);
            for (flow, octet) in packets {
                codes.add(FlowId(flow), octet);
                *plain[flow as usize].entry(octet).or_insert(0) += 1;
            }
            for (flow, counts) in (0..).zip(plain) {
                prop_assert_eq!(codes.of(FlowId(flow)), counts);
            }
        }
    }

    #[test]
    fn more_than_its_room() {
        let mut codes = Codes {
            flows: vec![Kinds { packets: [u32::MAX, 0, 0], octets: [7, 0, 0], used: 1 }],
            rest: BTreeMap::new(),
        };
        codes.add(FlowId(0), 7);
        assert_eq!(codes.of(FlowId(0)), BTreeMap::from([(7, 1 << 32)]));
    }
}
