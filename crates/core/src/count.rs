//! Packets and bytes, counted together.

use std::ops::{Add, AddAssign, Sub};

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes, as meters count them.
    pub bytes: u64,
}

impl Count {
    /// Counts one packet.
    #[inline]
    pub fn add(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }
}

impl Add for Count {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl Sub for Count {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        Self { packets: self.packets - earlier.packets, bytes: self.bytes - earlier.bytes }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        *self = Add::add(*self, other);
    }
}

impl std::iter::Sum for Count {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::default(), Add::add)
    }
}
