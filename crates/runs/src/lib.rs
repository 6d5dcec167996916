//! perhop-runs: replications of points, side by side on threads, each written as it ends.

/// Diagnostic codes and their pages.
pub mod codes;
/// Tables as Parquet.
pub mod parquet;
/// Packets at ports, as Parquet.
pub mod events;
/// Whether aggregates get their rates.
pub mod ef;
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
/// Paths in JSON.
mod paths;
/// The same, cut into tasks.
pub mod cut;
/// Points x replications on threads.
pub mod run;
/// A replication that a user steps.
pub mod session;
/// Rows of a replication part by part of its time.
pub mod intervals;
