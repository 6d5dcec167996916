//! perhop-scenario: the one parser and validator of scenario and policy files.
//!
//! A file's way through the modules, in order:

/// Files on disk.
pub mod file;
/// What the command line adds.
pub mod options;
/// Where words stand.
pub mod source;
/// Text -> tree with places.
pub mod toml;
/// Dotted keys, places, overrides.
pub mod tree;
/// A key of every section of an algorithm.
pub mod selector;
/// Series of names.
pub mod series;
/// What stands in a series' braces.
pub mod expression;
/// The short form.
pub mod dumbbell;
/// Tree -> model.
pub mod read;
/// The sections, declared once.
pub mod sections;
/// `[tcp]` and its presets.
pub mod tcp;
/// Ports and what holds at each.
pub mod at;
/// Classes of schedulers.
pub mod classes;
/// All sections read.
pub mod model;
/// Links and nodes.
pub mod topology;
/// Traffic and its ways.
pub mod offered;
/// Conditioners at their ports.
pub mod ports;
/// Who writes labels and who reads them.
pub mod labels;
/// Where tickets go, and whether tags can say them.
pub mod tickets;
/// What runs, but hardly as meant.
pub mod advice;
/// Queues that will swing.
pub mod stability;
/// Model -> plan.
pub mod build;
/// `[[change]]` as it is stated.
pub mod overlay;
/// What a change alters.
pub mod change;
/// Model -> text.
pub mod show;
/// Parameters from a link and its flows.
pub mod tune;
/// Grids.
pub mod sweep;
/// A checked scenario.
pub mod scenario;
/// A checked policy.
pub mod policy;
/// Labels in a policy.
pub mod policy_labels;
/// Problems as a person reads them.
pub mod diagnostics;

/// Effective values, queues, times.
pub mod explain;
/// JSON Schema.
pub mod schema;
/// Codes and their meanings.
pub mod codes;

pub use diagnostics::{Diagnostic, Diagnostics};
pub use explain::explain;
pub use options::{Options, Override};
pub use policy::Policy;
pub use scenario::Scenario;
pub use schema::{policy_schema, schema};
pub use sweep::Point;

/// Runs and their results.
pub mod output;
