//! pcapng (draft-ietf-opsawg-pcapng): sections of blocks, each block framed by its length at both ends.
//!
//! Who parses what: the framing (12 bytes) and the fixed fields of the three packet blocks (20 bytes) are read here,
//! so that a block can be copied unchanged and no option list is built for each packet; `pcap-parser`, which does not
//! know the old Packet Block either, parses interface descriptions with their options. The meaning of the two clock options is
//! again read here: pcap-parser 0.17 takes `if_tsoffset` as little-endian in every section, and knows no resolution of base 2.

use pcap_parser::pcapng::{OptionCode, PcapNGOption};
use pcap_parser::{InterfaceDescriptionBlock, parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le};
use perhop_edge::LinkType;

use crate::chunk::{MAX_CHUNK, PacketInfo};
use crate::error::CaptureError;
use crate::order::Order;
use crate::timestamp::{Clock, Unit};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Bytes needed to know a block's type, length and, for a section header, byte order.
pub(crate) const BLOCK_START: usize = 12;

/// One Interface Description Block.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link: LinkType,
    snaplen: u32,
    clock: Clock,
}

/// A block's framing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    offset: u64,
    kind: u32,
    pub(crate) length: u32,
}

/// The section the reader is in.
#[derive(Debug)]
pub(crate) struct PcapngFile {
    order: Order,
    interfaces: Vec<Interface>,
    /// Interfaces of earlier sections, so that numbers do not repeat within the file.
    earlier_interfaces: u32,
}

impl PcapngFile {
    pub(crate) fn new() -> Self {
        PcapngFile { order: Order::Little, interfaces: Vec::new(), earlier_interfaces: 0 }
    }

    /// Read the first 12 bytes of the block at byte `offset`. A section header sets the byte order from here on.
    pub(crate) fn frame(&mut self, bytes: &[u8], offset: u64) -> Result<Frame, CaptureError> {
        if self.order.u32(bytes, 0) == SECTION_HEADER {
            self.order = byte_order(bytes, offset)?;
        }
        let frame = Frame { offset, kind: self.order.u32(bytes, 0), length: self.order.u32(bytes, 4) };
        frame.check_length().map(|()| frame)
    }

    /// Read a whole block; the packet's place in it if it holds one.
    pub(crate) fn block(&mut self, bytes: &[u8], frame: Frame) -> Result<Option<PacketInfo>, CaptureError> {
        let trailing = self.order.u32(bytes, bytes.len() - 4);
        if trailing != frame.length {
            return Err(CaptureError::BlockTrailer { offset: frame.offset, leading: frame.length, trailing });
        }
        match frame.kind {
            SECTION_HEADER => self.section(bytes, frame).map(|()| None),
            INTERFACE_DESCRIPTION => self.interface(bytes, frame).map(|()| None),
            ENHANCED_PACKET => self.packet(bytes, frame, self.order.u32(bytes, 8)).map(Some),
            OLD_PACKET => self.packet(bytes, frame, u32::from(self.order.u16(bytes, 8))).map(Some),
            SIMPLE_PACKET => self.simple_packet(bytes, frame).map(Some),
            _ => Ok(None),
        }
    }

    fn section(&mut self, bytes: &[u8], frame: Frame) -> Result<(), CaptureError> {
        let (major, minor) = (self.order.u16(bytes, 12), self.order.u16(bytes, 14));
        if major != 1 {
            let (offset, what, supported) = (frame.offset, "section header", "version 1");
            return Err(CaptureError::Version { offset, what, major, minor, supported });
        }
        self.earlier_interfaces += self.interfaces.len() as u32;
        self.interfaces.clear();
        Ok(())
    }

    fn interface(&mut self, bytes: &[u8], frame: Frame) -> Result<(), CaptureError> {
        let parsed = match self.order {
            Order::Little => parse_interfacedescriptionblock_le(bytes),
            Order::Big => parse_interfacedescriptionblock_be(bytes),
        };
        let Ok((_, block)) = parsed else {
            return Err(CaptureError::InterfaceOptions { offset: frame.offset, reason: "not readable".into() });
        };
        let clock = clock(&block, self.order)
            .map_err(|reason| CaptureError::InterfaceOptions { offset: frame.offset, reason })?;
        self.interfaces.push(Interface { link: LinkType(block.linktype.0 as u16), snaplen: block.snaplen, clock });
        Ok(())
    }

    /// Enhanced and old Packet Blocks differ in the first four bytes of the body only.
    fn packet(&self, bytes: &[u8], frame: Frame, number: u32) -> Result<PacketInfo, CaptureError> {
        let interface = self.interface_of(number, frame)?;
        let units = u64::from(self.order.u32(bytes, 12)) << 32 | u64::from(self.order.u32(bytes, 16));
        let Some(time_ns) = interface.clock.nanoseconds(units) else {
            return Err(CaptureError::Timestamp { offset: frame.offset, units, unit: interface.clock.describe() });
        };
        let (captured, original) = (self.order.u32(bytes, 20), self.order.u32(bytes, 24));
        self.info(frame, number, Extent { fields: 28, captured, original }, Some(time_ns))
    }

    /// A Simple Packet Block belongs to interface 0, has no time, and its captured length is the smaller of the
    /// original length and the interface's snap length.
    fn simple_packet(&self, bytes: &[u8], frame: Frame) -> Result<PacketInfo, CaptureError> {
        let interface = self.interface_of(0, frame)?;
        let original = self.order.u32(bytes, 8);
        let captured = if interface.snaplen == 0 { original } else { original.min(interface.snaplen) };
        self.info(frame, 0, Extent { fields: 12, captured, original }, None)
    }

    fn info(
        &self,
        frame: Frame,
        number: u32,
        extent: Extent,
        time_ns: Option<u64>,
    ) -> Result<PacketInfo, CaptureError> {
        let Extent { fields, captured, original } = extent;
        let room = frame.length - fields - 4;
        if captured > room {
            return Err(CaptureError::CapturedLength { offset: frame.offset, captured, room });
        }
        let data = fields as usize..(fields + captured) as usize;
        let interface = self.earlier_interfaces + number;
        Ok(PacketInfo { data, original, time_ns, link: self.interfaces[number as usize].link, interface })
    }

    fn interface_of(&self, number: u32, frame: Frame) -> Result<&Interface, CaptureError> {
        let described = self.interfaces.len();
        let missing = CaptureError::Interface { offset: frame.offset, interface: number, described };
        self.interfaces.get(number as usize).ok_or(missing)
    }
}

/// Where the captured bytes of a packet block lie: after `fields` bytes of framing and fixed fields.
struct Extent {
    fields: u32,
    captured: u32,
    original: u32,
}

impl Frame {
    fn check_length(&self) -> Result<(), CaptureError> {
        let Frame { offset, kind, length } = *self;
        let least = match kind {
            SECTION_HEADER => 28,
            INTERFACE_DESCRIPTION => 20,
            ENHANCED_PACKET | OLD_PACKET => 32,
            SIMPLE_PACKET => 16,
            _ => 12,
        };
        if length < least {
            let reason = format!("less than the {least} bytes of its fixed fields");
            return Err(CaptureError::BlockLength { offset, kind, length, reason });
        }
        if length % 4 != 0 {
            return Err(CaptureError::BlockLength { offset, kind, length, reason: "not a multiple of 4".into() });
        }
        if length > MAX_CHUNK {
            let (length, bound) = (u64::from(length), u64::from(MAX_CHUNK));
            return Err(CaptureError::TooLong { offset, what: "block", length, bound });
        }
        Ok(())
    }
}

fn byte_order(bytes: &[u8], offset: u64) -> Result<Order, CaptureError> {
    match Order::Little.u32(bytes, 8) {
        0x1a2b_3c4d => Ok(Order::Little),
        0x4d3c_2b1a => Ok(Order::Big),
        found => Err(CaptureError::ByteOrder { offset, found }),
    }
}

/// The interface's clock, from the first `if_tsresol` and `if_tsoffset` before the end of the options.
fn clock(block: &InterfaceDescriptionBlock<'_>, order: Order) -> Result<Clock, String> {
    let options = whole_options(block)?;
    let mut clock = Clock::DEFAULT;
    if let Some(octet) = value::<1>(options, OptionCode::IfTsresol)? {
        let unit = Unit::from_option(octet[0]);
        clock.unit =
            unit.ok_or_else(|| format!("if_tsresol {:#04x}, the finest are 10^-19 s and 2^-63 s", octet[0]))?;
    }
    if let Some(raw) = value::<8>(options, OptionCode::IfTsoffset)? {
        clock.offset_s = order.i64(raw);
    }
    Ok(clock)
}

/// The options up to their end mark. Without one they must fill the block: pcap-parser stops silently at an option
/// that runs past it, and the clock could come after that.
fn whole_options<'o>(block: &'o InterfaceDescriptionBlock<'_>) -> Result<&'o [PcapNGOption<'o>], String> {
    if let Some(end) = block.options.iter().position(|option| option.code == OptionCode::EndOfOpt) {
        return Ok(&block.options[..end]);
    }
    let room = block.block_len1 as usize - 20;
    let used: usize = block.options.iter().map(|option| 4 + option.value.len()).sum();
    if used == room {
        Ok(&block.options)
    } else {
        Err(format!("an option runs past the block's {room} bytes of options"))
    }
}

fn value<const N: usize>(options: &[PcapNGOption<'_>], code: OptionCode) -> Result<Option<[u8; N]>, String> {
    let Some(option) = options.iter().find(|option| option.code == code) else { return Ok(None) };
    let bytes = option.as_bytes().ok().and_then(|bytes| <[u8; N]>::try_from(bytes).ok());
    bytes.map(Some).ok_or_else(|| format!("option {} has {} bytes instead of {N}", code.0, option.len))
}
