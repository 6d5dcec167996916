//! Packets recorded at a link, for captures.

use crate::plan::TapPoint;
use perhop_core::packet::Packet;
use perhop_core::units::Time;

/// A packet as it passed a tap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Captured {
    /// When.
    pub at: Time,
    /// Index of the link.
    pub link: u32,
    /// Where on it.
    pub point: TapPoint,
    /// The packet.
    pub packet: Packet,
    /// IP length.
    pub wire: u32,
}
