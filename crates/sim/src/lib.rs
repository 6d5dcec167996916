//! perhop-sim: the engine that runs the algorithms of perhop-core over simulated links, hosts and traffic.

/// When is what offered?
pub mod traffic;
/// TCP as a pure state machine.
pub mod transport;
/// What a run is built from.
pub mod plan;
/// Static shortest-path routes.
pub mod route;
