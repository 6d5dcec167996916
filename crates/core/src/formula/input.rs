//! What a host tells formulas of a packet and its queue.

use super::dimension::{Dimension, Type};

/// Something that differs from packet to packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// Packets waiting.
    Packets,
    /// Bytes waiting.
    Bytes,
    /// How long the last packet that left had waited, or the one that leaves.
    Sojourn,
    /// The packet's colour.
    Colour,
    /// The packet's size.
    Size,
    /// Since the start of the run.
    Now,
    /// Since the last arrival.
    Gap,
    /// Since queue and link have been empty.
    Idle,
    /// Whether the packet fits.
    Room,
    /// Whether the packet is ECN-capable.
    Ecn,
}

impl Input {
    /// All that a queue tells.
    pub const OF_QUEUES: [Self; 10] = [
        Self::Packets,
        Self::Bytes,
        Self::Sojourn,
        Self::Colour,
        Self::Size,
        Self::Now,
        Self::Gap,
        Self::Idle,
        Self::Room,
        Self::Ecn,
    ];

    /// All that a conditioner's port tells.
    pub const OF_CONDITIONERS: [Self; 5] = [Self::Colour, Self::Size, Self::Now, Self::Gap, Self::Ecn];

    /// In formulas.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packets => "backlog.packets",
            Self::Bytes => "backlog.bytes",
            Self::Sojourn => "sojourn",
            Self::Colour => "colour",
            Self::Size => "size",
            Self::Now => "now",
            Self::Gap => "gap",
            Self::Idle => "idle",
            Self::Room => "room",
            Self::Ecn => "ecn",
        }
    }

    /// What it is.
    pub const fn kind(self) -> Type {
        match self {
            Self::Packets => Type::Quantity(Dimension::PACKETS),
            Self::Bytes | Self::Size => Type::Quantity(Dimension::SIZE),
            Self::Sojourn | Self::Now | Self::Gap | Self::Idle => Type::Quantity(Dimension::TIME),
            Self::Colour => Type::Colour,
            Self::Room | Self::Ecn => Type::Truth,
        }
    }
}
