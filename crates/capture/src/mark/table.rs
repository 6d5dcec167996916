//! A report as tables for a terminal.

use comfy_table::{CellAlignment, Table, presets};

use super::report::{ColourRow, FlowRow, Report, Volume};
use super::round_trip_report::{FlowRoundTrip, MeasuredRow};
use crate::flows::{FlowKey, flow_name};
use crate::headers::Ports;
use perhop_core::units::counted;

const PACKETS: [&str; 2] = ["packet", "packets"];

impl Report {
    /// The report as text of several tables, with the `flows` largest flows. Warnings are not part of it.
    pub fn text(&self, flows: usize) -> String {
        let mut parts = vec![self.summary()];
        if !self.conditioners.is_empty() {
            parts.extend([self.colours(), self.contracts(), self.tallies()]);
            parts.extend([self.code_points(), self.labels(), self.rtts(), self.flows(flows)]);
        }
        parts.extend([self.aggregate_round_trips(flows), self.flow_round_trips(flows), self.unchanged()]);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    fn summary(&self) -> String {
        let bytes = match self.capture.overhead_bytes {
            0 => "bytes: IP length".into(),
            more => format!("bytes: IP length + {more} a packet"),
        };
        let time = match (self.capture.duration_s, self.capture.offered_bit_s) {
            (Some(s), Some(rate)) => format!(", {s:.6} s, forward {}", bit_rate(rate)),
            (Some(s), None) => format!(", {s:.6} s"),
            _ => String::new(),
        };
        let directions = [
            ("forward", self.directions.forward),
            ("reverse", self.directions.reverse),
            ("dropped", self.directions.dropped),
        ];
        let counts =
            directions.map(|(what, v)| format!("{what} {}, {} B", counted(v.packets, PACKETS), v.bytes)).join("; ");
        format!("{}{time}; {bytes}\n{counts}", counted(self.capture.packets, PACKETS))
    }

    fn colours(&self) -> String {
        let mut table =
            new_table(&["conditioner", "kind", "colour in", "colour out", "packets", "bytes", "share %"], 4);
        for it in &self.conditioners {
            let total = it.colours.iter().map(|row| row.volume.bytes).sum();
            it.colours.iter().for_each(|row| colour_row(&mut table, [&it.name, it.kind], row, total));
        }
        let total = self.unmatched.iter().map(|row| row.volume.bytes).sum();
        self.unmatched.iter().for_each(|row| colour_row(&mut table, ["(none)", ""], row, total));
        shown(&table)
    }

    /// The meter's answer to "which CBS would do?".
    fn contracts(&self) -> String {
        let mut table = new_table(&["conditioner", "cir", "cbs", "all would conform from cbs"], 1);
        for it in &self.conditioners {
            if let (Some(cir), Some(least)) = (it.cir_bit_s, it.conforming_cbs_bytes) {
                let cbs = it.cbs_bytes.map_or("-".into(), |cbs| format!("{cbs} B"));
                table.add_row([it.name.clone(), bit_rate(cir as f64), cbs, format!("{least} B")]);
            }
        }
        shown(&table)
    }

    fn tallies(&self) -> String {
        let mut table = new_table(&["conditioner", "counted", "total"], 2);
        for it in &self.conditioners {
            for row in &it.tallies {
                table.add_row([&it.name, row.quantity, &row.total.to_string()]);
            }
        }
        shown(&table)
    }

    fn code_points(&self) -> String {
        let header = ["DSCP", "packets before", "after", "bytes before", "after"];
        let mut table = new_table(&header, 1);
        for row in &self.code_points {
            let (before, after) = (row.before, row.after);
            let counts = [before.packets, after.packets, before.bytes, after.bytes].map(|n| n.to_string());
            table.add_row([row.name.clone()].into_iter().chain(counts));
        }
        shown(&table)
    }

    fn labels(&self) -> String {
        let header = ["flow label", "came", "foreign", "left", "changed", "saturated", "no room (IPv4)"];
        let mut table = new_table(&header, 1);
        if let Some(it) = &self.labels {
            let counts = [it.came, it.foreign, it.left, it.changed, it.saturated, it.no_room].map(|n| n.to_string());
            table.add_row([it.carried.to_owned()].into_iter().chain(counts));
        }
        shown(&table)
    }

    fn rtts(&self) -> String {
        let Some(it) = &self.rtt else { return String::new() };
        format!(
            "round-trip time: known for {}, unknown for {}",
            counted(it.known_flows, ["flow", "flows"]),
            it.unknown_flows
        )
    }

    fn flows(&self, most: usize) -> String {
        let header =
            ["flow", "direction", "packets", "bytes", "green %", "yellow %", "red %", "unmarked %", "dropped %"];
        let mut table = new_table(&header, 2);
        for flow in self.flows.iter().take(most) {
            let counts = [flow.total.packets, flow.total.bytes].map(|n| n.to_string());
            let parts = [flow.green, flow.yellow, flow.red, flow.unmarked, flow.dropped];
            let shares = parts.map(|part| share(part, flow.total.bytes));
            table.add_row([flow_name(&flow.key()), flow.direction.into()].into_iter().chain(counts).chain(shares));
        }
        limited(&table, Rows { all: self.flows.len(), most }, "flows", "")
    }

    fn aggregate_round_trips(&self, most: usize) -> String {
        let mut table = new_table(&[&["aggregate", "flows"][..], &MEASURED].concat(), 1);
        let Some(it) = &self.round_trips else { return String::new() };
        for row in it.aggregates.iter().take(most) {
            table.add_row([row.name.clone(), row.flows.to_string()].into_iter().chain(measured(&row.measured)));
        }
        let tables = "TCP round-trip times, ms: from the capture point to the receiver of the data and back";
        limited(&table, Rows { all: it.aggregates.len(), most }, "aggregates", tables)
    }

    fn flow_round_trips(&self, most: usize) -> String {
        let mut table = new_table(&[&["flow", "window"][..], &MEASURED].concat(), 1);
        let Some(it) = &self.round_trips else { return String::new() };
        for row in it.flows.iter().take(most) {
            let name = flow_name(&row.key());
            table.add_row([name, row.window_segments.to_string()].into_iter().chain(measured(&row.measured)));
        }
        limited(&table, Rows { all: it.flows.len(), most }, "flows", "")
    }

    fn unchanged(&self) -> String {
        let lines = self
            .flaws
            .unchanged
            .iter()
            .map(|it| format!("passed unchanged: {} ({})", counted(it.packets, PACKETS), it.reason));
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn new_table(header: &[&str], first_number: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    for column in table.column_iter_mut().skip(first_number) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Without rows, nothing.
fn shown(table: &Table) -> String {
    if table.row_count() == 0 {
        return String::new();
    }
    table.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>().join("\n")
}

fn colour_row(table: &mut Table, [name, kind]: [&str; 2], row: &ColourRow, total: u64) {
    let counts = [row.volume.packets.to_string(), row.volume.bytes.to_string(), share(row.volume, total)];
    table.add_row([name, kind, row.before, row.after].map(String::from).into_iter().chain(counts));
}

/// Share of bytes in per cent; `-` for nothing.
fn share(part: Volume, total: u64) -> String {
    match part.bytes {
        0 => "-".into(),
        bytes => format!("{:.1}", bytes as f64 * 100.0 / total as f64),
    }
}

impl FlowRow {
    fn key(&self) -> FlowKey {
        let Self { source, destination, protocol, source_port, destination_port, .. } = *self;
        let ports = source_port.zip(destination_port).map(|(source, destination)| Ports { source, destination });
        FlowKey { source, destination, protocol, ports }
    }
}

impl FlowRoundTrip {
    const fn key(&self) -> FlowKey {
        const TCP: u8 = 6;
        let Self { source, destination, source_port, destination_port, .. } = *self;
        let ports = Some(Ports { source: source_port, destination: destination_port });
        FlowKey { source, destination, protocol: TCP, ports }
    }
}

/// Columns of round-trip times.
const MEASURED: [&str; 11] =
    ["samples", "by stamps", "min", "mean", "SRTT", "RTTVAR", "RTO", "max window", "segments", "repeats", "time-outs"];

fn measured(it: &MeasuredRow) -> [String; 11] {
    let ms = |seconds: Option<f64>| seconds.map_or("-".into(), |s| format!("{:.3}", s * 1e3));
    let [min, mean, smoothed] = [it.min_rtt_s, it.mean_rtt_s, it.smoothed_rtt_s].map(ms);
    let [variation, rto] = [it.rtt_variation_s, it.rto_s].map(ms);
    let window = it.largest_window_segments.to_string();
    let [segments, repeats, timeouts] = [it.segments, it.repeats, it.timeouts].map(|n| n.to_string());
    let [samples, stamps] = [it.samples, it.samples_from_timestamps].map(|n| n.to_string());
    [samples, stamps, min, mean, smoothed, variation, rto, window, segments, repeats, timeouts]
}

/// How many rows there are, and how many of them a table shows at most.
struct Rows {
    all: usize,
    most: usize,
}

/// The table, with how many of its rows are not in it.
fn limited(table: &Table, Rows { all, most }: Rows, what: &str, title: &str) -> String {
    let more = all.saturating_sub(most);
    let lines =
        [title.to_owned(), shown(table), if more > 0 { format!("and {more} more {what}") } else { String::new() }];
    if all == 0 { String::new() } else { lines.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n") }
}

fn bit_rate(rate: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    match units.into_iter().find(|(scale, _)| rate >= *scale) {
        Some((scale, unit)) => format!("{:.3} {unit}", rate / scale),
        None => format!("{rate:.0} bit/s"),
    }
}
