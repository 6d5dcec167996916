//! TCP as a pure state machine: no sockets, no clock, no engine, no I/O.
//!
//! The host of a connection (the simulator's engine, a test) owns time and packets. It tells the
//! [`Sender`] what happened (`start`, `offer`, `on_ack`, `on_timer`), after each such call takes segments from
//! `next_segment` until that returns `None`, and keeps one pending wake-up for
//! `timer_at`. The [`Receiver`] turns segments into acknowledgements in the same manner.
//!
//! | file            | concept                                                                    |
//! |-----------------|----------------------------------------------------------------------------|
//! | `config.rs`     | what a scenario states about a connection, validated                       |
//! | `sender.rs`     | either of the two senders                                                  |
//! | `classic.rs`    | ns-2's: sequence numbers, what may be sent now, the retransmission timer   |
//! | `recovery.rs`   | its loss recovery: duplicate ACKs, fast retransmit, Reno, NewReno          |
//! | `modern/`       | that of today: scoreboard, RACK-TLP, PRR, F-RTO                            |
//! | `congestion/`   | the window law's trait and list, a file for each law                       |
//! | `rto.rs`        | round-trip estimator, retransmission time-out, back-off                    |
//! | `receiver.rs`   | reassembly, cumulative and delayed ACKs, ECN echo                          |
//! | `accurate.rs`   | counts of marks (AccECN), the receiver's and the sender's                  |
//! | `echo.rs`       | how a receiver tells of congestion marks                                   |
//! | `ack_delay/`    | which ACK may wait, and how long; Linux's                                  |
//! | `receive_buffer.rs` | how Linux's grows, and when that asks for ACKs                        |
//! | `held.rs`       | what a receiver holds out of order                                         |
//! | `reported.rs`   | what a receiver reports: SACK and D-SACK                                   |
//! | `sacks.rs`      | SACK blocks of an ACK                                                      |
//! | `supply.rs`     | how much there is to send                                                  |
//! | `tick.rs`       | when a timer of Linux expires                                              |
//! | `counters.rs`   | what a sender counts                                                       |
//! | `datagram.rs`   | not TCP: the seam for a transport over datagrams                           |
//! | `error.rs`      | why parameters are refused                                                 |
//!
//! # Numbers
//! Sequence numbers count segments, not bytes. The SYN is number 0 and the first data segment is
//! number 1, whether or not a SYN is exchanged; an ACK carries the next number expected, so a
//! SYN-ACK carries 1. ns-2 uses the same numbers with `syn_ true`, and one lower with `syn_ false`.
//!
//! There is no FIN: a transfer ends when its last segment is acknowledged, as in ns-2's one-way TCP.
//!
//! Decision: docs/decisions/042-two-senders.md

mod accurate;
mod ack_delay;
mod classic;
mod config;
/// Laws of the congestion window.
pub mod congestion;
mod counters;
/// Transports over datagrams.
pub mod datagram;
mod echo;
mod error;
mod held;
/// The sender of today.
mod modern;
mod receive_buffer;
mod receiver;
mod recovery;
mod reported;
mod rto;
mod sacks;
mod sender;
mod supply;
mod tick;

pub use accurate::{AceReport, Decoder};
pub use config::{AckDelay, Bursts, Config, Pacing, Reaction};
pub use congestion::{
    CongestionControl, CongestionLaw, Event, Law, LawParams, LostSegment, RateSample, Report, Signal, State, Window,
};
pub use counters::Counters;
pub use echo::EcnFeedback;
pub use error::ConfigError;
pub use receiver::Receiver;
pub use recovery::{PartialAckTimer, Recovery};
pub use rto::{RtoConfig, RtoEstimator};
pub use sacks::{Block, Sacks};
pub use sender::{Estimate, Sender};
pub use supply::Supply;
pub use tick::stamp;

/// A segment to put on the wire. Its size there is `Config::header` + `payload` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// 0 for the SYN, from 1 for data.
    pub number: u32,
    /// Bytes of data; 0 for the SYN, and for the ACK that ends the handshake.
    pub payload: u16,
    /// Opens the connection.
    pub syn: bool,
    /// Sent before.
    pub retransmission: bool,
    /// ECN-capable transport (RFC 3168): may be marked instead of dropped.
    pub ect: bool,
    /// Congestion window reduced (RFC 3168): tells the receiver to stop echoing. On a SYN: the sender can do ECN.
    pub cwr: bool,
    /// Asks for its ACK (PSH).
    pub push: bool,
    /// Another of its burst follows at once.
    pub more: bool,
}

/// A segment as it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// As in [`Segment`].
    pub number: u32,
    /// Bytes of data; 0 for the SYN.
    pub payload: u16,
    /// Opens the connection.
    pub syn: bool,
    /// The sender has cut its window; on a SYN: it can do ECN.
    pub cwr: bool,
    /// Asks for its ACK (PSH).
    pub push: bool,
    /// Marked "congestion experienced" on its way.
    pub ce: bool,
    /// Its time stamp (RFC 7323), [`stamp`]; 0: none.
    pub stamp: u32,
}

/// An acknowledgement. Its size on the wire is `Config::header` bytes and those of its blocks, [`Sacks::wire`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckInfo {
    /// The lowest number not yet received: everything below has arrived.
    pub next_expected: u32,
    /// ECN echo (RFC 3168): a marked segment arrived and no CWR since. On a SYN-ACK: both ends can do ECN.
    pub ece: bool,
    /// The three flags AE, CWR and ECE, of a receiver with AccECN (RFC 9768): a count of
    /// marks modulo 8, or on a SYN-ACK the agreement.
    pub ace: u8,
    /// Answers a SYN.
    pub syn: bool,
    /// What has arrived beyond, or twice.
    pub sacks: Sacks,
    /// The time stamp that it echoes (RFC 7323 section 4.3), [`stamp`]; 0: none.
    pub echo: u32,
    /// The time stamp that it bears, if that is older than itself; 0: the present one.
    pub stamp: u32,
    /// Segments from `next_expected` on for which there is room; 0: as many as agreed.
    pub window: u16,
}
