//! What `--metrics` says: names after node_exporter's collector of qdiscs, by queue and by conditioner.

use super::rates::Snapshot;
use perhop_core::packet::Colour;
use perhop_core::verdict::Reason;
use perhop_live::{Counts, Dropped, Leaf, Samples};
use std::fmt::{Display, Write as _};

/// A counter's or gauge's name, kind, help, and its value.
type Family<T> = (&'static str, &'static str, &'static str, fn(&T) -> u64);

/// Of an interface, as a sender.
const FRAMES: [Family<Counts>; 8] = [
    (
        "perhop_came_packets_total",
        "counter",
        "Frames for this interface, those included that the kernel dropped.",
        |it| it.came,
    ),
    ("perhop_received_packets_total", "counter", "Frames read from the other interface.", |it| it.received),
    ("perhop_received_bytes_total", "counter", "Bytes of these.", |it| it.received_bytes),
    ("perhop_sent_packets_total", "counter", "Frames sent on this interface.", |it| it.sent),
    ("perhop_sent_bytes_total", "counter", "Bytes handed to it.", |it| it.sent_bytes),
    ("perhop_send_errors_total", "counter", "Frames that it refused.", |it| it.errors),
    ("perhop_held_packets", "gauge", "Frames that wait.", Counts::held),
    ("perhop_checksums_finished_total", "counter", "Transport checksums finished here.", |it| it.finished),
];

/// Of a queue.
const QUEUES: [Family<Leaf>; 5] = [
    ("perhop_qdisc_packets_total", "counter", "Packets sent from the queue.", |it| it.sent.packets),
    ("perhop_qdisc_bytes_total", "counter", "Bytes sent from it.", |it| it.sent.bytes),
    ("perhop_qdisc_marks_total", "counter", "Packets that it marked CE.", |it| it.fates.marked.packets),
    ("perhop_qdisc_current_queue_length", "gauge", "Packets in it.", |it| it.backlog.packets.into()),
    ("perhop_qdisc_backlog", "gauge", "Bytes in it.", |it| it.backlog.bytes),
];

/// Of round trips.
const TRIPS: [Family<Samples>; 1] =
    [("perhop_round_trips_total", "counter", "Round trips of TCP that were measured.", |it| it.number)];

/// The page.
pub(super) fn page([a, b]: [&str; 2], shown: &Snapshot) -> String {
    let mut page = Page::default();
    let of = |device: &str| vec![("device", device.to_owned())];
    let ways: Vec<_> = [b, a].into_iter().map(of).zip(&shown.counts).collect();
    FRAMES.iter().for_each(|family| page.family(family, &ways));
    page.head("perhop_drops_total", "counter", "Frames lost, by reason.");
    for (labels, counts) in &ways {
        Dropped::ALL
            .iter()
            .for_each(|why| page.line("perhop_drops_total", labels, ("reason", why.name()), counts.lost(*why)));
    }
    page.protocols([b, a], shown);
    let trips: Vec<_> = [a, b].into_iter().map(of).zip(&shown.trips).collect();
    TRIPS.iter().for_each(|family| page.family(family, &trips));
    page.seconds(&trips);
    page.queues(b, &shown.leaves);
    page.conditioners(b, shown);
    page.0
}

/// Labels and their values.
type Labels = Vec<(&'static str, String)>;

#[derive(Default)]
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &Labels, more: (&str, &str), value: impl Display) {
        let all = labels.iter().map(|(label, value)| (*label, value.as_str())).chain([more]);
        let all: Vec<_> =
            all.filter(|it| !it.0.is_empty()).map(|(label, it)| format!("{label}=\"{}\"", escaped(it))).collect();
        _ = writeln!(self.0, "{name}{{{}}} {value}", all.join(","));
    }

    fn family<T>(&mut self, (name, kind, help, value): &Family<T>, rows: &[(Labels, &T)]) {
        if !rows.is_empty() {
            self.head(name, kind, help);
        }
        rows.iter().for_each(|(labels, it)| self.line(name, labels, ("", ""), value(it)));
    }

    fn seconds(&mut self, trips: &[(Labels, &Samples)]) {
        const NAME: &str = "perhop_round_trip_seconds_total";
        self.head(NAME, "counter", "Their sum: of data that comes in on the interface.");
        trips.iter().for_each(|(labels, it)| self.line(NAME, labels, ("", ""), it.sum_ns as f64 / 1e9));
    }

    fn protocols(&mut self, devices: [&str; 2], shown: &Snapshot) {
        for (n, unit) in ["packets", "bytes"].into_iter().enumerate() {
            let name = format!("perhop_not_ip_{unit}_total");
            self.head(&name, "counter", &format!("{unit} of frames that are not IP and passed as they were."));
            for (device, protocols) in devices.iter().zip(&shown.protocols) {
                let labels = vec![("device", (*device).to_owned())];
                for (protocol, count) in protocols.counts() {
                    self.line(&name, &labels, ("protocol", &protocol), [count.packets, count.bytes][n]);
                }
            }
        }
    }

    fn queues(&mut self, device: &str, leaves: &[Leaf]) {
        let of = |leaf: &Leaf| {
            let labels = [("device", device), ("kind", leaf.kind), ("class", leaf.name.as_str())];
            labels.map(|(label, value)| (label, value.to_owned())).to_vec()
        };
        let rows: Vec<_> = leaves.iter().map(|leaf| (of(leaf), leaf)).collect();
        QUEUES.iter().for_each(|family| self.family(family, &rows));
        if !rows.is_empty() {
            self.head("perhop_qdisc_drops_total", "counter", "Packets that the queue dropped, by reason.");
        }
        for (labels, leaf) in &rows {
            let reasons = Reason::ALL.into_iter().filter(|it| !matches!(it, Reason::Policer | Reason::Wire));
            reasons.for_each(|why| {
                let lost = leaf.fates.dropped[why as usize].packets;
                self.line("perhop_qdisc_drops_total", labels, ("reason", why.name()), lost);
            });
        }
    }

    fn conditioners(&mut self, device: &str, shown: &Snapshot) {
        let families = ["packets", "bytes"];
        for (n, unit) in families.into_iter().enumerate().filter(|_| !shown.stages.is_empty()) {
            let name = format!("perhop_conditioner_{unit}_total");
            self.head(&name, "counter", &format!("{unit} that left a conditioner, by colour."));
            for (stage, counts) in &shown.stages {
                let labels =
                    [("device", device), ("conditioner", stage.as_str())].map(|(label, it)| (label, it.to_owned()));
                let colours = Colour::ALL.into_iter().map(Colour::name).chain(["dropped"]);
                for (colour, count) in colours.zip(counts) {
                    self.line(&name, &labels.to_vec(), ("colour", colour), [count.packets, count.bytes][n]);
                }
            }
        }
    }
}

/// As in the exposition format: backslash, quote and line feed are escaped.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
