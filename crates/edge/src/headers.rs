//! From captured bytes to what a classifier and a meter need: the outermost IP header and the transport's first fields.
//!
//! Link headers are walked in `link.rs`, extension headers in `chain.rs`; how long a packet is, `lengths.rs` says. IP headers are
//! read by `etherparse`, and the end of a packet need not be captured. For a tunnel the outer header counts: that is the one a
//! router marks.

use std::net::IpAddr;

use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice};
use perhop_core::estimate::Timestamps;

use crate::chain::{Chain, Part};
use crate::lengths::{Lengths, Payload};
use crate::link::{self, LinkType};
use crate::options;
use crate::unread::Unread;

/// The contents of a packet's IP and transport headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpHeaders {
    /// Offset of the IP header in the captured bytes.
    pub ip_offset: usize,
    /// 4 or 6.
    pub version: u8,
    /// Differentiated services code point, 0 to 63 (RFC 2474).
    pub dscp: u8,
    /// The two ECN bits (RFC 3168): 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// IPv6's flow label, 20 bits (RFC 6437); `None` in IPv4, which has no such field.
    pub flow_label: Option<u32>,
    /// Lengths of the packet.
    pub lengths: Lengths,
    /// Transport protocol: IPv4's, or what follows the last extension header that could be read.
    pub protocol: u8,
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Set if the packet is a fragment of a larger one (not for IPv6's atomic fragments).
    pub fragment: Option<Fragment>,
    /// Set for TCP, UDP, UDP-Lite, SCTP and DCCP, unless the packet is a later fragment or was cut before them.
    pub ports: Option<Ports>,
    /// Set for TCP, if the header was captured up to its flags.
    pub tcp: Option<TcpView>,
}

/// A fragment's place (RFC 791, RFC 8200 section 4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// The number all fragments of a packet share: 16 bits in IPv4, 32 in IPv6.
    pub id: u32,
    /// Set for the fragment at offset 0, which carries the transport header.
    pub first: bool,
    /// Set where a transport header is cut so that no fragment shows all of it: a first fragment that does not hold it (RFC 1858
    /// section 3, RFC 7112), or TCP's bytes from the eighth on (RFC 3128). No honest sender cuts packets so.
    pub tiny: bool,
}

/// Transport ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ports {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
}

/// What a conditioner may look at in TCP (RFC 9293).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpView {
    /// Sequence number of the first payload byte (of the SYN itself in a SYN).
    pub seq: u32,
    /// Acknowledgement number; meaningful if the ACK flag is set.
    pub ack: u32,
    /// The eight flags: CWR ECE URG ACK PSH RST SYN FIN from bit 7 down to bit 0.
    pub flags: u8,
    /// Bytes of the TCP header with its options.
    pub header_length: u8,
    /// Payload bytes as sent (captured or not). In a first fragment: those of this fragment.
    pub payload: u32,
    /// The timestamps option, if the segment has it and it was captured.
    pub timestamps: Option<Timestamps>,
}

/// Find the IP header in the captured bytes `data` of a packet that was `original` bytes long on the wire.
pub fn locate(link: LinkType, data: &[u8], original: u32) -> Result<IpHeaders, Unread> {
    let network = link::network(link, data)?;
    let ip = data.get(network.offset..).unwrap_or_default();
    let version = ip.first().ok_or(Unread::Snapped)? >> 4;
    if network.version.is_some_and(|promised| promised != version) {
        return Err(Unread::Version(version));
    }
    // a length on the wire below the captured one is a writer's fault: the bytes are there
    let bytes = original.max(data.len() as u32) - network.offset as u32;
    let payload = Payload { bytes, is_bare: network.offset == 0 };
    let found = match version {
        4 => ipv4(ip, payload)?,
        6 => ipv6(ip, payload)?,
        other => return Err(Unread::Version(other)),
    };
    Ok(found.with_transport(ip, network.offset))
}

/// The IP layer, and what lies before the transport.
struct Located {
    headers: IpHeaders,
    chain: Chain,
}

fn ipv4(ip: &[u8], payload: Payload) -> Result<Located, Unread> {
    if ip[0] & 0x0f < 5 {
        return Err(Unread::Malformed);
    }
    let header = Ipv4HeaderSlice::from_slice(ip).map_err(|_| Unread::Snapped)?;
    let lengths = Lengths::of(header.total_len().into(), payload)?;
    let header_length = header.slice().len();
    if (lengths.stated as usize) < header_length {
        return Err(Unread::Malformed);
    }
    let offset = header.fragments_offset().value();
    let part = Part::of(header.identification().into(), offset, header.more_fragments());
    let protocol = header.protocol().0;
    let headers = IpHeaders {
        ip_offset: 0,
        version: 4,
        dscp: header.dcp().value(),
        ecn: header.ecn().value(),
        flow_label: None,
        lengths,
        protocol,
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        fragment: None,
        ports: None,
        tcp: None,
    };
    Ok(Located { headers, chain: Chain::version_4(within_packet(ip, &lengths), protocol, header_length, part) })
}

fn ipv6(ip: &[u8], payload: Payload) -> Result<Located, Unread> {
    const NO_NEXT_HEADER: u8 = 59;
    let header = Ipv6HeaderSlice::from_slice(ip).map_err(|_| Unread::Snapped)?;
    let (carried, next) = (header.payload_length(), header.next_header().0);
    // a payload length of 0 is true only of a packet that ends here
    let offloaded = carried == 0 && next != NO_NEXT_HEADER;
    let lengths = Lengths::of(if offloaded { 0 } else { 40 + u32::from(carried) }, payload)?;
    let headers = IpHeaders {
        ip_offset: 0,
        version: 6,
        dscp: header.dscp().value(),
        ecn: header.ecn().value(),
        flow_label: Some(header.flow_label().value()),
        lengths,
        protocol: next,
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        fragment: None,
        ports: None,
        tcp: None,
    };
    Ok(Located { headers, chain: Chain::version_6(within_packet(ip, &lengths), next) })
}

/// As much of the packet as was captured, without what lies behind it.
#[inline]
fn within_packet<'a>(ip: &'a [u8], lengths: &Lengths) -> &'a [u8] {
    &ip[..ip.len().min(lengths.stated as usize)]
}

const TCP: u8 = 6;

impl Located {
    fn with_transport(self, ip: &[u8], ip_offset: usize) -> IpHeaders {
        const WITH_PORTS: [u8; 5] = [TCP, 17, 33, 132, 136];
        let Self { headers, chain } = self;
        let protocol = chain.protocol;
        let lengths = Lengths { l4: headers.lengths.stated.saturating_sub(chain.end as u32), ..headers.lengths };
        // an Ethernet frame's padding lies behind the IP packet's end and is no transport header
        let whole = within_packet(ip, &lengths);
        let mut headers = IpHeaders { ip_offset, lengths, protocol, ..headers };
        let has_ports = WITH_PORTS.contains(&protocol);
        if let Some(part) = chain.part {
            let is_snapped = whole.len() < lengths.stated as usize;
            let tiny = match part.offset {
                0 => chain.is_cut && !is_snapped || has_ports && lengths.l4 < shortest(protocol),
                offset => offset == 1 && protocol == TCP,
            };
            headers.fragment = Some(Fragment { id: part.id, first: part.offset == 0, tiny });
        }
        if !has_ports || headers.fragment.is_some_and(|fragment| !fragment.first) {
            return headers;
        }
        let transport = whole.get(chain.end..).unwrap_or_default();
        headers.ports = transport.first_chunk().map(ports);
        if protocol == TCP {
            headers.tcp = transport.first_chunk().and_then(|start| tcp(start, transport, lengths.l4));
        }
        headers
    }
}

/// Bytes of a transport header with ports: TCP's without options, or those of UDP.
const fn shortest(protocol: u8) -> u32 {
    if protocol == TCP { 20 } else { 8 }
}

fn ports(start: &[u8; 4]) -> Ports {
    Ports { source: u16::from_be_bytes([start[0], start[1]]), destination: u16::from_be_bytes([start[2], start[3]]) }
}

/// `start`: the header up to its flags (etherparse wants all of it with options, which a snapped capture lacks);
/// `captured`: the same with all that was captured behind; `length`: TCP header and payload in bytes.
fn tcp(start: &[u8; 14], captured: &[u8], length: u32) -> Option<TcpView> {
    let number = |at: usize| u32::from_be_bytes([start[at], start[at + 1], start[at + 2], start[at + 3]]);
    let header_length = (start[12] >> 4) * 4;
    if header_length < 20 {
        return None;
    }
    let payload = length.checked_sub(u32::from(header_length))?;
    let end = captured.len().min(header_length.into());
    let timestamps = options::timestamps(captured.get(20..end).unwrap_or_default());
    Some(TcpView { seq: number(4), ack: number(8), flags: start[13], header_length, payload, timestamps })
}
