//! Counters that look like faults and are none.
//!
//! Source: Linux `sch_htb.c` and `sch_tbf.c`: `overlimits` counts each time that the shaper was asked for a packet and had to wait for tokens.

use super::Rule;
use super::case::{Case, finding};
use crate::evidence::Counters;
use crate::finding::Finding;

const CODE: &str = "W441";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

/// Once a text: the first that has waits and no losses.
fn find(case: &Case<'_>) -> Vec<Finding> {
    let count = |it: &Counters, name: &str| it.counts.get(name).copied().unwrap_or(0);
    let shaper = |it: &&Counters| matches!(it.kind.as_str(), "htb" | "tbf") && count(it, "overlimits") > 0;
    // With losses anywhere, the losses are the news.
    if case.read.evidence.iter().any(|it| count(it, "dropped") > 0) {
        return Vec::new();
    }
    let first = case.read.evidence.iter().find(shaper);
    let say = |it: &Counters| {
        let message = format!(
            "overlimits {} of {} {} are no losses: each is a moment at which the shaper waited for tokens, as it should; nothing was dropped",
            count(it, "overlimits"),
            it.kind,
            it.of
        );
        finding(
            CODE,
            it.place,
            message,
            "nothing to change: losses are in `dropped`, waiting packets in `backlog`".to_owned(),
        )
    };
    first.map(say).into_iter().collect()
}
