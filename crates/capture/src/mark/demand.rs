//! What traffic demands of a contract: the smallest bucket with which all of it would conform.
//!
//! At rate CIR the bytes of any interval [s, t] must not exceed CIR (t - s) + CBS. So the smallest CBS is the largest
//! excess of the bytes over CIR (t - s), the packets at both ends included, which one number follows:
//!
//! ```text
//! owed = max(0, owed - CIR gap) + B;  CBS = max owed
//! ```
//!
//! It is exact: kept in bits x ns, like the bucket itself.
//!
//! Decision: docs/decisions/081-excess-is-what-a-bucket-refuses.md

use perhop_core::conditioner::Conditioner as _;
use perhop_core::conditioner::meter::Tokens;
use perhop_core::packet::Colour;
use perhop_core::params::Tree;
use perhop_core::port::edge::{Per, StageSpec};
use perhop_core::units::{self, BitRate, Bytes, NS_PER_S, Time};

use super::second::Second;

const NANOBITS_PER_BYTE: u128 = 8 * NS_PER_S as u128;

/// The bytes owed to a bucket of some rate, in 20 bytes: there is one for each instance.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    /// In 96 bits, the highest first: 2^63 bytes.
    owed: [u32; 3],
    /// In ns, the higher half first.
    at: [u32; 2],
}

impl Burst {
    /// Counts a packet; what is then owed.
    fn add(&mut self, rate: BitRate, now: Time, size: u32) -> u128 {
        let [high, low] = self.at.map(u64::from);
        let earned = u128::from(rate.bit_s()) * u128::from(now.since(Time::from_ns(high << 32 | low)).ns());
        let [high, middle, low] = self.owed.map(u128::from);
        let owed = (high << 64 | middle << 32 | low).saturating_sub(earned) + u128::from(size) * NANOBITS_PER_BYTE;
        self.owed = [(owed >> 64) as u32, (owed >> 32) as u32, owed as u32];
        self.at = [(now.ns() >> 32) as u32, now.ns() as u32];
        owed
    }
}

/// The bytes owed to the buckets of a rate, by instance.
#[derive(Clone, Debug, Default)]
pub(super) struct Owed {
    bursts: Vec<Burst>,
    /// The most that was owed to one.
    most: Option<u128>,
}

impl Owed {
    /// Counts a packet at an instance.
    pub(super) fn add(&mut self, instance: usize, rate: BitRate, (now, size): (Time, u32)) {
        if self.bursts.len() <= instance {
            self.bursts.resize(instance + 1, Burst::default());
        }
        self.most = self.most.max(Some(self.bursts[instance].add(rate, now, size)));
    }

    /// Nothing is owed to an instance any longer.
    pub(super) fn forget(&mut self, instance: usize) {
        self.bursts.get_mut(instance).into_iter().for_each(|it| *it = Burst::default());
    }

    /// The smallest depth at which every packet finds as many tokens as it has bytes; `None` without packets.
    pub(super) fn enough(&self) -> Option<u64> {
        self.most.map(bytes)
    }

    /// The same where it has to find more.
    pub(super) fn more_than_enough(&self) -> Option<u64> {
        self.most.map(|most| bytes(most + 1))
    }
}

/// The demand on one conditioner of the policy, over all its instances.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// What shares an instance.
    pub(crate) per: Per,
    /// What the rate counts of a packet.
    pub(crate) tokens: Tokens,
    /// By colour on arrival: whether such packets are held to the committed rate.
    pub(crate) meters: [bool; 4],
    /// Committed rate in bits, of conditioners that have one.
    pub(crate) cir: Option<BitRate>,
    /// Committed burst, of conditioners that have one.
    pub(crate) cbs: Option<Bytes>,
    /// Of those that are held to the rate: packets larger than the whole bucket.
    pub(crate) larger_than_cbs: u64,
    /// The longest of them, bytes.
    pub(crate) largest: u32,
    owed: Owed,
    /// The second bucket, of meters with two rates.
    pub(super) second: Option<Second>,
}

impl Demand {
    pub(crate) fn new(spec: &StageSpec) -> Self {
        let cir: Option<BitRate> = value(spec, "cir").and_then(|text| text.parse().ok());
        let cbs = value(spec, "cbs").and_then(|text| text.parse::<units::Burst>().ok());
        let built = spec.params.build(&spec.scope).ok();
        Self {
            per: spec.per,
            cir,
            cbs: cir.zip(cbs).and_then(|(cir, cbs)| cbs.tokens(cir.into())),
            tokens: built.as_ref().map(|it| it.tokens()).unwrap_or_default(),
            meters: Colour::ALL.map(|colour| built.as_ref().is_none_or(|it| it.meters(colour))),
            second: Second::new(spec),
            ..Self::default()
        }
    }

    /// Counts a packet that arrived with its colour at the conditioner's `instance`.
    pub(crate) fn add(&mut self, instance: usize, now: Time, (colour, size): (Colour, u32)) {
        if let Some(second) = &mut self.second {
            second.add(instance, now, (colour, self.tokens.of(size)));
        }
        if !self.meters[colour.index()] {
            return;
        }
        self.largest = self.largest.max(size);
        let size = self.tokens.of(size);
        self.larger_than_cbs += u64::from(self.cbs.is_some_and(|cbs| u64::from(size) > cbs.get()));
        if let Some(cir) = self.cir {
            self.owed.add(instance, cir, (now, size));
        }
    }

    /// Nothing is owed to an instance any longer.
    pub(crate) fn forget(&mut self, instance: usize) {
        self.owed.forget(instance);
        self.second.iter_mut().for_each(|it| it.forget(instance));
    }

    /// The smallest CBS at which all packets of every instance would conform, of those that are held to the rate; `None`
    /// without a CIR or without such packets.
    pub(crate) fn conforming_cbs(&self) -> Option<u64> {
        self.owed.enough()
    }
}

/// Rounded up to whole bytes.
fn bytes(owed: u128) -> u64 {
    owed.div_ceil(NANOBITS_PER_BYTE) as u64
}

/// The effective value of a parameter, as its text.
pub(super) fn value(spec: &StageSpec, name: &str) -> Option<String> {
    let mut shown = Vec::new();
    spec.params.show(&mut shown);
    shown.into_iter().find_map(|(key, tree)| match tree {
        Tree::Text(text) if key == name => Some(text),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::estimate::TokenBucket;
    use proptest::prelude::*;

    fn reds(rate: BitRate, depth: u64, load: &[(u64, u32)]) -> usize {
        let mut bucket = TokenBucket::full(rate, Bytes::new(depth), "cbs").unwrap();
        let mut now = 0;
        let takes = load.iter().map(|(gap, size)| {
            now += gap;
            bucket.take(Time::from_ns(now), *size)
        });
        takes.filter(|taken| !taken).count()
    }

    proptest! {
        /// In a real bucket of that depth all packets are green; in one a byte smaller some are not.
        #[test]
        fn is_the_smallest_bucket(
            rate in 1u64..1_000_000_000,
            load in prop::collection::vec((0u64..50_000_000, 1u32..9_000), 1..100),
        ) {
            let rate = BitRate::bps(rate);
            let mut burst = Burst::default();
            let (mut now, mut most) = (0, 0);
            for (gap, size) in &load {
                now += gap;
                most = most.max(burst.add(rate, Time::from_ns(now), *size));
            }
            prop_assert_eq!(reds(rate, bytes(most), &load), 0);
            prop_assert!(reds(rate, bytes(most) - 1, &load) > 0);
        }
    }
}
