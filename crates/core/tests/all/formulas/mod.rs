//! Formulas, wherever a law has one: their values beside a walk over their trees, and the limits of their size.

/// Random formulas.
mod draw;
/// The places of formulas in laws.
mod kinds;
/// What is just within the limits, and just beyond.
mod room;
/// A formula has the value of its tree, or stops where that has none.
mod values;
