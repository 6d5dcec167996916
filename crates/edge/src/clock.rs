//! From timestamps to the time that algorithms are given.

use perhop_core::units::{Span, Time};

/// When a packet came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Never earlier than that of the packet before.
    pub now: Time,
    /// By how much its timestamp is earlier than the largest one seen.
    pub lag: Span,
}

/// A clock that follows timestamps and never goes back: a packet with a timestamp earlier than a preceding one is given
/// the largest time seen.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero_ns: u64,
    now: Time,
    /// The largest timestamp.
    latest_ns: u64,
}

impl Clock {
    /// Time zero, where buckets are full and averages begin, is at timestamp `zero_ns`.
    pub const fn new(zero_ns: u64) -> Self {
        Self { zero_ns, now: Time::ZERO, latest_ns: 0 }
    }

    /// The time of a packet stamped `stamp_ns`.
    #[inline]
    pub fn at(&mut self, stamp_ns: u64) -> Moment {
        self.now = self.now.max(Time::from_ns(stamp_ns.saturating_sub(self.zero_ns)));
        self.latest_ns = self.latest_ns.max(stamp_ns);
        Moment { now: self.now, lag: Span::from_ns(self.latest_ns - stamp_ns) }
    }

    /// The timestamp of time zero.
    pub const fn zero_ns(&self) -> u64 {
        self.zero_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000_000_000;

    /// Also before time zero.
    #[test]
    fn knows_how_far_it_went_back() {
        let mut clock = Clock::new(NOW);
        let seen = [NOW, NOW + 5, NOW + 3, NOW - 9, NOW + 6].map(|stamp| clock.at(stamp));
        assert_eq!(seen.map(|it| it.lag.ns()), [0, 0, 2, 14, 0]);
        assert_eq!(seen.map(|it| it.now.ns()), [0, 5, 5, 5, 6]);
    }
}
