//! WRED where there is no queue of the class, or where its queue has none.
//!
//! Sources: Cisco, command reference, `random-detect`: "you must configure the bandwidth or the shape policy-map class configuration command
//! before"; "you cannot use .. random-detect .. with the priority .. command in the same class".

use super::Rule;
use super::case::{Case, finding};
use crate::finding::Finding;
use crate::import_options::Platform;
use crate::ios::plan::Class;

const CODE: &str = "W426";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    // IOS-XR takes it in every class.
    let known = case.given.platform != Platform::Ncs;
    let typed = case.plan.policies.iter().filter(|policy| known && !policy.inline);
    typed.flat_map(|policy| &policy.classes).filter_map(of_class).collect()
}

fn of_class(class: &Class) -> Option<Finding> {
    let wred = class.waiting.wred.as_ref().filter(|wred| !wred.whole)?;
    let at = wred.at.or_else(|| wred.profiles.first().map(|put| put.at))?;
    let (message, instead) = if class.priority.is_some() {
        let message = format!("class {} has priority, and IOS takes no `random-detect` there", class.name);
        (message, "no random-detect; the limit of `priority` bounds its queue".to_owned())
    } else if class.bandwidth.is_none()
        && class.shaping.shape.is_none()
        && class.waiting.fair.is_none()
        && !class.is_default()
    {
        let message = format!(
            "class {} has no queue: without `bandwidth` or `shape` IOS takes no `random-detect`, and its packets wait in \
             class-default",
            class.name
        );
        (message, "bandwidth remaining percent .., before it".to_owned())
    } else {
        return None;
    };
    Some(finding(CODE, at.place, message, instead))
}
