//! Transport checksums that a sender left to its network card, finished here (RFC 9293 section 3.1, RFC 768, RFC 8200
//! section 8.1).
//!
//! The kernel says that a checksum is unfinished, and not where it is. It is that of the transport behind the IP header;
//! one inside a tunnel is not found.

use std::net::IpAddr;

use perhop_edge::IpHeaders;

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// Computes and writes the transport's checksum of a packet, in whose `bytes` `headers` were found. `false`: no byte was
/// changed, for it is a fragment, is cut off or of another transport.
pub fn finish(bytes: &mut [u8], headers: &IpHeaders) -> bool {
    let place = match headers.protocol {
        TCP => 16,
        UDP => 6,
        ICMPV6 if headers.version == 6 => 2,
        _ => return false,
    };
    let length = headers.lengths.l4 as usize;
    let end = headers.ip_offset + headers.lengths.stated as usize;
    let Some(segment) = end.checked_sub(length).and_then(|start| bytes.get_mut(start..end)) else { return false };
    if headers.fragment.is_some() || segment.len() < place + 2 {
        return false;
    }
    segment[place..place + 2].fill(0);
    let sum = folded(pseudo(headers) + sum(segment));
    let written = if sum == 0 && headers.protocol == UDP { 0xffff } else { sum };
    segment[place..place + 2].copy_from_slice(&written.to_be_bytes());
    true
}

/// The sum of the pseudo-header.
fn pseudo(headers: &IpHeaders) -> u64 {
    let address = |address: IpAddr| match address {
        IpAddr::V4(it) => sum(&it.octets()),
        IpAddr::V6(it) => sum(&it.octets()),
    };
    address(headers.source) + address(headers.destination) + u64::from(headers.protocol) + u64::from(headers.lengths.l4)
}

/// The sum of 16-bit words; an odd byte is the upper half of one.
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2);
    let odd = words.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
    words.map(|word| u64::from(u16::from_be_bytes([word[0], word[1]]))).sum::<u64>() + odd
}

/// Carries added, complemented.
fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !sum as u16
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use perhop_edge::{LinkType, locate};
    use proptest::prelude::*;

    use super::*;

    /// A packet with a right checksum, from another implementation.
    fn packet(six: bool, tcp: bool, payload: &[u8]) -> Vec<u8> {
        let ethernet = PacketBuilder::ethernet2([1; 6], [2; 6]);
        let ip = match six {
            true => ethernet.ipv6([3; 16], [4; 16], 64),
            false => ethernet.ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
        };
        let mut bytes = Vec::new();
        match tcp {
            true => ip.tcp(1, 2, 3, 4).write(&mut bytes, payload).unwrap(),
            false => ip.udp(1, 2).write(&mut bytes, payload).unwrap(),
        }
        bytes
    }

    proptest! {
        /// Whatever is in the field, and behind the packet's end, the packet is that of etherparse.
        #[test]
        fn is_that_of_etherparse(
            (six, tcp) in any::<(bool, bool)>(),
            payload in proptest::collection::vec(any::<u8>(), 0..100),
            junk in any::<[u8; 2]>(),
        ) {
            let right = packet(six, tcp, &payload);
            let mut bytes = [&right[..], &[9; 5]].concat();
            let place = 14 + if six { 40 } else { 20 } + if tcp { 16 } else { 6 };
            bytes[place..place + 2].copy_from_slice(&junk);
            let headers = locate(LinkType::ETHERNET, &bytes, bytes.len() as u32).unwrap();
            prop_assert!(finish(&mut bytes, &headers));
            prop_assert_eq!(&bytes[..right.len()], &right[..]);
            prop_assert_eq!(&bytes[right.len()..], &[9; 5]);
        }
    }

    /// A fragment and another transport are left as they are; a packet that is cut off is not forwarded.
    #[test]
    fn leaves_what_it_cannot_finish() {
        let right = packet(false, true, &[1, 2, 3]);
        assert!(locate(LinkType::ETHERNET, &right[..50], 50).is_err());
        let mut fragment = right.clone();
        fragment[20] = 0x20;
        let mut other = right.clone();
        other[23] = 132;
        for bytes in [&mut fragment, &mut other] {
            let before = bytes.clone();
            let headers = locate(LinkType::ETHERNET, bytes, bytes.len() as u32).unwrap();
            assert!(!finish(bytes, &headers));
            assert_eq!(*bytes, before);
        }
    }
}
