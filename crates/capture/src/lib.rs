//! Captures of real traffic, in and out: the bytes, not the algorithms.
//!
//! In packet order:
//! [`mod@file`] cuts a pcap or pcapng file into chunks, [`pump`] copies chunk after chunk, [`output`] puts the result in
//! place of the old file at the end. Between them [`mark`](mod@mark) sends each packet through the edge of perhop-edge, which
//! finds its headers and patches it in place, and counts. [`export`] writes what the simulator sees as a capture.
//!
//! The output of a rewrite is the input's own bytes with IP headers patched: nothing is serialised a second time, so
//! options, name resolution blocks and unknown blocks come out as they went in.
//!
//! Decision: docs/decisions/078-captures-are-framed-by-hand.md
#![forbid(unsafe_code)]

pub mod error;
pub mod export;
pub mod file;
pub mod mark;
pub mod output;
pub mod pump;
pub mod replay;

mod chunk;
mod input;
mod live;
mod magic;
mod order;
mod pcap;
mod pcapng;
mod timestamp;
mod window;

pub use error::{CaptureError, Truncated};
pub use file::{Capture, Chunk, Record};
pub use input::{Input, STANDARD_INPUT};
pub use magic::is_capture;
pub use output::{Existing, OutputFile};
pub use pump::{Fate, Gaps, Pump, Tally};
