//! What the text alone shows to be wrong, or likely so.
//!
//! Rules stand by theme beside the pages `CODE.md` of what they find: here those over the model, which hold for every
//! device, and what rules of several dialects share; in the folder `rules` of a dialect those that ask for its parse, its
//! counters or its commands. A file has a list `RULES`. A rule looks at a [`Case`]: what was read, the text, what was
//! given, and the dialect's parse. What the check of the scenario finds in the imported port is not repeated here. Where
//! a rule says the same better, in the dialect's own words, it names the scenario's code in [`Rule::instead_of`].
//!
//! A false alarm is worse than silence. A rule speaks only where its consequence follows from the text.

pub(crate) mod case;
pub(crate) mod idle;
pub(crate) mod losses;
pub(crate) mod policers;

use crate::dialect::Read;
use crate::finding::Finding;
use crate::import_options::ImportOptions;
use crate::text::Text;
use case::Case;
use perhop_core::params::Place;
use std::collections::HashSet;

/// A rule.
pub(crate) struct Rule<P = ()> {
    /// The code of its findings.
    code: &'static str,
    /// Codes that say the same, of other rules or of the scenario's check, and are needless at the same place.
    instead_of: &'static [&'static str],
    /// Finds what is wrong.
    find: fn(&Case<'_, P>) -> Vec<Remark>,
}

/// What a rule finds.
pub(crate) struct Remark {
    /// Where.
    pub place: Place,
    /// What is so, with its consequence.
    pub message: String,
    /// The line to write instead, or what to do.
    pub instead: String,
}

impl<P> Rule<P> {
    pub(crate) const fn new(
        code: &'static str,
        instead_of: &'static [&'static str],
        find: fn(&Case<'_, P>) -> Vec<Remark>,
    ) -> Self {
        Self { code, instead_of, find }
    }

    fn findings(&self, case: &Case<'_, P>) -> impl Iterator<Item = Finding> {
        let Self { code, instead_of, .. } = *self;
        let of = move |Remark { place, message, instead }| Finding { code, place, message, instead, instead_of };
        (self.find)(case).into_iter().map(of)
    }
}

/// What lists of rules find.
pub(crate) fn of_lists<P>(lists: &[&[Rule<P>]], case: &Case<'_, P>) -> Vec<Finding> {
    lists.iter().copied().flatten().flat_map(|rule| rule.findings(case)).collect()
}

/// Everything that the rules find, in the order of the text.
pub fn findings(read: &Read, text: &Text, given: &ImportOptions) -> Vec<Finding> {
    let mut all = of_lists(&[policers::RULES], &Case { read, text, given, parse: &() });
    all.extend(read.judge.findings(read, text, given));
    all.sort_by_key(|finding| (finding.place.start, finding.code));
    let needless: HashSet<(usize, &str)> =
        all.iter().flat_map(|it| it.instead_of.iter().map(|code| (it.place.start, *code))).collect();
    all.retain(|it| !needless.contains(&(it.place.start, it.code)));
    // A policy at several interfaces says the same each time.
    all.dedup_by_key(|finding| (finding.place, finding.code));
    all
}
