//! Lengths of an IP packet: measured at the frame, and believed where a sender may honestly state less.

use crate::unread::Unread;

/// Bytes behind the Ethernet header of the smallest frame, which shorter packets are padded to (IEEE 802.3 section 3.2.8).
const LEAST_PAYLOAD: u32 = 46;

/// The longest trailer: a frame check sequence, or a tag of a switch.
const LONGEST_TRAILER: u32 = 4;

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
    /// Those of a packet of which `there` bytes are behind the link header, and whose header states so many. `l4` is not known yet.
    ///
    /// # Errors
    /// The header states more than there are.
    #[inline]
    pub(crate) fn of(stated: u32, there: u32) -> Result<Self, Unread> {
        // wraps where more is stated, and is then above all trailers
        if there.wrapping_sub(stated) <= LONGEST_TRAILER {
            return Ok(Self { l3: stated, stated, l4: 0 });
        }
        match stated {
            0 => Ok(Self { l3: there, stated: there, l4: 0 }),
            more if more > there => Err(Unread::Truncated),
            padded if there <= LEAST_PAYLOAD => Ok(Self { l3: padded, stated, l4: 0 }),
            _ => Ok(Self { l3: there, stated, l4: 0 }),
        }
    }
}
