//! Verdicts of algorithms, and the one fate that a queue records for each packet.

use crate::params::Choice;

/// An algorithm's verdict on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let it pass.
    Pass,
    /// Mark it CE if it is ECN-capable, else drop it.
    Mark,
    /// Drop it.
    Drop(Reason),
}

/// Which packet goes when there is no room.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The one that came last.
    #[default]
    Tail,
    /// The one that has waited longest.
    Head,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// A conditioner's decision or its colour's action.
    Policer = 0,
    /// An AQM's draw before the queue was full.
    Early = 1,
    /// An AQM's average or virtual queue was beyond its maximum, or its rule lets no such packet in.
    Forced = 2,
    /// The queue was full.
    Overflow = 3,
    /// Lost on the wire, as the scenario asks (`loss`).
    Wire = 4,
    /// An ACK that a newer one made redundant (`ack-filter`).
    Filtered = 5,
}

impl Reason {
    /// All reasons, by index.
    pub const ALL: [Self; 6] = [Self::Policer, Self::Early, Self::Forced, Self::Overflow, Self::Wire, Self::Filtered];

    /// Those with a column of their own in tables of results.
    pub const COLUMNS: [Self; 5] = [Self::Policer, Self::Early, Self::Forced, Self::Overflow, Self::Wire];

    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Policer => "policer",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Overflow => "overflow",
            Self::Wire => "wire",
            Self::Filtered => "filtered",
        }
    }
}

/// The fate of a packet at a queue. Every arrival has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It waits.
    Queued,
    /// It waits, marked CE.
    Marked,
    /// It was dropped, for this reason.
    Dropped(Reason),
}

impl Fate {
    /// Whether the packet is in the queue now.
    pub const fn stays(self) -> bool {
        !matches!(self, Self::Dropped(_))
    }
}
