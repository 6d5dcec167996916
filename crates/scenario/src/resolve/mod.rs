//! Names -> indices.

/// Keys of `[links]`.
pub mod ends;
/// Things with their numbers.
pub mod indexed;
/// Traffic and its routes.
pub mod offered;
/// Conditioners at their ports.
pub mod ports;
/// Links and nodes.
pub mod topology;
