//! The sender that hosts have today, in segments.
//!
//! | file             | concept                                                             |
//! |------------------|---------------------------------------------------------------------|
//! | `sender/`        | one connection's sender                                             |
//! | `sender/state.rs` | what it knows, by concern                                          |
//! | `sender/transmission.rs` | what is sent next                                           |
//! | `sender/burst.rs` | how many leave back to back (segmentation offload)                 |
//! | `sender/timers.rs` | retransmission, probe and reordering timer                        |
//! | `sender/acks.rs` | what an ACK leads to                                                |
//! | `sender/episodes.rs` | what begins an episode, PRR, F-RTO                              |
//! | `sender/undo.rs` | what tells that it was for nothing                                  |
//! | `scoreboard.rs`  | what has become of each segment (RFC 6675)                          |
//! | `rack.rs`        | which segments are lost (RFC 8985)                                  |
//! | `rate.rs`        | how fast the network delivers (draft-ietf-ccwg-bbr)                  |
//! | `pace.rs`        | when the next segment may go, for laws that pace                     |
//! | `host_queue.rs`  | how much of it the host's queue may hold                            |
//! | `send_buffer.rs` | what an application that stops has written by then                   |
//! | `rtt.rs`         | round trips and the time-out (RFC 6298, as Linux has it)            |
//!
//! Decision: docs/decisions/044-tcp-follows-the-kernel.md

mod host_queue;
mod pace;
mod rack;
mod rate;
mod rtt;
mod scoreboard;
mod send_buffer;
mod sender;

pub use rtt::Rtt;
pub use sender::Modern;
