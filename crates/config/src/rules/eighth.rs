//! Sizes that look wrong by 8: `police` has bursts in bytes, `shape` in bits.
//!
//! Sources: Cisco, command references: `police`, "burst size in bytes"; `shape (policy-map class)`, "Bc in bits".

use super::Rule;
use super::case::{Case, finding};
use super::ios::{bytes, classes, stated, with};
use crate::finding::Finding;
use crate::ios::plan::{Bits, Police, Shape};
use perhop_core::units::{Bytes, Span};

const CODE: &str = "W421";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &[], find };

/// A policer's burst of so much of its rate is 5 times what Cisco recommends, 1.5 s.
const LONG: Span = Span::from_s(8);
/// A burst below this is a few packets, however slow the rate.
const FEW_PACKETS: Bytes = Bytes::new(64_000);
/// A shaper's interval below this is shorter than the platforms choose themselves.
const INTERVAL: Span = Span::from_ms(4);
/// The largest packet of most links.
const PACKET: Bytes = Bytes::new(1500);

fn find(case: &Case<'_>) -> Vec<Finding> {
    let policed = classes(case).filter_map(|class| policed(case, class.police.as_ref()?));
    let shaped = classes(case).filter_map(|class| shaped(case, class.shaping.shape.as_ref()?));
    policed.chain(shaped).collect()
}

/// A burst that is the rate in bits times an interval.
fn policed(case: &Case<'_>, police: &Police) -> Option<Finding> {
    let (cir, bc) = (stated(police.cir)?, bytes(police.bc)?);
    let time = bc.is / cir;
    if time < LONG || bc.is < FEW_PACKETS {
        return None;
    }
    let meant = Bytes::new(bc.is.get() / 8);
    let message = format!(
        "`bc` is in bytes: {} B are {time} of {cir}, for which a full load passes unpoliced; if bits were meant it is {}",
        bc.is.get(),
        meant / cir
    );
    let instead = with(case, police.at, vec![(bc.at.place, meant.get().to_string())]);
    Some(finding(CODE, bc.at.place, message, instead))
}

/// An interval too short because the burst was thought of in bytes.
fn shaped(case: &Case<'_>, shape: &Shape) -> Option<Finding> {
    let (rate, bc) = (stated(shape.rate)?, shape.bc?);
    let Bits::Count(bits) = bc.is else { return None };
    let burst = Bytes::new(bits / 8);
    if bits == 0 || burst >= PACKET || burst / rate >= INTERVAL {
        return None;
    }
    let message = format!(
        "Bc is in bits: {bits} are {} B, less than a packet, and the interval Bc / rate is {}; if bytes were meant it is 8 times too \
         small",
        burst.get(),
        burst / rate
    );
    // Be is as large as Bc unless it is typed, and the bucket holds both.
    let be = if shape.be.is_none() { " 0" } else { "" };
    let instead = with(case, shape.at, vec![(bc.at.place, format!("{}{be}", (bits * 8).max(rate.bit_s() / 250)))]);
    Some(finding(CODE, bc.at.place, message, instead))
}
