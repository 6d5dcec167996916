//! A policer of tc without `conform-exceed`: what exceeds is classified again.
//!
//! Sources: tc-police(8): "reclassify .. is the default for exceeding packets". Linux `cls_api.c`: that starts again at the first filter, at
//! most 16 times (4 before Linux 5.14), then the packet is dropped with a line in the kernel's log. `act_police.c`: each pass counts
//! as one of `overlimits`, none as `dropped`.

use super::Rule;
use super::case::{Case, finding};
use crate::finding::Finding;
use crate::model::Conditioner;
use crate::tc::lower::meters::RECLASSIFY;

const CODE: &str = "W437";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.read.device.ports.iter().flat_map(|port| &port.conditioners).filter_map(|it| of_policer(case, it)).collect()
}

fn of_policer(case: &Case<'_>, it: &Conditioner) -> Option<Finding> {
    // The reader says it of the line with the policer.
    let place = it.settings.get("cir")?.origin.place()?;
    let entry = case.read.account.lines.get(&case.line(place))?;
    if !entry.notes.iter().any(|note| note == RECLASSIFY) {
        return None;
    }
    let message = "a packet that exceeds is classified again, up to 16 times, and then dropped: each time costs CPU and counts as one of \
                   `overlimits`, and `dropped` stays 0";
    Some(finding(CODE, place, message.to_owned(), "conform-exceed drop, behind the rate and the burst".to_owned()))
}
