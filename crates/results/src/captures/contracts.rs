//! Contracts, and what exceeds them; the largest bursts.

use super::printout::{Cells, Printout, Rows, mbps};
use crate::summary::NONE;
use crate::tables::column::{Unit, measure, name, rate, total};
use crate::tables::columns::{Columns, Made};
use crate::tables::packets::Times;
use perhop_capture::mark::{BurstRow, ContractRow, Report};

/// A row for each instance of a conditioner that has a committed rate.
pub(super) fn contracts(rows: &[ContractRow]) -> Made {
    let instance = "what the instance is for: a flow, a pair of addresses, an address, a protocol and port; null for \
                    all that the conditioner takes";
    let worst = "worst second sent";
    let depth = "depth of the bucket by which excess is counted: `cbs`, or one second at `cir` without one";
    let over = "`bytes` over the duration of the capture; null where that is 0";
    let beyond = "`excess_bytes` over the duration of the capture; null where that is 0";
    let cir = measure("cir_bit_s", Unit::BitS, "committed rate").accounted();
    Columns::of("contracts", &["conditioner", "instance"], rows)
        .text("conditioner", "name of the conditioner", |r| r.conditioner.clone())
        .label(name("instance", instance).printed("of"), |r| r.instance.clone())
        .volume("sent to the instance", |r| r.offered)
        .real(rate("offered_bit_s", over).printed("bit/s").accounted(), |r| r.offered_bit_s)
        .when(&Times { before: "", worst }, |r| r.when)
        .integer(cir, |r| r.cir_bit_s)
        .integer(measure("depth_bytes", Unit::Bytes, depth).printed("bucket").accounted(), |r| r.depth_bytes)
        .count("excess", "packets that find no tokens in that bucket", |r| r.excess.volume.into())
        .when(&Times { before: "excess_", worst }, |r| r.excess.when)
        .real(rate("excess_bit_s", beyond).accounted(), |r| r.excess_bit_s)
        .made()
}

/// A row for each width.
pub(super) fn bursts(rows: &[&BurstRow]) -> Made {
    let time = |of: &'static str, doc| measure(of, Unit::S, doc);
    Columns::of("bursts", &["width_s"], rows)
        .real(time("width_s", "width of the window").printed("burst within"), |r| r.width_s)
        .volume("most within any window of that width", |r| r.volume)
        .real(measure("bit_s", Unit::BitS, "`bytes` over the width").accounted(), |r| r.bit_s)
        .real(time("first_s", "time of the first of these packets after time zero").printed("at"), |r| r.first_s)
        .real(time("last_s", "time of the last of them"), |r| r.last_s)
        .label(name("flow", "flow that sent most of them").printed("most from flow"), |r| r.flow.clone())
        .integer(total("flow_bytes", Unit::Bytes, "bytes of that flow among them").accounted(), |r| r.flow_bytes)
        .made()
}

/// Who exceeds a contract, by how much, when.
pub(super) fn contract_text(report: &Report, most: usize) -> String {
    let cells = contract_cells(report.load.contracts.largest(most).collect());
    let title = "contracts: the excess finds no tokens in a bucket that fills at cir";
    Rows { all: report.load.contracts.len(), most }.limited(cells.text(), "instances", title)
}

fn contract_cells(rows: Vec<ContractRow>) -> Cells {
    let instances = rows.iter().map(|row| row.instance.clone().unwrap_or_else(|| "all".into()));
    let excess = rows.iter().map(|row| match (row.excess.volume.packets, row.excess_bit_s) {
        (0, _) => "none".into(),
        (_, rate) => rate.map_or_else(|| NONE.into(), mbps),
    });
    Printout::of(&contracts(&rows))
        .columns(&["conditioner"])
        .under("instance", instances)
        .columns(&["offered_bit_s"])
        .form("cir_bit_s", mbps)
        .columns(&["depth_bytes"])
        .under("excess_bit_s", excess)
        .share("% of bytes", "excess_bytes", "bytes")
        .columns(&["excess_first_s", "excess_last_s", "worst_second_bit_s", "worst_second_s"])
        .detached(2)
}

pub(super) fn burst_text(report: &Report) -> String {
    let rows: Vec<_> = report.load.bursts.iter().flatten().collect();
    Printout::of(&bursts(&rows))
        .form("width_s", |s| format!("{} ms", s * 1e3))
        .columns(&["packets", "bytes", "bit_s"])
        .under("first_s", rows.iter().map(|row| format!("{:.6}", row.first_s)))
        .columns(&["flow"])
        .share("% of bytes", "flow_bytes", "bytes")
        .text(1)
}
