//! Counters of IOS that show classes without packets, and losses.
//!
//! Source: `show policy-map interface`, packets and "total drops" of a class.

use super::policies::{classes, drops};
use super::{Case, Rule};
use crate::evidence::Counters;
use crate::rules::case::total;
use crate::rules::losses::{LOSSY_POLICER, LOSSY_QUEUE, Loss, lossy, lossy_policers};
use crate::rules::{Remark, idle};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Of classes, queues and policers.
pub(super) const RULES: &[Rule] = &[
    Rule::new(LOSSY_QUEUE, &[], lossy_classes),
    Rule::new(idle::IDLE_CLASS, &[], idle_classes),
    Rule::new(LOSSY_POLICER, &[], |case| {
        let dropping = dropping(case);
        lossy_policers(case, |it| exceeding(&dropping, it))
    }),
];

/// Those of a kind by the policy whose rate they share: its interface, and the class above it.
fn policies_with<'a>(case: &Case<'a>, kind: &str) -> BTreeMap<(&'a str, &'a str), Vec<&'a Counters>> {
    let mut policies: BTreeMap<_, Vec<&Counters>> = BTreeMap::new();
    for it in case.read.evidence.iter().filter(|it| it.kind == kind) {
        let above = it.of.rsplit_once('/').map_or("", |(above, _)| above);
        policies.entry((it.interface.as_str(), above)).or_default().push(it);
    }
    policies
}

/// W440, but not of classes with others in them.
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

/// W443; class-default may be idle.
fn idle_classes(case: &Case<'_>) -> Vec<Remark> {
    let all = case.read.evidence.iter().filter(|it| it.counts.iter().any(is_traffic));
    let busy: HashSet<(&str, &str)> = all.map(|it| (it.interface.as_str(), it.of.as_str())).collect();
    // Neither the class nor its queue nor its policer has counted anything.
    let idle = |it: &&Counters| {
        let counted = busy.contains(&(it.interface.as_str(), it.of.as_str()));
        it.count("packets") == Some(0) && !counted && !it.of.ends_with("class-default")
    };
    let check = "look at the class maps, and whether an earlier class or a mark upstream takes their packets";
    let of_policy = |classes: Vec<&Counters>| {
        let others = total(classes.iter().filter_map(|it| it.count("packets")));
        let idle: Vec<_> = classes.into_iter().filter(idle).collect();
        idle::remark(&idle, others, check)
    };
    policies_with(case, "class").into_values().filter_map(of_policy).collect()
}

fn is_traffic((name, count): (&&str, &i64)) -> bool {
    (name.contains("bytes") || name.contains("packets") || name.contains("pkts")) && *count > 0
}

/// Whether what exceeds is dropped in all classes of a name that police.
fn dropping<'a>(case: &Case<'a>) -> HashMap<&'a str, bool> {
    let mut names: HashMap<&str, bool> = HashMap::new();
    for class in classes(case.parse) {
        if let Some(police) = &class.police {
            *names.entry(&class.name).or_insert(true) &= drops(police);
        }
    }
    names
}

/// What exceeds or violates, where that is dropped.
fn exceeding(dropping: &HashMap<&str, bool>, it: &Counters) -> Option<Loss> {
    let name = it.of.rsplit('/').next().unwrap_or_default();
    dropping.get(name).filter(|drops| **drops)?;
    let lost = it.count("exceeded_packets")?.saturating_add(it.count("violated_packets").unwrap_or(0));
    Some(Loss::beside(it.count("conformed_packets")?, lost))
}
