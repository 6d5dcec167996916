//! A policer that drops so much that TCP behind it cannot use the contract.
//!
//! Source: the counters; Mathis et al., 1997, for what TCP does at that loss.

use super::Rule;
use super::case::{Case, count, finding, percent, window};
use super::ios::drops;
use crate::evidence::Counters;
use crate::finding::Finding;
use std::collections::HashMap;

const CODE: &str = "W446";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &[], find };

/// TCP needs far less than this to find its rate.
const SHARE: f64 = 0.05;
/// With fewer packets nothing is known yet.
const MANY: u64 = 1000;

fn find(case: &Case<'_>) -> Vec<Finding> {
    // A policer of the control plane is to drop what floods it.
    let control = |it: &Counters| it.interface.to_ascii_lowercase().starts_with("control");
    let police = case.read.evidence.iter().filter(|it| it.kind == "police" && !control(it));
    let dropping = dropping(case);
    let counts = |it: &Counters| if case.read.dialect == "ios" { of_ios(&dropping, it) } else { of_tc(it) };
    police.filter_map(|it| of_policer(it, counts(it)?)).collect()
}

/// Whether what exceeds is dropped in all classes of a name that police.
fn dropping<'a>(case: &Case<'a>) -> HashMap<&'a str, bool> {
    let mut names: HashMap<&str, bool> = HashMap::new();
    for class in super::ios::classes(case) {
        if let Some(police) = &class.police {
            *names.entry(&class.name).or_insert(true) &= drops(police);
        }
    }
    names
}

fn of_policer(it: &Counters, (lost, all): (u64, u64)) -> Option<Finding> {
    if all < MANY || (lost as f64) < SHARE * all as f64 {
        return None;
    }
    let message = format!(
        "the policer of {} dropped {lost} of {all} packets ({}): at that loss TCP keeps about {} in flight",
        it.of,
        percent(lost, all),
        window(lost, all)
    );
    let instead = "a larger burst (`perhop tune`), a higher rate, or shape instead of policing".to_owned();
    Some(finding(CODE, it.place, message, instead))
}

/// Dropped and all.
fn of_tc(it: &Counters) -> Option<(u64, u64)> {
    Some((count(it, "dropped")?, count(it, "sent_packets")?))
}

/// What exceeds or violates, where that is dropped.
fn of_ios(dropping: &HashMap<&str, bool>, it: &Counters) -> Option<(u64, u64)> {
    let name = it.of.rsplit('/').next().unwrap_or_default();
    dropping.get(name).filter(|drops| **drops)?;
    let lost = count(it, "exceeded_packets")?.saturating_add(count(it, "violated_packets").unwrap_or(0));
    Some((lost, lost.saturating_add(count(it, "conformed_packets")?)))
}
