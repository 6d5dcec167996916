//! HTB without a default class: what no filter takes is not shaped.
//!
//! Source: tc-htb(8), `default`: "unclassified traffic gets sent to this class", and without it "dequeued at hardware speed, completely bypassing any
//! of the classes" (`default 0`).

use super::Rule;
use super::case::{At, Case, finding, leaves, line_has, place};
use super::direct::share;
use super::tc;
use crate::evidence::Counters;
use crate::finding::Finding;
use crate::model::Kind;
use crate::value::Value;
use std::collections::HashSet;

const CODE: &str = "W433";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

/// Interfaces and qdiscs whose counters say that practically no packet passes so.
type Few<'a> = HashSet<(&'a str, &'a str)>;

fn find(case: &Case<'_>) -> Vec<Finding> {
    // A `default` that names no class says the same, and is nearer to the cause.
    if case.read.findings.iter().any(|finding| finding.code == "W402") {
        return Vec::new();
    }
    let few = |it: &&Counters| it.counts.contains_key("direct_packets_stat") && share(it).is_none();
    let few: Few<'_> =
        case.read.evidence.iter().filter(few).map(|it| (it.interface.as_str(), it.of.as_str())).collect();
    case.queues_of(Kind::Scheduler("htb")).filter_map(|at| of_queue(case, at, &few)).collect()
}

fn of_queue(case: &Case<'_>, at: At<'_>, few: &Few<'_>) -> Option<Finding> {
    let name = at.queue.name.is.as_str();
    let few = ["", &at.port.interface.is].iter().any(|interface| few.contains(&(*interface, name)));
    let direct = at.queue.settings.get("unclassified").is_some_and(|said| said.is == Value::Word("direct".to_owned()));
    // Filters that take everything leave nothing over.
    let all = at.queue.classes.iter().any(|class| class.takes.iter().any(|filter| filter.matches.is == <_>::default()));
    let listed = line_has(case, place(&at.queue.name), "qdisc");
    if !direct || all || !listed || at.queue.classes.is_empty() || few {
        return None;
    }
    let message = format!(
        "qdisc {name} has no default class: packets that no filter takes, ARP too, pass unshaped and before all classes"
    );
    let last = leaves(at.queue).last().map(|class| at.queue.classes[*class].name.is.as_str());
    let instead = tc::htb(at, last, None);
    Some(finding(CODE, place(&at.queue.name), message, instead))
}
