//! What can be wrong with a capture. Each message names the place (byte offset in the file), the value found, the
//! bound, and a fix.

use perhop_core::units::counted;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a capture could not be read, or its copy not be written.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be opened.
    #[error("cannot open {path}: {cause}", path = path.display())]
    Open {
        /// The file as the caller named it.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The system failed while reading.
    #[error("cannot read past byte {offset}: {cause}")]
    Read {
        /// Byte of the file where reading failed.
        offset: u64,
        /// The system's error.
        cause: io::Error,
    },
    /// The system failed while writing: disk full, directory not writable.
    #[error("cannot write {place}: {cause}; an existing file is untouched")]
    Write {
        /// The output, as a user would name it.
        place: String,
        /// The system's error.
        cause: io::Error,
    },
    /// An output that exists and is not to be replaced.
    #[error("{place} exists and is left as it is")]
    Exists {
        /// The output, as a user would name it.
        place: String,
    },
    /// A file of zero bytes.
    #[error("the capture is empty (0 bytes; a pcap header alone has 24): check that the capture was written")]
    Empty,
    /// Another kind of file.
    #[error("not a pcap or pcapng file: it starts with {start}, {looks_like}; {help}")]
    NotCapture {
        /// The first bytes, in hexadecimal.
        start: String,
        /// What the start looks like.
        looks_like: &'static str,
        /// What to do about it.
        help: &'static str,
    },
    /// The file ends inside a packet or block.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// A pcapng section whose byte-order magic is neither 0x1A2B3C4D nor its mirror.
    #[error(
        "section header at byte {offset}: byte-order magic {found:#010x}, expected 0x1a2b3c4d in either order; {CORRUPT}"
    )]
    ByteOrder {
        /// Byte of the file where the block begins.
        offset: u64,
        /// The value, read as little-endian.
        found: u32,
    },
    /// A pcap or pcapng of another major version.
    #[error(
        "{what} at byte {offset}: version {major}.{minor}, perhop reads {supported}; convert the file with editcap"
    )]
    Version {
        /// Byte of the file where the header begins.
        offset: u64,
        /// `pcap header` or `section header`.
        what: &'static str,
        /// Major version found.
        major: u16,
        /// Minor version found.
        minor: u16,
        /// The versions that are read.
        supported: &'static str,
    },
    /// A block whose length cannot be: not a multiple of 4, or shorter than its fixed fields.
    #[error("block at byte {offset} (type {kind:#010x}): length {length}, {reason}; {CORRUPT}")]
    BlockLength {
        /// Byte of the file where the block begins.
        offset: u64,
        /// Block type.
        kind: u32,
        /// Length the block states.
        length: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// The two lengths of a pcapng block differ.
    #[error("block at byte {offset}: length {leading} at its start but {trailing} at its end; {CORRUPT}")]
    BlockTrailer {
        /// Byte of the file where the block begins.
        offset: u64,
        /// Length at the start of the block.
        leading: u32,
        /// Length at its end.
        trailing: u32,
    },
    /// A block or record longer than this program accepts.
    #[error("{what} at byte {offset}: {length} bytes, more than the {bound} allowed; {CORRUPT}")]
    TooLong {
        /// Byte of the file where it begins.
        offset: u64,
        /// `block` or `packet record`.
        what: &'static str,
        /// Length it states.
        length: u64,
        /// Largest length accepted.
        bound: u64,
    },
    /// A captured length that does not fit into its block.
    #[error("packet at byte {offset}: captured length {captured}, but its block has room for {room}; {CORRUPT}")]
    CapturedLength {
        /// Byte of the file where the block begins.
        offset: u64,
        /// Captured length the block states.
        captured: u32,
        /// Bytes between the fixed fields and the end of the block.
        room: u32,
    },
    /// A packet of an interface that its section does not describe.
    #[error("packet at byte {offset}: interface {interface}, but its section describes {described} so far; {CORRUPT}")]
    Interface {
        /// Byte of the file where the block begins.
        offset: u64,
        /// Interface number within the section.
        interface: u32,
        /// Number of interfaces described before this block.
        described: usize,
    },
    /// An interface description whose options cannot be read: its clock is unknown.
    #[error("interface description at byte {offset}: {reason}; {CORRUPT}")]
    InterfaceOptions {
        /// Byte of the file where the block begins.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// A timestamp that is not between 1970 and 2554.
    #[error(
        "packet at byte {offset}: timestamp {units} (in units of {unit}) is outside 1970 to 2554, where ns fit in 64 bits; repair the file with editcap -t"
    )]
    Timestamp {
        /// Byte of the file where the block begins.
        offset: u64,
        /// The timestamp as written in the file.
        units: u64,
        /// What one unit is, and the offset added.
        unit: String,
    },
    /// Stopped from outside.
    #[error("interrupted after {}; no output was written", counted(.packets, ["packet", "packets"]))]
    Interrupted {
        /// Packets copied until then.
        packets: u64,
    },
}

/// The suggested fix for a corrupt file, the same for all of them.
const CORRUPT: &str =
    "the file is corrupt here: copy it again, or cut out the sound part with `editcap` or `tcpdump -r IN -w OUT`";

/// A capture that ends inside a packet or block, as after a full disk or a killed `tcpdump`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the capture is cut off: what begins at byte {offset} needs {need} bytes, only {have} are present; {packets} \
     complete packets come before it (⟨partial!⟩ keeps those)"
)]
pub struct Truncated {
    /// Byte of the file where the incomplete packet or block begins.
    pub offset: u64,
    /// Bytes of it that are present.
    pub have: u64,
    /// Bytes it needs (of its header, as long as that is incomplete).
    pub need: u64,
    /// Complete packets before it.
    pub packets: u64,
}
