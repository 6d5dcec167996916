//! A policer and a shaper on the same packets, the policer no faster.
//!
//! Source: a policer drops what finds no tokens, at once (RFC 2475 section 2.3.3.4); a shaper delays it (section 2.3.3.3). The order of
//! IOS at output: policing, then queueing. Known from VyOS: 300 Mbit/s shaped and policed gave TCP 3 to 11 Mbit/s.

use super::Rule;
use super::case::{At, Case, finding, is_said, most};
use super::ios::{Use, bits, bytes, drops, uses};
use crate::finding::Finding;
use crate::ios::plan::Class;
use crate::model::{Act, Conditioner, Kind, Way};
use perhop_core::colour::Colour;
use perhop_core::units::BitRate;
use std::collections::HashMap;

const CODE: &str = "W427";

/// The rule, in the words of IOS.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &["W301"], find };

/// The rule, in the words of tc: a filter with `police` and `flowid`.
pub(super) const OF_TC: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &["W301"], find: filters };

fn filters(case: &Case<'_>) -> Vec<Finding> {
    let of_queue = |at: At<'_>| {
        let classes = at.queue.classes.iter().enumerate().map(|(i, class)| (class.name.is.as_str(), i));
        let classes: HashMap<&str, usize> = classes.collect();
        let of_filter = |it: &Conditioner| of_filter(at, *classes.get(it.name.is.as_str())?, it);
        at.port.conditioners.iter().filter_map(of_filter).collect::<Vec<_>>()
    };
    case.queues_of(Kind::Scheduler("htb")).flat_map(of_queue).collect()
}

/// The policer of a class has the name of the class.
fn of_filter(at: At<'_>, class: usize, it: &Conditioner) -> Option<Finding> {
    let (cir, said) = (it.settings.rate("cir")?, it.settings.get("cir")?);
    let drops = it.actions.iter().any(|(colour, acts)| *colour == Colour::Red && acts.is.contains(&Act::Drop));
    let ceil = most(at.queue, class).filter(|ceil| cir <= *ceil && drops && is_said(said))?;
    let burst =
        it.settings.bytes("cbs").map(|bytes| format!(" beyond a burst of {} B", bytes.get())).unwrap_or_default();
    let message = format!(
        "the filter polices to {cir} what class {} shapes to {ceil}: the policer drops first{burst}, so the class never has a queue, and \
         TCP gets what the policer's bucket lets it have",
        it.name.is
    );
    Some(finding(
        CODE,
        said.origin.place()?,
        message,
        "the same filter without `police`: the class bounds its packets".to_owned(),
    ))
}

fn find(case: &Case<'_>) -> Vec<Finding> {
    let out = |it: &&Use<'_>| it.way != Some(Way::Input);
    uses(case)
        .iter()
        .filter(out)
        .flat_map(|it| it.policy.classes.iter().filter_map(|class| of_class(class, it.base)))
        .collect()
}

fn of_class(class: &Class, base: Option<BitRate>) -> Option<Finding> {
    let (shape, police) = (class.shaping.shape.as_ref()?, class.police.as_ref()?);
    let (rate, cir) = (bits(shape.rate.is, base)?, bits(police.cir.is, base)?);
    if cir > rate || police.pir.is_some() || !drops(police) {
        return None;
    }
    let burst = bytes(police.bc).map(|bc| format!(" beyond a burst of {} B", bc.is.get())).unwrap_or_default();
    let message = format!(
        "`police` {cir} and `shape` {rate} in class {}: the policer drops first{burst}, so the shaper never has a queue, and TCP gets what \
         the policer's bucket lets it have",
        class.name
    );
    let instead = format!("shape average {} alone, without `police`", cir.bit_s().min(rate.bit_s()));
    Some(finding(CODE, police.at.place, message, instead))
}
