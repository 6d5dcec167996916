//! Rules for configurations of tc.

mod buckets;
pub(super) mod commands;
mod counters;
mod filters;
mod htb;
mod limits;
mod numbers;

use super::Rule;

/// All of them.
pub(super) const RULES: &[&[Rule]] =
    &[buckets::RULES, counters::RULES, filters::RULES, htb::RULES, limits::RULES, numbers::RULES];
