//! A report as tables for a terminal.

use comfy_table::{CellAlignment, Table, presets};

use super::report::{ColourRow, FlowRow, Report, Volume};

impl Report {
    /// The report as text of several tables, with the `flows` largest flows. Warnings are not part of it.
    pub fn text(&self, flows: usize) -> String {
        let conditioners = [self.colours(), self.contracts(), self.tallies()];
        let packets = [self.code_points(), self.labels(), self.rtts(), self.flows(flows), self.unchanged()];
        let parts = [self.summary()].into_iter().chain(conditioners).chain(packets);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    fn summary(&self) -> String {
        let bytes = match self.overhead_bytes {
            0 => "bytes: IP length".into(),
            more => format!("bytes: IP length + {more} a packet"),
        };
        let time = match (self.duration_s, self.offered_bit_s) {
            (Some(s), Some(rate)) => format!(", {s:.6} s, forward {}", bit_rate(rate)),
            (Some(s), None) => format!(", {s:.6} s"),
            _ => String::new(),
        };
        let directions = [("forward", self.forward), ("reverse", self.reverse), ("dropped", self.dropped)];
        let counts = directions.map(|(what, v)| format!("{what} {} packets, {} B", v.packets, v.bytes)).join("; ");
        format!("{} packets{time}; {bytes}\n{counts}", self.packets)
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
        format!("round-trip time: known of {} flows, unknown of {}", it.known_flows, it.unknown_flows)
    }

    fn flows(&self, most: usize) -> String {
        let header =
            ["flow", "direction", "packets", "bytes", "green %", "yellow %", "red %", "unmarked %", "dropped %"];
        let mut table = new_table(&header, 2);
        for flow in self.flows.iter().take(most) {
            let counts = [flow.total.packets, flow.total.bytes].map(|n| n.to_string());
            let parts = [flow.green, flow.yellow, flow.red, flow.unmarked, flow.dropped];
            let shares = parts.map(|part| share(part, flow.total.bytes));
            table.add_row([name(flow), flow.direction.into()].into_iter().chain(counts).chain(shares));
        }
        match self.flows.len().saturating_sub(most) {
            0 => shown(&table),
            more => format!("{}\nand {more} more flows", shown(&table)),
        }
    }

    fn unchanged(&self) -> String {
        let lines = self.unchanged.iter().map(|it| format!("passed unchanged: {} packets ({})", it.packets, it.reason));
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

fn name(flow: &FlowRow) -> String {
    let protocol = match flow.protocol {
        1 => "icmp".into(),
        6 => "tcp".into(),
        17 => "udp".into(),
        58 => "icmpv6".into(),
        other => format!("protocol {other}"),
    };
    let end = |address: std::net::IpAddr, port: Option<u16>| match port {
        Some(port) => std::net::SocketAddr::new(address, port).to_string(),
        None => address.to_string(),
    };
    let ends = [end(flow.source, flow.source_port), end(flow.destination, flow.destination_port)];
    format!("{protocol} {}", ends.join(" > "))
}

fn bit_rate(rate: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    match units.into_iter().find(|(scale, _)| rate >= *scale) {
        Some((scale, unit)) => format!("{:.3} {unit}", rate / scale),
        None => format!("{rate:.0} bit/s"),
    }
}
