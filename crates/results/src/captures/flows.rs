//! Flows, and code points.

use super::printout::{Cells, Printout, Rows, mbps, share};
use crate::summary::NONE;
use crate::tables::column::{Unit, measure, name, rate, total};
use crate::tables::columns::{Columns, Made};
use crate::tables::packets::{BY_ECN, Times};
use perhop_capture::mark::{CodePointRow, FlowRow, Report};

/// A row for each flow.
pub(super) fn flows(rows: &[FlowRow]) -> Made {
    let keys = &["source", "destination", "protocol", "source_port", "destination_port"];
    let over = "`bytes` over the duration of the capture; null where that is 0";
    let own = "`bytes` over the time from the flow's first packet to its last; null where that is 0";
    let port = "destination port; null for protocols without ports";
    let excess = "packets in excess of the contract of the conditioner's instance that took them";
    let worst = "worst second";
    Columns::of("flows", keys, rows)
        .text("source", "source address", |r| r.source.to_string())
        .text("destination", "destination address", |r| r.destination.to_string())
        .number("protocol", "number of the IP protocol", |r| u64::from(r.protocol))
        .number("source_port", "source port; null for protocols without ports", |r| r.source_port.map(u64::from))
        .number("destination_port", port, |r| r.destination_port.map(u64::from))
        .text("direction", "`forward` or `reverse`", |r| r.direction.to_owned())
        .volume("sent by the flow", |r| r.total)
        .real(rate("offered_bit_s", over).accounted(), |r| r.rates.offered_bit_s)
        .real(measure("own_bit_s", Unit::BitS, own).printed("bit/s").accounted(), |r| r.rates.own_bit_s)
        .ecn(|r| r.codes.ecn)
        .when(&Times { before: "", worst }, |r| r.when)
        .count("excess", excess, |r| r.excess.volume.into())
        .when(&Times { before: "excess_", worst }, |r| r.excess.when)
        .count("green", "packets that left green", |r| r.fates.green.into())
        .count("yellow", "packets that left yellow", |r| r.fates.yellow.into())
        .count("red", "packets that left red", |r| r.fates.red.into())
        .count("unmarked", "packets that left without a colour", |r| r.fates.unmarked.into())
        .count("dropped", "packets that a conditioner dropped", |r| r.fates.dropped.into())
        .made()
}

/// A row for each code point of forward packets.
pub(super) fn code_points(rows: &[&CodePointRow]) -> Made {
    let [before, after] = ["packets that arrived with it", "packets that left with it"];
    let packets = total("before_packets", Unit::Packets, before).printed("packets before");
    let bytes = total("before_bytes", Unit::Bytes, before).printed("bytes before").accounted();
    Columns::of("code_points", &["dscp"], rows)
        .label(name("name", "name of the code point, or its number").printed("DSCP"), |r| r.name.clone())
        .number("dscp", "its number", |r| u64::from(r.dscp))
        .integer(packets, |r| r.before.packets)
        .integer(bytes, |r| r.before.bytes)
        .count("after", after, |r| r.after.into())
        .ecn(|r| r.ecn)
        .made()
}

pub(super) fn code_point_text(report: &Report) -> String {
    let rows: Vec<_> = report.codes.code_points.iter().collect();
    Printout::of(&code_points(&rows))
        .columns(&["name", "before_packets", "after_packets", "before_bytes", "after_bytes"])
        .columns(&BY_ECN)
        .text(1)
}

/// Without a policy nothing changes them.
pub(super) fn unchanged_code_point_text(report: &Report) -> String {
    let rows: Vec<_> = report.codes.code_points.iter().collect();
    let (seconds, all) = (report.capture.duration_s, report.directions.forward.bytes);
    let rate = |row: &&CodePointRow| row.before.bit_s(seconds).map_or_else(|| NONE.into(), mbps);
    Printout::of(&code_points(&rows))
        .columns(&["name"])
        .cells("packets", rows.iter().map(|row| row.before.packets.to_string()))
        .cells("bytes", rows.iter().map(|row| row.before.bytes.to_string()))
        .cells("Mbit/s", rows.iter().map(rate))
        .cells("% of bytes", rows.iter().map(|row| share(row.before.bytes, all)))
        .columns(&BY_ECN)
        .text(1)
}

/// Packets and times of the `most` largest flows, then their code points.
pub(super) fn flow_text(report: &Report, most: usize) -> [String; 2] {
    let (rows, count) = (report.flows.largest(most), Rows { all: report.flows.len(), most });
    let cells = flow_cells(rows.clone().collect());
    let first = count.limited(cells.text(), "flows", "flows: Mbit/s from its first packet to its last");
    if all_are_best_effort(report) {
        return [first, String::new()];
    }
    let cells = flow_code_cells(rows.collect());
    [first, count.limited(cells.text(), "flows", "packets of each flow as they came")]
}

fn flow_cells(rows: Vec<FlowRow>) -> Cells {
    Printout::of(&flows(&rows))
        .cells("flow", rows.iter().map(FlowRow::name))
        .columns(&["direction", "packets", "bytes", "own_bit_s", "first_s", "last_s"])
        .columns(&["worst_second_bit_s", "worst_second_s"])
        .detached(2)
}

fn flow_code_cells(rows: Vec<FlowRow>) -> Cells {
    let code_points = |row: &FlowRow| {
        let each = row.codes.code_points.iter().map(|it| format!("{} {}", it.name, it.packets));
        each.collect::<Vec<_>>().join(", ")
    };
    Printout::of(&flows(&rows))
        .cells("flow", rows.iter().map(FlowRow::name))
        .cells("DSCP", rows.iter().map(code_points))
        .columns(&BY_ECN)
        .detached(2)
}

/// And none is ECN-capable.
fn all_are_best_effort(report: &Report) -> bool {
    let codes = &report.codes;
    codes.ecn.capable() == 0 && codes.code_points.iter().all(|row| row.dscp == 0 || row.before.packets == 0)
}

/// What became of the `most` largest forward flows.
pub(super) fn flow_colour_text(report: &Report, most: usize) -> String {
    let cells = flow_colour_cells(report.flows.largest_forward(most).collect());
    Rows { all: report.flows.forward_len(), most }.limited(cells.text(), "flows", "% of each flow's bytes")
}

fn flow_colour_cells(rows: Vec<FlowRow>) -> Cells {
    let made = flows(&rows);
    let printout = Printout::of(&made).cells("flow", rows.iter().map(FlowRow::name));
    let parts = ["excess", "green", "yellow", "red", "unmarked", "dropped"];
    parts.iter().fold(printout, |all, part| all.share(*part, &format!("{part}_bytes"), "bytes")).detached(1)
}
