//! Link headers: from the first captured byte to the IP header.

use crate::unread::{MAX_VLAN_TAGS, Unread};

/// A `LINKTYPE_` value of the registry at tcpdump.org.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: 4 bytes of address family in the capturing machine's byte order.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet.
    pub const ETHERNET: LinkType = LinkType(1);
    /// IPv4 or IPv6, according to the version field.
    pub const RAW: LinkType = LinkType(101);
    /// OpenBSD loopback: as NULL, in network byte order.
    pub const LOOP: LinkType = LinkType(108);
    /// Linux cooked, version 1: what `tcpdump -i any` writes.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// IPv4 only.
    pub const IPV4: LinkType = LinkType(228);
    /// IPv6 only.
    pub const IPV6: LinkType = LinkType(229);
    /// Linux cooked, version 2.
    pub const LINUX_SLL2: LinkType = LinkType(276);

    /// Values that BSD systems wrote into files for raw IP before 101 was agreed.
    const OLD_RAW: [LinkType; 2] = [LinkType(12), LinkType(14)];
}

const ETHER_IPV4: u16 = 0x0800;
const ETHER_IPV6: u16 = 0x86dd;
/// 802.1Q, 802.1ad, and the value double tagging used before 802.1ad.
const VLAN_TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// Smaller values are lengths of 802.3 frames.
const FIRST_ETHER_TYPE: u16 = 0x0600;

/// Where IP begins, and which version the link header promises, if it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network {
    pub(crate) offset: usize,
    pub(crate) version: Option<u8>,
}

/// Find the IP header in captured bytes that begin as `link` says.
pub(crate) fn network(link: LinkType, data: &[u8]) -> Result<Network, Unread> {
    match link {
        LinkType::ETHERNET => ether_type(data, 12),
        LinkType::RAW => Ok(Network { offset: 0, version: None }),
        LinkType::IPV4 => Ok(Network { offset: 0, version: Some(4) }),
        LinkType::IPV6 => Ok(Network { offset: 0, version: Some(6) }),
        LinkType::NULL | LinkType::LOOP => loopback(data),
        LinkType::LINUX_SLL => cooked(data, Cooked { protocol: 14, hardware: 2, length: 16 }),
        LinkType::LINUX_SLL2 => cooked(data, Cooked { protocol: 0, hardware: 8, length: 20 }),
        other if LinkType::OLD_RAW.contains(&other) => Ok(Network { offset: 0, version: None }),
        LinkType(other) => Err(Unread::LinkType(other)),
    }
}

/// Follow the EtherType at `at`, through VLAN tags.
fn ether_type(data: &[u8], mut at: usize) -> Result<Network, Unread> {
    for _ in 0..=MAX_VLAN_TAGS {
        let found = be16(data, at)?;
        if !VLAN_TAGS.contains(&found) {
            return payload(found, at + 2);
        }
        at += 4;
    }
    Err(Unread::VlanDepth)
}

fn payload(ether_type: u16, offset: usize) -> Result<Network, Unread> {
    match ether_type {
        ETHER_IPV4 => Ok(Network { offset, version: Some(4) }),
        ETHER_IPV6 => Ok(Network { offset, version: Some(6) }),
        length if length < FIRST_ETHER_TYPE => Err(Unread::Llc),
        other => Err(Unread::EtherType(other)),
    }
}

/// The address family may be in either byte order: families are small numbers, so the order is apparent.
fn loopback(data: &[u8]) -> Result<Network, Unread> {
    let raw = data.first_chunk::<4>().ok_or(Unread::Snapped)?;
    let family = u32::from_le_bytes(*raw).min(u32::from_be_bytes(*raw));
    match family {
        2 => Ok(Network { offset: 4, version: Some(4) }),
        // Linux; NetBSD and OpenBSD; FreeBSD; Darwin
        10 | 24 | 28 | 30 => Ok(Network { offset: 4, version: Some(6) }),
        other => Err(Unread::AddressFamily(other)),
    }
}

/// Offsets of a cooked header's fields.
struct Cooked {
    protocol: usize,
    hardware: usize,
    length: usize,
}

fn cooked(data: &[u8], fields: Cooked) -> Result<Network, Unread> {
    /// Frame relay access, netlink, and the three raw 802.11 types: their protocol field is not an EtherType.
    const NO_ETHER_TYPE: [u16; 5] = [770, 824, 801, 802, 803];
    let hardware = be16(data, fields.hardware)?;
    if NO_ETHER_TYPE.contains(&hardware) {
        return Err(Unread::Hardware(hardware));
    }
    match be16(data, fields.protocol)? {
        // the tag's own two bytes come after the cooked header, then the EtherType it covers
        tag if VLAN_TAGS.contains(&tag) => ether_type(data, fields.length + 2),
        plain => payload(plain, fields.length),
    }
}

fn be16(data: &[u8], at: usize) -> Result<u16, Unread> {
    let raw = data.get(at..at + 2).ok_or(Unread::Snapped)?;
    Ok(u16::from_be_bytes([raw[0], raw[1]]))
}
