//! The bytes that packets owe to buckets of some rate: what a bucket must hold for each of them to find its tokens.

use perhop_core::units::{BitRate, NS_PER_S, Time};

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

/// Rounded up to whole bytes.
fn bytes(owed: u128) -> u64 {
    owed.div_ceil(NANOBITS_PER_BYTE) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::estimate::TokenBucket;
    use perhop_core::units::Bytes;
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
