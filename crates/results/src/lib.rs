//! What simulations gave and what captures hold: tables of declared columns, means and intervals over replications, summaries
//! and their texts.
//!
//! No disk, threads or command line: a browser has it as it is.
//!
//! Decision: docs/decisions/127-results-have-no-disk.md

/// Diagnostic codes and their pages.
pub mod codes;
/// From a replication's outcome to its tables.
pub mod tables;
/// One replication of one point.
pub mod replication;
/// Of a replication's tables.
pub mod hash;
/// Means, intervals.
pub mod stats;
/// Which bytes are counted, for headings.
pub mod unit;
/// Which results of a sweep are shown.
pub mod choice;
/// Which of their rows.
pub mod filter;
/// Rows of a table over replications.
pub mod pooled;
/// What each class got.
pub mod classes;
/// What each class of a port gets.
pub mod prediction;
/// Results of several points as rows.
pub mod rows;
/// Rows for the terminal.
pub mod listing;
/// Means and intervals over replications, for the terminal.
pub mod summary;
/// Reports of captures: their tables, their text.
pub mod captures;
/// Whether aggregates get their rates, over replications.
pub mod ef_shown;

pub use replication::Replication;
pub use tables::columns;
