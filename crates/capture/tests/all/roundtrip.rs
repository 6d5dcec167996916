//! Whole files: what was written is read, and a copy differs from its original in the asked bytes only.

use std::io::{self, Read};

use crate::common::{Expected, Piece, concat, copy, file, shift_dscp};
use perhop_capture::{Capture, CaptureError, Fate, Pump};
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<Vec<Expected>, CaptureError> {
    read_from(bytes, Capture::new(bytes)?)
}

/// All packets of `capture`, whose bytes are `bytes`.
fn read_from<R: Read>(bytes: &[u8], mut capture: Capture<R>) -> Result<Vec<Expected>, CaptureError> {
    let mut found = Vec::new();
    while let Some(mut chunk) = capture.next_chunk()? {
        let Some(record) = chunk.record() else { continue };
        let at = record.data_offset as usize;
        assert_eq!(&bytes[at..at + record.data.len()], &record.data[..], "the stated place in the file");
        assert_eq!(record.index, found.len() as u64);
        found.push(Expected {
            data: record.data.to_vec(),
            original: record.original,
            time_ns: record.time_ns,
            link: record.link.0,
            interface: record.interface,
        });
    }
    Ok(found)
}

/// A pipe that gives a few bytes at a time, and is interrupted in between.
struct Dribble<'a> {
    bytes: &'a [u8],
    calls: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = buffer.len().min(self.calls % 7 + 1);
        self.bytes.read(&mut buffer[..count])
    }
}

fn packets(pieces: &[Piece]) -> Vec<Expected> {
    pieces.iter().filter_map(|piece| piece.packet.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn reads_what_was_written(spec in file()) {
        let pieces = spec.pieces(0);
        let bytes = concat(&pieces);
        prop_assert_eq!(read(&bytes).unwrap(), packets(&pieces));
        let slowly = Capture::new(Dribble { bytes: &bytes, calls: 0 }).unwrap();
        prop_assert_eq!(read_from(&bytes, slowly).unwrap(), packets(&pieces));
    }

    #[test]
    fn a_copy_is_identical(spec in file()) {
        let bytes = concat(&spec.pieces(0));
        let (output, tally) = copy(&bytes, Pump::default(), |_| Ok(Fate::Keep)).unwrap();
        prop_assert!(output == bytes);
        prop_assert_eq!(tally.packets as usize, packets(&spec.pieces(0)).len());
        let (output, _) = copy(&bytes, Pump::default(), |record| shift_dscp(record, 0)).unwrap();
        prop_assert!(output == bytes);
    }

    /// The oracle is a file built with the other DSCPs from the start, checksums computed in full by etherparse.
    #[test]
    fn rewriting_equals_building_with_those_dscps(spec in file(), shift in 1u8..64) {
        let bytes = concat(&spec.pieces(0));
        let (output, _) = copy(&bytes, Pump::default(), |record| shift_dscp(record, shift)).unwrap();
        prop_assert!(output == concat(&spec.pieces(shift)));
    }

    #[test]
    fn dropping_equals_building_without_those_packets(spec in file(), mask in any::<u64>()) {
        let dropped = |index: u64| mask >> (index % 64) & 1 == 1;
        let pieces = spec.pieces(0);
        let fate = |index| if dropped(index) { Fate::Drop } else { Fate::Keep };
        let (output, tally) = copy(&concat(&pieces), Pump::default(), |record| Ok(fate(record.index))).unwrap();
        let mut index = 0;
        let kept = pieces.iter().filter(|piece| {
            index += u64::from(piece.packet.is_some());
            piece.packet.is_none() || !dropped(index - 1)
        });
        let kept: Vec<Piece> = kept.cloned().collect();
        prop_assert!(output == concat(&kept));
        prop_assert_eq!(tally.dropped as usize, packets(&pieces).len() - packets(&kept).len());
    }

    #[test]
    fn a_cut_file_is_an_error_or_keeps_its_whole_packets(spec in file(), cut in any::<prop::sample::Index>()) {
        let pieces = spec.pieces(0);
        let bytes = concat(&pieces);
        let cut = cut.index(bytes.len());
        let mut whole = 0;
        let before: Vec<&Piece> = pieces
            .iter()
            .take_while(|piece| {
                let fits = whole + piece.bytes.len() <= cut;
                whole += if fits { piece.bytes.len() } else { 0 };
                fits
            })
            .collect();
        let packets = before.iter().filter(|piece| piece.packet.is_some()).count() as u64;
        let strict = copy(&bytes[..cut], Pump::default(), |_| Ok(Fate::Keep));
        let lenient = copy(&bytes[..cut], Pump { partial: true, ..Pump::default() }, |_| Ok(Fate::Keep));
        match strict {
            Ok((output, tally)) => {
                prop_assert_eq!((whole, tally.packets, &output[..]), (cut, packets, &bytes[..cut]));
                prop_assert_eq!(lenient.unwrap().1, tally);
            }
            Err(CaptureError::Truncated(stated)) => {
                prop_assert_eq!((stated.offset, stated.packets), (whole as u64, packets));
                prop_assert_eq!(stated.have, (cut - whole) as u64);
                prop_assert!(stated.need > stated.have);
                match lenient {
                    Ok((output, tally)) => {
                        prop_assert_eq!((&output[..], tally.truncated), (&bytes[..whole], Some(stated)));
                    }
                    // not even the file header is there
                    Err(error) => prop_assert!(before.is_empty(), "{}", error),
                }
            }
            Err(other) => prop_assert!(cut < 4, "{other}"),
        }
    }
}

/// Longer than the window at first, then longer than what is left of it: the buffer grows and moves.
#[test]
fn long_packets_and_long_files() {
    let mut file = vec![0xa1, 0xb2, 0x3c, 0x4d, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 1];
    for number in 0..600u32 {
        let length = if number % 100 == 50 { 1_000_000 + number } else { 700 + number };
        [number, number, length, length].iter().for_each(|field| file.extend(field.to_be_bytes()));
        file.extend((0..length).map(|place| (place.wrapping_mul(number)) as u8));
    }
    let found = read(&file).unwrap();
    assert_eq!(found.len(), 600);
    assert_eq!(found[50].data.len(), 1_000_050);
    let (output, _) = copy(&file, Pump::default(), |_| Ok(Fate::Keep)).unwrap();
    assert!(output == file);
}
