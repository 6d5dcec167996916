//! A policer whose bucket holds TCP far below its rate: W301 in the words of the device, with the burst to set.
//!
//! Source: the table of runs in [`perhop_core::design::policer`], for Linux's TCP.

use super::Rule;
use super::case::{Case, FRAME, finding, is_said};
use super::{ios, tc};
use crate::finding::Finding;
use crate::ios::plan::At;
use crate::model::{Act, Conditioner, Port, Way};
use crate::stub;
use crate::value::{Value, WithOrigin};
use perhop_core::classify::Protocol;
use perhop_core::colour::Colour;
use perhop_core::design::policer::{ENOUGH, ERROR, Policed, Sender};
use perhop_core::units::{BitRate, Bytes, Span};

const CODE: &str = "W451";
/// The downloads that share the bucket.
const FLOWS: f64 = 4.0;
/// Their round trip, that of the loads that `predict` makes.
const RTT: Span = Span::from_ms(30);
/// Below this the window of a download is a few packets, and the table says little.
const LEAST: BitRate = BitRate::mbps(1);
/// Code points of voice, whose packets are small: EF, and VOICE-ADMIT of RFC 5865.
const VOICE: [u8; 2] = [46, 44];

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &["W301"], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    // What protects the router itself is no way of downloads.
    let control = |port: &Port| port.interface.is.to_ascii_lowercase().starts_with("control");
    let ports = case.read.device.ports.iter().filter(|port| !control(port));
    ports.flat_map(|port| port.conditioners.iter().filter_map(move |it| of_policer(case, port, it))).collect()
}

/// Downloads at a rate.
fn downloads(rate: BitRate) -> Policed {
    Policed { sender: Sender::Linux, rate, flows: FLOWS, rtt: RTT.seconds(), packet: FRAME.get() as f64 }
}

/// The bucket with which even a single download gets most of a rate, to two digits.
pub(super) fn enough(rate: BitRate) -> Option<Bytes> {
    let need = Policed { flows: 1.0, ..downloads(rate) }.need()?.get();
    let unit = 10u64.pow(need.max(1).ilog10().saturating_sub(1));
    Some(Bytes::new(need.div_ceil(unit) * unit))
}

fn of_policer(case: &Case<'_>, port: &Port, it: &Conditioner) -> Option<Finding> {
    let (rate, burst) = (it.settings.rate("cir")?, it.settings.bytes("cbs")?);
    // A line that brings no more than the rate has made all of it fit.
    if port.way == Way::Input && stub::link(port, case.given).is_some_and(|link| link <= rate) {
        return None;
    }
    let said = it.settings.get("cbs").filter(|said| is_said(said))?;
    let share = downloads(rate).share(burst);
    if rate < LEAST || burst < FRAME || share + ERROR >= ENOUGH || !drops(it) || !takes_tcp(it) {
        return None;
    }
    let need = enough(rate)?;
    let ms = burst.get() as f64 * 8e3 / rate.bit_s() as f64;
    let goodput = share * rate.bit_s() as f64 * 1e-6;
    let message = format!(
        "the bucket holds {} B, {ms:.1} ms at {rate}: {FLOWS} downloads at a round trip of {RTT} get about {goodput:.0} Mbit/s of it",
        burst.get()
    );
    let instead = instead(case, said, need)?;
    Some(finding(CODE, said.origin.place()?, message, instead))
}

/// The line with this bucket.
fn instead(case: &Case<'_>, said: &WithOrigin<Value>, need: Bytes) -> Option<String> {
    let place = said.origin.place()?;
    let bytes = need.get();
    if case.read.dialect == "tc" {
        return Some(format!("burst {}", tc::size(need)));
    }
    let is_its = |at: &At| at.place.start <= place.start && place.end <= at.place.end;
    let line = ios::classes(case).filter_map(|class| class.police.as_ref()).map(|police| police.at).find(is_its);
    let plain = case.text.text.get(place.start..place.end)?.parse::<u64>().is_ok();
    let burst = || format!("bc {bytes}");
    Some(line.filter(|_| plain).map_or_else(burst, |line| ios::with(case, line, vec![(place, bytes.to_string())])))
}

/// Whether all that finds no token is dropped.
fn drops(it: &Conditioner) -> bool {
    let is_dropped = |of: Colour| it.actions.iter().any(|(colour, acts)| *colour == of && acts.is.contains(&Act::Drop));
    let yellow = it.kind == "token-bucket" || is_dropped(Colour::Yellow);
    yellow && is_dropped(Colour::Red) && !is_dropped(Colour::Green)
}

/// Whether TCP that is no voice may come to it, as far as headers say.
fn takes_tcp(it: &Conditioner) -> bool {
    let may = |filter: &crate::model::Filter| {
        let packets = &filter.matches.is;
        let voice = !packets.dscp.is_empty() && packets.dscp.iter().all(|code| VOICE.contains(&code.get()));
        let other = !packets.protocol.is_empty() && !packets.protocol.contains(&Protocol::TCP);
        packets.traffic.is_empty() && !voice && !other
    };
    it.takes.is_empty() || it.takes.iter().any(may)
}
