//! `--watch`: tables of rates that are renewed each second.

use super::rates::{Colours, Snapshot};
use super::table;
use crate::terminal::show;
use perhop_core::packet::Colour;
use perhop_live::{AfPacket, Counts, Dropped, Forwarder, Samples};
use std::fmt::Write as _;

/// Most conditioners and queues that are shown.
const MOST: usize = 16;

/// What was shown last.
#[derive(Debug, Default)]
pub(super) struct Watch {
    last: Option<Snapshot>,
}

impl Watch {
    /// Shows rates since the last call, and all counts.
    pub(super) fn show(&mut self, forwarder: &Forwarder<AfPacket>, shown: &Snapshot, trips: &[Samples; 2]) {
        if let Some(last) = self.last.replace(shown.clone()) {
            let seconds = (shown.at - last.at) as f64 / 1e9;
            let mut out = rates(seconds, &last.counts, &shown.counts);
            conditioners(&mut out, seconds, &last, shown);
            queues(&mut out, seconds, &last, shown);
            round_trips(&mut out, trips);
            show::page(&format!("{out}\n{}", table::text(forwarder, &shown.counts)));
        }
    }
}

/// Rates of both directions.
fn rates(seconds: f64, before: &[Counts; 2], counts: &[Counts; 2]) -> String {
    let mut out = format!("{:<16} {:>12} {:>12}\n", "rates", "forward", "reverse");
    let mut row = |name: &str, value: &dyn Fn(&Counts) -> u64, per: f64| {
        let [there, back] = [0, 1].map(|way| (value(&counts[way]) - value(&before[way])) as f64 / per / seconds);
        _ = writeln!(out, "{name:<16} {there:>12.3} {back:>12.3}");
    };
    row("in Mbit/s", &|it| it.received_bytes, 125e3);
    row("out Mbit/s", &|it| it.sent_bytes, 125e3);
    row("sent kp/s", &|it| it.sent, 1e3);
    row("marked p/s", &|it| it.marked, 1.0);
    for why in Dropped::ALL {
        if counts.iter().zip(before).any(|(now, then)| now.lost(why) > then.lost(why)) {
            row(&format!("{} drops p/s", why.name()), &|it| it.lost(why), 1.0);
        }
    }
    out
}

/// By conditioner and colour.
fn conditioners(out: &mut String, seconds: f64, last: &Snapshot, shown: &Snapshot) {
    if shown.stages.is_empty() {
        return;
    }
    _ = write!(out, "\n{:<16}", "Mbit/s");
    let colours = Colour::ALL.into_iter().map(Colour::name).chain(["dropped"]);
    colours.for_each(|colour| _ = write!(out, " {colour:>10}"));
    for (name, now) in shown.stages.iter().take(MOST) {
        let then: Colours = last.stage(name, now);
        _ = write!(out, "\n{name:<16}");
        let rate = |(now, then): (u64, u64)| (now - then) as f64 / 125e3 / seconds;
        let all = now.iter().zip(&then).map(|(now, then)| rate((now.bytes, then.bytes.min(now.bytes))));
        all.for_each(|rate| _ = write!(out, " {rate:>10.3}"));
    }
    out.push('\n');
}

/// By queue.
fn queues(out: &mut String, seconds: f64, last: &Snapshot, shown: &Snapshot) {
    if shown.leaves.is_empty() {
        return;
    }
    let heads = ["Mbit/s", "waits p", "waits kB", "drops p/s", "marks p/s"];
    _ = write!(out, "\n{:<16}", "queues");
    heads.iter().for_each(|head| _ = write!(out, " {head:>10}"));
    for leaf in shown.leaves.iter().take(MOST) {
        let then = last.leaves.iter().find(|it| it.name == leaf.name);
        let since = |now: u64, then: Option<u64>| now.saturating_sub(then.unwrap_or(0)) as f64 / seconds;
        let (waits, lost) = (leaf.backlog, |it: &perhop_live::Leaf| it.fates.lost().packets);
        let values = [
            since(leaf.sent.bytes, then.map(|it| it.sent.bytes)) / 125e3,
            f64::from(waits.packets),
            waits.bytes as f64 / 1e3,
            since(lost(leaf), then.map(lost)),
            since(leaf.fates.marked.packets, then.map(|it| it.fates.marked.packets)),
        ];
        _ = write!(out, "\n{:<16}", format!("{} {}", leaf.name, leaf.kind));
        values.iter().for_each(|value| _ = write!(out, " {value:>10.3}"));
    }
    out.push('\n');
}

/// Samples since the last call: of data of each direction.
fn round_trips(out: &mut String, trips: &[Samples; 2]) {
    _ = writeln!(out, "\n{:<16} {:>12} {:>12} {:>12} {:>12}", "round trips ms", "samples", "least", "mean", "most");
    for (name, it) in ["of forward data", "of reverse data"].into_iter().zip(trips) {
        let Some([least, most]) = it.bounds else { continue };
        let [least, most] = [least, most].map(|it| it.ns() as f64 / 1e6);
        let mean = it.sum_ns as f64 / it.number as f64 / 1e6;
        _ = writeln!(out, "{name:<16} {:>12} {least:>12.3} {mean:>12.3} {most:>12.3}", it.number);
    }
}
