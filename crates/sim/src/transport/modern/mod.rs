//! The sender that hosts have today, in segments.
//!
//! | file             | concept                                                             |
//! |------------------|---------------------------------------------------------------------|
//! | `sender.rs`      | what is sent next, and the timers                                   |
//! | `sender/acks.rs` | what an ACK leads to                                                |
//! | `scoreboard.rs`  | what has become of each segment (RFC 6675)                          |
//! | `rack.rs`        | which segments are lost (RFC 8985)                                  |
//! | `rtt.rs`         | round trips and the time-out (RFC 6298, as Linux has it)            |

mod rack;
mod rtt;
mod scoreboard;
mod sender;

pub use rtt::Rtt;
pub use sender::Modern;
