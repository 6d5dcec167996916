//! A policer whose bucket holds no full-sized packet.
//!
//! Source: RFC 2697 section 3 and RFC 2698 section 3: a packet conforms only if its whole size is there in tokens.

use super::Rule;
use super::case::{Case, FRAME, finding, is_said};
use crate::finding::Finding;
use crate::model::{Conditioner, Filter, Port, Way};
use crate::value::{Value, WithOrigin};
use perhop_core::units::{BitRate, Bytes, Span};

const CODE: &str = "W447";
/// An IP packet of TCP.
const PACKET: Bytes = Bytes::new(1500);
/// Code points of voice, whose packets are small: EF, and VOICE-ADMIT of RFC 5865.
const VOICE: [u8; 2] = [46, 44];

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &["E212", "W301"], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    // tc's policers at the input have W438, which also knows merged packets.
    let is_known = |port: &Port| case.read.dialect == "tc" && port.way == Way::Input;
    let ports = case.read.device.ports.iter().filter(|port| !is_known(port));
    ports.flat_map(|port| port.conditioners.iter().filter_map(|it| of_policer(port, it))).collect()
}

fn of_policer(port: &Port, conditioner: &Conditioner) -> Option<Finding> {
    let least = if port.accounting.as_ref().is_some_and(|it| it.is == "l3") { PACKET } else { FRAME };
    let small = |key: &&str| conditioner.settings.bytes(key).is_some_and(|bytes| bytes.get() > 0 && bytes < least);
    let key = ["cbs", "pbs"].into_iter().find(small)?;
    let said = conditioner.settings.get(key).filter(|said| is_said(said))?;
    if !conditioner.takes.is_empty() && conditioner.takes.iter().all(is_voice) {
        return None;
    }
    let bytes = conditioner.settings.bytes(key)?.get();
    let message = format!("the bucket holds {bytes} B: a packet of 1500 B counts {} B and never conforms", least.get());
    let instead = format!("a burst of at least {} B{}", least.get(), for_tcp(conditioner.settings.get("cir")));
    Some(finding(CODE, said.origin.place()?, message, instead))
}

/// What TCP needs, about a round trip of 100 ms at the rate.
fn for_tcp(rate: Option<&WithOrigin<Value>>) -> String {
    let burst = |rate: BitRate| format!("; for TCP about {} B, 100 ms of the rate", (rate * Span::from_ms(100)).get());
    if let Some(Value::Rate(rate)) = rate.map(|said| &said.is) { burst(*rate) } else { String::new() }
}

fn is_voice(filter: &Filter) -> bool {
    let codes = &filter.matches.is.dscp;
    !codes.is_empty() && codes.iter().all(|code| VOICE.contains(&code.get()))
}
