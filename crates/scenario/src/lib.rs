//! perhop-scenario: the one parser and validator of scenario and policy files.
//!
//! A file's path through the folders, in order; each imports only those before it (`tests/stages.rs`):

/// Diagnostic codes and their pages.
pub mod codes;
/// Bytes <-> tree.
pub mod text;
/// What may be asked of a run.
pub mod bounds;
/// A plan's simulation: which transports this build has.
pub mod simulation;
/// The sections: declared, read, written.
pub mod sections;
/// Tree -> tree: short forms expanded.
pub mod expand;
/// Names -> indices.
pub mod resolve;
/// Checks that need more than one section.
pub mod check;
/// Model -> plan.
pub mod build;
/// What is in force for some stretch of time.
pub mod in_force;
/// Timed changes.
pub mod change;
/// A checked scenario: one point.
pub mod scenario;
/// Changes that are stated while a scenario runs.
pub mod knobs;
/// A checked file: a scenario and its grid.
pub mod sweep;
/// A checked policy.
pub mod policy;
/// A file that may be either.
pub mod document;

/// JSON Schema.
pub mod schema;
/// Effective values, queues, times.
pub mod explain;
/// Where classes enter, and what is committed to them.
pub mod contracts;
/// Parameters from a link and its flows.
pub mod tune;

pub use codes::Host;
pub use document::Document;
pub use explain::{explain, explain_sweep, facts};
pub use knobs::Knobs;
pub use policy::Policy;
pub use scenario::Scenario;
pub use schema::{policy_schema, schema};
pub use sweep::{Point, Sweep};
pub use text::diagnostics::{Diagnostic, Diagnostics};
pub use text::options::{Options, Override};
