//! A class that no packet has reached, while its siblings carry traffic.
//!
//! Source: `tc -s class show`, `Sent`; IOS, `show policy-map interface`, packets of a class.

use super::Rule;
use super::case::{Case, count, finding, leaves};
use crate::evidence::Counters;
use crate::finding::Finding;
use crate::model::Queue;

const CODE: &str = "W443";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &[], find };

/// With fewer packets beside it nothing is known yet.
const MANY: u64 = 10_000;

fn find(case: &Case<'_>) -> Vec<Finding> {
    if case.read.dialect == "ios" { of_policies(case) } else { of_trees(case) }
}

fn say(it: &Counters, others: u64, check: &str) -> Finding {
    let message = format!("no packet has reached class {}, while the classes beside it have {others}", it.of);
    finding(CODE, it.place, message, check.to_owned())
}

/// Leaves of tc.
fn of_trees(case: &Case<'_>) -> Vec<Finding> {
    let counted = case.counted().filter_map(|(it, class)| Some((it, class?)));
    let leaves: Vec<_> = counted.filter(|(_, (at, i))| leaves(at.queue).any(|leaf| leaf == *i)).collect();
    let beside = |queue: &Queue| -> u64 {
        let same = leaves.iter().filter(|(_, (at, _))| std::ptr::eq(at.queue, queue));
        same.filter_map(|(it, _)| count(it, "sent_packets")).sum()
    };
    let check = "look at its filters: tc -s filter show; a filter before them may take its packets";
    let idle = leaves.iter().filter(|(it, _)| count(it, "sent_packets") == Some(0));
    let idle = idle.map(|(it, (at, _))| (it, beside(at.queue))).filter(|(_, others)| *others >= MANY);
    idle.map(|(it, others)| say(it, others, check)).collect()
}

/// Classes of IOS; class-default may be idle.
fn of_policies(case: &Case<'_>) -> Vec<Finding> {
    let classes: Vec<_> = case.read.evidence.iter().filter(|it| it.kind == "class").collect();
    let above = |of: &str| of.rsplit_once('/').map_or(String::new(), |(above, _)| above.to_owned());
    let beside = |it: &Counters| -> u64 {
        let same = classes.iter().filter(|other| other.interface == it.interface && above(&other.of) == above(&it.of));
        same.filter_map(|other| count(other, "packets")).sum()
    };
    let idle =
        |it: &&&Counters| count(it, "packets") == Some(0) && !it.of.ends_with("class-default") && beside(it) >= MANY;
    let check = "look at its class map, and whether an earlier class or a mark upstream takes its packets";
    classes.iter().filter(idle).map(|it| say(it, beside(it), check)).collect()
}
