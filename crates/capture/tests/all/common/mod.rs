//! Random capture files whose content is known: built with pcap-file's writers and etherparse, not with our own code.

pub(crate) mod frame;
pub(crate) mod made;
pub(crate) mod marking;
pub(crate) mod ng;
pub(crate) mod simulated;

use std::borrow::Cow;

use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness, TsResolution};
use perhop_capture::{Capture, CaptureError, Fate, Pump, Record, Tally};
use perhop_edge::{locate, set_dscp};
use proptest::prelude::*;

use frame::Frame;

/// What the reader must say about a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) data: Vec<u8>,
    pub(crate) original: u32,
    pub(crate) time_ns: Option<u64>,
    pub(crate) link: u16,
    pub(crate) interface: u32,
}

/// A header, block or record of a file.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    pub(crate) packet: Option<Expected>,
}

/// A file to be.
#[derive(Debug, Clone)]
pub(crate) enum Spec {
    Pcap(PcapSpec),
    Pcapng(Vec<ng::SectionSpec>),
}

#[derive(Debug, Clone)]
pub(crate) struct PcapSpec {
    big_endian: bool,
    nanoseconds: bool,
    link: u16,
    records: Vec<(u32, u32, Frame)>,
}

impl Spec {
    /// The file's pieces, with `shift` added to the DSCP of each packet whose IP header is whole.
    pub(crate) fn pieces(&self, shift: u8) -> Vec<Piece> {
        match self {
            Spec::Pcap(spec) => pcap_pieces(spec, shift),
            Spec::Pcapng(sections) => ng::pieces(sections, shift),
        }
    }
}

pub(crate) fn concat(pieces: &[Piece]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| piece.bytes.clone()).collect()
}

pub(crate) fn endianness(big: bool) -> Endianness {
    if big { Endianness::Big } else { Endianness::Little }
}

fn pcap_pieces(spec: &PcapSpec, shift: u8) -> Vec<Piece> {
    let header = PcapHeader {
        datalink: DataLink::from(u32::from(spec.link)),
        ts_resolution: if spec.nanoseconds { TsResolution::NanoSecond } else { TsResolution::MicroSecond },
        endianness: endianness(spec.big_endian),
        ..PcapHeader::default()
    };
    let start = PcapWriter::with_header(Vec::new(), header).unwrap().into_writer();
    let mut pieces = vec![Piece { bytes: start, packet: None }];
    for (seconds, fraction, frame) in &spec.records {
        let (data, original) = frame.build(spec.link, shift);
        let fraction = fraction % if spec.nanoseconds { 1_000_000_000 } else { 1_000_000 };
        let raw = RawPcapPacket {
            ts_sec: *seconds,
            ts_frac: fraction,
            incl_len: data.len() as u32,
            orig_len: original,
            data: Cow::Borrowed(&data),
        };
        let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
        writer.write_raw_packet(&raw).unwrap();
        let time_ns =
            u64::from(*seconds) * 1_000_000_000 + u64::from(fraction) * if spec.nanoseconds { 1 } else { 1000 };
        let bytes = writer.into_writer().split_off(24);
        let packet = Expected { data, original, time_ns: Some(time_ns), link: spec.link, interface: 0 };
        pieces.push(Piece { bytes, packet: Some(packet) });
    }
    pieces
}

pub(crate) fn link() -> impl Strategy<Value = u16> {
    prop::sample::select(vec![0u16, 1, 1, 1, 101, 108, 113, 228, 229, 276])
}

fn pcap() -> impl Strategy<Value = Spec> {
    let records = prop::collection::vec((any::<u32>(), any::<u32>(), frame::frame()), 0..8);
    (any::<bool>(), any::<bool>(), link(), records).prop_map(|(big_endian, nanoseconds, link, records)| {
        Spec::Pcap(PcapSpec { big_endian, nanoseconds, link, records })
    })
}

/// Any file of the two formats.
pub(crate) fn file() -> impl Strategy<Value = Spec> {
    prop_oneof![pcap(), prop::collection::vec(ng::section(), 1..4).prop_map(Spec::Pcapng)]
}

/// Copy a capture, each packet shown to `visit`.
pub(crate) fn copy(
    input: &[u8],
    pump: Pump<'_>,
    visit: impl FnMut(Record<'_>) -> Result<Fate, CaptureError>,
) -> Result<(Vec<u8>, Tally), CaptureError> {
    let mut output = Vec::new();
    let tally = pump.run(&mut Capture::new(input)?, Some(&mut output), visit)?;
    Ok((output, tally))
}

/// Add `shift` to the DSCP of what can be read.
pub(crate) fn shift_dscp(record: Record<'_>, shift: u8) -> Result<Fate, CaptureError> {
    if let Ok(headers) = locate(record.link, record.data, record.original) {
        set_dscp(record.data, &headers, (headers.dscp + shift) % 64).expect("below 64");
    }
    Ok(Fate::Keep)
}
