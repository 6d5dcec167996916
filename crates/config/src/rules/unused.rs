//! A class that no packet has reached, while its siblings carry traffic.
//!
//! Source: `tc -s class show`, `Sent`; IOS, `show policy-map interface`, packets of a class.

use super::Rule;
use super::case::{Case, count, finding, some_of, total};
use super::counted::counted;
use crate::evidence::Counters;
use crate::finding::Finding;
use crate::model::Queue;
use std::collections::{BTreeMap, HashMap, HashSet};

const CODE: &str = "W443";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &[], find };

/// With fewer packets beside it nothing is known yet.
const MANY: u64 = 10_000;

fn find(case: &Case<'_>) -> Vec<Finding> {
    if case.read.dialect == "ios" { of_policies(case) } else { of_trees(case) }
}

/// Classes that share a rate: one finding for all idle ones of them.
fn say(idle: &[&Counters], others: u64, check: &str) -> Option<Finding> {
    let first = idle.first().filter(|_| others >= MANY)?;
    let names: Vec<&str> = idle.iter().map(|it| it.of.as_str()).collect();
    let message = format!("no packet has reached {}, while the classes beside have {others}", some_of(&names));
    Some(finding(CODE, first.place, message, check.to_owned()))
}

/// Leaves of tc.
fn of_trees(case: &Case<'_>) -> Vec<Finding> {
    let mut queues: Vec<Vec<&Counters>> = Vec::new();
    let mut places: HashMap<*const Queue, usize> = HashMap::new();
    for it in counted(case).into_iter().filter(|it| it.leaf && it.class.is_some()) {
        let place = *places.entry(std::ptr::from_ref(it.at.queue)).or_insert(queues.len());
        queues.resize_with(queues.len().max(place + 1), Vec::new);
        queues[place].push(it.counters);
    }
    let of_queue = |leaves: Vec<&Counters>| {
        let others = total(leaves.iter().filter_map(|it| count(it, "sent_packets")));
        let idle: Vec<_> = leaves.into_iter().filter(|it| count(it, "sent_packets") == Some(0)).collect();
        say(&idle, others, "look at the filters, tc -s filter show: one before them may take their packets")
    };
    queues.into_iter().filter_map(of_queue).collect()
}

/// Classes of IOS; class-default may be idle.
fn of_policies(case: &Case<'_>) -> Vec<Finding> {
    let mut policies: BTreeMap<(&str, &str), Vec<&Counters>> = BTreeMap::new();
    let mut busy: HashSet<(&str, &str)> = HashSet::new();
    for it in &case.read.evidence {
        let above = it.of.rsplit_once('/').map_or("", |(above, _)| above);
        if it.kind == "class" {
            policies.entry((&it.interface, above)).or_default().push(it);
        }
        if it.counts.iter().any(is_traffic) {
            busy.insert((&it.interface, &it.of));
        }
    }
    // Neither the class nor its queue nor its policer has counted anything.
    let idle = |it: &&Counters| {
        let counted = busy.contains(&(it.interface.as_str(), it.of.as_str()));
        count(it, "packets") == Some(0) && !counted && !it.of.ends_with("class-default")
    };
    let of_policy = |classes: Vec<&Counters>| {
        let others = total(classes.iter().filter_map(|it| count(it, "packets")));
        let idle: Vec<_> = classes.into_iter().filter(idle).collect();
        say(
            &idle,
            others,
            "look at the class maps, and whether an earlier class or a mark upstream takes their packets",
        )
    };
    policies.into_values().filter_map(of_policy).collect()
}

fn is_traffic((name, count): (&&str, &i64)) -> bool {
    (name.contains("bytes") || name.contains("packets") || name.contains("pkts")) && *count > 0
}
