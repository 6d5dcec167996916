//! Tree -> tree: short forms written out.

/// The short form.
pub mod dumbbell;
/// What stands in a series' braces.
pub mod expression;
/// A key of every section of an algorithm.
pub mod selector;
/// Series of names.
pub mod series;
/// A file with its overrides.
pub mod stated;
