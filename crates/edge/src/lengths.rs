//! Lengths of an IP packet: measured at the frame, and believed where a sender may honestly state less.

use crate::unread::Unread;

/// Bytes behind the Ethernet header of the smallest frame, which shorter packets are padded to (IEEE 802.3 section 3.2.8).
const LEAST_PAYLOAD: u32 = 46;

/// The longest trailer: a frame check sequence, or a tag of a switch.
const LONGEST_TRAILER: u32 = 4;

/// What a capture of Ethernet has too much once a tool has cut the link headers off and left the lengths on the wire as they were.
const ETHERNET_HEADER: u32 = 14;

/// The frame behind its link header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload {
    /// Bytes on the wire.
    pub(crate) bytes: u32,
    /// Whether there is no link header: raw IP.
    pub(crate) is_bare: bool,
}

/// Lengths of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Bytes that are charged for the packet: those behind the link header, less Ethernet's padding or a trailer of at most
    /// 4 bytes.
    pub l3: u32,
    /// Bytes of the packet as its header states, never more than there are. What lies behind is no part of it. If the header says
    /// 0 (segmentation offload, jumbogram), all that there are, which includes a captured frame check sequence.
    pub stated: u32,
    /// Bytes of the stated ones after the IP header and its extensions: transport header and payload.
    pub l4: u32,
}

impl Lengths {
    /// Those of a packet whose header states this many bytes. `l4` is not known yet.
    ///
    /// # Errors
    /// The header states more than there are.
    #[inline]
    pub(crate) fn of(stated: u32, Payload { bytes: there, is_bare }: Payload) -> Result<Self, Unread> {
        let as_stated = Self { l3: stated, stated, l4: 0 };
        // wraps where more is stated, and is then above all trailers
        let left = there.wrapping_sub(stated);
        if left <= LONGEST_TRAILER {
            return Ok(as_stated);
        }
        match stated {
            0 => Ok(Self { l3: there, stated: there, l4: 0 }),
            more if more > there => Err(Unread::Truncated),
            _ if there <= LEAST_PAYLOAD || is_bare && left == ETHERNET_HEADER => Ok(as_stated),
            _ => Ok(Self { l3: there, ..as_stated }),
        }
    }
}
