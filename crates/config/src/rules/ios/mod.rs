//! Rules for configurations of Cisco's IOS.

mod classes;
mod police;
pub(super) mod policies;
mod shares;
mod units;

use super::Rule;

/// All of them.
pub(super) const RULES: &[&[Rule]] = &[classes::RULES, police::RULES, shares::RULES, units::RULES];
