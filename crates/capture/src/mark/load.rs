//! Packets over time.

use perhop_core::count::Count;
use perhop_core::units::{NS_PER_S, Time};

/// The bytes of one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Second {
    /// Its number; it begins so many seconds after time zero.
    pub(crate) number: u64,
    pub(crate) bytes: u64,
}

/// The first and the last of some packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) first: Time,
    pub(crate) last: Time,
}

/// Packets over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) count: Count,
    pub(crate) extent: Option<Extent>,
    /// The one that its last packet is in.
    pub(crate) second: Second,
    /// The one with the most bytes; of equals the first.
    pub(crate) worst: Second,
}

impl Load {
    pub(crate) fn add(&mut self, now: Time, size: u32) {
        self.count.add(size);
        self.extent = Some(Extent { first: self.extent.map_or(now, |it| it.first), last: now });
        let number = now.ns() / NS_PER_S;
        if number != self.second.number {
            self.second = Second { number, bytes: 0 };
        }
        self.second.bytes += u64::from(size);
        if self.second.bytes > self.worst.bytes {
            self.worst = self.second;
        }
    }
}
