//! The tins of CAKE: a column for each, a line for each counter.

use super::ObjectRows;
use super::words::{number, rate, time};
use perhop_core::sched::cake::tin_name;
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

pub(super) fn write(tins: &[&ObjectRows<'_>], out: &mut String) {
    let heads: String = (0..tins.len()).map(|tin| format!("{:>14}", tin_name(tins.len(), tin))).collect();
    let _ = writeln!(out, "\n{:10}{heads}", "");
    for (word, counter, written) in LINES {
        let cells: String =
            tins.iter().map(|tin| format!("{:>14}", written(tin.get(counter).unwrap_or_default()))).collect();
        let _ = writeln!(out, "  {word:8}{cells}");
    }
}
