//! The first bytes of a file: which capture format, or what else it looks like.

use crate::error::CaptureError;
use crate::order::Order;

/// The two formats; a pcapng gives its byte order in each section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Magic {
    Pcap { order: Order, nanoseconds: bool },
    Pcapng,
}

const EDITCAP: &str = "convert it: editcap -F pcap IN OUT";

/// Start of a file, what that is, and the suggested fix.
const OTHERS: &[(&[u8], &str, &str)] = &[
    (&[0x1f, 0x8b], "a gzip file", "gunzip it first"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "a zstd file", "decompress it, as in zstdcat IN | perhop meter -"),
    (b"BZh", "a bzip2 file", "decompress it, as in bzcat IN | perhop meter -"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "an xz file", "decompress it, as in xzcat IN | perhop meter -"),
    (&[0x04, 0x22, 0x4d, 0x18], "an lz4 file", "decompress it, as in lz4cat IN | perhop meter -"),
    (b"PK\x03\x04", "a zip archive", "decompress it, as in unzip -p IN | perhop meter -"),
    (&[0x34, 0xcd, 0xb2, 0xa1], "pcap in the modified format of old Red Hat kernels", EDITCAP),
    (&[0xa1, 0xb2, 0xcd, 0x34], "pcap in the modified format of old Red Hat kernels", EDITCAP),
    (b"snoop\0", "a Solaris snoop capture", EDITCAP),
    (b"GMBU", "a Microsoft Network Monitor capture", EDITCAP),
    (b"RTSS", "a Microsoft Network Monitor capture", EDITCAP),
    (b"\x7fELF", "a program", "give the capture itself"),
    (b"PAR1", "a Parquet file", "give the capture itself"),
];

/// Recognise the format by the first bytes of the file (as many as there are, 8 suffice).
pub(crate) fn recognise(start: &[u8]) -> Result<Magic, CaptureError> {
    match start.first_chunk::<4>() {
        Some([0xd4, 0xc3, 0xb2, 0xa1]) => Ok(Magic::Pcap { order: Order::Little, nanoseconds: false }),
        Some([0xa1, 0xb2, 0xc3, 0xd4]) => Ok(Magic::Pcap { order: Order::Big, nanoseconds: false }),
        Some([0x4d, 0x3c, 0xb2, 0xa1]) => Ok(Magic::Pcap { order: Order::Little, nanoseconds: true }),
        Some([0xa1, 0xb2, 0x3c, 0x4d]) => Ok(Magic::Pcap { order: Order::Big, nanoseconds: true }),
        Some([0x0a, 0x0d, 0x0d, 0x0a]) => Ok(Magic::Pcapng),
        _ if start.is_empty() => Err(CaptureError::Empty),
        _ => Err(not_capture(start)),
    }
}

/// Whether a file that begins so is a capture.
pub fn is_capture(start: &[u8]) -> bool {
    recognise(start).is_ok()
}

fn not_capture(start: &[u8]) -> CaptureError {
    let shown = &start[..start.len().min(8)];
    let hex: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    let (looks_like, help) = describe(shown);
    CaptureError::NotCapture { start: hex.join(" "), looks_like, help }
}

fn describe(start: &[u8]) -> (&'static str, &'static str) {
    const FORMATS: &str = "give a file written by tcpdump, dumpcap or Wireshark (editcap converts others)";
    match OTHERS.iter().find(|(magic, _, _)| start.starts_with(magic)) {
        Some((_, looks_like, help)) => (looks_like, help),
        None if start.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) => {
            ("which looks like text", FORMATS)
        }
        None => ("which is not a format that perhop knows", FORMATS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(start: &[u8]) -> String {
        recognise(start).expect_err("not a capture").to_string()
    }

    #[test]
    fn says_what_the_file_is_instead() {
        assert!(message(b"").contains("empty (0 bytes"));
        assert!(message(&[0x1f, 0x8b, 8, 0]).contains("starts with 1f 8b 08 00, a gzip file; gunzip it first"));
        assert!(message(b"[policy]\n").contains("looks like text"));
        assert!(message(&[0x34, 0xcd, 0xb2, 0xa1]).contains("editcap -F pcap"));
        assert!(message(&[0xd4, 0xc3]).contains("not a format that perhop knows"));
    }
}
