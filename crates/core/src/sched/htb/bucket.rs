//! Tokens of a class at one of its two rates. They may be owed.

use crate::arithmetic::{Arithmetic, Tariff};
use crate::units::{BitRate, Bytes, NS_PER_S};

/// What is owed at most, and the longest time that is counted at once: a minute of the rate.
pub(super) const LONGEST_NS: u64 = 60 * NS_PER_S;

/// Tokens: nanobits, or nanoseconds of the rate as Linux counts them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    tariff: Tariff,
    per_ns: i128,
    depth: i128,
    tokens: i128,
}

impl Bucket {
    pub(super) fn full(rate: BitRate, burst: Bytes, arithmetic: Arithmetic) -> Self {
        let tariff = Tariff::new(rate, arithmetic);
        let depth = i128::from(arithmetic.depth(rate, burst));
        Self { tariff, per_ns: tariff.earned(1).into(), depth, tokens: depth }
    }

    fn after(&self, ns: u64) -> i128 {
        self.tokens + self.per_ns * i128::from(ns)
    }

    /// Whether anything is owed, `ns` after the last change.
    pub(super) fn owes(&self, ns: u64) -> bool {
        self.after(ns) < 0
    }

    /// Nanoseconds until nothing is owed, `ns` after the last change; 0 if nothing is.
    pub(super) fn owes_for(&self, ns: u64) -> u64 {
        let owed = (-self.after(ns)).max(0);
        match u64::try_from(owed) {
            Ok(owed) => owed.div_ceil(self.per_ns as u64),
            Err(_) => ((owed + self.per_ns - 1) / self.per_ns) as u64,
        }
    }

    /// A packet that counts `bytes` is paid for, `ns` after the last change.
    pub(super) fn spend(&mut self, ns: u64, bytes: u32) {
        let least = 1 - self.per_ns * i128::from(LONGEST_NS);
        let left = self.after(ns).min(self.depth) - i128::from(self.tariff.cost(bytes.into()));
        self.tokens = left.max(least);
    }

    /// `ns` pass while others pay.
    pub(super) fn earn(&mut self, ns: u64) {
        self.tokens = self.after(ns);
    }

    /// Tokens when they were last counted, in tc's ticks of 64 ns of the rate.
    pub(super) fn ticks(&self) -> f64 {
        let ticks = self.tokens.div_euclid(self.per_ns) >> 6;
        ticks.clamp(i32::MIN.into(), i32::MAX.into()) as f64
    }

    /// Takes rate and depth of `new`, and keeps the tokens as far as they fit.
    pub(super) fn retune(&mut self, new: &Self) {
        *self = Self { tokens: self.tokens.min(new.depth), ..*new };
    }
}
