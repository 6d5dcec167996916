//! A `netem` that delays more packets than it holds.
//!
//! Source: Linux `sch_netem.c`: a packet that comes while `limit` packets wait for their time is dropped; tc's limit is 1000.

use super::Rule;
use super::case::{Case, FRAME, finding};
use crate::finding::Finding;
use crate::model::{ON_THEIR_WAY, Port};
use crate::stub;
use crate::value::Value;
use perhop_core::units::{BitRate, Packets, Span};

const CODE: &str = "W449";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.read.device.ports.iter().filter_map(|port| of_port(port, stub::link(port, case.given)?)).collect()
}

fn of_port(port: &Port, link: BitRate) -> Option<Finding> {
    let said = port.link.get("delay")?;
    let Value::Time(delay) = said.is else { return None };
    let Value::Packets(limit) = port.link.get(ON_THEIR_WAY)?.is else { return None };
    let most = most(limit, delay)?;
    if most >= link {
        return None;
    }
    let message = format!(
        "netem holds at most {limit} at once: with {delay} for each, {most} of packets of 1500 B pass and it drops the rest; perhop's \
         link drops none"
    );
    let enough = (link * delay).get().div_ceil(FRAME.get());
    Some(finding(CODE, said.origin.place()?, message, format!("limit {enough} or more, for {link}")))
}

/// The rate of packets of full size; `None`: no bound.
fn most(limit: Packets, delay: Span) -> Option<BitRate> {
    let bits = 8 * u128::from(limit.get()) * u128::from(FRAME.get()) * 1_000_000_000;
    u64::try_from(bits.checked_div(u128::from(delay.ns()))?).ok().map(BitRate::bps)
}
