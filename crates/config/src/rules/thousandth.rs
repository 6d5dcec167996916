//! Rates that look wrong by 1000: `bandwidth` and `priority` are in kbit/s, `police` and `shape` in bit/s.
//!
//! Sources: Cisco, command references: `bandwidth (policy-map class)` and `priority`, "in kbps"; `police`, "in bits per second". A policy
//! that wants more than its interface has is refused: "requested bandwidth .. (kbps), available only ..".

use super::Rule;
use super::case::{Case, finding};
use super::ios::{Use, bits, drops, stated, uses, with};
use crate::finding::Finding;
use crate::ios::plan::{At, Class, Rate, Share};
use perhop_core::units::{BitRate, Bytes};

const CODE: &str = "W422";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &[], find };

/// From the slowest policer there is to one that takes more than a third of a second for one packet.
const SLOW: std::ops::Range<BitRate> = BitRate::kbps(8)..BitRate::kbps(32);
const PACKET: Bytes = Bytes::new(1500);

fn find(case: &Case<'_>) -> Vec<Finding> {
    let of_class = |it: &Use<'_>, class: &Class| [above(case, it, class), below(case, it, class)];
    uses(case).iter().flat_map(|it| it.policy.classes.iter().flat_map(|class| of_class(it, class))).flatten().collect()
}

/// kbit/s that are more than the link.
fn above(case: &Case<'_>, it: &Use<'_>, class: &Class) -> Option<Finding> {
    let base = it.base?;
    let (word, rate, line) = in_kbit(class)?;
    if rate <= base || it.control || it.in_force() {
        return None;
    }
    let kbit = rate.bit_s() / 1000;
    let message = format!(
        "`{word} {kbit}` is in kbit/s: {rate}, more than the {base} of which it is to be a part, and IOS refuses it"
    );
    let text = with(case, line, Vec::new());
    let fits = kbit.is_multiple_of(1000) && BitRate::bps(kbit) <= base;
    let instead = match fits {
        true => text.replacen(&kbit.to_string(), &(kbit / 1000).to_string(), 1),
        false => format!("at most {word} {}", base.bit_s() / 1000),
    };
    Some(finding(CODE, line.place, message, instead))
}

fn in_kbit(class: &Class) -> Option<(&'static str, BitRate, At)> {
    if let Some(priority) = &class.priority
        && let Some(rate) = priority.rate
        && let Rate::Bits(_) = rate.is
    {
        return Some(("priority", bits(rate.is, None)?, priority.at));
    }
    match class.bandwidth {
        Some(put) => {
            if let Share::Rate(rate) = put.is {
                Some(("bandwidth", rate, put.at))
            } else {
                None
            }
        }
        None => None,
    }
}

/// bit/s that were thought of as kbit/s.
fn below(case: &Case<'_>, it: &Use<'_>, class: &Class) -> Option<Finding> {
    let (base, police) = (it.base?, class.police.as_ref()?);
    let cir = stated(police.cir)?;
    let times = BitRate::bps(cir.bit_s().saturating_mul(1000));
    if it.control || !SLOW.contains(&cir) || times > base || police.pir.is_some() || !drops(police) {
        return None;
    }
    let message = format!(
        "`police` is in bit/s: {cir}, of which a packet of 1500 B takes {}; if kbit/s were meant it is {times}",
        PACKET / cir
    );
    let instead = with(case, police.at, vec![(police.cir.at.place, times.bit_s().to_string())]);
    Some(finding(CODE, police.cir.at.place, message, instead))
}
