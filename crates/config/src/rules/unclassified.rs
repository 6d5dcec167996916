//! HTB without a default class: what no filter takes is not shaped.
//!
//! Source: tc-htb(8), `default`: "unclassified traffic gets sent to this class", and without it "dequeued at hardware speed, completely bypassing any
//! of the classes" (`default 0`).

use super::Rule;
use super::case::{At, Case, finding, leaves, line_has, place};
use crate::evidence::Counters;
use crate::finding::Finding;
use crate::model::Kind;
use crate::value::Value;

const CODE: &str = "W433";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.queues_of(Kind::Scheduler("htb")).filter_map(|at| of_queue(case, at)).collect()
}

fn of_queue(case: &Case<'_>, at: At<'_>) -> Option<Finding> {
    let direct = at.queue.settings.get("unclassified").is_some_and(|said| said.is == Value::Word("direct".to_owned()));
    // Filters that take everything leave nothing over.
    let all = at.queue.classes.iter().any(|class| class.takes.iter().any(|filter| filter.matches.is == <_>::default()));
    let listed = line_has(case, place(&at.queue.name), "qdisc");
    if !direct || all || !listed || at.queue.classes.is_empty() || few_packets(case, at) {
        return None;
    }
    let message = format!(
        "qdisc {} has no default class: packets that no filter takes, ARP too, pass unshaped and before all classes",
        at.queue.name.is
    );
    let last = leaves(at.queue).last().map(|class| at.queue.classes[class].name.is.as_str()).unwrap_or_default();
    let minor = last.split_once(':').map_or(last, |(_, minor)| minor);
    let instead =
        format!("tc qdisc add dev {} .. htb default {minor} (set only when the qdisc is made)", at.port.interface.is);
    Some(finding(CODE, place(&at.queue.name), message, instead))
}

/// Whether counters say that practically no packet passes so.
fn few_packets(case: &Case<'_>, at: At<'_>) -> bool {
    let here =
        |it: &&Counters| it.of == at.queue.name.is && (it.interface.is_empty() || it.interface == at.port.interface.is);
    case.read
        .evidence
        .iter()
        .find(here)
        .is_some_and(|it| super::direct::share(it).is_none() && it.counts.contains_key("direct_packets_stat"))
}
