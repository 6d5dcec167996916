//! Packets that went past HTB's classes.
//!
//! Source: Linux `sch_htb.c`: packets that no filter takes, without a default class that is a leaf, go to the direct queue: unshaped, first.

use super::Rule;
use super::case::{Case, finding};
use crate::evidence::Counters;
use crate::finding::Finding;

const CODE: &str = "W444";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &["W433"], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.read.evidence.iter().filter_map(of_counters).collect()
}

fn of_counters(counters: &Counters) -> Option<Finding> {
    let direct = counters.counts.get("direct_packets_stat").copied().filter(|n| *n > 0)?;
    let sent = counters.counts.get("sent_packets").copied().filter(|sent| *sent >= direct);
    let share =
        sent.map(|sent| format!(" of {sent} ({:.1} %)", 100.0 * direct as f64 / sent as f64)).unwrap_or_default();
    let message = format!(
        "{direct} packets{share} went past all classes of {}: no filter took them and there was no default class, so they were not shaped",
        counters.of
    );
    let instead = "name a leaf as default (`htb default 30`), or give each packet a filter".to_owned();
    Some(finding(CODE, counters.place, message, instead))
}
