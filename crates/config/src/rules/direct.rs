//! Packets that went past HTB's classes.
//!
//! Source: Linux `sch_htb.c`: packets that no filter takes, without a default class that is a leaf, go to the direct queue: unshaped, first.

use super::Rule;
use super::case::{Case, count, finding, percent};
use crate::evidence::Counters;
use crate::finding::Finding;

const CODE: &str = "W444";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &["W433"], find };

/// Below this share they are those that passed before the classes were added.
const FEW: f64 = 0.01;
/// Where nothing says of how many.
const MANY: u64 = 1000;

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.read.evidence.iter().filter_map(of_counters).collect()
}

/// How many, and of how many if that is known; `None`: none, or so few as pass while a script adds the classes.
pub(super) fn share(counters: &Counters) -> Option<(u64, Option<u64>)> {
    let direct = count(counters, "direct_packets_stat").filter(|direct| *direct > 0)?;
    let sent = count(counters, "sent_packets").filter(|sent| *sent >= direct);
    let many = sent.map_or(direct >= MANY, |sent| direct as f64 >= FEW * sent as f64);
    many.then_some((direct, sent))
}

fn of_counters(counters: &Counters) -> Option<Finding> {
    let (direct, sent) = share(counters)?;
    let of = sent.map(|sent| format!(" of {sent} ({})", percent(direct, sent))).unwrap_or_default();
    let message = format!(
        "{direct} packets{of} went past all classes of `{}`: no filter took them and there was no default class, so they were not shaped",
        counters.of
    );
    let instead = "name a leaf as default (`htb default 30`), or give each packet a filter".to_owned();
    Some(finding(CODE, counters.place, message, instead))
}
