//! Rules for configurations of tc.

mod buckets;
mod commands;
mod counted;
mod counters;
mod filters;
mod htb;
mod limits;
mod losses;
mod numbers;

use crate::dialect::{Judge, Read};
use crate::finding::Finding;
use crate::import_options::ImportOptions;
use crate::model::Way;
use crate::rules::case::Case;
use crate::rules::{Rule, of_lists};
use crate::text::Text;
use perhop_core::params::Place;
use perhop_core::units::Bytes;

/// All of them.
const RULES: &[&[Rule]] =
    &[buckets::RULES, counters::RULES, filters::RULES, htb::RULES, limits::RULES, losses::RULES, numbers::RULES];

/// The rules of tc. The model holds all that they ask.
#[derive(Debug)]
pub(super) struct Rules;

impl Judge for Rules {
    fn findings(&self, read: &Read, text: &Text, given: &ImportOptions) -> Vec<Finding> {
        of_lists(RULES, &Case { read, text, given, parse: &() })
    }

    fn bucket(&self, _: &Text, _: Place, bytes: Bytes) -> String {
        format!("burst {}", commands::size(bytes))
    }

    /// W438 does at the input, where the kernel merges packets.
    fn judges_buckets(&self, way: Way) -> bool {
        way == Way::Input
    }
}
