//! Packets that a capture holds twice, as a mirror of both directions or `-i any` gives them.
//!
//! A packet is a copy of one that came at most 100 us before it, in either direction, if the two have the same addresses,
//! protocol, length, identification and fragment offset (IPv4) or flow label (IPv6), and the same first 20 bytes behind the IP
//! header: ports, sequence and acknowledgement numbers, checksum, the first bytes of a datagram; and the same TCP timestamps, by
//! which a segment of IPv6 differs from its retransmission on a path of microseconds. Link header, hop limit, code point and ECN
//! may differ: routers change them.
//!
//! Packets without a mark by which to know them are not looked for: without an identification (IPv6, or 0), ACKs without data, and
//! datagrams whose first bytes are zero or were not captured.
//!
//! The latest packets are in 64 places by 64 bits made of all this; one that another has taken since is not found, and two that
//! differ have the same bits once in 10^19.

use perhop_core::units::{Span, Time};

use crate::headers::IpHeaders;

/// The longest time between a packet and its copy.
pub(crate) const WITHIN: Span = Span::from_us(100);

const PLACES: usize = 64;

/// SYN and FIN.
const CONTROLS: u8 = 0x03;

/// The latest packets, and how many were copies.
#[derive(Clone, Debug)]
pub(crate) struct Twice {
    latest: [(u64, Time); PLACES],
    pub(crate) packets: u64,
}

impl Default for Twice {
    fn default() -> Self {
        Self { latest: [(0, Time::ZERO); PLACES], packets: 0 }
    }
}

impl Twice {
    /// Whether the packet with these captured bytes is a copy; counts it.
    #[inline]
    pub(crate) fn is_copy(&mut self, now: Time, data: &[u8], headers: &IpHeaders) -> bool {
        let Some(bits) = bits(data, headers) else { return false };
        let place = &mut self.latest[(bits >> 58) as usize];
        let is_copy = place.0 == bits && now.since(place.1) <= WITHIN;
        if !is_copy {
            *place = (bits, now);
        }
        self.packets += u64::from(is_copy);
        is_copy
    }
}

/// Odd, so that packets that differ in one word differ in their sum.
const ODD: [u64; 6] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
];

/// What tells a packet from others; `None`: nothing does.
#[inline]
fn bits(data: &[u8], headers: &IpHeaders) -> Option<u64> {
    let ip = data.get(headers.ip_offset..)?;
    let (start, own, kind) = match headers.version {
        4 => version_4(ip.first_chunk()?),
        _ => version_6(ip.first_chunk()?),
    };
    let carried = carried(ip, start);
    let [ports, numbers] = [0, 8].map(|at| word(&carried, at));
    let tells = own
        || match headers.tcp {
            Some(tcp) => tcp.payload > 0 || tcp.flags & CONTROLS != 0,
            None => numbers != 0,
        };
    let rest = u64::from(u32::from_be_bytes([carried[16], carried[17], carried[18], carried[19]]));
    let stamps = headers.tcp.and_then(|tcp| tcp.timestamps).unwrap_or_default();
    let stamps = u64::from(stamps.value) << 32 | u64::from(stamps.echo);
    let words = [kind, ports, numbers, rest, stamps].into_iter().zip(ODD);
    tells.then(|| words.fold(0, |sum: u64, (word, odd)| sum.wrapping_add(word.wrapping_mul(odd))))
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(*bytes[at..].first_chunk().expect("it is long enough"))
}

/// The first bytes behind the IP header; zero where they were not captured.
#[inline]
fn carried(ip: &[u8], start: usize) -> [u8; 20] {
    let found = ip.get(start..).unwrap_or_default();
    found.first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [0; 20];
        padded[..found.len()].copy_from_slice(found);
        padded
    })
}

/// Length of the header, whether it has an identification, and what it says without type of service, time to live and
/// checksum.
#[inline]
fn version_4(ip: &[u8; 20]) -> (usize, bool, u64) {
    let start = usize::from(ip[0] & 0xf) * 4;
    // total length, identification, fragment offset, time to live, protocol
    let lengths = word(ip, 2) & !0xff00;
    let own = ip[4] | ip[5] != 0;
    (start, own, lengths.wrapping_add(word(ip, 12).wrapping_mul(ODD[5])))
}

/// The same of IPv6, without traffic class and hop limit.
#[inline]
fn version_6(ip: &[u8; 40]) -> (usize, bool, u64) {
    let lengths = word(ip, 0) & !0x0ff0_0000_0000_00ff;
    let addresses = [8, 16, 24, 32].into_iter().zip(ODD);
    let sum = |sum: u64, (at, odd): (usize, u64)| sum.rotate_left(7).wrapping_add(word(ip, at).wrapping_mul(odd));
    (40, false, lengths.wrapping_add(addresses.fold(0, sum)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::locate;
    use crate::link::LinkType;

    /// A datagram of IPv4 with an identification and the first byte of its payload.
    fn datagram(id: u8, first: u8) -> Vec<u8> {
        let header = [0x45, 0, 0, 40, 0, id, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        [&header[..], &[0, 1, 0, 2, 0, 20, 0, 0], &[first; 12]].concat()
    }

    /// A segment of IPv6 with a number, a payload and flags.
    fn segment(seq: u8, payload: u8, flags: u8) -> Vec<u8> {
        let header = [&[0x60, 0, 0, 0, 0, 20 + payload, 6, 64][..], &[1; 16], &[2; 16]].concat();
        let tcp = [0, 1, 0, 2, 0, 0, 0, seq, 0, 0, 0, 9, 0x50, flags, 0, 9, 0, 0, 0, 0];
        [&header[..], &tcp, &vec![0; payload.into()]].concat()
    }

    /// Whether each of these packets, at us, is a copy.
    fn copies(packets: &[(u64, Vec<u8>)]) -> Vec<bool> {
        let mut twice = Twice::default();
        let seen = packets.iter().map(|(us, data)| {
            let headers = locate(LinkType::RAW, data, data.len() as u32).unwrap();
            twice.is_copy(Time::from_ns(us * 1000 + 7), data, &headers)
        });
        seen.collect()
    }

    #[test]
    fn copies_are_found_within_100_us() {
        let [one, two] = [datagram(1, 0), datagram(2, 0)];
        let seen = [(0, &one), (1, &two), (5, &one), (100, &one), (101, &two), (102, &two), (400, &one)];
        let seen = seen.map(|(us, it)| (us, it.clone()));
        assert_eq!(copies(&seen), [false, false, true, true, true, false, false]);
    }

    /// A router takes one from the time to live, an edge sets the code point, a queue marks.
    #[test]
    fn what_is_changed_on_the_way_does_not_matter() {
        let sent = datagram(1, 3);
        let mut passed = sent.clone();
        (passed[1], passed[8], passed[10]) = (0x2b, 63, 9);
        assert_eq!(copies(&[(0, sent), (3, passed)]), [false, true]);
        let sent = segment(1, 4, 0x10);
        let mut passed = sent.clone();
        (passed[0], passed[1], passed[7]) = (0x62, 0xb0, 63);
        assert_eq!(copies(&[(0, sent), (3, passed)]), [false, true]);
    }

    /// A segment and its retransmission, each with timestamps.
    #[test]
    fn retransmissions_are_none() {
        let stamped = |echo: u8| {
            let mut data = segment(1, 16, 0x10);
            data[52] = 0x80;
            data[60..72].copy_from_slice(&[1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, echo]);
            data
        };
        assert_eq!(copies(&[(0, stamped(1)), (20, stamped(2)), (40, stamped(2))]), [false, false, true]);
    }

    /// Each field that is compared.
    #[test]
    fn packets_that_differ_are_none() {
        let one = datagram(1, 3);
        for byte in [3, 5, 7, 9, 12, 16, 19, 20, 23, 26, 28, 39] {
            let mut other = one.clone();
            other[byte] ^= 1;
            if locate(LinkType::RAW, &other, 40).is_ok() {
                assert_eq!(copies(&[(0, one.clone()), (1, other)]), [false, false], "byte {byte}");
            }
        }
    }

    /// Without an identification: ACKs that repeat a number, datagrams of zeros.
    #[test]
    fn packets_with_nothing_of_their_own_are_not_looked_for() {
        let twice = |it: Vec<u8>| copies(&[(0, it.clone()), (1, it)])[1];
        assert_eq!(
            [twice(segment(1, 0, 0x10)), twice(segment(1, 4, 0x10)), twice(segment(1, 0, 0x12))],
            [false, true, true]
        );
        assert_eq!([twice(datagram(0, 0)), twice(datagram(0, 1)), twice(datagram(1, 0))], [false, true, true]);
    }
}
