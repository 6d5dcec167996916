//! Hosts: flows and their two ends.

/// Flows and their packets.
pub mod flow;
/// What users feel who write packets.
mod session;

pub use session::Session;
