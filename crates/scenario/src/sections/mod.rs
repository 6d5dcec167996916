//! The sections of a file: each declared, read and written in one place.

/// `[scenario]` and `[policy]`.
pub mod settings;
/// `[nodes]` and `[links]`.
pub mod link;
/// `[queue]`, including a scheduler's classes.
pub mod queue;
/// `[conditioner]`.
pub mod conditioner;
/// Ports and what applies at each.
pub mod at;
/// `[traffic]`.
pub mod traffic;
/// A retransmission timer.
pub mod rto;
/// Releases of ns-2: values of `[tcp]` by name.
pub mod preset;
/// What hosts are: values of `[tcp]` by name.
pub mod stack;
/// `[tcp]`.
pub mod tcp;
/// Sections that name an algorithm.
pub mod chosen;
/// Sections of one kind.
pub mod named;
/// All sections read.
pub mod model;
/// What the sections make of a file.
pub mod kind;
