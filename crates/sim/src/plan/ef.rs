//! An aggregate at a port that is held against a rate, as RFC 3246 holds EF.

use perhop_core::dscp::Dscp;
use perhop_core::framing::Frame;
use perhop_core::packet::Packet;
use perhop_core::units::BitRate;

/// What is checked at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EfCheck {
    /// Index of the link behind the port.
    pub link: usize,
    /// Which packets.
    pub of: Aggregate,
    /// The rate R that they should get, above 0.
    pub rate: BitRate,
    /// Which bytes of a packet it counts, beyond what `accounting` says.
    pub frame: Frame,
}

/// Packets that are served together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Those that leave the port with one of these code points.
    CodePoints(Vec<Dscp>),
    /// Those of a class, by its index.
    Class(u16),
}

impl Aggregate {
    /// Whether a packet, as it leaves or is dropped, is one of them.
    pub fn takes(&self, packet: &Packet) -> bool {
        match self {
            Self::CodePoints(code_points) => code_points.contains(&packet.dscp),
            Self::Class(class) => packet.class == *class,
        }
    }
}
