//! Random pcapng sections: clocks, link types and options of every kind, unknown blocks.

use std::borrow::Cow;
use std::time::Duration;

use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::simple_packet::SimplePacketBlock;
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use proptest::prelude::*;

use super::frame::Frame;
use super::{Expected, Piece, endianness, link};

#[derive(Debug, Clone)]
pub(crate) struct SectionSpec {
    big_endian: bool,
    interfaces: Vec<InterfaceSpec>,
    blocks: Vec<BlockSpec>,
}

#[derive(Debug, Clone)]
struct InterfaceSpec {
    link: u16,
    tsresol: Option<u8>,
    tsoffset: Option<u32>,
    comment: String,
}

#[derive(Debug, Clone)]
enum BlockSpec {
    /// Enhanced Packet Block: interface (modulo their number), time in ns, packet, value of a hash option.
    Enhanced(usize, u64, Frame, Option<Vec<u8>>),
    /// The obsolete Packet Block.
    Old(usize, u64, Frame),
    Simple(Frame),
    /// Any other type with any body.
    Other(u32, Vec<u8>),
}

pub(crate) fn section() -> impl Strategy<Value = SectionSpec> {
    let resolution = prop_oneof![0u8..=12, (0u8..=40).prop_map(|n| 0x80 | n)];
    let interface = (link(), prop::option::of(resolution), prop::option::of(any::<u32>()), "[a-z]{0,9}")
        .prop_map(|(link, tsresol, tsoffset, comment)| InterfaceSpec { link, tsresol, tsoffset, comment });
    let (interfaces, blocks) = (prop::collection::vec(interface, 1..4), prop::collection::vec(block(), 0..8));
    (any::<bool>(), interfaces, blocks).prop_map(|(big_endian, interfaces, blocks)| SectionSpec {
        big_endian,
        interfaces,
        blocks,
    })
}

fn block() -> impl Strategy<Value = BlockSpec> {
    let garbage = || prop::collection::vec(any::<u8>(), 0..30);
    let (at, time) = (0usize..4, 0u64..4_000_000_000_000_000_000);
    let kinds = prop_oneof![Just(4u32), Just(5), Just(10), Just(0xbad), 0x8000_0000u32..];
    prop_oneof![
        4 => (at.clone(), time.clone(), super::frame::frame(), prop::option::of(garbage()))
            .prop_map(|(at, time, frame, option)| BlockSpec::Enhanced(at, time, frame, option)),
        1 => (at, time, super::frame::frame()).prop_map(|(at, time, frame)| BlockSpec::Old(at, time, frame)),
        1 => super::frame::frame().prop_map(BlockSpec::Simple),
        1 => (kinds, garbage()).prop_map(|(kind, body)| BlockSpec::Other(kind, body)),
    ]
}

pub(crate) fn pieces(sections: &[SectionSpec], shift: u8) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut earlier = 0;
    for section in sections {
        section.pieces(&mut pieces, earlier, shift);
        earlier += section.interfaces.len() as u32;
    }
    pieces
}

impl SectionSpec {
    fn pieces(&self, pieces: &mut Vec<Piece>, earlier: u32, shift: u8) {
        let mut writer = PcapNgWriter::with_endianness(Vec::new(), endianness(self.big_endian)).unwrap();
        pieces.push(Piece { bytes: writer.get_ref().clone(), packet: None });
        for interface in &self.interfaces {
            let before = writer.get_ref().len();
            writer.write_block(&interface.block().into_block()).unwrap();
            pieces.push(Piece { bytes: writer.get_ref()[before..].to_vec(), packet: None });
        }
        for block in &self.blocks {
            let before = writer.get_ref().len();
            let packet = self.write(block, &mut writer, shift);
            let packet = packet.map(|packet| Expected { interface: packet.interface + earlier, ..packet });
            pieces.push(Piece { bytes: writer.get_ref()[before..].to_vec(), packet });
        }
    }

    fn write(&self, block: &BlockSpec, writer: &mut PcapNgWriter<Vec<u8>>, shift: u8) -> Option<Expected> {
        let number = match block {
            BlockSpec::Enhanced(at, ..) | BlockSpec::Old(at, ..) => at % self.interfaces.len(),
            _ => 0,
        };
        let interface = &self.interfaces[number];
        match block {
            BlockSpec::Enhanced(_, time, frame, option) => {
                let (packet, units) = interface.packet(number, *time, frame.build(interface.link, shift));
                let options = option.iter().map(|value| EnhancedPacketOption::Hash(Cow::Borrowed(value)));
                let block = EnhancedPacketBlock {
                    interface_id: number as u32,
                    timestamp: Duration::from_nanos(units), // the writer writes the number unchanged
                    original_len: packet.original,
                    data: Cow::Borrowed(&packet.data),
                    options: options.collect(),
                };
                writer.write_block(&block.into_block()).unwrap();
                Some(packet)
            }
            BlockSpec::Old(_, time, frame) => {
                let (packet, units) = interface.packet(number, *time, frame.build(interface.link, shift));
                let number = self.u16s(&[number as u16, 0xffff]);
                let (high, low) = ((units >> 32) as u32, units as u32);
                let fields = self.u32s(&[high, low, packet.data.len() as u32, packet.original]);
                self.frame(writer.get_mut(), 2, &[&number[..], &fields, &packet.data].concat());
                Some(packet)
            }
            BlockSpec::Simple(frame) => {
                // the snap length is 65535, so a Simple Packet Block holds the whole packet
                let (data, original) = frame.uncut().build(interface.link, shift);
                let block = SimplePacketBlock { original_len: original, data: Cow::Borrowed(&data) };
                writer.write_block(&block.into_block()).unwrap();
                Some(Expected { data, original, time_ns: None, link: interface.link, interface: 0 })
            }
            BlockSpec::Other(kind, body) => {
                self.frame(writer.get_mut(), *kind, body);
                None
            }
        }
    }

    /// A hand-written block, for the types pcap-file does not write (or writes wrongly: the old Packet Block's time).
    fn frame(&self, file: &mut Vec<u8>, kind: u32, body: &[u8]) {
        let padding = body.len().next_multiple_of(4) - body.len();
        let length = 12 + (body.len() + padding) as u32;
        file.extend(self.u32s(&[kind, length]));
        file.extend(body);
        file.extend(vec![0; padding]);
        file.extend(self.u32s(&[length]));
    }

    fn u32s(&self, values: &[u32]) -> Vec<u8> {
        let big = self.big_endian;
        values.iter().flat_map(|v| if big { v.to_be_bytes() } else { v.to_le_bytes() }).collect()
    }

    fn u16s(&self, values: &[u16]) -> Vec<u8> {
        let big = self.big_endian;
        values.iter().flat_map(|v| if big { v.to_be_bytes() } else { v.to_le_bytes() }).collect()
    }
}

impl InterfaceSpec {
    fn block(&self) -> InterfaceDescriptionBlock<'_> {
        use InterfaceDescriptionOption::{Comment, IfName, IfTsOffset, IfTsResol};
        let mut options = vec![Comment(Cow::Borrowed(&self.comment)), IfName(Cow::Borrowed("veth0"))];
        options.extend(self.tsresol.map(IfTsResol));
        options.extend(self.tsoffset.map(|seconds| IfTsOffset(u64::from(seconds))));
        InterfaceDescriptionBlock { linktype: DataLink::from(u32::from(self.link)), snaplen: 65_535, options }
    }

    /// The packet near `time` ns on this interface's clock, and the clock's reading.
    fn packet(&self, number: usize, time: u64, (data, original): (Vec<u8>, u32)) -> (Expected, u64) {
        let octet = self.tsresol.unwrap_or(6);
        let per_second = if octet & 0x80 == 0 { 10u128.pow(octet.into()) } else { 1 << (octet & 0x7f) };
        let units = (u128::from(time) * per_second / 1_000_000_000) as u64; // may wrap for fine units: any reading will do
        let ns =
            u128::from(units) * 1_000_000_000 / per_second + u128::from(self.tsoffset.unwrap_or(0)) * 1_000_000_000;
        let time_ns = Some(ns as u64);
        (Expected { data, original, time_ns, link: self.link, interface: number as u32 }, units)
    }
}
