//! A queue that stands now: how long its last packet waits.
//!
//! Source: backlog in bytes / the class's rate, between its rate (all others busy) and its ceil (alone).

use super::Rule;
use super::case::{At, Case, finding, most};
use crate::evidence::Counters;
use crate::finding::Finding;
use perhop_core::units::{BitRate, Bytes, Span};

const CODE: &str = "W445";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

const LONG: Span = Span::from_ms(100);

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.counted().filter_map(|(counters, class)| class.and_then(|class| of_class(counters, class))).collect()
}

fn of_class(counters: &Counters, (at, i): (At<'_>, usize)) -> Option<Finding> {
    if at.queue.classes.iter().any(|class| class.parent == Some(i)) {
        return None;
    }
    let it = &at.queue.classes[i];
    let backlog = Bytes::new(u64::try_from(*counters.counts.get("backlog_bytes")?).ok()?);
    let ceil = most(at.queue, i).filter(|rate| rate.bit_s() > 0)?;
    let waits = |rate: BitRate| Span::from_ms((backlog / rate).ns() / 1_000_000);
    if waits(ceil) < LONG {
        return None;
    }
    let rate = it.settings.rate("rate").filter(|rate| *rate < ceil && rate.bit_s() > 0);
    let slower = rate.map(|rate| format!(", {} at its rate {rate}", waits(rate))).unwrap_or_default();
    let message =
        format!("{} B wait in class {}: {} at its ceil {ceil}{slower}", backlog.get(), it.name.is, waits(ceil));
    let instead = format!("tc qdisc add dev {} parent {} fq_codel", at.port.interface.is, it.name.is);
    Some(finding(CODE, counters.place, message, instead))
}
