//! Sizes that look wrong by 8: `police` has bursts in bytes, `shape` in bits.
//!
//! Sources: Cisco, command references of `police` ("burst-normal .. in bytes") and `shape (policy-map class)` ("Bc .. in bits").

use super::Rule;
use super::case::{Case, finding, is_said};
use crate::finding::Finding;
use crate::model::Conditioner;
use crate::value::Settings;
use perhop_core::units::{Bytes, Span};

const CODE: &str = "W421";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &[], find };

/// A policer's burst of so much of its rate is 8 times what anybody recommends: Cisco's own rule is 1.5 s.
const LONG: Span = Span::from_s(8);
/// A burst below this is a few packets, however slow the rate.
const FEW_PACKETS: Bytes = Bytes::new(16_000);
/// A shaper's interval below this is shorter than the platforms choose themselves.
const INTERVAL: Span = Span::from_ms(4);
/// The largest packet of most links.
const PACKET: Bytes = Bytes::new(1500);

fn find(case: &Case<'_>) -> Vec<Finding> {
    let meters = case.read.device.ports.iter().flat_map(|port| &port.conditioners).filter_map(policed);
    let shapers = case.queues().into_iter().filter_map(|at| shaped(&at.queue.shape));
    meters.chain(shapers).collect()
}

/// A burst that is the rate in bits times an interval.
fn policed(meter: &Conditioner) -> Option<Finding> {
    let (cir, said) = (meter.settings.rate("cir")?, meter.settings.get("cbs")?);
    let bc = meter.settings.bytes("cbs")?;
    if !is_said(said) || cir.bit_s() == 0 || bc / cir < LONG || bc < FEW_PACKETS {
        return None;
    }
    let time = bc / cir;
    let meant = Bytes::new(bc.get() / 8);
    let message = format!(
        "`bc` is in bytes: {} B are {time} of {cir}, so for that long a full load passes unpoliced; typed in bits it would be {}",
        bc.get(),
        meant / cir
    );
    let instead = format!("police cir {} bc {}", cir.bit_s(), meant.get());
    Some(finding(CODE, said.origin.place()?, message, instead))
}

/// An interval too short because the burst was thought of in bytes.
fn shaped(shape: &Settings) -> Option<Finding> {
    let (rate, said) = (shape.rate("rate")?, shape.get("burst")?);
    let burst = shape.bytes("burst")?;
    if !is_said(said) || rate.bit_s() == 0 || burst >= PACKET || burst / rate >= INTERVAL {
        return None;
    }
    let bits = burst.get() * 8;
    let message = format!(
        "Bc is in bits: {bits} are {} B, less than a packet, in an interval of {}; if bytes were meant it is 8 times too small",
        burst.get(),
        burst / rate
    );
    let instead = format!("shape average {} {}", rate.bit_s(), (bits * 8).max(rate.bit_s() / 250));
    Some(finding(CODE, said.origin.place()?, message, instead))
}
