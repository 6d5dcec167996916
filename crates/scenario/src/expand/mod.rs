//! Tree -> tree: short forms expanded.

/// Axes of a sweep.
pub mod axis;
/// The short form.
pub mod dumbbell;
/// The expressions in a series' braces.
pub mod expression;
/// A key of every section of an algorithm.
pub mod selector;
/// Series of names.
pub mod series;
/// Keys without their section.
pub mod short;
/// How much a file becomes.
pub mod size;
/// A file with its overrides.
pub mod stated;
/// Names that a key of a sweep cannot have.
pub mod reserved;
