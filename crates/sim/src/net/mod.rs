//! The network: links with their ports and wires, the packets on them, routes.

/// The queues of a link with a scheduler.
pub mod classes;
/// What waits, is sent and propagates on a link.
mod fifo;
/// Port, queue, serialiser, wire.
pub mod link;
/// Packets in the network.
mod pool;
/// Static shortest paths.
mod route;

pub use link::{Link, Queues};
pub use pool::{Pool, Record, RecordId};
pub use route::Router;
pub(crate) use route::Way;
