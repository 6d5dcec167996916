//! What an algorithm needs of its host: optional hooks, and what the host has to know of it. A host pays only for those.
//!
//! Decision: docs/decisions/025-departure-known-at-arrival.md

use std::ops::BitOr;

/// A set of needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs(u16);

impl Needs {
    /// No optional hooks.
    pub const NOTHING: Self = Self(0);
    /// `departing` of a conditioner, `on_departure` of an AQM or scheduler.
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
    /// `evict` of a scheduler or an AQM, which may ask for room.
    pub const ROOM: Self = Self(64);
    /// To know in `pick` of a scheduler how long the first packets are, not only who has one.
    pub const LENGTHS: Self = Self(128);
    /// `pick` of a scheduler again later: it may say that nothing goes before some time.
    pub const LATER: Self = Self(256);
    /// That the children of a scheduler are flows: queues of one kind, as many as it has places, reported as one.
    pub const FLOWS: Self = Self(512);
    /// That who looks at what an AQM or scheduler would send next has taken it: it hands out the packet that it shows, and an
    /// AQM has judged it.
    pub const TAKING: Self = Self(1024);
    /// To announce flows to its list of profiles or classes: a `match` sorts them.
    pub const HEADERS: Self = Self(2048);
    /// To be told which conditioners a packet has passed.
    pub const PASSED: Self = Self(4096);
    /// That a scheduler gets the segments of a burst one by one: it has its host take bursts apart.
    pub const SEGMENTS: Self = Self(8192);
    /// To be asked for the time of its timer after each hook: it may be another than before.
    pub const MOVES: Self = Self(16384);

    /// Whether all of `other` are in it.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These if `so`.
    pub const fn only_if(self, so: bool) -> Self {
        if so { self } else { Self::NOTHING }
    }
}

impl BitOr for Needs {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
