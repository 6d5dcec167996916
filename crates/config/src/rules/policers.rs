//! Policers with which TCP does not get what they are to pass.
//!
//! Sources: RFC 2697 section 3 and RFC 2698 section 3: a packet conforms only if its whole size is there in tokens. For
//! the bucket that TCP needs, the table of runs in [`perhop_core::design::policer`], for Linux's TCP.

use super::case::{Case, drops, is_control};
use super::{Remark, Rule};
use crate::model::{Conditioner, FRAME, Filter, Port, Way};
use crate::stub;
use perhop_core::classify::Protocol;
use perhop_core::colour::Colour;
use perhop_core::design::policer::{ENOUGH, ERROR, Policed, Sender};
use perhop_core::units::{BitRate, Bytes, Span};

/// Over the model.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W447", OF_NO_PACKET, |case| remarks(case, holds_no_packet)),
    Rule::new("W451", &["W301"], |case| remarks(case, holds_tcp_back)),
];

/// Checks of the scenario that say less well that a bucket holds no packet.
pub(crate) const OF_NO_PACKET: &[&str] = &["E212", "W301"];
/// The downloads that share the bucket.
const FLOWS: f64 = 4.0;
/// Their round trip, that of the loads that `predict` makes.
const RTT: Span = Span::from_ms(30);
/// Below this the window of a download is a few packets, and the table says little.
const LEAST: BitRate = BitRate::mbps(1);
/// An IP packet of TCP.
const PACKET: Bytes = Bytes::new(1500);
/// Code points of voice, whose packets are small: EF, and VOICE-ADMIT of RFC 5865.
const VOICE: [u8; 2] = [46, 44];

fn remarks(case: &Case<'_>, of: fn(&Case<'_>, &Port, &Conditioner) -> Option<Remark>) -> Vec<Remark> {
    case.conditioners().filter_map(|(port, it)| of(case, port, it)).collect()
}

/// W447: a policer whose bucket holds no full-sized packet.
fn holds_no_packet(case: &Case<'_>, port: &Port, it: &Conditioner) -> Option<Remark> {
    if case.read.judge.judges_buckets(port.way) {
        return None;
    }
    let least = if port.accounting.as_ref().is_some_and(|it| it.is == "l3") { PACKET } else { FRAME };
    let small = |key: &&str| it.settings.bytes(key).is_some_and(|bytes| bytes.get() > 0 && bytes < least);
    let key = ["cbs", "pbs"].into_iter().find(small)?;
    let said = it.settings.said(key)?;
    if !it.takes.is_empty() && it.takes.iter().all(is_voice) {
        return None;
    }
    let bytes = it.settings.bytes(key)?.get();
    let message = format!("the bucket holds {bytes} B: a packet of 1500 B counts {} B and never conforms", least.get());
    // About a round trip of 100 ms at the rate.
    let tcp = |rate: BitRate| format!("; for TCP about {} B, 100 ms of the rate", (rate * Span::from_ms(100)).get());
    let tcp = it.settings.rate("cir").map(tcp).unwrap_or_default();
    let instead = format!("a burst of at least {} B{tcp}", least.get());
    Some(Remark { place: said.origin.place()?, message, instead })
}

/// W451: a policer whose bucket holds TCP far below its rate: W301 in the words of the device, with the burst to set.
fn holds_tcp_back(case: &Case<'_>, port: &Port, it: &Conditioner) -> Option<Remark> {
    let (rate, burst) = (it.settings.rate("cir")?, it.settings.bytes("cbs")?);
    // A line that brings no more than the rate has made all of it fit. What protects the router is no way of downloads.
    let fits = port.way == Way::Input && stub::link(port, case.given).is_some_and(|link| link <= rate);
    if fits || is_control(&port.interface.is) {
        return None;
    }
    let place = it.settings.said("cbs")?.origin.place()?;
    let share = downloads(rate).share(burst);
    if rate < LEAST || burst < FRAME || share + ERROR >= ENOUGH || !drops_excess(it) || !takes_downloads(it) {
        return None;
    }
    let ms = burst.get() as f64 * 8e3 / rate.bit_s() as f64;
    let goodput = share * rate.bit_s() as f64 * 1e-6;
    let message = format!(
        "the bucket holds {} B, {ms:.1} ms at {rate}: {FLOWS} downloads at a round trip of {RTT} get about {goodput:.0} Mbit/s of it",
        burst.get()
    );
    let instead = case.read.judge.bucket(case.text, place, enough(rate)?);
    Some(Remark { place, message, instead })
}

/// Downloads at a rate.
fn downloads(rate: BitRate) -> Policed {
    Policed { sender: Sender::Linux, rate, flows: FLOWS, rtt: RTT.seconds(), packet: FRAME.get() as f64 }
}

/// The bucket with which even a single download gets most of a rate, to two digits.
pub(crate) fn enough(rate: BitRate) -> Option<Bytes> {
    let need = Policed { flows: 1.0, ..downloads(rate) }.need()?.get();
    let unit = 10u64.pow(need.max(1).ilog10().saturating_sub(1));
    Some(Bytes::new(need.div_ceil(unit) * unit))
}

/// Whether all that finds no token is dropped.
fn drops_excess(it: &Conditioner) -> bool {
    let yellow = it.kind == "token-bucket" || drops(it, Colour::Yellow);
    yellow && drops(it, Colour::Red) && !drops(it, Colour::Green)
}

/// Whether TCP that is no voice may come to it, as far as headers say.
fn takes_downloads(it: &Conditioner) -> bool {
    let may = |filter: &Filter| filter.matches.is.traffic.is_empty() && !is_voice(filter) && takes_tcp(filter);
    it.takes.is_empty() || it.takes.iter().any(may)
}

/// Whether a filter may take TCP.
pub(crate) fn takes_tcp(filter: &Filter) -> bool {
    let protocols = &filter.matches.is.protocol;
    protocols.is_empty() || protocols.contains(&Protocol::TCP)
}

fn is_voice(filter: &Filter) -> bool {
    let codes = &filter.matches.is.dscp;
    !codes.is_empty() && codes.iter().all(|code| VOICE.contains(&code.get()))
}

/// A policer and a shaper on the same packets, the policer no faster.
pub(crate) const DROPS_FIRST: &str = "W427";

/// What becomes of a shaper behind a policer that is no faster: the words of [`DROPS_FIRST`] in any dialect.
pub(crate) fn drops_first(burst: Option<Bytes>, shaper: &str) -> String {
    let burst = burst.map(|bytes| format!(" beyond a burst of {} B", bytes.get())).unwrap_or_default();
    format!(
        "the policer drops first{burst}, so {shaper} never has a queue, and TCP gets what the policer's bucket lets it have"
    )
}
