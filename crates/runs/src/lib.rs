//! perhop-runs: replications of points, side by side on threads, each written as it ends.

/// Diagnostic codes and their pages.
pub mod codes;
/// Tables as Parquet.
pub mod parquet;
/// Packets at ports, as Parquet.
pub mod events;
/// Whether aggregates get their rates.
pub mod ef;
/// The same over replications, for the terminal.
pub mod ef_shown;
/// A replication's directory.
pub mod disk;
/// What a directory of runs holds.
pub mod inventory;
/// What a reader takes of it.
pub mod opened;
/// A run of it, deleted.
pub mod delete;
/// The files of packets at its links.
pub mod captures;
/// The order of points.
mod order;
/// The same as a table for the terminal.
pub mod inventory_table;
/// A run that was not simulated.
pub mod recorded;
/// What is asked of a run.
pub mod request;
/// The same, cut into tasks.
pub mod cut;
/// Points x replications on threads.
pub mod run;
/// A replication that a user steps.
pub mod session;
/// Means and intervals over replications, for the terminal.
pub mod summary;
/// Means, intervals.
pub mod stats;
/// Which bytes are counted, for headings.
pub mod unit;
/// Which results of a sweep are shown.
pub mod shown;
/// Which of their rows.
pub mod filter;
/// Rows of a table over replications.
pub mod pooled;
/// What each class of a port gets.
pub mod prediction;
/// What each class got.
pub mod classes;
/// Results of several points as rows.
pub mod rows;
/// Rows for the terminal.
pub mod listing;
/// Rows of a replication part by part of its time.
pub mod intervals;

pub use perhop_scenario::tables;
pub use perhop_scenario::tables::columns;
