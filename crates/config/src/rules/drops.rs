//! Counters that show losses: where, and how many.
//!
//! Source: `tc -s`, "dropped": packets that the queue refused or its AQM took out; IOS, "total drops" of a class.

use super::Rule;
use super::case::{At, Case, finding};
use crate::evidence::Counters;
use crate::finding::Finding;

const CODE: &str = "W440";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &[], find };

/// More than this is no longer what a congestion control needs to find its rate.
const SHARE: f64 = 0.01;

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.counted().filter_map(|(counters, class)| of_counters(case, counters, class)).collect()
}

fn of_counters(case: &Case<'_>, counters: &Counters, class: Option<(At<'_>, usize)>) -> Option<Finding> {
    // The drops of a class stand at its qdisc again, and at each parent.
    let (at, i) = class?;
    if at.queue.classes.iter().any(|other| other.parent == Some(i)) {
        return None;
    }
    let count = |name: &str| counters.counts.get(name).copied().and_then(|n| u64::try_from(n).ok());
    let (dropped, sent) = (count("dropped")?, count("sent_packets")?);
    let share = dropped as f64 / (dropped + sent).max(1) as f64;
    if share < SHARE {
        return None;
    }
    let all: u64 = drops_beside(case, counters, at);
    let of_all = if all > dropped {
        format!(", {:.0} % of all drops here", 100.0 * dropped as f64 / all as f64)
    } else {
        String::new()
    };
    let message =
        format!("class {} lost {dropped} of {} packets ({:.1} %){of_all}", counters.of, dropped + sent, 100.0 * share);
    let instead =
        "offer it less, give it more rate, or give its queue an AQM and ECN; `perhop predict` shows what each does"
            .to_owned();
    Some(finding(CODE, counters.place, message, instead))
}

/// Of all leaves of the same scheduler.
fn drops_beside(case: &Case<'_>, counters: &Counters, at: At<'_>) -> u64 {
    let leaf = |i: usize| at.queue.classes.iter().all(|class| class.parent != Some(i));
    let beside = |it: &&Counters| {
        let class = at.queue.classes.iter().position(|class| class.name.is == it.of);
        it.kind == counters.kind && it.interface == counters.interface && class.is_some_and(leaf)
    };
    let dropped = |it: &Counters| it.counts.get("dropped").copied().and_then(|n| u64::try_from(n).ok());
    case.read.evidence.iter().filter(beside).filter_map(dropped).sum()
}
