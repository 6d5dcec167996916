//! Thresholds of WRED that are set and not enabled.
//!
//! Sources: Cisco, command reference, `random-detect dscp`: "available only if you specified the dscp-based argument"; without an
//! argument `random-detect` goes by IP precedence.

use super::Rule;
use super::case::{Case, finding};
use super::ios::classes;
use crate::finding::Finding;
use crate::ios::plan::{Basis, Of, Profile, WithPlace, Wred};

const CODE: &str = "W425";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    classes(case)
        .filter_map(|class| class.waiting.wred.as_ref())
        .filter(|wred| !wred.whole)
        .filter_map(of_wred)
        .collect()
}

/// What a profile needs to be enabled.
fn needs(profile: &Profile) -> Option<(Basis, &'static str, &'static str)> {
    match profile.of {
        Of::Dscp(_) => Some((Basis::Dscp, "dscp-based", "code points")),
        Of::Precedence(_) => Some((Basis::Precedence, "prec-based", "precedences")),
        Of::DiscardClass(_) => Some((Basis::DiscardClass, "discard-class-based", "discard classes")),
        Of::All | Of::Other => None,
    }
}

fn of_wred(wred: &Wred) -> Option<Finding> {
    let enabled = wred.at.map(|_| wred.basis.unwrap_or(Basis::Precedence));
    let idle = |put: &&WithPlace<Profile>| needs(&put.is).is_some_and(|(basis, ..)| enabled != Some(basis));
    let first = wred.profiles.iter().find(idle)?;
    let (_, word, whose) = needs(&first.is)?;
    let many = wred.profiles.iter().filter(idle).count();
    let now = match enabled {
        None => "no line enables WRED: packets are dropped only where the queue is full",
        Some(Basis::Precedence) => "WRED goes by precedence here, and the precedences keep their default thresholds",
        Some(_) => "WRED goes by another field here",
    };
    let message = format!("thresholds of {whose} are set ({many}) and not used: {now}");
    Some(finding(CODE, first.at.place, message, format!("random-detect {word}, before them")))
}
