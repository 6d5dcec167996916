//! perhop-sim: the engine that runs the algorithms of perhop-core over simulated links, hosts and traffic.
//!
//! [`plan::Plan`] -> [`engine::Simulation`] -> [`outcome::Outcome`]. Inside, a packet goes from a source's
//! `traffic` (through `transport`, for TCP) into the first `link` of its `route` and from hop to hop.

/// When is what offered?
pub mod traffic;
/// TCP as a pure state machine.
pub mod transport;

/// What a run is built from.
pub mod plan;
/// New parameters at a time.
pub mod change;
/// From a plan to a simulation at time zero.
mod assemble;
/// Events, and packets from hop to hop.
pub mod engine;
/// The ends of flows.
mod endpoints;
/// Conditioners that publish.
mod exchange;
/// Proof that no packet was lost unseen.
mod conservation;
/// What a run gives.
pub mod outcome;

/// Hosts: flows and their two ends.
pub mod host;
/// What somebody feels who writes packets.
pub mod session;
/// Static shortest paths.
pub mod route;
/// Port, queue, serialiser, wire.
pub mod link;
/// What waits, is sent and propagates on a link.
mod fifo;
/// The queues of a link with a scheduler.
pub mod classes;
/// Packets in the network.
mod pool;
/// Events waiting for their time.
mod heap;

/// Distributions of delays.
pub mod delays;
/// Queue lengths and gauges at an interval.
pub mod series;
/// Packets recorded at a link.
pub mod tap;

pub use assemble::{EngineOptions, PlanError};
pub use engine::Simulation;
pub use outcome::Outcome;
pub use plan::Plan;
