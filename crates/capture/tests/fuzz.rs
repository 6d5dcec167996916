//! Whatever the bytes: packets or a typed error with a message, never a panic, and a copy never differs from its input.

mod common;

use common::{concat, copy, file, shift_dscp};
use perhop_capture::{Capture, FlowTable, LinkType, Pump, locate, set_dscp, set_flow_label};
use proptest::prelude::*;

/// Read to the end or to the first error; the same error must come again.
fn exercise(bytes: &[u8]) {
    let mut capture = match Capture::new(bytes) {
        Ok(capture) => capture,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut covered = 0;
    loop {
        match capture.next_chunk() {
            Ok(Some(chunk)) => {
                assert_eq!(chunk.offset(), covered as u64);
                assert_eq!(chunk.bytes(), &bytes[covered..covered + chunk.bytes().len()]);
                covered += chunk.bytes().len();
            }
            Ok(None) => return assert_eq!(covered, bytes.len()),
            Err(error) => {
                let again = capture.next_chunk().err().expect("an error lasts").to_string();
                return assert_eq!(error.to_string(), again);
            }
        }
    }
}

/// Only the first two bytes of the IP header and an IPv4 checksum may change.
fn exercise_headers(link: u16, data: &[u8], original: u32, dscp: u8) {
    let Ok(headers) = locate(LinkType(link), data, original) else { return };
    assert!(headers.ip_offset + 20 <= data.len());
    assert!(headers.l3_length >= 20 && headers.dscp < 64 && headers.ecn < 4);
    if let Some(tcp) = headers.tcp {
        assert!(u32::from(tcp.header_length) + tcp.payload + 20 <= headers.l3_length);
    }
    FlowTable::new().id(&headers);
    let mut changed = data.to_vec();
    set_dscp(&mut changed, &headers, dscp).expect("below 64");
    let now = locate(LinkType(link), &changed, original).expect("as before");
    assert_eq!((now.dscp, perhop_capture::IpHeaders { dscp: headers.dscp, ..now }), (dscp, headers));
    let at = |place: usize| place.wrapping_sub(headers.ip_offset);
    let allowed = |place| at(place) < 2 || headers.version == 4 && (10..12).contains(&at(place));
    assert!((0..data.len()).all(|place| data[place] == changed[place] || allowed(place)));
    exercise_flow_label(link, (data, original), &headers);
}

/// In IPv6 the second to the fourth byte may change; IPv4 is refused unchanged.
fn exercise_flow_label(link: u16, (data, original): (&[u8], u32), headers: &perhop_capture::IpHeaders) {
    let mut changed = data.to_vec();
    let label = original & 0xf_ffff;
    let set = set_flow_label(&mut changed, headers, label);
    assert_eq!(set.is_ok(), headers.version == 6);
    let now = locate(LinkType(link), &changed, original).expect("as before");
    let wanted = headers.flow_label.map(|_| label);
    assert_eq!(now, perhop_capture::IpHeaders { flow_label: wanted, ..*headers });
    let allowed = |place: usize| (1..4).contains(&place.wrapping_sub(headers.ip_offset));
    assert!((0..data.len()).all(|place| data[place] == changed[place] || allowed(place) && headers.version == 6));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&bytes);
    }

    #[test]
    fn random_bytes_behind_a_known_magic(
        magic in prop::sample::select(vec![0xa1b2_c3d4u32, 0xa1b2_3c4d, 0x0a0d_0d0a]),
        big in any::<bool>(),
        bytes in prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => any::<u8>()], 0..200),
    ) {
        let magic = if big { magic.to_be_bytes() } else { magic.to_le_bytes() };
        exercise(&[&magic[..], &bytes].concat());
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
        exercise(&bytes);
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
        exercise_headers(link, &data, original, dscp);
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
        exercise_headers(101, &data, original, dscp);
    }
}
