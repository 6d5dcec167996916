//! A class that no packet has reached, while its siblings carry traffic.
//!
//! Source: `tc -s class show`, `Sent`; IOS, `show policy-map interface`, packets of a class.

use super::Rule;
use super::case::{At, Case, count, finding, leaves, some_of, total};
use crate::evidence::Counters;
use crate::finding::Finding;
use std::collections::BTreeMap;

const CODE: &str = "W443";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &[], find };

/// With fewer packets beside it nothing is known yet.
const MANY: u64 = 10_000;

fn find(case: &Case<'_>) -> Vec<Finding> {
    if case.read.dialect == "ios" { of_policies(case) } else { of_trees(case) }
}

/// Classes that share what there is: one finding for all idle ones of them.
fn say(idle: &[&Counters], others: u64, check: &str) -> Option<Finding> {
    let first = idle.first().filter(|_| others >= MANY)?;
    let names: Vec<&str> = idle.iter().map(|it| it.of.as_str()).collect();
    let message = format!("no packet has reached {}, while the classes beside have {others}", some_of(&names));
    Some(finding(CODE, first.place, message, check.to_owned()))
}

/// Leaves of tc.
fn of_trees(case: &Case<'_>) -> Vec<Finding> {
    let counted: Vec<_> = case.counted().filter_map(|(it, class)| Some((it, class?))).collect();
    let of_queue = |queue: At<'_>| {
        let here = counted
            .iter()
            .filter(|(_, (at, i))| std::ptr::eq(at.queue, queue.queue) && leaves(at.queue).any(|leaf| leaf == *i));
        let leaves: Vec<&Counters> = here.map(|(it, _)| *it).collect();
        let others = total(leaves.iter().filter_map(|it| count(it, "sent_packets")));
        let idle: Vec<_> = leaves.into_iter().filter(|it| count(it, "sent_packets") == Some(0)).collect();
        say(&idle, others, "look at the filters, tc -s filter show: one before them may take their packets")
    };
    case.queues().into_iter().filter_map(of_queue).collect()
}

/// Classes of IOS; class-default may be idle.
fn of_policies(case: &Case<'_>) -> Vec<Finding> {
    let mut policies: BTreeMap<(&str, &str), Vec<&Counters>> = BTreeMap::new();
    for it in case.read.evidence.iter().filter(|it| it.kind == "class") {
        let above = it.of.rsplit_once('/').map_or("", |(above, _)| above);
        policies.entry((&it.interface, above)).or_default().push(it);
    }
    let of_policy = |classes: Vec<&Counters>| {
        let others = total(classes.iter().filter_map(|it| count(it, "packets")));
        let idle: Vec<_> = classes.into_iter().filter(|it| is_idle(case, it)).collect();
        say(
            &idle,
            others,
            "look at the class maps, and whether an earlier class or a mark upstream takes their packets",
        )
    };
    policies.into_values().filter_map(of_policy).collect()
}

/// Whether neither the class nor its queue nor its policer has counted anything.
fn is_idle(case: &Case<'_>, it: &Counters) -> bool {
    let same = |other: &&Counters| other.of == it.of && other.interface == it.interface;
    let traffic = |(name, count): (&&str, &i64)| {
        (name.contains("bytes") || name.contains("packets") || name.contains("pkts")) && *count > 0
    };
    let busy = case.read.evidence.iter().filter(same).any(|other| other.counts.iter().any(traffic));
    count(it, "packets") == Some(0) && !busy && !it.of.ends_with("class-default")
}
