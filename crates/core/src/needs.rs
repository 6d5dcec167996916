//! Which optional hooks an algorithm needs: a host pays only for those.

use std::ops::BitOr;

/// A set of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs(u8);

impl Needs {
    /// No optional hooks.
    pub const NOTHING: Self = Self(0);
    /// `departing` of a conditioner, `on_departure` of an AQM.
    pub const DEPARTURES: Self = Self(1);
    /// `reverse`.
    pub const REVERSE: Self = Self(2);
    /// `on_timer` at `poll_at`.
    pub const TIMER: Self = Self(4);
    /// The sender's state in the passage.
    pub const TRUTH: Self = Self(8);
    /// The round-trip time of a flow, where the host can measure it.
    pub const RTT: Self = Self(16);

    /// `on_arrival` of a scheduler.
    pub const ARRIVALS: Self = Self(32);

    /// Whether all of `other` are in it.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Needs {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
