//! Rules for any dialect.

mod idle;
mod losses;
pub(super) mod policers;

use super::Rule;

/// All of them.
pub(super) const RULES: &[&[Rule]] = &[idle::RULES, losses::RULES, policers::RULES];
