//! `--watch`: a table of rates that is written anew each second.

use super::table;
use crate::complain;
use perhop_live::{AfPacket, Counts, Dropped, Forwarder};

/// Moves a terminal's cursor to its first place, and clears what is behind it.
const CLEAR: &str = "\x1b[H\x1b[J";

/// What was shown last.
#[derive(Debug, Default)]
pub(super) struct Watch {
    last: Option<(u64, [Counts; 2])>,
}

impl Watch {
    /// Shows rates since the last call, and all counts.
    pub(super) fn show(&mut self, now: u64, forwarder: &Forwarder<AfPacket>, counts: &[Counts; 2]) {
        if let Some((then, before)) = self.last.replace((now, *counts)) {
            complain!("{CLEAR}{}\n{}", rates(now - then, &before, counts), table::text(forwarder, counts));
        }
    }
}

/// A table of rates over `ns`.
fn rates(ns: u64, before: &[Counts; 2], counts: &[Counts; 2]) -> String {
    let row = |name: &str, value: fn(&Counts) -> u64, factor: f64| {
        let rate = |way: usize| (value(&counts[way]) - value(&before[way])) as f64 * factor / ns as f64;
        format!("{name:<12} {:>14.3} {:>14.3}", rate(0), rate(1))
    };
    let lost = |it: &Counts| Dropped::ALL.into_iter().map(|why| it.lost(why)).sum();
    let queue = format!("{:<12} {:>14}", "in queue", counts[0].queued);
    let head = format!("{:<12} {:>14} {:>14}", "rates", "forward", "reverse");
    let rows = [
        row("in Mbit/s", |it| it.received_bytes, 8e3),
        row("out Mbit/s", |it| it.sent_bytes, 8e3),
        row("sent kp/s", |it| it.sent, 1e6),
        row("dropped p/s", lost, 1e9),
        row("marked p/s", |it| it.marked, 1e9),
    ];
    format!("{head}\n{}\n{queue}\n", rows.join("\n"))
}
