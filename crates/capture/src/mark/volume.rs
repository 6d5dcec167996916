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

impl From<Volume> for Count {
    fn from(volume: Volume) -> Self {
        Self { packets: volume.packets, bytes: volume.bytes }
    }
}

impl Volume {
    /// Its bytes over a time, bit/s; `None` where that is 0.
    pub fn bit_s(self, seconds: Option<f64>) -> Option<f64> {
        over(self.bytes, seconds)
    }

    /// With that of other packets.
    pub fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Bytes over a capture's duration.
pub(super) fn over(bytes: u64, duration_s: Option<f64>) -> Option<f64> {
    duration_s.filter(|s| *s > 0.0).map(|s| bytes as f64 * 8.0 / s)
}
