//! Timed changes.

/// What a change alters.
pub mod follow;
/// `[[change]]` as written.
pub mod overlay;
