//! The tins of CAKE: a column for each, a line for each counter.

use super::Object;
use super::words::{number, rate, time};
use std::fmt::Write as _;

/// How a counter is written.
type Written = fn(f64) -> String;

fn bytes(value: f64) -> String {
    format!("{value:.0}b")
}

/// tc's words, in its order, and its JSON's.
const LINES: [(&str, &str, Written); 20] = [
    ("thresh", "threshold_rate", rate),
    ("target", "target_us", time),
    ("interval", "interval_us", time),
    ("pk_delay", "peak_delay_us", time),
    ("av_delay", "avg_delay_us", time),
    ("sp_delay", "base_delay_us", time),
    ("backlog", "backlog_bytes", bytes),
    ("pkts", "sent_packets", number),
    ("bytes", "sent_bytes", number),
    ("way_inds", "way_indirect_hits", number),
    ("way_miss", "way_misses", number),
    ("way_cols", "way_collisions", number),
    ("drops", "drops", number),
    ("marks", "ecn_mark", number),
    ("ack_drop", "ack_drops", number),
    ("sp_flows", "sparse_flows", number),
    ("bk_flows", "bulk_flows", number),
    ("un_flows", "unresponsive_flows", number),
    ("max_len", "max_pkt_len", number),
    ("quantum", "flow_quantum", number),
];

/// Names of so many tins.
fn names(tins: usize) -> Vec<String> {
    let known: &[&str] = match tins {
        3 => &["Bulk", "Best Effort", "Voice"],
        4 => &["Bulk", "Best Effort", "Video", "Voice"],
        _ => &[],
    };
    (0..tins).map(|tin| known.get(tin).map_or_else(|| format!("Tin {tin}"), |name| (*name).to_owned())).collect()
}

pub(super) fn write(tins: &[&Object<'_>], out: &mut String) {
    let heads: String = names(tins.len()).iter().map(|name| format!("{name:>14}")).collect();
    let _ = writeln!(out, "\n{:10}{heads}", "");
    for (word, counter, written) in LINES {
        let cells: String = tins.iter().map(|tin| format!("{:>14}", written(tin.get(counter).unwrap_or_default()))).collect();
        let _ = writeln!(out, "  {word:8}{cells}");
    }
}
