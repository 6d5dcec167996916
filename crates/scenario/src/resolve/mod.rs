//! Names -> indices.

/// Traffic and its routes.
pub mod offered;
/// Conditioners at their ports.
pub mod ports;
/// Links and nodes.
pub mod topology;
