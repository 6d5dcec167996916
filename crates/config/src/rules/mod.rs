//! What the text alone shows to be wrong, or likely so.
//!
//! Rules stand by theme, in the folder of their dialect or in `common`, beside the pages `CODE.md` of what they find. A
//! file has a list `RULES`, and the `mod.rs` of its folder names that list. A rule looks at a [`Case`]: what was read,
//! the text, and what was given. What the check of the scenario finds in the imported port is not repeated here. Where
//! a rule says the same better, in the dialect's own words, it names the scenario's code in [`Rule::instead_of`].
//!
//! A false alarm is worse than silence. A rule speaks only where its consequence follows from the text.

mod case;
mod common;
mod counted;
mod ios;
mod tc;

use crate::dialect::Read;
use crate::finding::Finding;
use crate::import_options::ImportOptions;
use crate::text::Text;
use case::Case;
use perhop_core::params::Place;
use std::collections::HashSet;

/// A rule.
struct Rule {
    /// The code of its findings.
    code: &'static str,
    /// Codes that say the same, of other rules or of the scenario's check, and are needless at the same place.
    instead_of: &'static [&'static str],
    /// Finds what is wrong.
    find: fn(&Case<'_>) -> Vec<Remark>,
}

/// What a rule finds.
struct Remark {
    /// Where.
    place: Place,
    /// What is so, with its consequence.
    message: String,
    /// The line to write instead, or what to do.
    instead: String,
}

/// The dialects with lists of their rules; `None`: of any dialect.
const RULES: [(Option<&str>, &[&[Rule]]); 3] =
    [(None, common::RULES), (Some("ios"), ios::RULES), (Some("tc"), tc::RULES)];

impl Rule {
    const fn new(code: &'static str, instead_of: &'static [&'static str], find: fn(&Case<'_>) -> Vec<Remark>) -> Self {
        Self { code, instead_of, find }
    }

    fn findings(&self, case: &Case<'_>) -> impl Iterator<Item = Finding> {
        let code = self.code;
        let of = move |Remark { place, message, instead }| Finding { code, place, message, instead };
        (self.find)(case).into_iter().map(of)
    }
}

/// The rules of a dialect.
fn rules(dialect: &str) -> impl Iterator<Item = &'static Rule> {
    let lists = RULES.iter().filter(move |(of, _)| of.is_none_or(|it| it == dialect));
    lists.flat_map(|(_, lists)| lists.iter().copied().flatten())
}

/// Everything that the rules find, in the order of the text.
pub fn findings(read: &Read, text: &Text, given: &ImportOptions) -> Vec<Finding> {
    let plan = if read.dialect == "ios" { crate::ios::plan(text) } else { <_>::default() };
    let case = Case { read, text, given, plan: &plan };
    let mut all: Vec<Finding> = rules(read.dialect).flat_map(|rule| rule.findings(&case)).collect();
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
    let mut all = RULES.iter().flat_map(|(_, lists)| lists.iter().copied().flatten());
    all.find(|rule| rule.code == code).map_or(&[], |rule| rule.instead_of)
}
