//! Names -> indices.

/// What arrives at each conditioner and queue.
pub mod arriving;
/// Captures that traffic replays.
pub mod captured;
/// Which traffic crosses each link.
pub mod crossing;
/// Keys of `[links]`.
pub mod ends;
/// What holds a port to a rate.
pub mod held;
/// Items of a list with their indices.
pub mod indexed;
/// Traffic and its routes.
pub mod offered;
/// Conditioners at their ports.
pub mod ports;
/// What arrives at each class and queue of a port.
pub mod reaching;
/// Links and nodes.
pub mod topology;
/// Jitter and reordering of a link.
pub mod wire;
