//! The dialects: which there are, which one a text is in.

use crate::account::Account;
use crate::evidence::Counters;
use crate::finding::{Fault, Finding};
use crate::foreign::Recognition;
use crate::import_options::ImportOptions;
use crate::model::{Device, Way};
use crate::text::Text;
use perhop_core::params::Place;
use perhop_core::units::Bytes;
use std::fmt::Debug;

/// A text that was read.
#[derive(Debug, Default)]
pub struct Read {
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
    /// What judges it in the words of its dialect.
    pub judge: Box<dyn Judge>,
}

/// A dialect's rules, with what its reader knows of the text beyond the model.
pub trait Judge: Debug + Send + Sync {
    /// What they find.
    fn findings(&self, read: &Read, text: &Text, given: &ImportOptions) -> Vec<Finding>;
    /// What to write in place of a policer's bucket, which stands at `place`, for one of this size.
    fn bucket(&self, text: &Text, place: Place, bytes: Bytes) -> String;
    /// Whether they look at the buckets of policers in this direction.
    fn judges_buckets(&self, _: Way) -> bool {
        false
    }
}

/// Of no dialect: there are no rules.
impl Judge for () {
    fn findings(&self, _: &Read, _: &Text, _: &ImportOptions) -> Vec<Finding> {
        Vec::new()
    }

    fn bucket(&self, _: &Text, _: Place, bytes: Bytes) -> String {
        bytes.to_string()
    }
}

impl Default for Box<dyn Judge> {
    fn default() -> Self {
        Box::new(())
    }
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
