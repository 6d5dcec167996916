//! A class that no packet has reached, while its siblings carry traffic.
//!
//! Source: `tc -s class show`, `Sent`; IOS, `show policy-map interface`, packets of a class.

use crate::evidence::Counters;
use crate::rules::case::{Case, some_of, total};
use crate::rules::counted::{Counted, policies_with, siblings};
use crate::rules::{Remark, Rule};
use std::collections::HashSet;

/// Of both.
pub(super) const RULES: &[Rule] = &[Rule::new("W443", &[], |case| match case.read.dialect {
    "ios" => classes(case),
    _ => siblings(case).filter_map(leaves).collect(),
})];

/// With fewer packets beside it nothing is known yet.
const MANY: u64 = 10_000;

/// Classes that share a rate: one finding for all idle ones of them.
fn remark(idle: &[&Counters], others: u64, check: &str) -> Option<Remark> {
    let first = idle.first().filter(|_| others >= MANY)?;
    let names: Vec<&str> = idle.iter().map(|it| it.of.as_str()).collect();
    let message = format!("no packet has reached {}, while the classes beside have {others}", some_of(&names));
    Some(Remark { place: first.place, message, instead: check.to_owned() })
}

/// Leaves of tc.
fn leaves(leaves: Vec<Counted<'_>>) -> Option<Remark> {
    let sent = |it: &Counted<'_>| it.counters.count("sent_packets");
    let others = total(leaves.iter().filter_map(sent));
    let idle: Vec<_> = leaves.iter().filter(|it| sent(it) == Some(0)).map(|it| it.counters).collect();
    remark(&idle, others, "look at the filters, tc -s filter show: one before them may take their packets")
}

/// Classes of IOS; class-default may be idle.
fn classes(case: &Case<'_>) -> Vec<Remark> {
    let all = case.read.evidence.iter().filter(|it| it.counts.iter().any(is_traffic));
    let busy: HashSet<(&str, &str)> = all.map(|it| (it.interface.as_str(), it.of.as_str())).collect();
    // Neither the class nor its queue nor its policer has counted anything.
    let idle = |it: &&Counters| {
        let counted = busy.contains(&(it.interface.as_str(), it.of.as_str()));
        it.count("packets") == Some(0) && !counted && !it.of.ends_with("class-default")
    };
    let of_policy = |classes: Vec<&Counters>| {
        let others = total(classes.iter().filter_map(|it| it.count("packets")));
        let idle: Vec<_> = classes.into_iter().filter(idle).collect();
        remark(
            &idle,
            others,
            "look at the class maps, and whether an earlier class or a mark upstream takes their packets",
        )
    };
    policies_with(case, "class").into_values().filter_map(of_policy).collect()
}

fn is_traffic((name, count): (&&str, &i64)) -> bool {
    (name.contains("bytes") || name.contains("packets") || name.contains("pkts")) && *count > 0
}
