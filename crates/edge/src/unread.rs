//! Why a packet has no IP header that can be read.

use std::fmt;

/// VLAN tags followed before a frame counts as unreadable. Two are common; eight is more than any switch stacks.
pub(crate) const MAX_VLAN_TAGS: usize = 8;

/// Why a packet has no readable IP header. Such packets are passed on unchanged, and counted by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unread {
    /// Captured bytes end before the IP header does.
    Snapped,
    /// Neither IPv4 nor IPv6: ARP (0x0806), MPLS (0x8847), PPPoE (0x8864) and so on.
    EtherType(u16),
    /// An 802.3 frame with a length field, such as spanning tree.
    Llc,
    /// More VLAN tags than are followed.
    VlanDepth,
    /// A link type whose header this program does not know.
    LinkType(u16),
    /// A cooked capture from hardware (ARPHRD value) without EtherTypes.
    Hardware(u16),
    /// A loopback frame of another address family.
    AddressFamily(u32),
    /// The version field holds neither 4 nor 6, or not what the link header promised.
    Version(u8),
    /// An IPv4 header length below 20 bytes, or a total length below the header's.
    Malformed,
    /// The IP header states more bytes than the frame has (Linux: InTruncatedPkts).
    Truncated,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::Snapped => f.write_str("cut off before the end of the IP header"),
            Unread::EtherType(0x0806) => f.write_str("ARP"),
            Unread::EtherType(value) => write!(f, "EtherType {value:#06x}"),
            Unread::Llc => f.write_str("802.3 frame without EtherType"),
            Unread::VlanDepth => write!(f, "more than {} VLAN tags", MAX_VLAN_TAGS),
            Unread::LinkType(value) => write!(f, "link type {value}"),
            Unread::Hardware(value) => write!(f, "cooked frame of hardware type {value}"),
            Unread::AddressFamily(value) => write!(f, "address family {value}"),
            Unread::Version(value) => write!(f, "IP version {value}"),
            Unread::Malformed => f.write_str("IP header with an impossible length"),
            Unread::Truncated => f.write_str("IP header that states more than the frame has"),
        }
    }
}
