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
#[cfg(not(target_family = "wasm"))]
pub mod output;
pub mod pump;
#[cfg(not(target_family = "wasm"))]
pub mod replay;

mod chunk;
mod input;
#[cfg(not(target_family = "wasm"))]
mod live;
mod magic;
#[cfg(not(target_family = "wasm"))]
mod open;
mod order;
mod pcap;
mod pcapng;
mod timestamp;
mod window;

pub use error::{CaptureError, Truncated};
pub use file::{Capture, Chunk, Record};
pub use input::Input;
pub use magic::is_capture;
#[cfg(not(target_family = "wasm"))]
pub use open::STANDARD_INPUT;
#[cfg(not(target_family = "wasm"))]
pub use output::{Existing, OutputFile};
pub use pump::{Fate, Gaps, Pump, Tally};
