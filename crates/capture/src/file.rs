//! A capture as a stream of chunks: header, block or record, each with its own bytes.
//!
//! Every byte of the file belongs to exactly one chunk, in order, so writing all chunks gives the file back. Memory is
//! constant: one buffer, which only a chunk longer than itself makes grow, up to 16 MiB. Chunks that are written are
//! written from that buffer, many at a time.

use std::io::Read;

use perhop_edge::LinkType;

pub use crate::chunk::MAX_CHUNK;
use crate::chunk::PacketInfo;
use crate::error::{CaptureError, Truncated};
use crate::input::{self, Input};
use crate::magic::{self, Magic};
use crate::pcap::{self, PcapFile};
use crate::pcapng::{self, PcapngFile};
use crate::window::Window;

/// A pcap or pcapng file, read from front to back.
pub struct Capture<R> {
    window: Window<R>,
    format: Format,
    /// Bytes of the chunk given out last: they leave the window with the next call.
    given: usize,
    packets: u64,
}

enum Format {
    /// The file header has not been given out yet.
    PcapStart(PcapFile),
    Pcap(PcapFile),
    Pcapng(PcapngFile),
}

/// A piece of the file: file header, block, or record, with its framing.
pub struct Chunk<'a> {
    offset: u64,
    bytes: &'a mut [u8],
    packet: Option<PacketInfo>,
    index: u64,
}

/// One packet of a capture. Its bytes may be changed in place; nothing else of the file can be.
#[derive(Debug)]
pub struct Record<'a> {
    /// Number of the packet in the file, from 0.
    pub index: u64,
    /// Byte of the file where its block or record begins.
    pub block_offset: u64,
    /// Byte of the file where the captured bytes begin.
    pub data_offset: u64,
    /// The captured bytes, from the link header on.
    pub data: &'a mut [u8],
    /// Length on the wire in bytes, as the file states it. Some writers leave a value below the captured length.
    pub original: u32,
    /// Nanoseconds since 1970, rounded down; `None` in a Simple Packet Block, which has no time.
    pub time_ns: Option<u64>,
    /// How the captured bytes begin.
    pub link: LinkType,
    /// Interface number, counted through all sections of the file; 0 in a pcap.
    pub interface: u32,
}

impl<'a> Capture<Input<'a>> {
    /// Read a capture from `input`, such as its bytes in memory; gzip is decompressed as it is read. Errors as in [`Self::new`].
    pub fn plain_or_gzip(input: impl Read + 'a) -> Result<Self, CaptureError> {
        let input = input::decompressed(Box::new(input));
        Self::new(input.map_err(|cause| CaptureError::Read { offset: 0, cause })?)
    }
}

impl<R: Read> Capture<R> {
    /// Read a capture from `input`, which is read in large pieces (no `BufReader` needed). Errors: empty, not a capture, header
    /// cut off, compressed.
    pub fn new(input: R) -> Result<Self, CaptureError> {
        let mut window = Window::new(input);
        if window.fill(pcap::FILE_HEADER)? == 0 && window.whole(0).is_err() {
            need(&mut window, pcap::FILE_HEADER, 0)?;
        }
        let format = match magic::recognise(window.bytes())? {
            Magic::Pcapng => Format::Pcapng(PcapngFile::new()),
            found => {
                need(&mut window, pcap::FILE_HEADER, 0)?;
                Format::PcapStart(PcapFile::parse(&window.bytes()[..pcap::FILE_HEADER], found)?)
            }
        };
        Ok(Capture { window, format, given: 0, packets: 0 })
    }

    /// The next chunk, or `None` at the end of the file. After an error the same error comes again.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>, CaptureError> {
        self.window.advance(std::mem::take(&mut self.given));
        if self.window.fill(1)? == 0 {
            return self.window.whole(self.packets).map(|()| None);
        }
        let (length, packet) = self.parse()?;
        let index = self.packets;
        self.packets += u64::from(packet.is_some());
        self.given = length;
        let offset = self.window.offset();
        Ok(Some(Chunk { offset, bytes: &mut self.window.bytes_mut()[..length], packet, index }))
    }

    /// From now on chunks stay in memory, in the order of the file, until they are taken.
    pub(crate) fn keep(&mut self) {
        self.window.keep();
    }

    /// Whether it is time to take the chunks that are kept.
    pub(crate) fn is_low(&self) -> bool {
        self.window.is_low()
    }

    /// The bytes of all chunks given out and not taken so far.
    pub(crate) fn take(&mut self) -> &[u8] {
        self.window.advance(std::mem::take(&mut self.given));
        self.window.take()
    }

    /// The same without the chunk given out last, which is dropped. `write` gets the bytes.
    pub(crate) fn take_but_last<E>(&mut self, write: impl FnOnce(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let written = write(self.window.take());
        self.take();
        written
    }

    /// Packets given out so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Length of the chunk the window starts with, and its packet.
    fn parse(&mut self) -> Result<(usize, Option<PacketInfo>), CaptureError> {
        match &mut self.format {
            Format::PcapStart(file) => {
                self.format = Format::Pcap(*file);
                Ok((pcap::FILE_HEADER, None))
            }
            Format::Pcap(file) => pcap_record(&mut self.window, file, self.packets),
            Format::Pcapng(file) => pcapng_block(&mut self.window, file, self.packets),
        }
    }
}

fn pcap_record<R: Read>(
    window: &mut Window<R>,
    file: &PcapFile,
    packets: u64,
) -> Result<(usize, Option<PacketInfo>), CaptureError> {
    need(window, pcap::RECORD_HEADER, packets)?;
    let header = file.record(window.bytes(), window.offset())?;
    let length = pcap::RECORD_HEADER + header.captured as usize;
    need(window, length, packets)?;
    let (data, time_ns) = (pcap::RECORD_HEADER..length, Some(header.time_ns));
    Ok((length, Some(PacketInfo { data, original: header.original, time_ns, link: file.link, interface: 0 })))
}

fn pcapng_block<R: Read>(
    window: &mut Window<R>,
    file: &mut PcapngFile,
    packets: u64,
) -> Result<(usize, Option<PacketInfo>), CaptureError> {
    need(window, pcapng::BLOCK_START, packets)?;
    let frame = file.frame(window.bytes(), window.offset())?;
    let length = frame.length as usize;
    need(window, length, packets)?;
    let packet = file.block(&window.bytes()[..length], frame)?;
    Ok((length, packet))
}

/// The window holds `need` bytes, or the capture is truncated.
fn need<R: Read>(window: &mut Window<R>, need: usize, packets: u64) -> Result<(), CaptureError> {
    let have = window.fill(need)?;
    if have >= need {
        return Ok(());
    }
    Err(Truncated { offset: window.offset(), have: have as u64, need: need as u64, packets }.into())
}

impl Chunk<'_> {
    /// Byte of the file where the chunk begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The chunk unchanged, framing included: what a copy of the file gets.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// The chunk's packet; `None` for headers, interface descriptions, statistics and the like.
    pub fn record(&mut self) -> Option<Record<'_>> {
        let info = self.packet.as_ref()?;
        Some(Record {
            index: self.index,
            block_offset: self.offset,
            data_offset: self.offset + info.data.start as u64,
            data: &mut self.bytes[info.data.clone()],
            original: info.original,
            time_ns: info.time_ns,
            link: info.link,
            interface: info.interface,
        })
    }
}
