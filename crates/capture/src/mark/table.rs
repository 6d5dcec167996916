//! A report as tables for a terminal.

use comfy_table::Table;

use super::by::Groups;
use super::flow_row::{EcnRow, Fates, FlowRow};
use super::layout::{Rows, bit_rate, limited, mbps, new_table, share, shown};
use super::rate_report::When;
use super::report::{ColourRow, ConditionerReport, Report};
use super::round_trip_report::{FlowRoundTrip, MeasuredRow, RoundTripReport};
use super::volume::Volume;
use perhop_core::units::counted;
use perhop_edge::flows::flow_name;
use perhop_edge::{FlowKey, Ports};

const PACKETS: [&str; 2] = ["packet", "packets"];

impl Report {
    /// The report as text of several tables, with the `flows` largest flows. Warnings are not part of it.
    pub fn text(&self, flows: usize) -> String {
        let mut parts = vec![self.summary()];
        if !self.conditioners.is_empty() {
            parts.extend([self.colours(), self.contracts()]);
            parts.extend(self.second_buckets());
            parts.extend([self.excess(flows), self.tallies()]);
            parts.extend([self.code_points(), self.labels(), self.rtts(), self.flows(flows), self.flow_codes(flows)]);
            parts.push(self.flow_colours(flows));
        } else if self.round_trips.is_none() {
            parts.extend([self.code_points_as_they_came(), self.flows(flows), self.flow_codes(flows)]);
        }
        parts.push(self.burst_table());
        parts.extend(self.load.queue.iter().map(|queue| queue.text(flows)));
        parts.extend([
            self.aggregate_round_trips(flows),
            self.flow_round_trips(flows),
            self.voided(),
            self.unchanged(),
            self.written(),
        ]);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// The same with one table, that of its packets in groups, of which it has the `most` largest.
    pub fn text_of(&self, groups: &Groups, most: usize) -> String {
        let parts = [self.summary(), groups.text(most), self.unchanged()];
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
        let packets = counted(self.capture.packets, PACKETS);
        format!("{packets}{time}; {bytes}\n{counts}{}{}{}", self.expired(), self.time_zero(), self.once())
    }

    /// Where flows expire.
    fn expired(&self) -> String {
        let Some((timeout, expired)) = self.capture.flow_timeout_s.zip(self.capture.expired_flows) else {
            return String::new();
        };
        format!("\nexpired: {} silent for more than {timeout} s", counted(expired, ["flow", "flows"]))
    }

    /// Where copies were left out.
    fn once(&self) -> String {
        let copies = counted(self.capture.twice.copies, ["copy", "copies"]);
        if self.capture.twice.once { format!("\neach packet once: {copies} left out") } else { String::new() }
    }

    /// Where it is not the first packet.
    fn time_zero(&self) -> String {
        let later = self.capture.first_packet_s.filter(|s| *s > 0.0);
        later.map_or(String::new(), |s| {
            format!("\ntime zero: 0 on the capture's clock (1970-01-01), {s} s before the first packet")
        })
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

    /// The same of the second bucket of meters with two rates: those of RFC 2698, then of RFC 4115.
    fn second_buckets(&self) -> [String; 2] {
        let mut peak = new_table(&["conditioner", "pir", "pbs", "none would be red from pbs"], 1);
        let mut excess = new_table(&["conditioner", "eir", "ebs", "none would be red from ebs"], 1);
        let add = |table: &mut Table, name: &str, [rate, burst, least]: [Option<u64>; 3]| {
            if let (Some(rate), Some(burst), Some(least)) = (rate, burst, least) {
                table.add_row([name, &bit_rate(rate as f64), &format!("{burst} B"), &format!("{least} B")]);
            }
        };
        for ConditionerReport { name, peak: p, excess: e, .. } in &self.conditioners {
            add(&mut peak, name, [p.pir_bit_s, p.pbs_bytes, p.conforming_pbs_bytes]);
            add(&mut excess, name, [e.eir_bit_s, e.ebs_bytes, e.conforming_ebs_bytes]);
        }
        [peak, excess].map(|table| shown(&table))
    }

    /// Who exceeds a contract, by how much, when.
    fn excess(&self, most: usize) -> String {
        let header = ["conditioner", "of", "Mbit/s", "cir", "bucket B", "excess Mbit/s", "% of bytes"];
        let worst_sent = ["worst second sent Mbit/s", WORST[1]];
        let mut table = new_table(&[&header[..], &["from s", "to s"], &worst_sent].concat(), 2);
        for row in self.load.contracts.largest(most) {
            let of = row.instance.clone().unwrap_or_else(|| "all".into());
            let rates = [mbps(row.offered_bit_s), mbps(Some(row.cir_bit_s as f64)), row.depth_bytes.to_string()];
            let beyond = match row.excess.volume.packets {
                0 => ["none", "-", "-", "-"].map(String::from),
                _ => [
                    mbps(row.excess_bit_s),
                    share(row.excess.volume, row.offered.bytes),
                    seconds(row.excess.when.first_s),
                    seconds(row.excess.when.last_s),
                ],
            };
            table.add_row([row.conditioner.clone(), of].into_iter().chain(rates).chain(beyond).chain(worst(&row.when)));
        }
        let title = "contracts: the excess finds no tokens in a bucket that fills at cir";
        limited(&table, Rows { all: self.load.contracts.len(), most }, "instances", title)
    }

    fn burst_table(&self) -> String {
        let header = ["burst within", "packets", "bytes", "Mbit/s", "at s", "most from flow", "% of bytes"];
        let mut table = new_table(&header, 1);
        for row in self.load.bursts.iter().flatten() {
            let of_flow = Volume { packets: 0, bytes: row.flow_bytes };
            table.add_row([
                format!("{} ms", row.width_s * 1e3),
                row.volume.packets.to_string(),
                row.volume.bytes.to_string(),
                mbps(Some(row.bit_s)),
                format!("{:.6}", row.first_s),
                row.flow.clone(),
                share(of_flow, row.volume.bytes),
            ]);
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
        let mut table = new_table(&[&header[..], &ECN].concat(), 1);
        for row in &self.codes.code_points {
            let (before, after) = (row.before, row.after);
            let counts = [before.packets, after.packets, before.bytes, after.bytes].map(|n| n.to_string());
            table.add_row([row.name.clone()].into_iter().chain(counts).chain(ecn(&row.ecn)));
        }
        shown(&table)
    }

    /// Without a policy nothing changes them.
    fn code_points_as_they_came(&self) -> String {
        let mut table = new_table(&[&["DSCP", "packets", "bytes", "Mbit/s", "% of bytes"][..], &ECN].concat(), 1);
        let total = self.directions.forward.bytes;
        for row in &self.codes.code_points {
            let rate = super::rate_report::over(row.before.bytes, self.capture.duration_s);
            let counts = [row.before.packets, row.before.bytes].map(|n| n.to_string());
            let parts = [mbps(rate), share(row.before, total)];
            table.add_row([row.name.clone()].into_iter().chain(counts).chain(parts).chain(ecn(&row.ecn)));
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
        let header = ["flow", "direction", "packets", "bytes", "Mbit/s", "from s", "to s"];
        let mut table = new_table(&[&header[..], &WORST].concat(), 2);
        for flow in self.flows.largest(most) {
            let counts = [flow.total.packets, flow.total.bytes].map(|n| n.to_string());
            let times = [mbps(flow.rates.own_bit_s), seconds(flow.when.first_s), seconds(flow.when.last_s)];
            let name = [flow_name(&flow.key()), flow.direction.into()];
            table.add_row(name.into_iter().chain(counts).chain(times).chain(worst(&flow.when)));
        }
        limited(
            &table,
            Rows { all: self.flows.len(), most },
            "flows",
            "flows: Mbit/s from its first packet to its last",
        )
    }

    /// Nothing where all packets are best effort, and none is ECN-capable.
    fn flow_codes(&self, most: usize) -> String {
        if self.codes.ecn.capable() == 0
            && self.codes.code_points.iter().all(|row| row.dscp == 0 || row.before.packets == 0)
        {
            return String::new();
        }
        let mut table = new_table(&[&["flow", "DSCP"][..], &ECN].concat(), 2);
        for flow in self.flows.largest(most) {
            let codes: Vec<_> = flow.codes.code_points.iter().map(|it| format!("{} {}", it.name, it.packets)).collect();
            table.add_row([flow_name(&flow.key()), codes.join(", ")].into_iter().chain(ecn(&flow.codes.ecn)));
        }
        limited(&table, Rows { all: self.flows.len(), most }, "flows", "packets of each flow as they came")
    }

    fn flow_colours(&self, most: usize) -> String {
        let header = ["flow", "excess", "green", "yellow", "red", "unmarked", "dropped"];
        let mut table = new_table(&header, 1);
        for flow in self.flows.largest_forward(most) {
            let Fates { green, yellow, red, unmarked, dropped } = flow.fates;
            let parts = [flow.excess.volume, green, yellow, red, unmarked, dropped];
            let shares = parts.map(|part| share(part, flow.total.bytes));
            table.add_row([flow_name(&flow.key())].into_iter().chain(shares));
        }
        limited(&table, Rows { all: self.flows.forward_len(), most }, "flows", "% of each flow's bytes")
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

    fn voided(&self) -> String {
        let voided = self.round_trips.as_ref().map_or(0, RoundTripReport::voided);
        if voided == 0 {
            String::new()
        } else {
            format!("void, as the clock stepped back: {voided} of the round-trip times")
        }
    }

    fn written(&self) -> String {
        let copies = if self.capture.twice.once { self.capture.twice.copies } else { 0 };
        let kept = self.capture.packets - self.directions.dropped.packets - copies;
        self.capture.output.as_ref().map_or(String::new(), |name| format!("written: {name}, {kept} packets"))
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

fn colour_row(table: &mut Table, [name, kind]: [&str; 2], row: &ColourRow, total: u64) {
    let counts = [row.volume.packets.to_string(), row.volume.bytes.to_string(), share(row.volume, total)];
    table.add_row([name, kind, row.before, row.after].map(String::from).into_iter().chain(counts));
}

/// Columns of ECN, in packets as they came.
const ECN: [&str; 4] = ["not-ECT", "ECT(0)", "ECT(1)", "CE"];

fn ecn(row: &EcnRow) -> [String; 4] {
    [row.not_ect, row.ect0, row.ect1, row.ce].map(|n| n.to_string())
}

/// Columns of the worst second.
const WORST: [&str; 2] = ["worst second Mbit/s", "at s"];

fn worst(when: &When) -> [String; 2] {
    [mbps(when.worst_second_bit_s), when.worst_second_s.to_string()]
}

fn seconds(s: Option<f64>) -> String {
    s.map_or("-".into(), |s| format!("{s:.3}"))
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
    let [min, mean, smoothed] = [it.min_rtt_s, it.mean_rtt_s, it.smoothed.smoothed_rtt_s].map(ms);
    let [variation, rto] = [it.smoothed.rtt_variation_s, it.smoothed.rto_s].map(ms);
    let window = it.largest_window_segments.to_string();
    let [segments, repeats, timeouts] = [it.segments, it.repeats, it.timeouts].map(|n| n.to_string());
    let [samples, stamps] = [it.samples, it.samples_from_timestamps].map(|n| n.to_string());
    [samples, stamps, min, mean, smoothed, variation, rto, window, segments, repeats, timeouts]
}
