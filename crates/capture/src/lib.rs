//! Captures of real traffic, in and out: the bytes, not the algorithms.
//!
//! In packet order:
//! [`mod@file`] cuts a pcap or pcapng file into chunks, [`headers`] finds the IP header in a packet, [`flows`] numbers the
//! flows, [`rewrite`] patches DSCP and flow label in place, [`pump`] copies chunk after chunk, [`output`] puts the result in
//! place of the old file at the end. [`mark`](mod@mark) puts them together: a capture through the conditioners of perhop-core.
//! [`export`] writes what the simulator sees as a capture.
//!
//! The output of a rewrite is the input's own bytes with IP headers patched: nothing is serialised a second time, so
//! options, name resolution blocks and unknown blocks come out as they went in.
#![forbid(unsafe_code)]

pub mod error;
pub mod export;
pub mod file;
pub mod flows;
pub mod headers;
pub mod mark;
pub mod output;
pub mod pump;
pub mod rewrite;

mod chunk;
mod input;
mod link;
mod live;
mod magic;
mod options;
mod order;
mod pcap;
mod pcapng;
mod timestamp;
mod unread;
mod window;

pub use error::{CaptureError, Truncated};
pub use file::{Capture, Chunk, Record};
pub use flows::{FlowKey, FlowTable};
pub use headers::{Fragment, IpHeaders, Lengths, Ports, TcpView, Unread, locate};
pub use input::{Input, STANDARD_INPUT};
pub use link::LinkType;
pub use magic::is_capture;
pub use output::{Existing, OutputFile};
pub use pump::{Fate, Gaps, Pump, Tally};
pub use rewrite::{DscpOutOfRange, FlowLabelError, set_ce, set_dscp, set_flow_label};
