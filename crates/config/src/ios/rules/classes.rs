//! Lines of classes that do nothing, or that IOS refuses.

use super::policies::classes;
use super::{Case, Rule};
use crate::import_options::Platform;
use crate::ios::plan::{Basis, Class, ClassMap, Of, Profile, What, WithPlace, Wred};
use crate::rules::Remark;
use perhop_core::dscp::Dscp;

/// Of WRED and of class maps.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W425", &[], |case| classes(case.parse).filter_map(idle_thresholds).collect()),
    Rule::new("W426", &[], wred_without_queue),
    Rule::new("W430", &[], |case| case.parse.class_maps.iter().filter(|map| map.all).filter_map(impossible).collect()),
];

/// W425: thresholds of WRED that are set and not enabled.
///
/// Cisco, command reference, `random-detect dscp`: "available only if you specified the dscp-based argument"; without
/// an argument `random-detect` goes by IP precedence.
fn idle_thresholds(class: &Class) -> Option<Remark> {
    let wred = own_wred(class)?;
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
    Some(Remark { place: first.at.place, message, instead: format!("random-detect {word}, before them") })
}

/// The WRED of a class as it is typed: a device prints all profiles, used or not.
fn own_wred(class: &Class) -> Option<&Wred> {
    class.waiting.wred.as_ref().filter(|wred| !wred.whole)
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

/// W426: WRED where there is no queue of the class, or where its queue has none.
///
/// Cisco, command reference, `random-detect`: "you must configure the bandwidth or the shape policy-map class
/// configuration command before"; "you cannot use .. random-detect .. with the priority .. command in the same class".
fn wred_without_queue(case: &Case<'_>) -> Vec<Remark> {
    // IOS-XR takes it in every class.
    let known = case.given.platform != Platform::Ncs;
    let typed = case.parse.policies.iter().filter(|policy| known && !policy.inline);
    typed.flat_map(|policy| &policy.classes).filter_map(without_queue).collect()
}

fn without_queue(class: &Class) -> Option<Remark> {
    let wred = own_wred(class)?;
    let at = wred.at.or_else(|| wred.profiles.first().map(|put| put.at))?;
    let (share, shape, fair) = (class.bandwidth.is_some(), class.shaping.shape.is_some(), class.waiting.fair.is_some());
    let (message, instead) = if class.priority.is_some() {
        let message = format!("class {} has priority, and IOS takes no `random-detect` there", class.name);
        (message, "no random-detect; the limit of `priority` bounds its queue")
    } else if !(share || shape || fair || class.is_default()) {
        let message = format!(
            "class {} has no queue: without `bandwidth` or `shape` IOS takes no `random-detect`, and its packets wait in \
             class-default",
            class.name
        );
        (message, "bandwidth remaining percent .., before it")
    } else {
        return None;
    };
    Some(Remark { place: at.place, message, instead: instead.to_owned() })
}

/// W430: a class map that no packet matches.
///
/// Cisco, command reference, `class-map`: `match-all`, the default, needs every `match` line to agree. A packet has one
/// code point.
fn impossible(map: &ClassMap) -> Option<Remark> {
    let mut left: Option<Vec<Dscp>> = None;
    for put in map.tests.iter().filter(|put| !put.is.not) {
        let What::Fields(fields) = &put.is.what else { continue };
        if fields.dscp.is_empty() {
            continue;
        }
        let mut both = fields.dscp.clone();
        both.retain(|dscp| left.as_ref().is_none_or(|left| left.contains(dscp)));
        if both.is_empty() {
            let message = format!(
                "class map {} is `match-all`, and no packet has this code point and that of the line above: the class gets no packet",
                map.name
            );
            let instead = format!("class-map match-any {}", map.name);
            return Some(Remark { place: put.at.place, message, instead });
        }
        left = Some(both);
    }
    None
}
