//! How much traffic.

use perhop_core::count::Count;
use serde::Serialize;

/// Packets and their bytes, as meters count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Volume {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl From<Count> for Volume {
    fn from(count: Count) -> Self {
        Self { packets: count.packets, bytes: count.bytes }
    }
}

impl Volume {
    /// With that of other packets.
    pub(super) fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}
