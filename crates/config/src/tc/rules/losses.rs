//! Counters of tc that show classes without packets, and losses.
//!
//! Source: `tc -s class show`: "Sent", and "dropped", packets that the queue refused or its AQM took out.

use super::counted::{Counted, siblings};
use crate::evidence::Counters;
use crate::rules::case::{Case, total};
use crate::rules::losses::{LOSSY_POLICER, LOSSY_QUEUE, Loss, lossy, lossy_policers};
use crate::rules::{Remark, Rule, idle};
use std::collections::HashMap;

/// Of leaves and of policers.
pub(super) const RULES: &[Rule] = &[
    Rule::new(LOSSY_QUEUE, &[], lossy_leaves),
    Rule::new(idle::IDLE_CLASS, &[], |case| siblings(case).filter_map(idle_leaves).collect()),
    Rule::new(LOSSY_POLICER, &[], |case| {
        lossy_policers(case, |it| Some(Loss { lost: it.count("dropped")?, all: it.count("sent_packets")? }))
    }),
];

/// W440.
fn lossy_leaves(case: &Case<'_>) -> Vec<Remark> {
    let filtered = ack_filtered(case);
    let dropped = |it: &Counters| {
        let filtered = filtered.get(&(it.interface.as_str(), it.of.as_str())).copied().unwrap_or(0);
        Some(it.count("dropped")?.saturating_sub(filtered))
    };
    let mut all = Vec::new();
    for leaves in siblings(case) {
        let beside = total(leaves.iter().filter_map(|it| dropped(it.counters)));
        all.extend(leaves.iter().filter_map(|it| {
            let loss = Loss::beside(it.counters.count("sent_packets")?, dropped(it.counters)?);
            lossy(it.counters, &it.name(), loss, beside)
        }));
    }
    all
}

/// What ACK filters dropped, by interface and queue: of CAKE, whose tins count them apart (sch_cake.c, `ack_drops`). No
/// data is lost with them.
fn ack_filtered<'a>(case: &'a Case<'_>) -> HashMap<(&'a str, &'a str), u64> {
    let mut all = HashMap::new();
    for tin in case.read.evidence.iter().filter(|it| it.counts.contains_key("ack_drop")) {
        if let (Some((of, _)), Some(many)) = (tin.of.split_once(' '), tin.count("ack_drop")) {
            let sum: &mut u64 = all.entry((tin.interface.as_str(), of)).or_default();
            *sum = sum.saturating_add(many);
        }
    }
    all
}

/// W443.
fn idle_leaves(leaves: Vec<Counted<'_>>) -> Option<Remark> {
    let sent = |it: &Counted<'_>| it.counters.count("sent_packets");
    let others = total(leaves.iter().filter_map(sent));
    let idle: Vec<_> = leaves.iter().filter(|it| sent(it) == Some(0)).map(|it| it.counters).collect();
    idle::remark(&idle, others, "look at the filters, tc -s filter show: one before them may take their packets")
}
