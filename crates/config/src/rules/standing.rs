//! A queue that stands now: how long its last packet waits.
//!
//! Source: backlog in bytes / the class's rate, between its rate (all others busy) and its ceil (alone).

use super::Rule;
use super::case::{Case, count, finding, most};
use super::counted::{Counted, counted};
use crate::finding::Finding;
use crate::model::Kind;
use perhop_core::units::{BitRate, Bytes, Span};

const CODE: &str = "W445";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

const LONG: Span = Span::from_ms(100);

fn find(case: &Case<'_>) -> Vec<Finding> {
    counted(case).into_iter().filter(|it| it.leaf).filter_map(of_leaf).collect()
}

fn of_leaf(it: Counted<'_>) -> Option<Finding> {
    let backlog = Bytes::new(count(it.counters, "backlog_bytes")?);
    let class = it.class.and_then(|i| it.at.queue.classes.get(i));
    let most = it.class.map_or(it.at.rate, |i| most(it.at.queue, i)).filter(|rate| rate.bit_s() > 0)?;
    let waits = |rate: BitRate| Span::from_ms((backlog / rate).ns() / 1_000_000);
    if waits(most) < LONG {
        return None;
    }
    let rate = class.and_then(|class| class.settings.rate("rate")).filter(|rate| *rate < most && rate.bit_s() > 0);
    let slower = rate.map(|rate| format!(", {} at its rate {rate}", waits(rate))).unwrap_or_default();
    let whose = if class.is_some() { "its ceil " } else { "" };
    let message = format!("{} B wait in {}: {} at {whose}{most}{slower}", backlog.get(), it.name(), waits(most));
    Some(finding(CODE, it.counters.place, message, instead(it)))
}

fn instead(it: Counted<'_>) -> String {
    let managed =
        |kind: Kind| matches!(kind, Kind::Aqm(_) | Kind::Scheduler("fq-codel" | "fq-pie" | "cake" | "dualpi2"));
    let queue = it.class.map_or(Some(it.at.queue), |i| it.at.queue.classes[i].queue.as_ref());
    if queue.and_then(|queue| queue.kind).is_some_and(managed) {
        return "its queue has an AQM: look for senders that do not slow down, or give it more rate".to_owned();
    }
    let parent = if it.class.is_some() { format!("parent {}", it.counters.of) } else { "..".to_owned() };
    format!("tc qdisc replace dev {} {parent} fq_codel", it.at.port.interface.is)
}
