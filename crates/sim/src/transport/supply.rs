//! How much a sender has to send.

use super::error::{ConfigError, check};

/// How much the application has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// Always another full segment (bulk FTP), up to number 2^32 - 2.
    Unlimited,
    /// This many bytes; the last segment may be short.
    Bytes(u64),
    /// Full segments as [`super::Sender::offer`] makes them available; none at first.
    Offered,
}

/// No number.
const NONE: u32 = u32::MAX;

/// How much there is to send, in numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// One past the last.
    pub(super) end: u32,
    /// The number of a short last segment, or [`u32::MAX`], and its bytes.
    pub(super) short: u32,
    pub(super) short_payload: u16,
    /// More may be offered.
    pub(super) offered: bool,
}

impl Extent {
    pub(super) fn of(supply: Supply, mss: u16) -> Result<Self, ConfigError> {
        let open = Self { end: 1, short: NONE, short_payload: 0, offered: false };
        let bytes = match supply {
            Supply::Unlimited => return Ok(Self { end: NONE, ..open }),
            Supply::Offered => return Ok(Self { offered: true, ..open }),
            Supply::Bytes(bytes) => bytes,
        };
        let segments = bytes.div_ceil(u64::from(mss));
        let most = u64::from(NONE) - 1;
        check(segments <= most, "supply", format!("{bytes}B"), format!("must be at most {most} segments of {mss}B"))?;
        let (end, rest) = (segments as u32 + 1, (bytes % u64::from(mss)) as u16);
        Ok(Self { end, short: if rest > 0 { end - 1 } else { NONE }, short_payload: rest, ..open })
    }
}
