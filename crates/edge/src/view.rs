//! A packet as algorithms see it, from its headers.

use perhop_core::dscp::Dscp;
use perhop_core::packet::{Ecn, Packet, flags};

use crate::headers::{IpHeaders, TcpView};

/// The flags that algorithms see, and TCP's bits.
pub const TCP_FLAGS: [(u8, u8); 5] =
    [(flags::FIN, 0x01), (flags::SYN, 0x02), (flags::ACK, 0x10), (flags::ECE, 0x40), (flags::CWR, 0x80)];

/// The packet without flow and size. An AF code point is its colour.
#[inline]
pub fn view(headers: &IpHeaders) -> Packet {
    let dscp = Dscp::new(headers.dscp).expect("six bits");
    let packet = Packet { dscp, colour: dscp.colour(), ecn: Ecn::from_bits(headers.ecn), ..Packet::default() };
    match headers.tcp {
        Some(tcp) => of_tcp(&tcp, packet),
        None => Packet { payload: payload(datagram(headers)), ..packet },
    }
}

/// SYN and FIN take a sequence number each, in addition to the payload.
#[inline]
fn of_tcp(tcp: &TcpView, packet: Packet) -> Packet {
    let flags = TCP_FLAGS.iter().filter(|(_, bit)| tcp.flags & bit != 0).fold(0, |all, (flag, _)| all | flag);
    let controls = (flags & (flags::SYN | flags::FIN)).count_ones();
    let seq_end = tcp.seq.wrapping_add(tcp.payload).wrapping_add(controls);
    Packet { seq_end, ack: tcp.ack, payload: payload(tcp.payload), flags, ..packet }
}

/// Bytes after a UDP header; for other protocols all that IP carries.
fn datagram(headers: &IpHeaders) -> u32 {
    const UDP: u8 = 17;
    const UDP_LITE: u8 = 136;
    let header = if matches!(headers.protocol, UDP | UDP_LITE) && headers.ports.is_some() { 8 } else { 0 };
    headers.lengths.l4.saturating_sub(header)
}

/// Segments of more than 65 535 bytes exist only before segmentation; their payload counts as that many.
fn payload(bytes: u32) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::locate;
    use crate::link::LinkType;

    /// An IPv4 header of some protocol, alone.
    fn headers(protocol: u8, ports: bool) -> IpHeaders {
        let mut data = [0; 28];
        (data[0], data[1], data[3], data[9]) = (0x45, 0b10, 128, protocol);
        locate(LinkType::RAW, &data[..if ports { 28 } else { 20 }], 128).unwrap()
    }

    #[test]
    fn payloads_of_what_is_not_tcp() {
        let length = |protocol, ports| view(&headers(protocol, ports)).payload;
        assert_eq!([length(17, true), length(136, true), length(33, true), length(1, true)], [100, 100, 108, 108]);
        assert_eq!(length(17, false), 108, "a UDP header that was not captured, as in a later fragment");
    }
}
