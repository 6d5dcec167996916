//! From a capture's timestamps to the time that algorithms are given.

use perhop_core::units::{Span, Time};

/// Captures that begin before this, in ns since 1970, have no real-world date: their clock starts at their own zero.
const FIRST_DAY_NS: u64 = 86_400 * 1_000_000_000;

/// Where time zero is: buckets are full and averages begin then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// As the capture's first time says: within the first day of 1970 [`Origin::Capture`], else [`Origin::FirstPacket`].
    /// So a capture written by the simulator, whose clock starts at 0, is metered at the simulator's times.
    #[default]
    Auto,
    /// At the first packet that has a time.
    FirstPacket,
    /// Where the capture's own clock has it: 1970.
    Capture,
}

/// A clock that follows the timestamps and never goes back: a packet with a timestamp earlier than a preceding one is given
/// the largest time seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    origin: Origin,
    zero_ns: Option<u64>,
    first: Option<Time>,
    now: Time,
    /// The largest timestamp.
    latest_ns: u64,
    lag: Span,
}

impl Clock {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { origin, ..Self::default() }
    }

    /// The time of a packet stamped `stamp_ns` (ns since 1970).
    pub(crate) fn at(&mut self, stamp_ns: u64) -> Time {
        let zero = *self.zero_ns.get_or_insert(match self.origin {
            Origin::Auto if stamp_ns < FIRST_DAY_NS => 0,
            Origin::Capture => 0,
            Origin::Auto | Origin::FirstPacket => stamp_ns,
        });
        self.now = self.now.max(Time::from_ns(stamp_ns.saturating_sub(zero)));
        self.latest_ns = self.latest_ns.max(stamp_ns);
        self.lag = Span::from_ns(self.latest_ns - stamp_ns);
        self.first = self.first.or(Some(self.now));
        self.now
    }

    /// By how much the latest packet's timestamp is earlier than the largest one seen.
    pub(crate) fn lag(&self) -> Span {
        self.lag
    }

    /// The first packet's time, once a packet was seen: 0, or later where the capture's own zero is kept.
    pub(crate) fn first(&self) -> Option<Time> {
        self.first
    }

    /// Time zero in ns since 1970, once a packet was seen.
    pub(crate) fn zero_ns(&self) -> Option<u64> {
        self.zero_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000_000_000;

    fn times(origin: Origin, stamps: &[u64]) -> Vec<u64> {
        let mut clock = Clock::new(origin);
        stamps.iter().map(|stamp| clock.at(*stamp).ns()).collect()
    }

    #[test]
    fn never_goes_back() {
        assert_eq!(times(Origin::Auto, &[NOW, NOW + 5, NOW + 3, NOW - 9, NOW + 6]), [0, 5, 5, 5, 6]);
    }

    /// Also before time zero.
    #[test]
    fn knows_how_far_it_went_back() {
        let mut clock = Clock::new(Origin::Auto);
        let lags = [NOW, NOW + 5, NOW + 3, NOW - 9, NOW + 6].map(|stamp| {
            clock.at(stamp);
            clock.lag().ns()
        });
        assert_eq!(lags, [0, 0, 2, 14, 0]);
    }

    #[test]
    fn a_clock_that_starts_at_zero_is_kept() {
        assert_eq!(times(Origin::Auto, &[7, 9]), [7, 9]);
        assert_eq!(times(Origin::Auto, &[FIRST_DAY_NS - 1, FIRST_DAY_NS]), [FIRST_DAY_NS - 1, FIRST_DAY_NS]);
        assert_eq!(times(Origin::Auto, &[FIRST_DAY_NS, FIRST_DAY_NS + 2]), [0, 2]);
        assert_eq!(times(Origin::FirstPacket, &[7, 9]), [0, 2]);
        assert_eq!(times(Origin::Capture, &[NOW, NOW + 1]), [NOW, NOW + 1]);
    }
}
