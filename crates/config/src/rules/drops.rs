//! Counters that show losses: where, and how many.
//!
//! Source: `tc -s`, "dropped": packets that the queue refused or its AQM took out; IOS, "total drops" of a class. Mathis et
//! al., 1997, for what TCP does at that loss.

use super::Rule;
use super::case::{At, Case, count, finding, leaves, percent, total, window};
use crate::evidence::Counters;
use crate::finding::Finding;

const CODE: &str = "W440";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &[], find };

/// More than this is no longer what a congestion control needs to find its rate.
const SHARE: f64 = 0.01;
/// With fewer packets nothing is known yet.
const MANY: u64 = 1000;

fn find(case: &Case<'_>) -> Vec<Finding> {
    let trees = case.counted().filter_map(|(it, class)| of_class(case, it, class?));
    let queues = case.read.evidence.iter().filter(|it| it.kind == "queue").filter_map(|it| of_queue(case, it));
    trees.chain(queues).collect()
}

/// A class of tc.
fn of_class(case: &Case<'_>, it: &Counters, (at, i): (At<'_>, usize)) -> Option<Finding> {
    // The drops of a class stand at each parent again.
    leaves(at.queue).find(|leaf| *leaf == i)?;
    let (lost, sent) = (count(it, "dropped")?, count(it, "sent_packets")?);
    say(it, (lost, lost.saturating_add(sent)), drops_beside(case, it, at))
}

/// A queue of IOS, unless it is that of a class with others in it.
fn of_queue(case: &Case<'_>, it: &Counters) -> Option<Finding> {
    let same = |other: &&Counters| other.kind == it.kind && other.interface == it.interface;
    let below = format!("{}/", it.of);
    let queues: Vec<&Counters> = case.read.evidence.iter().filter(same).collect();
    let has_below = queues.iter().any(|other| other.of.starts_with(&below));
    let path = |of: &str| of.rsplit_once('/').map(|(above, _)| above.to_owned());
    let beside = total(
        queues.iter().filter(|other| path(&other.of) == path(&it.of)).filter_map(|other| count(other, "total_drops")),
    );
    let (lost, sent) = (count(it, "total_drops")?, count(it, "pkts_output")?);
    if has_below { None } else { say(it, (lost, lost.saturating_add(sent)), beside) }
}

fn say(it: &Counters, (lost, all): (u64, u64), beside: u64) -> Option<Finding> {
    if all < MANY || (lost as f64) < SHARE * all as f64 {
        return None;
    }
    let of_all = if beside > lost { format!(", {} of all drops here", percent(lost, beside)) } else { String::new() };
    let message = format!(
        "class {} lost {lost} of {all} packets ({}){of_all}: at that loss TCP keeps about {} in flight",
        it.of,
        percent(lost, all),
        window(lost, all)
    );
    let instead = "offer it less, give it more rate, or give its queue an AQM and its senders ECN".to_owned();
    Some(finding(CODE, it.place, message, instead))
}

/// Of all leaves of the same scheduler.
fn drops_beside(case: &Case<'_>, counters: &Counters, at: At<'_>) -> u64 {
    let leaf = |i: usize| leaves(at.queue).any(|leaf| leaf == i);
    let beside = |it: &&Counters| {
        let class = at.queue.classes.iter().position(|class| class.name.is == it.of);
        it.kind == counters.kind && it.interface == counters.interface && class.is_some_and(leaf)
    };
    total(case.read.evidence.iter().filter(beside).filter_map(|it| count(it, "dropped")))
}
