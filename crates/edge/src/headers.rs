//! From captured bytes to what a classifier and a meter need: the outermost IP header and the transport's first fields.
//!
//! Link headers are walked in `link.rs`; IP headers with their extensions are cut by `etherparse`'s lax slices, which
//! accept a packet whose end was not captured. For a tunnel the outer header counts: that is the one a router marks.

use std::net::IpAddr;

use etherparse::{Ipv6ExtensionSlice, Ipv6ExtensionsSlice, LaxIpv4Slice, LaxIpv6Slice};

use perhop_core::estimate::Timestamps;

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

/// Lengths of an IP packet, from its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Bytes of the whole IP packet, header included. If the header says 0 (segmentation offload, jumbogram), the
    /// original length without the link header, which includes a captured frame check sequence.
    pub l3: u32,
    /// Bytes after the IP header and its extensions: transport header and payload.
    pub l4: u32,
}

/// A fragment's place (RFC 791, RFC 8200 section 4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// The number all fragments of a packet share: 16 bits in IPv4, 32 in IPv6.
    pub id: u32,
    /// Set for the fragment at offset 0, which carries the transport header.
    pub first: bool,
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
    let wire = original.max(data.len() as u32) - network.offset as u32;
    let found = match version {
        4 => ipv4(ip, wire)?,
        6 => ipv6(ip, wire)?,
        other => return Err(Unread::Version(other)),
    };
    Ok(found.with_transport(ip, network.offset))
}

/// The IP layer, and where the transport begins behind the IP header's start.
struct Located {
    headers: IpHeaders,
    transport: usize,
}

fn ipv4(ip: &[u8], wire: u32) -> Result<Located, Unread> {
    let header_length = usize::from(ip[0] & 0x0f) * 4;
    if header_length < 20 {
        return Err(Unread::Malformed);
    }
    let (slice, _) = LaxIpv4Slice::from_slice(ip).map_err(|_| Unread::Snapped)?;
    let (header, extensions) = (slice.header(), slice.extensions());
    let l3_length = if header.total_len() == 0 { wire } else { u32::from(header.total_len()) };
    if (l3_length as usize) < header_length {
        return Err(Unread::Malformed);
    }
    let id = u32::from(header.identification());
    let first = header.fragments_offset().value() == 0;
    let headers = IpHeaders {
        ip_offset: 0,
        version: 4,
        dscp: header.dcp().value(),
        ecn: header.ecn().value(),
        flow_label: None,
        lengths: Lengths { l3: l3_length, l4: 0 },
        protocol: slice.payload_ip_number().0,
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        fragment: header.is_fragmenting_payload().then_some(Fragment { id, first }),
        ports: None,
        tcp: None,
    };
    Ok(Located { headers, transport: header_length + extensions.auth.map_or(0, |auth| auth.slice().len()) })
}

fn ipv6(ip: &[u8], wire: u32) -> Result<Located, Unread> {
    const NO_NEXT_HEADER: u8 = 59;
    let (slice, _) = LaxIpv6Slice::from_slice(ip).map_err(|_| Unread::Snapped)?;
    let header = slice.header();
    // a payload length of 0 is true only of a packet that ends here
    let offloaded = header.payload_length() == 0 && header.next_header().0 != NO_NEXT_HEADER;
    let headers = IpHeaders {
        ip_offset: 0,
        version: 6,
        dscp: header.dscp().value(),
        ecn: header.ecn().value(),
        flow_label: Some(header.flow_label().value()),
        lengths: Lengths { l3: if offloaded { wire } else { 40 + u32::from(header.payload_length()) }, l4: 0 },
        protocol: slice.payload().ip_number.0,
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        fragment: ipv6_fragment(slice.extensions()),
        ports: None,
        tcp: None,
    };
    Ok(Located { headers, transport: 40 + slice.extensions().slice().len() })
}

fn ipv6_fragment(extensions: &Ipv6ExtensionsSlice<'_>) -> Option<Fragment> {
    if !extensions.is_fragmenting_payload() {
        return None;
    }
    extensions.clone().into_iter().find_map(|extension| match extension {
        Ipv6ExtensionSlice::Fragment(fragment) if fragment.is_fragmenting_payload() => {
            Some(Fragment { id: fragment.identification(), first: fragment.fragment_offset().value() == 0 })
        }
        _ => None,
    })
}

impl Located {
    fn with_transport(self, ip: &[u8], ip_offset: usize) -> IpHeaders {
        const TCP: u8 = 6;
        const WITH_PORTS: [u8; 5] = [TCP, 17, 33, 132, 136];
        let l3 = self.headers.lengths.l3;
        let lengths = Lengths { l3, l4: l3.saturating_sub(self.transport as u32) };
        let mut headers = IpHeaders { ip_offset, lengths, ..self.headers };
        if headers.fragment.is_some_and(|fragment| !fragment.first) || !WITH_PORTS.contains(&headers.protocol) {
            return headers;
        }
        // an Ethernet frame's padding lies behind the IP packet's end and is no transport header
        let end = ip.len().min(lengths.l3 as usize);
        let transport = ip.get(self.transport..end).unwrap_or_default();
        headers.ports = transport.first_chunk().map(ports);
        if headers.protocol == TCP {
            headers.tcp = transport.first_chunk().and_then(|start| tcp(start, transport, lengths.l4));
        }
        headers
    }
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
