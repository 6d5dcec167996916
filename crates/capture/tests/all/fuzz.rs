//! Whatever the bytes: packets or a typed error with a message, never a panic, and a copy never differs from its input.
//!
//! The last three run the fuzzer's targets for this crate on edited captures: a fixed number of cases, under stable
//! Rust. `PROPTEST_CASES=100000` runs more; `fuzz/README.md` describes the fuzzer itself.

#[path = "../../../../fuzz/src/captures.rs"]
mod captures;
#[path = "../../../../fuzz/src/edits.rs"]
mod edits;

use crate::common::{concat, copy, file, shift_dscp};
use captures::{Packet, chunks, rewritten};
use edits::{edited, seeds};
use perhop_capture::Pump;
use proptest::prelude::*;

/// Bytes kept of each seed: some packets and, in pcapng, blocks of every kind in the file.
const MOST: usize = 6 * 1024;

/// Magics, block types, lengths, and the first bytes of headers.
const WORDS: &[&[u8]] = &[
    &[0xa1, 0xb2, 0xc3, 0xd4],
    &[0xd4, 0xc3, 0xb2, 0xa1],
    &[0x4d, 0x3c, 0xb2, 0xa1],
    &[0x0a, 0x0d, 0x0d, 0x0a],
    &[1, 0, 0, 0],
    &[2, 0, 0, 0],
    &[3, 0, 0, 0],
    &[6, 0, 0, 0],
    &[0, 0, 0, 0],
    &[0xff, 0xff, 0xff, 0xff],
    &[0x20, 0, 0, 0],
    &[9, 0, 1, 0],
    &[14, 0, 8, 0],
    &[0x45, 0],
    &[0x60, 0, 0, 0],
    &[0x81, 0],
    &[0x08, 0],
    &[0x86, 0xdd],
];

fn files() -> Vec<Vec<u8>> {
    seeds("tests/captures", &["pcap", "pcapng"], MOST)
}

/// Packets, each preceded by six bytes that choose what is done to it; the captures are of Ethernet.
fn packets() -> Vec<Vec<u8>> {
    let frames = files().into_iter().filter(|file| file.len() > 200 && file[0] != 0x0a);
    frames.map(|file| [&[1, 46, 0, 4, 0, 0], &file[40..180]].concat()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        chunks(&bytes);
    }

    #[test]
    fn random_bytes_behind_a_known_magic(
        magic in prop::sample::select(vec![0xa1b2_c3d4u32, 0xa1b2_3c4d, 0x0a0d_0d0a]),
        big in any::<bool>(),
        bytes in prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => any::<u8>()], 0..200),
    ) {
        let magic = if big { magic.to_be_bytes() } else { magic.to_le_bytes() };
        chunks(&[&magic[..], &bytes].concat());
    }

    #[test]
    fn mutated_files(
        spec in file(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        shift in 0u8..64,
    ) {
        let mut bytes = concat(&spec.pieces(0));
        for (place, value) in edits {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        chunks(&bytes);
        if let Ok((output, _)) = copy(&bytes, Pump { partial: true, ..Pump::default() }, |r| shift_dscp(r, shift)) {
            prop_assert!(output.len() <= bytes.len());
        }
    }

    #[test]
    fn random_packets(
        link in prop::sample::select(vec![0u16, 1, 12, 14, 101, 108, 113, 228, 229, 276, 147]),
        data in prop::collection::vec(any::<u8>(), 0..120),
        original in prop_oneof![Just(0u32), any::<u32>()],
        dscp in 0u8..64,
    ) {
        rewritten(&Packet { link, data: &data, original }, dscp);
    }

    /// As above with the first bytes of an IP header, so that the parsers behind it are reached.
    #[test]
    fn random_ip_packets(
        start in prop::sample::select(vec![&[0x45u8, 0][..], &[0x4f, 0], &[0x46, 0], &[0x60, 0, 0, 0], &[0x60, 1, 2, 3, 0, 0]]),
        next in prop::sample::select(vec![0u8, 6, 17, 43, 44, 51, 59, 60, 132, 255]),
        mut data in prop::collection::vec(prop_oneof![Just(0u8), Just(44), Just(6), any::<u8>()], 20..160),
        original in prop_oneof![Just(0u32), Just(100), any::<u32>()],
        dscp in 0u8..64,
    ) {
        data[..start.len()].copy_from_slice(start);
        data[if start[0] >> 4 == 4 { 9 } else { 6 }] = next;
        rewritten(&Packet { link: 101, data: &data, original }, dscp);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn pcap(data in edited(files(), WORDS)) {
        captures::pcap(&data);
    }

    #[test]
    fn pcapng(data in edited(files(), WORDS)) {
        captures::pcapng(&data);
    }

    #[test]
    fn headers(data in edited(packets(), WORDS)) {
        captures::headers(&data);
    }
}
