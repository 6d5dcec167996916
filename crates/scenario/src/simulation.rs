//! A plan's simulation, with every transport that this build has.

use perhop_sim::plan::{Offered, Plan, PlanError};
use perhop_sim::transport::datagram::Protocol;
use perhop_sim::{EngineOptions, Simulation};
use std::sync::Arc;

/// Whether `model = "quic"` runs.
pub const HAS_QUIC: bool = cfg!(feature = "quic");

/// The replication that `plan` describes, at time zero.
///
/// # Errors
/// A plan that no validated scenario makes.
pub fn simulation(plan: Plan) -> Result<Simulation, PlanError> {
    Simulation::with_protocols(plan, EngineOptions::default(), &protocol)
}

/// The same, whose links can have another rate at any time: none knows when what waits will leave.
///
/// # Errors
/// A plan that no validated scenario makes.
pub fn alterable(plan: Plan) -> Result<Simulation, PlanError> {
    Simulation::with_protocols(plan, EngineOptions { transmit_done: true }, &protocol)
}

/// What carries a `[traffic]` instead of TCP.
#[cfg(feature = "quic")]
fn protocol(offered: &Offered) -> Option<Arc<dyn Protocol>> {
    perhop_quic::protocol(offered)
}

#[cfg(not(feature = "quic"))]
fn protocol(_: &Offered) -> Option<Arc<dyn Protocol>> {
    None
}
