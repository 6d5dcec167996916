//! Token bucket: exact credit at a constant rate up to a depth.
//!
//! Source: RFC 2697 section 3, with a lazy refill.
//!
//! Credit is kept in bits x ns ("nanobits"): a rate of R bit/s earns exactly R of them in each
//! nanosecond, so a refill is one multiplication, without division, and nothing is ever rounded.
//! A 64-bit counter holds 2.3 GB.

use crate::params::ParamError;
use crate::units::{BitRate, Bytes, NS_PER_S, Time};

const NANOBITS_PER_BYTE: u64 = 8 * NS_PER_S;

/// Tokens for bytes: fill rate, depth, credit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    rate: u64,
    depth: u64,
    credit: u64,
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
        if depth > Self::DEEPEST {
            let message = format!("`{field}` is {depth}");
            return Err(ParamError::new(field, "E201", message).help(format!("at most {}", Self::DEEPEST)));
        }
        let depth = depth.get() * NANOBITS_PER_BYTE;
        Ok(Self { rate: rate.bit_s(), depth, credit: depth, filled: Time::ZERO })
    }

    /// Adds the credit earned since the last refill; returns what did not fit, in nanobits.
    #[inline]
    pub fn refill(&mut self, now: Time) -> u64 {
        let earned = self.rate.saturating_mul(now.since(self.filled).ns());
        self.filled = self.filled.max(now);
        self.pour(earned)
    }

    /// Adds `nanobits` as far as they fit; returns the rest (which fills srTCM's second bucket).
    #[inline]
    pub fn pour(&mut self, nanobits: u64) -> u64 {
        let fits = nanobits.min(self.depth - self.credit);
        self.credit += fits;
        nanobits - fits
    }

    /// Refills, then takes `size` bytes if that many are there. Exactly enough is enough.
    #[inline]
    pub fn take(&mut self, now: Time, size: u32) -> bool {
        self.refill(now);
        self.spend(size)
    }

    /// Whether `size` bytes are there (after the last refill).
    #[inline]
    pub fn has(&self, size: u32) -> bool {
        self.credit >= u64::from(size).saturating_mul(NANOBITS_PER_BYTE)
    }

    /// Whether more than `size` bytes are there (after the last refill): RFC 4115 requires some to be left.
    #[inline]
    pub fn exceeds(&self, size: u32) -> bool {
        self.credit > u64::from(size).saturating_mul(NANOBITS_PER_BYTE)
    }

    /// Takes `size` bytes if they are there (after the last refill).
    #[inline]
    pub fn spend(&mut self, size: u32) -> bool {
        let has = self.has(size);
        if has {
            self.credit -= u64::from(size) * NANOBITS_PER_BYTE;
        }
        has
    }

    /// Level in bytes at the last refill.
    pub fn level(&self) -> f64 {
        self.credit as f64 / NANOBITS_PER_BYTE as f64
    }

    /// Level in bytes as it would be at `now`; changes nothing.
    pub fn level_at(&self, now: Time) -> f64 {
        let mut probe = self.clone();
        probe.refill(now);
        probe.level()
    }

    /// Depth in bytes.
    pub fn depth(&self) -> f64 {
        self.depth as f64 / NANOBITS_PER_BYTE as f64
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

    /// The same, filled by [`TokenBucket::pour`] alone.
    pub fn without_rate(self) -> Self {
        Self { rate: 0, ..self }
    }

    /// Takes the rate and depth of `next` at `now`, keeping the credit as far as it fits.
    pub fn become_at(&mut self, now: Time, next: Self) {
        self.refill(now);
        *self = Self { credit: self.credit.min(next.depth), filled: self.filled, ..next };
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
                prop_assert_eq!(u128::from(fast.credit), slow.credit);
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
