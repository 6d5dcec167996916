//! Counters that show losses: where, and how many.
//!
//! Source: `tc -s`, "dropped": packets that the queue refused or its AQM took out; IOS, "total drops" of a class. Mathis et
//! al., 1997, for what TCP does at that loss.

use super::Rule;
use super::case::{Case, count, finding, percent, window};
use super::counted::{Counted, counted};
use crate::evidence::Counters;
use crate::finding::Finding;
use crate::model::Queue;
use std::collections::HashMap;

const CODE: &str = "W440";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &[], find };

/// More than this is no longer what a congestion control needs to find its rate.
const SHARE: f64 = 0.01;
/// With fewer packets nothing is known yet.
const MANY: u64 = 1000;

fn find(case: &Case<'_>) -> Vec<Finding> {
    let mut all = of_trees(case);
    all.extend(of_queues(case));
    all
}

/// Leaves of tc, and queues without classes.
fn of_trees(case: &Case<'_>) -> Vec<Finding> {
    let leaves: Vec<Counted<'_>> = counted(case).into_iter().filter(|it| it.leaf).collect();
    let filtered = ack_filtered(case);
    let dropped = |it: &Counters| {
        let filtered = filtered.get(&(it.interface.as_str(), it.of.as_str())).copied().unwrap_or(0);
        Some(count(it, "dropped")?.saturating_sub(filtered))
    };
    let mut beside: HashMap<*const Queue, u64> = HashMap::new();
    for it in &leaves {
        let all = beside.entry(std::ptr::from_ref(it.at.queue)).or_default();
        *all = all.saturating_add(dropped(it.counters).unwrap_or(0));
    }
    let of_leaf = |it: &Counted<'_>| {
        let (lost, sent) = (dropped(it.counters)?, count(it.counters, "sent_packets")?);
        let beside = beside.get(&std::ptr::from_ref(it.at.queue)).copied().unwrap_or(0);
        say(it.counters, &it.name(), (lost, lost.saturating_add(sent)), beside)
    };
    leaves.iter().filter_map(of_leaf).collect()
}

/// What ACK filters dropped, by interface and queue: of CAKE, whose tins count them apart (sch_cake.c, `ack_drops`). No data is lost
/// with them.
fn ack_filtered<'a>(case: &'a Case<'_>) -> HashMap<(&'a str, &'a str), u64> {
    let mut all = HashMap::new();
    for tin in case.read.evidence.iter().filter(|it| it.counts.contains_key("ack_drop")) {
        if let (Some((of, _)), Some(many)) = (tin.of.split_once(' '), count(tin, "ack_drop")) {
            let sum: &mut u64 = all.entry((tin.interface.as_str(), of)).or_default();
            *sum = sum.saturating_add(many);
        }
    }
    all
}

/// Queues of IOS, but those of classes with others in them.
fn of_queues(case: &Case<'_>) -> Vec<Finding> {
    let above = |of: &str| of.rsplit_once('/').map_or(String::new(), |(above, _)| above.to_owned());
    let queues = || case.read.evidence.iter().filter(|it| it.kind == "queue");
    let mut beside: HashMap<(&str, String), u64> = HashMap::new();
    for it in queues() {
        let all = beside.entry((&it.interface, above(&it.of))).or_default();
        *all = all.saturating_add(count(it, "total_drops").unwrap_or(0));
    }
    let of_queue = |it: &Counters| {
        let (lost, sent) = (count(it, "total_drops")?, count(it, "pkts_output")?);
        let all = beside.get(&(it.interface.as_str(), above(&it.of))).copied().unwrap_or(0);
        let has_below = beside.contains_key(&(it.interface.as_str(), it.of.clone()));
        if has_below { None } else { say(it, &format!("class {}", it.of), (lost, lost.saturating_add(sent)), all) }
    };
    queues().filter_map(of_queue).collect()
}

fn say(it: &Counters, name: &str, (lost, all): (u64, u64), beside: u64) -> Option<Finding> {
    if all < MANY || (lost as f64) < SHARE * all as f64 {
        return None;
    }
    let of_all = if beside > lost { format!(", {} of all drops here", percent(lost, beside)) } else { String::new() };
    let message = format!(
        "{name} lost {lost} of {all} packets ({}){of_all}: at that loss TCP keeps about {} in flight",
        percent(lost, all),
        window(lost, all)
    );
    let instead = "offer it less, give it more rate, or give its queue an AQM and its senders ECN".to_owned();
    Some(finding(CODE, it.place, message, instead))
}
