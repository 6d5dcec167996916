//! What the text alone shows to be wrong, or likely so.
//!
//! A rule is a file with `pub const RULE: Rule`, its page `CODE.md` beside it, and a line in [`RULES`]. It looks at a [`Case`]: what was
//! read, the text, and what was given. What the check of the scenario finds in the imported port is not repeated here. Where a
//! rule says the same better, in the dialect's own words, it names the scenario's code in [`Rule::instead_of`].
//!
//! A false alarm is worse than silence. A rule speaks only where its consequence follows from the text.

mod bare;
mod be;
mod bucket;
mod case;
mod ceil;
mod counted;
mod debt;
mod direct;
mod drops;
mod ecn;
mod eighth;
mod exceeding;
mod fight;
mod impossible;
mod ios;
mod kilobytes;
mod leaf;
mod long_bucket;
mod merged;
mod mixed;
mod no_queue;
mod not_enabled;
mod on_their_way;
mod overlimits;
mod quanta;
mod reclassify;
mod short_burst;
mod small_policer;
mod standing;
mod sums;
mod super_packets;
mod tc;
mod thousandth;
mod too_large;
mod unclassified;
mod unused;

use crate::dialect::Read;
use crate::finding::Finding;
use crate::import_options::ImportOptions;
use crate::text::Text;
use case::Case;
use std::collections::HashSet;

/// A rule.
struct Rule {
    /// What it says.
    code: &'static str,
    /// The dialect that it knows; `None`: any.
    dialect: Option<&'static str>,
    /// Codes that say the same, of other rules or of the scenario's check, and are needless at the same place.
    instead_of: &'static [&'static str],
    /// Finds what is wrong.
    find: fn(&Case<'_>) -> Vec<Finding>,
}

/// All rules, in the order of their codes.
const RULES: &[Rule] = &[
    ecn::RULE,
    be::RULE,
    eighth::RULE,
    thousandth::RULE,
    kilobytes::RULE,
    bare::RULE,
    not_enabled::RULE,
    no_queue::RULE,
    fight::RULE,
    fight::OF_TC,
    sums::RULE,
    mixed::RULE,
    impossible::RULE,
    quanta::RULE,
    ceil::RULE,
    unclassified::RULE,
    leaf::RULE,
    short_burst::RULE,
    reclassify::RULE,
    merged::RULE,
    too_large::RULE,
    drops::RULE,
    overlimits::RULE,
    debt::RULE,
    unused::RULE,
    direct::RULE,
    standing::RULE,
    exceeding::RULE,
    small_policer::RULE,
    on_their_way::RULE,
    bucket::RULE,
    long_bucket::RULE,
    super_packets::RULE,
];

/// Everything that the rules find, in the order of the text.
pub fn findings(read: &Read, text: &Text, given: &ImportOptions) -> Vec<Finding> {
    let plan = if read.dialect == "ios" { crate::ios::plan(text) } else { <_>::default() };
    let case = Case { read, text, given, plan: &plan, lines: case::starts(&text.text) };
    let speaks = |rule: &&Rule| rule.dialect.is_none_or(|dialect| dialect == read.dialect);
    let mut all: Vec<Finding> = RULES.iter().filter(speaks).flat_map(|rule| (rule.find)(&case)).collect();
    all.sort_by_key(|finding| (finding.place.start, finding.code));
    let needless: HashSet<(usize, &str)> =
        all.iter().flat_map(|it| instead_of(it.code).iter().map(|code| (it.place.start, *code))).collect();
    all.retain(|it| !needless.contains(&(it.place.start, it.code)));
    // A policy at several interfaces says the same each time.
    all.dedup_by_key(|finding| (finding.place, finding.code));
    all
}

/// The codes that a finding makes needless at its place, of other rules and of the scenario's check.
pub fn instead_of(code: &str) -> &'static [&'static str] {
    RULES.iter().find(|rule| rule.code == code).map_or(&[], |rule| rule.instead_of)
}
