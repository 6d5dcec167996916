//! The host of live traffic: packets pass between two Linux interfaces, through a policy.
//!
//! ```text
//! A --frames--> [edge: conditioners -> queue on a line] --> B
//! A <---------- [the same edge watches what returns] <----- B
//! ```
//!
//! [`PacketIo`] is what an interface does. [`AfPacket`] is one of Linux, on rings shared with the kernel, and [`Memory`] one for
//! tests. A [`Forwarder`] has two of them and the edge of perhop-edge. It is told the time, and reads no clock itself.
//! [`run`] waits for packets, departures and orders.
//!
//! Unsafe code of the project is in this crate alone: calls of the kernel, and the rings' memory.
//!
//! Decision: docs/decisions/119-live-packets-pass-rings.md

pub mod checksum;
pub mod interface;

mod clock;
mod counts;
mod forwarder;
mod io;
mod leaves;
mod memory;
mod packet;
mod protocols;
mod round_trips;
mod scheduling;
mod seen;
mod store;
mod trace;
mod turn;

pub use clock::monotonic_ns;
pub use counts::{Counts, Dropped, Here, Kernel};
pub use forwarder::{Forwarder, SIDES};
pub use io::{Frame, Offer, PacketIo, Sent};
pub use leaves::Leaf;
pub use memory::Memory;
pub use packet::{AfPacket, OpenError};
pub use protocols::Protocols;
pub use round_trips::{RoundTrips, Samples};
pub use scheduling::real_time;
pub use trace::{TRAFFIC, Trace};
pub use turn::{Order, run};
