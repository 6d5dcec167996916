//! What both formats say of a chunk: its greatest length, and where its packet is.

use std::ops::Range;

use perhop_edge::LinkType;

/// Longest block or record, in bytes. Wireshark has the same bound for blocks.
pub const MAX_CHUNK: u32 = 16 * 1024 * 1024;

/// Where a chunk's packet is, and what the file says about it.
#[derive(Debug, Clone)]
pub(crate) struct PacketInfo {
    pub(crate) data: Range<usize>,
    pub(crate) original: u32,
    pub(crate) time_ns: Option<u64>,
    pub(crate) link: LinkType,
    pub(crate) interface: u32,
}
