//! Packets that a capture holds twice, as a mirror of both directions or `-i any` gives them.
//!
//! A packet is a copy of one that came at most 100 us before it, in either direction, if the two have the same addresses,
//! protocol, length, identification and fragment offset (IPv4) or flow label (IPv6), and the same first 20 bytes behind the IP
//! header: ports, sequence and acknowledgement numbers, checksum, the first bytes of a datagram; and the same TCP timestamps, by
//! which a segment of IPv6 differs from its retransmission on a path of microseconds. Link header, hop limit, code point and CE
//! may differ: routers change them. What is ECN-capable is no copy of what is not: a retransmission is not (RFC 3168).
//!
//! Packets without a mark by which to know them are not looked for: without an identification (IPv6, or 0), ACKs without data, and
//! datagrams whose first bytes are zero or were not captured.
//!
//! A capture that has copies has them everywhere: unless each packet is to be taken once, it is enough to look at the first
//! 4,096 packets, and then at 256 of each 2,048. (All of them would cost a capture without copies 2.4 % more instructions.)
//!
//! The latest packets are in 64 places, by their identification and numbers; one that another has taken since is not found.
//!
//! Decision: docs/decisions/083-duplicates-are-noticed-by-a-sample.md

use perhop_core::units::{Span, Time};
use perhop_edge::IpHeaders;

/// The longest time between a packet and its copy.
pub(crate) const WITHIN: Span = Span::from_us(100);

const PLACES: usize = 64;

/// Packets of a capture's beginning that are looked at.
const FIRST: u64 = 4096;

/// Of so many packets behind it [`PART`] are.
const STRETCH: u64 = 2048;
const PART: u64 = 256;

/// SYN and FIN.
const CONTROLS: u8 = 0x03;

/// What tells a packet from others: lengths and numbers of the IP header, addresses, ports, numbers, the rest of what is carried,
/// timestamps.
type Words = [u64; 6];

/// The latest packets, and how many were copies.
#[derive(Clone, Debug)]
pub(crate) struct Twice {
    latest: [(Words, Time); PLACES],
    pub(crate) packets: u64,
    /// How many were looked at.
    pub(crate) compared: u64,
}

/// Whether the packet of this number, from 1, is looked at.
#[inline]
pub(crate) const fn is_due(number: u64) -> bool {
    number <= FIRST || number % STRETCH < PART
}

impl Default for Twice {
    fn default() -> Self {
        Self { latest: [([0; 6], Time::ZERO); PLACES], packets: 0, compared: 0 }
    }
}

impl Twice {
    /// Whether the packet with these captured bytes is a copy; counts it.
    #[inline(never)]
    pub(crate) fn is_copy(&mut self, now: Time, data: &[u8], headers: &IpHeaders) -> bool {
        self.compared += 1;
        let Some(words) = words(data, headers) else { return false };
        let mixed = (words[0] ^ words[2]).wrapping_mul(ODD) >> 58;
        let place = &mut self.latest[mixed as usize];
        if place.0[0] == words[0] && place.0 == words && now.since(place.1) <= WITHIN {
            self.packets += 1;
            return true;
        }
        *place = (words, now);
        false
    }
}

/// `None`: nothing tells it from others.
#[inline]
fn words(data: &[u8], headers: &IpHeaders) -> Option<Words> {
    let ip = data.get(headers.ip_offset..)?;
    let (start, own, [lengths, addresses]) = match headers.version {
        4 => version_4(ip.first_chunk()?),
        _ => version_6(ip.first_chunk()?),
    };
    let found = ip.get(start..).unwrap_or_default();
    let padded;
    let carried: &[u8; 20] = match found.first_chunk() {
        Some(whole) => whole,
        None => {
            padded = zeros_after(found);
            &padded
        }
    };
    let [ports, numbers] = [word(carried, 0), word(carried, 8)];
    let (tells, stamps) = match headers.tcp {
        Some(tcp) => (own || tcp.payload > 0 || tcp.flags & CONTROLS != 0, tcp.timestamps.unwrap_or_default()),
        None => (own || numbers != 0, Default::default()),
    };
    let rest = u64::from(u32::from_ne_bytes(*carried.last_chunk().expect("20 bytes")));
    // whether it is ECN-capable: no router changes that
    let rest = rest << 1 | u64::from(headers.ecn != 0);
    let stamps = u64::from(stamps.value) << 32 | u64::from(stamps.echo);
    tells.then_some([lengths, addresses, ports, numbers, rest, stamps])
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(*bytes[at..].first_chunk().expect("it is long enough"))
}

/// What was not captured.
#[cold]
fn zeros_after(found: &[u8]) -> [u8; 20] {
    let mut padded = [0; 20];
    padded[..found.len()].copy_from_slice(found);
    padded
}

/// Length of the header, whether it has an identification, and what it says without type of service, time to live and
/// checksum.
#[inline]
fn version_4(ip: &[u8; 20]) -> (usize, bool, [u64; 2]) {
    // total length, identification, fragment offset, time to live, protocol
    const NOT_TIME: u64 = !u64::from_ne_bytes([0, 0, 0, 0, 0, 0, 0xff, 0]);
    (usize::from(ip[0] & 0xf) * 4, ip[4] | ip[5] != 0, [word(ip, 2) & NOT_TIME, word(ip, 12)])
}

/// Odd, so that numbers that differ have products that do.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The same of IPv6, without traffic class and hop limit; addresses as a sum.
#[inline]
fn version_6(ip: &[u8; 40]) -> (usize, bool, [u64; 2]) {
    const NOT_CLASS: u64 = !u64::from_ne_bytes([0x0f, 0xf0, 0, 0, 0, 0, 0, 0xff]);
    let addresses = [8, 16, 24, 32].into_iter().fold(0_u64, |sum, at| sum.wrapping_mul(ODD).wrapping_add(word(ip, at)));
    (40, false, [word(ip, 0) & NOT_CLASS, addresses])
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_edge::{LinkType, locate};

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
        (passed[1], passed[8], passed[10]) = (0x28, 63, 9);
        assert_eq!(copies(&[(0, sent), (3, passed)]), [false, true]);
        let mut sent = segment(1, 4, 0x10);
        sent[1] = 0x20;
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
        let mut capable = stamped(2);
        capable[1] = 0x20;
        assert_eq!(copies(&[(0, capable), (40, stamped(2))]), [false, false]);
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
