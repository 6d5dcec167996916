//! Linux's arithmetic of a policer: tokens are nanoseconds of the rate, and the cost of a packet is rounded down.
//!
//! Source: behaviour of act_police of Linux 6.12. Both buckets share one clock, which moves only when a packet
//! conforms. Neither bucket earns more than the burst's time at once. The peak bucket holds the cost of one MTU at
//! the peak rate.

use crate::arithmetic::{Arithmetic, Tariff};
use crate::units::{BitRate, Time};

/// A rate's price list and how many tokens its bucket holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    tariff: Tariff,
    depth: i64,
    tokens: i64,
}

impl Level {
    /// A full bucket of `depth` nanoseconds at `rate`.
    pub(super) fn full(rate: BitRate, depth: i64) -> Self {
        Self { tariff: Tariff::new(rate, Arithmetic::Linux), depth, tokens: depth }
    }

    /// A full bucket that holds what `bytes` cost at `rate`.
    pub(super) fn of(rate: BitRate, bytes: u32) -> Self {
        let depth = Tariff::new(rate, Arithmetic::Linux).cost(bytes.into());
        Self::full(rate, depth)
    }

    /// The tokens left after `earned` more and a packet of `size` bytes; below 0 if it finds too few.
    #[inline]
    fn after(&self, earned: i64, size: u32) -> i64 {
        self.tokens.saturating_add(earned).min(self.depth) - self.tariff.cost(size.into())
    }

    fn bytes_after(&self, earned: i64) -> f64 {
        self.tariff.bytes(self.after(earned, 0))
    }

    /// With the tokens of `before` in bytes, as far as they fit.
    fn keeping(self, before: &Self) -> Self {
        let same = self.tariff == before.tariff;
        let tokens = if same { before.tokens } else { self.tariff.cost(before.tariff.bytes(before.tokens) as u64) };
        Self { tokens: tokens.min(self.depth), ..self }
    }
}

/// The state of a policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Police {
    rate: Level,
    peak: Option<Level>,
    at: Time,
}

impl Police {
    pub(super) const fn new(rate: Level, peak: Option<Level>) -> Self {
        Self { rate, peak, at: Time::ZERO }
    }

    /// What was earned since the last packet that conformed.
    #[inline]
    fn earned(&self, now: Time) -> i64 {
        i64::try_from(now.since(self.at).ns()).unwrap_or(i64::MAX).min(self.rate.depth)
    }

    /// Whether a packet of `size` bytes conforms; if so it takes its tokens from both buckets.
    #[inline]
    pub(super) fn take(&mut self, now: Time, size: u32) -> bool {
        let earned = self.earned(now);
        let tokens = self.rate.after(earned, size);
        let peak = self.peak.map_or(0, |peak| peak.after(earned, size));
        let conforms = tokens >= 0 && peak >= 0;
        if conforms {
            self.at = now;
            self.rate.tokens = tokens;
            self.peak.iter_mut().for_each(|level| level.tokens = peak);
        }
        conforms
    }

    /// Takes the rates and depths of `next` at `now`, keeping the tokens as far as they fit.
    pub(super) fn become_at(&mut self, now: Time, next: Self) {
        let earned = self.earned(now);
        for level in [Some(&mut self.rate), self.peak.as_mut()].into_iter().flatten() {
            level.tokens = level.after(earned, 0);
        }
        let peak = next.peak.map(|level| self.peak.map_or(level, |before| level.keeping(&before)));
        *self = Self { rate: next.rate.keeping(&self.rate), peak, at: now };
    }

    /// Levels in bytes at `now`, of the bucket of the rate and that of the peak rate.
    pub(super) fn levels(&self, now: Time) -> (f64, Option<f64>) {
        let earned = self.earned(now);
        (self.rate.bytes_after(earned), self.peak.map(|peak| peak.bytes_after(earned)))
    }
}
