//! Bytes <-> tree. Knows no section.

/// How an axis of a sweep is written.
pub mod axis;
/// Problems as a person reads them.
pub mod diagnostics;
/// Files on disk.
pub mod file;
/// Items of a list by name.
pub mod items;
/// What the command line adds.
pub mod options;
/// Tree -> JSON.
pub mod json;
/// What is read: a text, or a tree.
pub mod input;
/// Text as a terminal may show it.
pub mod printable;
/// Sources of text, and places in them.
pub mod source;
/// Text -> tree with places.
pub mod toml;
/// Dotted keys, places, overrides.
pub mod tree;
/// Tree -> text.
pub mod write;
