//! Token bucket: exact credit at a constant rate up to a depth.
//!
//! Source: RFC 2697 section 3, with a lazy refill.
//!
//! Credit is kept in bits x ns ("nanobits"): a rate of R bit/s earns exactly R of them in each
//! nanosecond, so a refill is one multiplication, without division, and nothing is ever rounded.
//! A 64-bit counter holds 2.3 GB.

use crate::params::ParamError;
use crate::units::{BitRate, Bytes, NS_PER_S, Time};
use std::hint::select_unpredictable;

const NANOBITS_PER_BYTE: u64 = 8 * NS_PER_S;

/// What changes in a bucket: hosts with many buckets of one rate and depth keep only this of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    credit: u64,
    filled: Time,
}

/// What `size` bytes cost, in nanobits; more than any bucket holds if that does not fit.
#[inline]
const fn cost(size: u32) -> u64 {
    (size as u64).saturating_mul(NANOBITS_PER_BYTE)
}

/// `n as f64`, as x86-64 does it fastest: a signed number is converted by one instruction, any other by six. Halved, its last bit
/// kept, a large one is rounded as it would be whole.
#[inline(always)]
const fn real(n: u64) -> f64 {
    if n >> 63 == 0 { n as i64 as f64 } else { 2.0 * (n >> 1 | n & 1) as i64 as f64 }
}

/// Tokens for bytes, without a rate: depth, credit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    depth: u64,
    credit: u64,
}

impl Store {
    /// Full.
    ///
    /// # Errors
    /// As [`TokenBucket::full`].
    pub fn full(depth: Bytes, field: &'static str) -> Result<Self, ParamError> {
        let deepest = TokenBucket::DEEPEST;
        if depth > deepest {
            let message = format!("`{field}` is {depth}");
            return Err(ParamError::new(field, "E201", message).help(format!("must be at most {deepest}")));
        }
        let depth = depth.get() * NANOBITS_PER_BYTE;
        Ok(Self { depth, credit: depth })
    }

    /// Adds `nanobits` as far as they fit; returns the rest (which fills srTCM's second bucket).
    #[inline]
    pub fn pour(&mut self, nanobits: u64) -> u64 {
        let fits = nanobits.min(self.depth - self.credit);
        self.credit += fits;
        nanobits - fits
    }

    /// Adds `nanobits` as far as they fit. Without a branch, as a bucket near its brim is full at random: from which credit on it
    /// is full is known before the credit is.
    #[inline]
    fn fill(&mut self, nanobits: u64) {
        let brim = self.depth - nanobits.min(self.depth);
        self.credit = select_unpredictable(self.credit >= brim, self.depth, self.credit.wrapping_add(nanobits));
    }

    /// Whether `size` bytes are there. Exactly enough is enough.
    #[inline]
    pub fn has(&self, size: u32) -> bool {
        self.credit >= cost(size)
    }

    /// Whether more than `size` bytes are there: RFC 4115 requires some to be left.
    #[inline]
    pub fn exceeds(&self, size: u32) -> bool {
        self.credit > cost(size)
    }

    /// Takes `size` bytes if they are there.
    #[inline]
    pub fn spend(&mut self, size: u32) -> bool {
        let has = self.has(size);
        if has {
            self.credit -= cost(size);
        }
        has
    }

    /// Level in bytes.
    #[inline]
    pub fn level(&self) -> f64 {
        real(self.credit) / NANOBITS_PER_BYTE as f64
    }

    /// Depth in bytes.
    pub fn depth(&self) -> f64 {
        self.depth as f64 / NANOBITS_PER_BYTE as f64
    }

    /// Takes the depth of `next`, keeping the credit as far as it fits.
    pub fn become_as(&mut self, next: &Self) {
        *self = Self { depth: next.depth, credit: self.credit.min(next.depth) };
    }
}

/// Tokens for bytes at a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    store: Store,
    rate: u64,
    filled: Time,
}

impl TokenBucket {
    /// Deepest bucket that the counter holds.
    pub const DEEPEST: Bytes = Bytes::new(u64::MAX / NANOBITS_PER_BYTE);

    /// A full bucket.
    ///
    /// # Errors
    /// E201 on `field` when it is deeper than [`TokenBucket::DEEPEST`].
    pub fn full(rate: BitRate, depth: Bytes, field: &'static str) -> Result<Self, ParamError> {
        Ok(Self { store: Store::full(depth, field)?, rate: rate.bit_s(), filled: Time::ZERO })
    }

    /// Adds the credit earned since the last refill; returns what did not fit, in nanobits.
    #[inline]
    pub fn refill(&mut self, now: Time) -> u64 {
        let earned = self.rate.saturating_mul(now.since(self.filled).ns());
        self.filled = self.filled.max(now);
        self.store.pour(earned)
    }

    /// Refills, then takes `size` bytes if that many are there. Exactly enough is enough.
    #[inline]
    pub fn take(&mut self, now: Time, size: u32) -> bool {
        self.refill(now);
        self.spend(size)
    }

    /// As [`Store::has`], after the last refill.
    #[inline]
    pub fn has(&self, size: u32) -> bool {
        self.store.has(size)
    }

    /// As [`Store::exceeds`], after the last refill.
    #[inline]
    pub fn exceeds(&self, size: u32) -> bool {
        self.store.exceeds(size)
    }

    /// As [`Store::spend`], after the last refill.
    #[inline]
    pub fn spend(&mut self, size: u32) -> bool {
        self.store.spend(size)
    }

    /// What it holds, and since when.
    #[inline]
    pub const fn fill(&self) -> Fill {
        Fill { credit: self.store.credit, filled: self.filled }
    }

    /// A bucket of this rate and depth that holds what another of these held.
    #[inline]
    pub const fn holding(&self, Fill { credit, filled }: Fill) -> Self {
        Self { store: Store { depth: self.store.depth, credit }, rate: self.rate, filled }
    }

    /// Level in bytes at the last refill.
    #[inline]
    pub fn level(&self) -> f64 {
        self.store.level()
    }

    /// Level in bytes as it would be at `now`; changes nothing.
    pub fn level_at(&self, now: Time) -> f64 {
        let mut probe = self.clone();
        probe.refill(now);
        probe.level()
    }

    /// Depth in bytes.
    pub fn depth(&self) -> f64 {
        self.store.depth()
    }

    /// Takes a new rate and depth at `now`, keeping the credit as far as it fits.
    ///
    /// # Errors
    /// As [`TokenBucket::full`].
    pub fn retune(&mut self, now: Time, rate: BitRate, depth: Bytes, field: &'static str) -> Result<(), ParamError> {
        let next = Self::full(rate, depth, field)?;
        self.become_at(now, next);
        Ok(())
    }

    /// As [`Store::pour`], after the last refill.
    pub fn pour(&mut self, nanobits: u64) -> u64 {
        self.store.pour(nanobits)
    }

    /// Its tokens alone.
    pub fn without_rate(self) -> Store {
        self.store
    }

    /// Takes the rate and depth of `next` at `now`, keeping the credit as far as it fits.
    pub fn become_at(&mut self, now: Time, next: Self) {
        self.refill(now);
        self.store.become_as(&next.store);
        self.rate = next.rate;
    }
}

/// Two token buckets with one clock, in 56 bytes: those of a meter with two rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBuckets {
    stores: [Store; 2],
    rates: [u64; 2],
    filled: Time,
}

impl TokenBuckets {
    /// Of two buckets that have not been used.
    pub fn new(first: TokenBucket, second: TokenBucket) -> Self {
        Self { rates: [first.rate, second.rate], stores: [first.store, second.store], filled: Time::ZERO }
    }

    /// Adds the credit earned since the last refill; both buckets.
    #[inline]
    pub fn refill(&mut self, now: Time) -> &mut [Store; 2] {
        let since = now.since(self.filled).ns();
        self.filled = self.filled.max(now);
        for (store, rate) in self.stores.iter_mut().zip(self.rates) {
            store.fill(rate.saturating_mul(since));
        }
        &mut self.stores
    }

    /// Levels in bytes as they would be at `now`; changes nothing.
    pub fn levels_at(&self, now: Time) -> [f64; 2] {
        self.clone().refill(now).each_ref().map(Store::level)
    }

    /// Takes the rates and depths of `next` at `now`, keeping the credit as far as it fits.
    pub fn become_at(&mut self, now: Time, next: &Self) {
        self.refill(now);
        for (store, next) in self.stores.iter_mut().zip(&next.stores) {
            store.become_as(next);
        }
        self.rates = next.rates;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same bucket with every quantity an exact fraction: credit in bits times 10^9, in 128 bits, refilled
    /// step by step.
    struct Rational {
        rate: u128,
        depth: u128,
        credit: u128,
        at: u128,
    }

    impl Rational {
        fn take(&mut self, now: u64, size: u32) -> bool {
            let earned = self.rate * (u128::from(now) - self.at);
            self.credit = (self.credit + earned).min(self.depth);
            self.at = u128::from(now);
            let cost = u128::from(size) * 8 * 1_000_000_000;
            let has = self.credit >= cost;
            if has {
                self.credit -= cost;
            }
            has
        }
    }

    proptest! {
        #[test]
        fn agrees_with_exact_arithmetic(
            rate in 1u64..10_000_000_000, depth in 1u64..2_000_000_000,
            steps in prop::collection::vec((0u64..3_000_000_000, 1u32..65_536), 1..200),
        ) {
            let mut fast = TokenBucket::full(BitRate::bps(rate), Bytes::new(depth), "cbs").unwrap();
            let full = u128::from(depth) * 8 * 1_000_000_000;
            let mut slow = Rational { rate: rate.into(), depth: full, credit: full, at: 0 };
            let mut now = 0;
            for (gap, size) in steps {
                now += gap;
                prop_assert_eq!(fast.take(Time::from_ns(now), size), slow.take(now, size));
                prop_assert_eq!(u128::from(fast.store.credit), slow.credit);
            }
        }
    }

    proptest! {
        /// Full or not, at any rate and depth, in any order of use.
        #[test]
        fn buckets_with_one_clock_are_as_two(
            rates in [0u64..10_000_000_000, 1u64..10_000_000_000], depths in [0u64..100_000, 1u64..2_000_000_000],
            steps in prop::collection::vec((0u64..1_000_000, 1u32..65_536, 0usize..2), 1..200),
        ) {
            let bucket = |i: usize| TokenBucket::full(BitRate::bps(rates[i]), Bytes::new(depths[i]), "cbs").unwrap();
            let (mut both, mut apart) = (TokenBuckets::new(bucket(0), bucket(1)), [bucket(0), bucket(1)]);
            let mut now = 0;
            for (gap, size, from) in steps {
                now += gap;
                let stores = both.refill(Time::from_ns(now));
                apart.iter_mut().for_each(|bucket| _ = bucket.refill(Time::from_ns(now)));
                prop_assert_eq!(stores[from].spend(size), apart[from].spend(size));
                prop_assert_eq!(&*stores, &apart.clone().map(TokenBucket::without_rate));
            }
        }
    }

    /// The product of size and bits x ns would not fit into 64 bits; the deepest bucket is smaller than that.
    #[test]
    fn a_packet_beyond_the_counter_finds_no_tokens() {
        let bucket = TokenBucket::full(BitRate::mbps(1), TokenBucket::DEEPEST, "cbs").unwrap();
        for size in [TokenBucket::DEEPEST.get() as u32 + 1, u32::MAX] {
            assert!(!bucket.has(size) && !bucket.exceeds(size), "{size}");
        }
        assert!(bucket.has(TokenBucket::DEEPEST.get() as u32));
    }

    #[test]
    fn a_bucket_too_deep_is_refused() {
        let too_deep = Bytes::new(TokenBucket::DEEPEST.get() + 1);
        assert!(TokenBucket::full(BitRate::mbps(1), too_deep, "cbs").is_err());
        assert!(TokenBucket::full(BitRate::mbps(1), TokenBucket::DEEPEST, "cbs").is_ok());
    }
}
