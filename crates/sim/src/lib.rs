//! perhop-sim: the engine that runs the algorithms of perhop-core over simulated links, hosts and traffic.
//!
//! [`plan::Plan`] -> [`engine::Simulation`] -> [`record::Outcome`]. Inside, a packet goes from a source's
//! `traffic` (through `transport`, for TCP) into the first link of its route and from hop to hop. A folder
//! imports only from those before it in this list:
//!
//! Decision: docs/decisions/028-four-owners.md

/// What is offered, and when.
pub mod traffic;
/// TCP as a pure state machine.
pub mod transport;
/// What a run is built from, and what changes while it runs.
pub mod plan;
/// Pending events.
mod agenda;
/// What is counted and recorded, and the results of a run.
pub mod record;
/// Links, their queues, packets between them, routes.
pub mod net;
/// Arrivals replayed into a port, without anybody who reacts.
pub mod replay;
/// The ends of flows.
mod hosts;
/// Events one after another: from a plan to an outcome.
pub mod engine;

pub use engine::{EngineOptions, PlanError, Simulation};
pub use plan::Plan;
pub use record::Outcome;
