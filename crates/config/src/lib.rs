//! Device configurations: what a router or a Linux host has been told about QoS, as one neutral model.
//!
//! A dialect reads a text into a [`Device`](model::Device): ports, and at each its conditioners and its tree of queues. A value
//! knows the place in the text that says it, or that the device assumes it and by which source. Every line that speaks of QoS
//! stands in an [`Account`](account::Account) as taken, approximated or not modelled. [`stub`] writes a port as a scenario, with the
//! place in the text of each of its lines, so that what is found in the scenario is said in the configuration's own words.
//!
//! ```text
//! text ─> tc | ios ─> Device + Account + Evidence ─> stub (scenario) | policy (for `mark`)
//!                                                └─> rules (findings that the text alone shows)
//! ```
//!
//! Decision: docs/decisions/118-configurations-are-one-neutral-model.md
//!
//! No I/O. A dialect is a folder with one entry function and one line in [`import::DIALECTS`].

pub mod account;
/// Ports as the configuration of a router with Cisco IOS.
pub mod as_ios;
/// A scenario as commands for Linux.
pub mod as_tc;
pub mod codes;
/// What the writers for devices share.
pub mod device;
pub mod dialect;
pub mod equivalents;
pub mod evidence;
pub mod finding;
pub mod foreign;
#[cfg(any(test, feature = "generate"))]
pub mod generate;
pub mod import;
pub mod import_options;
pub mod ios;
pub mod load;
mod matches;
pub mod model;
pub mod policy;
pub mod rules;
pub mod stub;
pub mod tc;
/// Counters as `tc -s` writes them.
pub mod tc_stats;
pub mod text;
mod unions;
pub mod value;
