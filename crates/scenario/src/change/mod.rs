//! Timed changes.
//!
//! Decision: docs/decisions/018-changes-are-overlays.md

/// What a change alters.
pub mod follow;
/// `[[change]]` as written.
pub mod overlay;
