//! What came of each flow and when, by flow number.
//!
//! Memory: 60 bytes for a flow, 36 more if some of it exceeded a contract. A flow with more than three outcomes, more than
//! 4 GB or a time beyond 136 years costs 250 bytes instead.

use perhop_core::count::Count;
use perhop_core::packet::{Colour, FlowId};
use perhop_core::units::Time;

use super::load::Load;
use super::packed::{PackedLoad, PackedOutcomes};

/// A flow's packets by what became of them: by colour on leaving, and in the last place those that were dropped.
pub(crate) const DROPPED: usize = 4;

/// All that is counted of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FlowSums {
    /// Its packets over time.
    pub(crate) offered: Load,
    /// Those that exceeded the contract of the instance that took them.
    pub(crate) excess: Load,
    /// By colour on leaving, then those dropped by a conditioner or an action.
    pub(crate) outcomes: [Count; 5],
    /// It is return traffic from outside.
    pub(crate) reverse: bool,
}

/// A packet, and what came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) now: Time,
    pub(crate) flow: FlowId,
    pub(crate) size: u32,
    /// On arrival.
    pub(crate) colour: Colour,
    /// A place in [`FlowSums::outcomes`].
    pub(crate) outcome: usize,
    pub(crate) reverse: bool,
}

/// Which contract has all of a flow's packets so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sole {
    /// There were no packets.
    #[default]
    Open,
    /// That of the conditioner in this place.
    Of(u8),
    /// None has.
    None,
}

/// In `beyond`: nothing exceeded a contract.
const NONE: u32 = u32::MAX;

/// A flow.
#[derive(Clone, Copy, Debug)]
struct Record {
    offered: PackedLoad,
    /// Where its excess is, or if it is `wide` all of it.
    beyond: u32,
    outcomes: PackedOutcomes,
    sole: Sole,
    reverse: bool,
    wide: bool,
}

const _: () = assert!(size_of::<Record>() <= 64);

impl Record {
    const EMPTY: Self = Self {
        offered: PackedLoad::EMPTY,
        beyond: NONE,
        outcomes: PackedOutcomes::EMPTY,
        sole: Sole::Open,
        reverse: false,
        wide: false,
    };

    /// Counts a packet; false, and nothing happens: there is no room.
    #[inline]
    fn add(&mut self, it: &Outcome) -> bool {
        let (offered, outcomes) = (self.offered.with(it.now, it.size), self.outcomes.with(it.outcome, it.size));
        let (false, Some(offered), Some(outcomes)) = (self.wide, offered, outcomes) else { return false };
        (self.offered, self.outcomes) = (offered, outcomes);
        true
    }
}

/// All flows of a capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    flows: Vec<Record>,
    excess: Vec<PackedLoad>,
    wide: Vec<FlowSums>,
}

impl Records {
    /// How many there are: all numbers up to the last flow that had a packet.
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    /// Counts a packet.
    pub(crate) fn add(&mut self, it: &Outcome) {
        let record = self.slot(it.flow);
        record.reverse |= it.reverse;
        if record.add(it) {
            return;
        }
        let sums = self.widened(it.flow);
        sums.offered.add(it.now, it.size);
        sums.outcomes[it.outcome].add(it.size);
    }

    /// Counts a packet in excess.
    pub(crate) fn exceed(&mut self, now: Time, flow: FlowId, size: u32) {
        let Record { beyond, wide, .. } = *self.slot(flow);
        if wide {
            return self.wide[beyond as usize].excess.add(now, size);
        }
        let before = if beyond == NONE { PackedLoad::EMPTY } else { self.excess[beyond as usize] };
        match before.with(now, size) {
            None => self.widened(flow).excess.add(now, size),
            Some(packed) if beyond == NONE => {
                self.flows[flow.0 as usize].beyond = self.excess.len() as u32;
                self.excess.push(packed);
            }
            Some(packed) => self.excess[beyond as usize] = packed,
        }
    }

    /// Which contract has all of a flow's packets.
    pub(crate) fn sole(&mut self, flow: FlowId) -> &mut Sole {
        &mut self.slot(flow).sole
    }

    /// The place of the conditioner whose contract for this flow has all of its packets.
    pub(crate) fn sole_of(&self, flow: FlowId) -> Option<usize> {
        match self.flows.get(flow.0 as usize)?.sole {
            Sole::Of(place) => Some(place.into()),
            Sole::Open | Sole::None => None,
        }
    }

    /// Everything about a flow; nothing if it had no packet.
    pub(crate) fn sums(&self, flow: FlowId) -> FlowSums {
        let Some(it) = self.flows.get(flow.0 as usize) else { return FlowSums::default() };
        if it.wide {
            return FlowSums { reverse: it.reverse, ..self.wide[it.beyond as usize] };
        }
        let excess = self.excess.get(it.beyond as usize).map(PackedLoad::load).unwrap_or_default();
        let outcomes = it.outcomes.counts(it.offered.count());
        FlowSums { offered: it.offered.load(), excess, outcomes, reverse: it.reverse }
    }

    /// A flow's packets.
    pub(crate) fn count(&self, flow: FlowId) -> Count {
        match self.flows.get(flow.0 as usize) {
            Some(it) if it.wide => self.wide[it.beyond as usize].offered.count,
            Some(it) => it.offered.count(),
            None => Count::default(),
        }
    }

    /// Whether a flow is return traffic.
    pub(crate) fn is_reverse(&self, flow: FlowId) -> bool {
        self.flows.get(flow.0 as usize).is_some_and(|it| it.reverse)
    }

    /// Its packets that exceeded a contract.
    pub(crate) fn excess(&self, flow: FlowId) -> Load {
        match self.flows.get(flow.0 as usize) {
            Some(it) if it.wide => self.wide[it.beyond as usize].excess,
            Some(it) => self.excess.get(it.beyond as usize).map(PackedLoad::load).unwrap_or_default(),
            None => Load::default(),
        }
    }

    #[inline]
    fn slot(&mut self, flow: FlowId) -> &mut Record {
        let slot = flow.0 as usize;
        if self.flows.len() <= slot {
            self.flows.resize(slot + 1, Record::EMPTY);
        }
        &mut self.flows[slot]
    }

    /// A flow that is not packed, from now on. The room of its excess is lost.
    fn widened(&mut self, flow: FlowId) -> &mut FlowSums {
        if !self.slot(flow).wide {
            self.wide.push(self.sums(flow));
            let beyond = self.wide.len() as u32 - 1;
            let record = self.slot(flow);
            (record.wide, record.beyond) = (true, beyond);
        }
        let beyond = self.slot(flow).beyond;
        &mut self.wide[beyond as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::units::Span;
    use proptest::prelude::*;

    proptest! {
        /// As plain sums, whatever overflows.
        #[test]
        fn as_plain_sums(packets in prop::collection::vec(
            (0u64..3_000_000_000, 0u32..3, prop_oneof![4 => 0u32..9000, 1 => any::<u32>()], 0usize..5, any::<bool>()), 1..80))
        {
            let (mut records, mut plain, mut now) = (Records::default(), [FlowSums::default(); 3], Time::ZERO);
            for (gap, flow, size, outcome, exceeds) in packets {
                now += Span::from_ns(gap);
                let id = FlowId(flow);
                let reverse = flow == 1;
                records.add(&Outcome { now, flow: id, size, colour: Colour::Green, outcome, reverse });
                let it = &mut plain[flow as usize];
                it.offered.add(now, size);
                it.outcomes[outcome].add(size);
                it.reverse = reverse;
                if exceeds {
                    records.exceed(now, id, size);
                    it.excess.add(now, size);
                }
                prop_assert_eq!(records.sums(id), *it);
                prop_assert_eq!(records.count(id), it.offered.count);
                prop_assert_eq!(records.is_reverse(id), it.reverse);
            }
            for (flow, it) in (0..).zip(&plain) {
                prop_assert_eq!(&records.sums(FlowId(flow)), it);
            }
        }
    }
}
