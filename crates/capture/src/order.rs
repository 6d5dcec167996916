//! Byte order of a file or section: both formats are written in the order of the machine that captured.

/// Byte order of the numbers in a file (pcap) or section (pcapng).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    /// The 16-bit number at `at`. The caller has checked that it is there.
    #[inline]
    pub(crate) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let raw = [bytes[at], bytes[at + 1]];
        match self {
            Order::Little => u16::from_le_bytes(raw),
            Order::Big => u16::from_be_bytes(raw),
        }
    }

    /// The 32-bit number at `at`. The caller has checked that it is there.
    #[inline]
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let raw = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Order::Little => u32::from_le_bytes(raw),
            Order::Big => u32::from_be_bytes(raw),
        }
    }

    /// A signed 64-bit number, the whole of `raw`.
    pub(crate) fn i64(self, raw: [u8; 8]) -> i64 {
        match self {
            Order::Little => i64::from_le_bytes(raw),
            Order::Big => i64::from_be_bytes(raw),
        }
    }
}
