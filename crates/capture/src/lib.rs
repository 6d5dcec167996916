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
//! A target without files, such as wasm, has no `output`: there captures are read from memory
//! ([`Capture::plain_or_gzip`]), and [`mark::run`] writes to any writer.
//!
//! Decision: docs/decisions/078-captures-are-framed-by-hand.md
#![forbid(unsafe_code)]

pub mod error;
pub mod export;
pub mod file;
pub mod mark;
pub mod pump;
#[cfg(not(target_family = "wasm"))]
pub mod replay;

mod chunk;
#[cfg(not(target_family = "wasm"))]
mod files;
mod input;
mod magic;
mod order;
mod pcap;
mod pcapng;
mod timestamp;
mod window;

pub use error::{CaptureError, Truncated};
pub use file::{Capture, Chunk, Record};
#[cfg(not(target_family = "wasm"))]
pub use files::{STANDARD_INPUT, output, output::Existing, output::OutputFile};
pub use input::Input;
pub use magic::is_capture;
pub use pump::{Fate, Gaps, Pump, Tally};
