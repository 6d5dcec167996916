//! What the rules find in devices made by hand.

mod hand;
mod counters;
mod htb;
mod ios;

use hand::Hand;
use perhop_config::finding::Finding;
use perhop_config::rules::{findings, instead_of};

/// Codes of findings, in order.
fn codes(all: &[Finding]) -> Vec<&'static str> {
    all.iter().map(|finding| finding.code).collect()
}

#[test]
fn an_empty_text_gives_nothing() {
    for dialect in ["", "tc", "ios"] {
        assert!(Hand::new(dialect).findings().is_empty());
    }
    assert_eq!(findings(&<_>::default(), &<_>::default(), &<_>::default()), []);
}

#[test]
fn a_rule_says_which_checks_of_the_scenario_it_replaces() {
    assert_eq!(instead_of("W431"), ["W327"]);
    assert!(instead_of("").is_empty());
}
