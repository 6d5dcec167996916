//! The dialects: which there are, which one a text is in.

use crate::account::Account;
use crate::evidence::Counters;
use crate::finding::{Fault, Finding};
use crate::foreign::Recognition;
use crate::import_options::ImportOptions;
use crate::model::Device;
use crate::text::Text;

/// A text that was read.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// The dialect's name, as `--from` has it.
    pub dialect: &'static str,
    /// What it says.
    pub device: Device,
    /// What became of its lines.
    pub account: Account,
    /// Its counters.
    pub evidence: Vec<Counters>,
    /// What the reader met that is likely wrong.
    pub findings: Vec<Finding>,
    /// The parts of the text that are recognised, and so may be printed.
    pub recognition: Recognition,
}

/// A dialect.
pub struct Dialect {
    /// As `--from` has it.
    pub name: &'static str,
    /// In messages.
    pub title: &'static str,
    /// How many lines look like this dialect.
    pub looks: fn(&Text) -> usize,
    /// Reads a text.
    pub read: fn(&Text, &ImportOptions) -> Result<Read, Fault>,
    /// The parts that are recognised in a text that the reader refuses.
    pub recognition: fn(&Text) -> Recognition,
}
