//! Tree -> tree: short forms expanded.

/// The short form.
pub mod dumbbell;
/// The expressions in a series' braces.
pub mod expression;
/// A key of every section of an algorithm.
pub mod selector;
/// Series of names.
pub mod series;
/// A file with its overrides.
pub mod stated;
