//! How a ring is divided.

/// Slots of a ring.
pub(super) const SLOTS: u32 = 4096;

/// Bytes kept free before a received frame, for a VLAN tag that the kernel took out.
pub(super) const RESERVE: u32 = 4;

/// Most bytes of Ethernet around an IP packet: header and two VLAN tags.
const ETHERNET: u32 = 22;

/// Most bytes of a slot before its frame: the kernel's header, an address, alignment.
const HEAD: u32 = 112;

/// The least slot, and the least block.
const SMALLEST_SLOT: u32 = 2048;
const SMALLEST_BLOCK: u32 = 1 << 18;

/// Sizes of a ring; the two of an interface are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Bytes of a slot, a power of two.
    pub(super) slot: u32,
    /// Bytes of a block: whole slots.
    pub(super) block: u32,
}

impl Shape {
    pub(super) fn of_mtu(mtu: u32) -> Self {
        let slot = (mtu + ETHERNET + RESERVE + HEAD).next_power_of_two().max(SMALLEST_SLOT);
        Self { slot, block: slot.max(SMALLEST_BLOCK) }
    }

    /// Bytes of a ring.
    pub(super) const fn bytes(&self) -> usize {
        self.slot as usize * SLOTS as usize
    }

    /// Blocks of a ring.
    pub(super) const fn blocks(&self) -> u32 {
        (self.bytes() / self.block as usize) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_a_frame_of_the_mtu() {
        let slots = [1280, 1500, 1910, 1911, 9000, 65_535].map(|mtu| Shape::of_mtu(mtu).slot);
        assert_eq!(slots, [2048, 2048, 2048, 4096, 16_384, 131_072]);
        assert!([1500, 9000, 65_535].map(Shape::of_mtu).iter().all(|it| it.block * it.blocks() == it.slot * SLOTS));
    }
}
