//! Sums over a flow in few bytes: captures hold a million flows, most of them of a few packets.
//!
//! Packets and bytes have 32 bits, times all of theirs. What does not fit is not packed: the caller keeps it as it is.
//!
//! Decision: docs/decisions/079-flows-of-a-capture.md

use perhop_core::count::Count;
use perhop_core::units::{NS_PER_S, Time};

use super::load::{Extent, Load, Second};

/// 64 bits that need not lie on a multiple of 8 bytes.
type Halves = [u32; 2];

const fn halves(whole: u64) -> Halves {
    [(whole >> 32) as u32, whole as u32]
}

const fn whole([high, low]: Halves) -> u64 {
    (high as u64) << 32 | low as u64
}

/// A [`Load`] in 36 bytes. The second it is in is that of its last packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PackedLoad {
    first: Halves,
    last: Halves,
    packets: u32,
    bytes: u32,
    second: u32,
    worst: u32,
    worst_number: u32,
}

impl PackedLoad {
    /// No packets.
    pub(super) const EMPTY: Self =
        Self { first: [0; 2], last: [0; 2], packets: 0, bytes: 0, second: 0, worst: 0, worst_number: 0 };

    /// `None`: it is too large.
    #[inline]
    pub(super) fn new(load: &Load) -> Option<Self> {
        // no second has more bytes than all of them
        let (Ok(packets), Ok(bytes), Ok(worst_number)) =
            (load.count.packets.try_into(), load.count.bytes.try_into(), load.worst.number.try_into())
        else {
            return None;
        };
        let extent = load.extent.unwrap_or(Extent { first: Time::ZERO, last: Time::ZERO });
        let (first, last) = (halves(extent.first.ns()), halves(extent.last.ns()));
        let (second, worst) = (load.second.bytes as u32, load.worst.bytes as u32);
        Some(Self { first, last, packets, bytes, second, worst, worst_number })
    }

    #[inline]
    pub(super) fn load(&self) -> Load {
        let [first, last] = [self.first, self.last].map(|ns| Time::from_ns(whole(ns)));
        Load {
            count: self.count(),
            extent: (self.packets > 0).then_some(Extent { first, last }),
            second: Second { number: last.ns() / NS_PER_S, bytes: self.second.into() },
            worst: Second { number: self.worst_number.into(), bytes: self.worst.into() },
        }
    }

    /// The same with another packet; `None`: it is too large then.
    #[inline]
    pub(super) fn with(&self, now: Time, size: u32) -> Option<Self> {
        let mut load = self.load();
        load.add(now, size);
        Self::new(&load)
    }

    #[inline]
    pub(super) fn count(&self) -> Count {
        Count { packets: self.packets.into(), bytes: self.bytes.into() }
    }
}

/// Three of a flow's outcomes: the second and the third with their packets and bytes, the first with the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedOutcomes {
    others: [Halves; 2],
    /// Numbers of the three, 4 bits each, the first in the lowest; [`PackedOutcomes::NONE`] where there is none.
    which: u16,
}

impl PackedOutcomes {
    const NONE: u16 = 0xf;

    /// No packets.
    pub(super) const EMPTY: Self = Self { others: [[0; 2]; 2], which: 0xfff };

    /// The same with another packet; `None`: that is a fourth outcome, or it is too large.
    #[inline]
    pub(super) fn with(mut self, outcome: usize, size: u32) -> Option<Self> {
        let place =
            (0..3).find(|place| matches!(self.which(*place), it if it == outcome as u16 || it == Self::NONE))?;
        if self.which(place) == Self::NONE {
            let shift = 4 * place;
            self.which = self.which & !(Self::NONE << shift) | (outcome as u16) << shift;
        }
        if place > 0 {
            let [packets, bytes] = &mut self.others[place - 1];
            (*packets, *bytes) = (packets.checked_add(1)?, bytes.checked_add(size)?);
        }
        Some(self)
    }

    /// Packets by outcome, of `total` in all.
    pub(super) fn counts(&self, total: Count) -> [Count; 5] {
        let others = self.others.map(|[packets, bytes]| Count { packets: packets.into(), bytes: bytes.into() });
        let first = total - others.into_iter().sum();
        let mut counts = [Count::default(); 5];
        for (place, count) in [first, others[0], others[1]].into_iter().enumerate() {
            if let Some(it) = counts.get_mut(usize::from(self.which(place))) {
                *it = count;
            }
        }
        counts
    }

    #[inline]
    fn which(&self, place: usize) -> u16 {
        self.which >> (4 * place) & Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::units::Span;
    use proptest::prelude::*;

    /// Gaps of up to three seconds, sizes that overflow 32 bits after some packets, outcomes.
    fn packets() -> impl Strategy<Value = Vec<(u64, u32, usize)>> {
        let gap = prop_oneof![Just(0), 0u64..3_000_000_000, Just(1 << 33)];
        let size = prop_oneof![4 => 0u32..9000, 1 => any::<u32>()];
        prop::collection::vec((gap, size, 0usize..5), 0..20)
    }

    proptest! {
        /// As long as it fits, packing changes nothing; when it does not, it says so.
        #[test]
        fn a_packed_load_is_the_load(packets in packets(), begin in prop_oneof![Just(0), any::<u32>().prop_map(u64::from), Just(u64::MAX / 2)]) {
            let (mut now, mut load, mut packed) = (Time::from_ns(begin), Load::default(), Some(PackedLoad::EMPTY));
            for (gap, size, _) in packets {
                now += Span::from_ns(gap);
                load.add(now, size);
                packed = packed.and_then(|it| it.with(now, size));
                let fits = load.count.bytes <= u32::MAX.into() && now.ns() / NS_PER_S <= u32::MAX.into();
                prop_assert_eq!(packed.is_some(), fits);
                prop_assert!(packed.is_none_or(|it| it.load() == load), "{:?} {:?}", packed.map(|it| it.load()), load);
                if packed.is_none() { return Ok(()); }
            }
        }

        #[test]
        fn packed_outcomes_are_the_outcomes(packets in packets()) {
            let (mut counts, mut packed) = ([Count::default(); 5], Some(PackedOutcomes::EMPTY));
            for (_, size, outcome) in packets {
                counts[outcome].add(size);
                let total: Count = counts.into_iter().sum();
                packed = packed.and_then(|it| it.with(outcome, size));
                let kinds = counts.iter().filter(|it| it.packets > 0).count();
                prop_assert!(packed.is_some() || kinds > 3 || total.bytes > u32::MAX.into());
                prop_assert!(packed.is_none_or(|it| kinds <= 3 && it.counts(total) == counts));
                if packed.is_none() { return Ok(()); }
            }
        }
    }
}
