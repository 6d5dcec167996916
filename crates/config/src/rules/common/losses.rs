//! Counters that show losses: where, and how many.
//!
//! Sources: `tc -s`, "dropped": packets that the queue refused or its AQM took out; IOS, "total drops" of a class.
//! Mathis et al., "The macroscopic behavior of the TCP congestion avoidance algorithm", 1997, for what TCP does at that
//! loss.

use crate::evidence::Counters;
use crate::rules::case::{Case, percent, total};
use crate::rules::counted::{policies_with, siblings};
use crate::rules::ios::policies;
use crate::rules::{Remark, Rule};
use perhop_core::units::counted;
use std::collections::HashMap;

/// Of queues and of policers.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W440", &[], |case| lossy_leaves(case).into_iter().chain(lossy_classes(case)).collect()),
    Rule::new("W446", &[], lossy_policers),
];

/// The share from which on a queue loses more than a congestion control needs to find its rate.
const OF_QUEUE: f64 = 0.01;
/// The same of a policer: TCP needs far less.
const OF_POLICER: f64 = 0.05;
/// With fewer packets nothing is known yet.
const MANY: u64 = 1000;

/// Packets that were lost, of all that came.
#[derive(Clone, Copy)]
struct Loss {
    lost: u64,
    all: u64,
}

impl Loss {
    /// Beside those that passed.
    const fn beside(passed: u64, lost: u64) -> Self {
        Self { lost, all: lost.saturating_add(passed) }
    }

    /// `class 1:10 lost 60 of 1000 packets ..`, if it is at least this share.
    fn remark(self, whose: &str, share: f64, of_all: &str) -> Option<String> {
        let Self { lost, all } = self;
        let says = format!("{whose} {lost} of {all} packets ({}){of_all}", percent(lost, all));
        let beyond = all >= MANY && lost as f64 >= share * all as f64;
        beyond.then(|| format!("{says}: at that loss TCP keeps about {} in flight", self.window()))
    }

    /// How many packets TCP keeps in flight: sqrt(3 / 2p), Mathis et al.
    fn window(self) -> String {
        let packets = (1.5 * self.all as f64 / self.lost.max(1) as f64).sqrt().max(1.0);
        counted(format!("{packets:.0}"), ["packet", "packets"])
    }
}

/// W440 of a queue, where `beside` are all that were lost there.
fn lossy(it: &Counters, name: &str, loss: Loss, beside: u64) -> Option<Remark> {
    let of_all =
        if beside > loss.lost { format!(", {} of all drops here", percent(loss.lost, beside)) } else { String::new() };
    let message = loss.remark(&format!("{name} lost"), OF_QUEUE, &of_all)?;
    let instead = "offer it less, give it more rate, or give its queue an AQM and its senders ECN".to_owned();
    Some(Remark { place: it.place, message, instead })
}

/// W440 of tc.
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

/// W440 of IOS, but not of classes with others in them.
fn lossy_classes(case: &Case<'_>) -> Vec<Remark> {
    let policies = policies_with(case, "queue");
    let mut all = Vec::new();
    for queues in policies.values() {
        let beside = total(queues.iter().filter_map(|it| it.count("total_drops")));
        let bottom = queues.iter().filter(|it| !policies.contains_key(&(it.interface.as_str(), it.of.as_str())));
        all.extend(bottom.filter_map(|it| {
            let loss = Loss::beside(it.count("pkts_output")?, it.count("total_drops")?);
            lossy(it, &format!("class {}", it.of), loss, beside)
        }));
    }
    all
}

/// W446: a policer that drops so much that TCP behind it cannot use the contract.
fn lossy_policers(case: &Case<'_>) -> Vec<Remark> {
    // A policer of the control plane is to drop what floods it.
    let police = case.read.evidence.iter().filter(|it| it.kind == "police" && !policies::is_control(&it.interface));
    let dropping = dropping(case);
    let of_policer = |it: &Counters| {
        let loss = if case.read.dialect == "ios" { of_ios(&dropping, it) } else { of_tc(it) }?;
        let message = loss.remark(&format!("the policer of {} dropped", it.of), OF_POLICER, "")?;
        let instead = "a larger burst (`perhop tune`), a higher rate, or shape instead of policing".to_owned();
        Some(Remark { place: it.place, message, instead })
    };
    police.filter_map(of_policer).collect()
}

/// Whether what exceeds is dropped in all classes of a name that police.
fn dropping<'a>(case: &Case<'a>) -> HashMap<&'a str, bool> {
    let mut names: HashMap<&str, bool> = HashMap::new();
    for class in policies::classes(case) {
        if let Some(police) = &class.police {
            *names.entry(&class.name).or_insert(true) &= policies::drops(police);
        }
    }
    names
}

/// What is dropped, of all that came: so tc counts at a policer.
fn of_tc(it: &Counters) -> Option<Loss> {
    Some(Loss { lost: it.count("dropped")?, all: it.count("sent_packets")? })
}

/// What exceeds or violates, where that is dropped.
fn of_ios(dropping: &HashMap<&str, bool>, it: &Counters) -> Option<Loss> {
    let name = it.of.rsplit('/').next().unwrap_or_default();
    dropping.get(name).filter(|drops| **drops)?;
    let lost = it.count("exceeded_packets")?.saturating_add(it.count("violated_packets").unwrap_or(0));
    Some(Loss::beside(it.count("conformed_packets")?, lost))
}
