//! From a capture's timestamps to the time that algorithms are given.
//!
//! Decision: docs/decisions/080-a-captures-time-zero.md

use perhop_core::units::Time;
use perhop_edge::Moment;

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

/// A clock that begins with the first timestamp.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    origin: Origin,
    /// From the first packet on, with its time.
    running: Option<(perhop_edge::Clock, Time)>,
}

impl Clock {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { origin, running: None }
    }

    /// The time of a packet stamped `stamp_ns` (ns since 1970).
    pub(crate) fn at(&mut self, stamp_ns: u64) -> Moment {
        if let Some((clock, _)) = &mut self.running {
            return clock.at(stamp_ns);
        }
        let mut clock = perhop_edge::Clock::new(match self.origin {
            Origin::Auto if stamp_ns < FIRST_DAY_NS => 0,
            Origin::Capture => 0,
            Origin::Auto | Origin::FirstPacket => stamp_ns,
        });
        let first = clock.at(stamp_ns);
        self.running = Some((clock, first.now));
        first
    }

    /// The first packet's time, once a packet was seen: 0, or later where the capture's own zero is kept.
    pub(crate) fn first(&self) -> Option<Time> {
        self.running.map(|(_, first)| first)
    }

    /// Time zero in ns since 1970, once a packet was seen.
    pub(crate) fn zero_ns(&self) -> Option<u64> {
        self.running.map(|(clock, _)| clock.zero_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000_000_000;

    fn times(origin: Origin, stamps: &[u64]) -> Vec<u64> {
        let mut clock = Clock::new(origin);
        stamps.iter().map(|stamp| clock.at(*stamp).now.ns()).collect()
    }

    #[test]
    fn never_goes_back() {
        assert_eq!(times(Origin::Auto, &[NOW, NOW + 5, NOW + 3, NOW - 9, NOW + 6]), [0, 5, 5, 5, 6]);
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
