//! Linux's `tc`: commands as they are typed, and what it prints, as text or as JSON.
//!
//! Source: tc(8) and the pages of its parts; iproute2 6.1; Linux 6.12.
//!
//! ```text
//! lines ─> shell, commands, show_output, json ─> statements ─> kernel ─> lower ─> Device
//! ```
//!
//! Commands are applied in their order, as a kernel would: what it would refuse has no effect and is said. Then comes what tc
//! prints. [`table`] has all queueing disciplines, with a row for each of their words.

mod actions;
mod bands;
mod cake;
mod commands;
/// Counters.
pub(crate) mod counters;
pub(crate) mod early;
/// Words for keys.
pub mod equivalents;
mod fair;
mod fifo;
mod filters;
mod foreign;
mod handles;
mod htb;
mod json;
mod kernel;
mod lines;
/// Numbers of Linux.
pub(crate) mod limits;
mod links;
mod log;
mod lower;
mod netem;
/// Rates, sizes and times as tc writes them.
pub(crate) mod numbers;
/// Tables of words.
pub mod options;
mod printed;
mod reader;
mod rules;
mod shell;
mod show_output;
/// All queueing disciplines.
pub mod table;
mod tbf;
/// Commands.
pub(crate) mod typed;
mod units;
mod words;

pub use actions::POLICE;

use crate::dialect::Dialect;

/// Linux's tc.
pub const DIALECT: Dialect = Dialect {
    name: "tc",
    title: "Linux tc",
    looks: reader::looks,
    read: reader::read,
    recognition: reader::recognition,
};
