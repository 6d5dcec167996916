//! A report as text: sentences and tables.

use super::printout::{bit_rate, joined};
use super::{conditioners, contracts, flows, groups, queue, round_trips};
use perhop_capture::mark::{Groups, Report, Total};
use perhop_core::units::counted;

const PACKETS: [&str; 2] = ["packet", "packets"];

/// A report as several tables, with the `most` largest flows, instances and aggregates. Warnings are not part of it.
pub fn text(report: &Report, most: usize) -> String {
    let mut parts = vec![summary(report)];
    if !report.conditioners.is_empty() {
        parts.extend(conditioners::text(report));
        parts.extend([contracts::contract_text(report, most), conditioners::tally_text(report)]);
        parts.extend([flows::code_point_text(report), conditioners::label_text(report), rtts(report)]);
        parts.extend(flows::flow_text(report, most));
        parts.push(flows::flow_colour_text(report, most));
    } else if report.round_trips.is_none() {
        parts.push(flows::unchanged_code_point_text(report));
        parts.extend(flows::flow_text(report, most));
    }
    parts.push(contracts::burst_text(report));
    parts.extend(report.load.queue.iter().map(|queue| queue::text(queue, most)));
    parts.extend(report.round_trips.iter().flat_map(|trips| round_trips::text(trips, most)));
    parts.extend([unchanged(report), written(report)]);
    joined(parts, "\n\n")
}

/// The same with one table, that of its packets in groups, of which it has the `most` largest.
pub fn text_of_groups(report: &Report, groups: &Groups, most: usize) -> String {
    joined([summary(report), groups::text(groups, most), unchanged(report)], "\n\n")
}

/// Several captures together, with the `most` largest groups.
pub fn total(total: &Total, most: usize) -> String {
    let captures = counted(total.captures, ["capture", "captures"]);
    let packets = counted(total.packets, PACKETS);
    let time = total.covered_s.map_or(String::new(), |s| format!(", {s:.6} s"));
    let rate = total.offered_bit_s.map_or(String::new(), |rate| format!(", forward {}", bit_rate(rate)));
    let groups = total.rows.as_ref().map_or(String::new(), |rows| format!("\n\n{}", groups::text(rows, most)));
    format!("total of {captures}: {packets}{time}{rate}{groups}")
}

fn summary(report: &Report) -> String {
    let (capture, directions) = (&report.capture, report.directions);
    let bytes = match capture.overhead_bytes {
        0 => "bytes: IP length".into(),
        more => format!("bytes: IP length + {more} a packet"),
    };
    let time = match (capture.duration_s, capture.offered_bit_s) {
        (Some(s), Some(rate)) => format!(", {s:.6} s, forward {}", bit_rate(rate)),
        (Some(s), None) => format!(", {s:.6} s"),
        _ => String::new(),
    };
    let volumes = [("forward", directions.forward), ("reverse", directions.reverse), ("dropped", directions.dropped)];
    let counts = volumes.map(|(what, v)| format!("{what} {}, {} B", counted(v.packets, PACKETS), v.bytes)).join("; ");
    let packets = counted(capture.packets, PACKETS);
    format!("{packets}{time}; {bytes}\n{counts}{}{}{}", expired(report), time_zero(report), once(report))
}

/// Where flows expire.
fn expired(report: &Report) -> String {
    let Some((timeout, expired)) = report.capture.flow_timeout_s.zip(report.capture.expired_flows) else {
        return String::new();
    };
    format!("\nexpired: {} silent for more than {timeout} s", counted(expired, ["flow", "flows"]))
}

/// Where copies were left out.
fn once(report: &Report) -> String {
    let copies = counted(report.capture.twice.copies, ["copy", "copies"]);
    if report.capture.twice.once { format!("\neach packet once: {copies} left out") } else { String::new() }
}

/// Where it is not the first packet.
fn time_zero(report: &Report) -> String {
    let later = report.capture.first_packet_s.filter(|s| *s > 0.0);
    later.map_or(String::new(), |s| {
        format!("\ntime zero: 0 on the capture's clock (1970-01-01), {s} s before the first packet")
    })
}

fn rtts(report: &Report) -> String {
    let Some(it) = &report.rtt else { return String::new() };
    let known = counted(it.known_flows, ["flow", "flows"]);
    format!("round-trip time: known for {known}, unknown for {}", it.unknown_flows)
}

fn unchanged(report: &Report) -> String {
    let lines = report.flaws.unchanged.iter();
    let lines = lines.map(|it| format!("passed unchanged: {} ({})", counted(it.packets, PACKETS), it.reason));
    lines.collect::<Vec<_>>().join("\n")
}

fn written(report: &Report) -> String {
    let copies = if report.capture.twice.once { report.capture.twice.copies } else { 0 };
    let kept = report.capture.packets - report.directions.dropped.packets - copies;
    report.capture.output.as_ref().map_or(String::new(), |name| format!("written: {name}, {kept} packets"))
}
