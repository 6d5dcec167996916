//! Classic pcap: a 24-byte header, then records of a 16-byte header and the captured bytes.
//!
//! The file header is parsed by `pcap-parser`; its fields are then used to step from record to record. The correction
//! of the time zone (`thiszone`) is ignored, as libpcap does: every tool writes 0, and a constant affects no meter.

use perhop_edge::LinkType;

use crate::chunk::MAX_CHUNK;
use crate::error::CaptureError;
use crate::magic::Magic;
use crate::order::Order;

pub(crate) const FILE_HEADER: usize = 24;
pub(crate) const RECORD_HEADER: usize = 16;

/// Largest captured length libpcap accepts whatever the header says; a larger `snaplen` raises the bound.
const MAX_SNAPLEN: u32 = 262_144;

/// What the file header says about every record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PcapFile {
    order: Order,
    ns_per_unit: u64,
    pub(crate) link: LinkType,
    bound: u32,
}

/// A record's header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordHeader {
    pub(crate) captured: u32,
    pub(crate) original: u32,
    pub(crate) time_ns: u64,
}

impl PcapFile {
    /// Read the file header: `bytes` are its 24 bytes, `magic` their first four.
    pub(crate) fn parse(bytes: &[u8], magic: Magic) -> Result<Self, CaptureError> {
        let Magic::Pcap { order, nanoseconds } = magic else { unreachable!("the caller saw a pcap magic") };
        let (_, header) = pcap_parser::parse_pcap_header(bytes).expect("24 bytes that start with a known magic");
        if header.version_major != 2 {
            return Err(version(header.version_major, header.version_minor));
        }
        Ok(PcapFile {
            order,
            ns_per_unit: if nanoseconds { 1 } else { 1_000 },
            // the upper 16 bits carry the length of a frame check sequence, not the link type
            link: LinkType(header.network.0 as u16),
            bound: header.snaplen.clamp(MAX_SNAPLEN, MAX_CHUNK),
        })
    }

    /// Read the 16-byte header of the record at byte `offset`.
    ///
    /// A fraction of a second of 10^6 us or 10^9 ns and above, which some writers leave, is carried into the seconds.
    #[inline]
    pub(crate) fn record(&self, bytes: &[u8], offset: u64) -> Result<RecordHeader, CaptureError> {
        let field = |at| self.order.u32(bytes, at);
        let captured = field(8);
        if captured > self.bound {
            let (length, bound) = (u64::from(captured), u64::from(self.bound));
            return Err(CaptureError::TooLong { offset, what: "packet record", length, bound });
        }
        let time_ns = u64::from(field(0)) * 1_000_000_000 + u64::from(field(4)) * self.ns_per_unit;
        Ok(RecordHeader { captured, original: field(12), time_ns })
    }
}

fn version(major: u16, minor: u16) -> CaptureError {
    CaptureError::Version { offset: 0, what: "pcap header", major, minor, supported: "version 2" }
}
