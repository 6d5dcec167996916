//! Rules for configurations of Cisco's IOS, over what they say in its own words.

mod classes;
mod counters;
mod police;
mod policies;
mod shares;
mod units;

use super::plan::{At, Plan};
use crate::dialect::{Judge, Read};
use crate::finding::Finding;
use crate::import_options::ImportOptions;
use crate::rules::{case, of_lists};
use crate::text::Text;
use perhop_core::params::Place;
use perhop_core::units::Bytes;

type Rule = crate::rules::Rule<Plan>;
type Case<'a> = case::Case<'a, Plan>;

/// All of them.
const RULES: &[&[Rule]] = &[classes::RULES, counters::RULES, police::RULES, shares::RULES, units::RULES];

/// The rules of IOS, with what a text says in its words.
#[derive(Debug)]
pub(super) struct Rules(pub(super) Plan);

impl Judge for Rules {
    fn findings(&self, read: &Read, text: &Text, given: &ImportOptions) -> Vec<Finding> {
        of_lists(RULES, &Case { read, text, given, parse: &self.0 })
    }

    fn bucket(&self, text: &Text, place: Place, bytes: Bytes) -> String {
        let bytes = bytes.get().to_string();
        let is_its = |at: &At| at.place.start <= place.start && place.end <= at.place.end;
        let lines = policies::classes(&self.0).filter_map(|class| class.police.as_ref()).map(|police| police.at);
        let plain = text.text.get(place.start..place.end).is_some_and(|it| it.parse::<u64>().is_ok());
        match lines.filter(|_| plain).find(is_its) {
            Some(line) => policies::with(text, line, vec![(place, bytes)]),
            None => format!("bc {bytes}"),
        }
    }
}
