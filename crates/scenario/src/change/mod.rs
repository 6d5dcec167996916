//! Timed changes.

/// What a change alters.
pub mod follow;
/// `[[change]]` as it is stated.
pub mod overlay;
