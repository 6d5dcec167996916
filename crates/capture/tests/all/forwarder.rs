//! A host of perhop-edge that has never heard of captures (`crates/edge/examples/forwarder.rs`) beside `mark` and `meter`: given
//! the packets of every capture in `tests/captures` as byte buffers, of both directions, it sends the same bytes, drops the same
//! packets, counts the same colours and labels, forgets the same flows, and measures the same round trips.

#[allow(dead_code)] // its own `main`
#[path = "../../../edge/examples/forwarder.rs"]
mod host;

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;

use perhop_capture::mark::{Behind, Marking, MeasuredRow, Report, RoundTripReport, RoundTripsOf, Volume, run};
use perhop_capture::{Capture, Pump};
use perhop_core::Scope;
use perhop_core::accounting::Accounting;
use perhop_core::aqm::AqmParams;
use perhop_core::classify::{Match, Prefix, RttClass};
use perhop_core::conditioner::{Conditioner, ConditionerParams, marker};
use perhop_core::estimate::rtt::Evidence;
use perhop_core::flow_label::Encoding;
use perhop_core::params::{Place, Problems, Reader, Tree};
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::port::{Limit, QueueSpec, Side};
use perhop_core::units::{BitRate, Length, Packets, Span};
use perhop_core::verdict::Reason;
use perhop_edge::round_trips::Measured;
use perhop_edge::{Direction, FlowKey, FlowTable, Policy, Ports, RoundTrips, locate};
use perhop_sim::Plan;
use perhop_sim::plan::{Node, Probes};

use crate::common::marking::{af, by_name, file, stage};
use crate::common::simulated::{link, needed, text};
use host::{Buffer, Forwarder};

/// The hosts inside.
const INSIDE: [&str; 3] = ["10.77.0.1", "10.77.1.1", "fd77::1"];

/// Every capture: its name and its bytes.
fn captures() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(file("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.filter(|name| name.ends_with(".pcap") || name.ends_with(".pcapng")).collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), fs::read(file(&name)).unwrap())).collect()
}

/// The packets of a capture. Forward is what has a source inside and a destination that is not.
fn buffers(bytes: &[u8]) -> Vec<Buffer> {
    let inside = |address: IpAddr| INSIDE.contains(&address.to_string().as_str());
    let (mut capture, mut found) = (Capture::new(bytes).unwrap(), Vec::new());
    while let Some(mut chunk) = capture.next_chunk().unwrap() {
        let Some(record) = chunk.record() else { continue };
        let headers = locate(record.link, record.data, record.original);
        let forward = headers.is_ok_and(|it| inside(it.source) && !inside(it.destination));
        found.push(Buffer {
            stamp_ns: record.time_ns.expect("timed"),
            direction: if forward { Direction::Forward } else { Direction::Reverse },
            link: record.link,
            bytes: record.data.to_vec(),
            length: record.original,
        });
    }
    found
}

fn marking(stages: Vec<StageSpec>) -> Marking {
    let inside = INSIDE.map(|host| Prefix(host.parse::<IpAddr>().unwrap().into())).into();
    Marking { stages, inside, seed: 7, ..Marking::default() }
}

/// Three colours at the rates of these captures; red is dropped if all share a meter, or each flow has one.
fn policer(per: Per) -> StageSpec {
    let rates = [("cir", "400kbit/s"), ("cbs", "3000B"), ("pir", "800kbit/s"), ("pbs", "4000B")];
    let params = by_name("trtcm", rates.map(|(key, value)| (key, text(value))).into());
    let red = if matches!(per, Per::Aggregate | Per::Flow) { Action::Drop } else { af("AF13") };
    StageSpec { per, actions: [af("AF11"), af("AF12"), red, Action::TRANSMIT], ..stage("policer", params) }
}

/// Connections with a handshake within 50 ms are AF31.
fn near() -> StageSpec {
    let rtt = RttClass::new(Span::ZERO, Some(Span::from_ms(50)));
    let params = ConditionerParams::Marker(marker::Params { colour: marker::Mark::Green });
    let actions = [af("AF31"), Action::TRANSMIT, Action::TRANSMIT, Action::TRANSMIT];
    StageSpec { matches: Match { rtt, ..Match::default() }, actions, ..stage("near", params) }
}

/// Tickets, in flow labels.
fn tickets() -> Marking {
    let params = by_name("pps-tagger", vec![("tickets", text("1000t/s"))]);
    let tags = params.build(&Default::default()).unwrap().tags().cloned();
    let tagger = StageSpec { per: Per::Flow, ..stage("tagger", params) };
    Marking { flow_label: tags.map(Encoding::Tickets), ..marking(vec![tagger]) }
}

/// RED on a slow line behind a policer.
fn queue() -> Marking {
    let red = vec![
        ("min", text("2p")),
        ("max", text("8p")),
        ("max-p", Tree::Float(0.3)),
        ("weight", Tree::Integer(1)),
        ("ecn", Tree::Bool(true)),
    ];
    let Tree::Table(table) = Tree::table(red) else { unreachable!() };
    let mut problems = Problems::default();
    let aqm = AqmParams::read("red", Place::default(), &mut Reader::new(&table, Place::default(), &mut problems));
    let aqm = aqm.unwrap_or_else(|| panic!("{problems:?}"));
    let stages = vec![policer(Per::Flow)];
    let mut line = link(0, 1);
    (line.rate, line.edge) = (BitRate::kbps(300), stages.clone());
    let scope =
        Scope { link_rate: Some(line.rate), limit: Some(Length::Packets(Packets::new(10))), ..Scope::default() };
    line.queues = vec![QueueSpec { aqm, limit: Limit::Packets(10), drop: Side::Tail, scope }];
    let node = |i: u8| Node { name: format!("n{i}"), address: [10, 0, i, 1].into() };
    let plan = Plan {
        seed: 7,
        replication: 0,
        duration: Span::from_s(1),
        warmup: Span::ZERO,
        accounting: Accounting::L3,
        nodes: (0..2).map(node).collect(),
        links: vec![line, link(1, 0)].into(),
        classes: vec!["all".into()].into(),
        traffic: Vec::new().into(),
        changes: Vec::new(),
        sampling: None,
        probes: Probes::default(),
    };
    Marking { queue: Some(Behind { name: "q".into(), plan }), ..marking(stages) }
}

/// Without a queue: one conditioner, flows that expire, round trips from handshakes, labels, what measures return traffic,
/// nothing.
fn policies() -> Vec<Marking> {
    let expiring = |ms, it| Marking { flow_timeout: Some(Span::from_ms(ms)), ..it };
    let rto = by_name("rtt-rto", needed("rtt-rto"));
    vec![
        marking(vec![policer(Per::Aggregate)]),
        expiring(20, marking(vec![policer(Per::Flow)])),
        expiring(300, Marking { accounting: Accounting::L2, ..marking(vec![near(), policer(Per::Pair)]) }),
        expiring(50, tickets()),
        expiring(100, marking(vec![stage("rto", rto), policer(Per::Class)])),
        marking(Vec::new()),
    ]
}

/// The same policy for the host, and all packets through it.
fn forwarded(it: &Marking, packets: Vec<Buffer>) -> Forwarder {
    let Marking { stages, seed, accounting, flow_label, flow_timeout, queue, .. } = it.clone();
    let policy = Policy { stages, seed, accounting, flow_label, flow_timeout, queue, ..Policy::default() };
    let mut forwarder = Forwarder::new(policy).unwrap();
    forwarder.forward(packets);
    forwarder
}

/// What `mark` writes and reports.
fn marked(it: &Marking, bytes: &[u8]) -> (Vec<Buffer>, Report) {
    let mut output = Vec::new();
    let report = run(it.clone(), &mut Capture::new(bytes).unwrap(), Some(&mut output), &Pump::default()).unwrap();
    (buffers(&output), report)
}

/// What `meter --rtt` reports.
fn metered(it: &Marking, bytes: &[u8]) -> Report {
    let it = Marking { round_trips: RoundTripsOf::Samples, ..it.clone() };
    run(it, &mut Capture::new(bytes).unwrap(), None, &Pump::default()).unwrap()
}

/// Packets and bytes of each flow by colour on leaving, then those dropped.
type Colours = BTreeMap<FlowKey, [Volume; 5]>;

fn reported_colours(report: &Report) -> Colours {
    let row = |it: perhop_capture::mark::FlowRow| {
        let ports = it.source_port.zip(it.destination_port).map(|(source, destination)| Ports { source, destination });
        let key = FlowKey { source: it.source, destination: it.destination, protocol: it.protocol, ports };
        (key, [it.fates.green, it.fates.yellow, it.fates.red, it.fates.unmarked, it.fates.dropped])
    };
    report.flows.iter().map(row).collect()
}

/// Everything that is measured of a flow or an aggregate.
fn all_of(it: &MeasuredRow) -> ([u64; 6], [Option<f64>; 6], u32) {
    let smooth = [it.smoothed.smoothed_rtt_s, it.smoothed.rtt_variation_s];
    let times = [it.min_rtt_s, it.mean_rtt_s, it.max_rtt_s, smooth[0], smooth[1], it.smoothed.rto_s];
    let counts = [it.segments, it.repeats, it.timeouts, it.samples, it.samples_from_timestamps, it.voided_samples];
    (counts, times, it.largest_window_segments)
}

fn all_measured(it: &Measured) -> ([u64; 6], [Option<f64>; 6], u32) {
    let samples = it.from_numbers + it.from_timestamps;
    let some = |value: f64| (samples > 0).then_some(value);
    let mean = some(it.sum_ns as f64 / 1e9 / samples as f64);
    let smooth = [it.trip.smoothed(), it.trip.variation(), it.trip.timeout(Span::from_ms(200))];
    let times = [it.trip.least(), mean, some(it.longest.seconds()), smooth[0], smooth[1], smooth[2]];
    ([it.segments, it.repeats, it.timeouts, samples, it.from_timestamps, it.voided], times, it.most)
}

/// Flows, aggregates and every sample.
fn same_round_trips(trips: &RoundTrips, flows: &FlowTable, report: &RoundTripReport) {
    let key = |flow: usize| {
        let it = &report.flows[flow];
        let ports = Ports { source: it.source_port, destination: it.destination_port };
        FlowKey { source: it.source, destination: it.destination, protocol: 6, ports: Some(ports) }
    };
    let theirs: BTreeMap<_, _> = (0..).zip(&report.flows).map(|(n, it)| (key(n), all_of(&it.measured))).collect();
    let seen = (0..).zip(&trips.flows).filter(|(_, it)| it.measured.segments > 0);
    let ours: BTreeMap<_, _> = seen.map(|(n, it)| (flows.key(n).unwrap(), all_measured(&it.measured))).collect();
    assert_eq!(ours, theirs);
    let theirs: Vec<_> = report.aggregates.iter().map(|it| all_of(&it.measured)).collect();
    assert_eq!(trips.aggregates.values().map(all_measured).collect::<Vec<_>>(), theirs);
    let theirs = report.samples.iter().flatten();
    let theirs: Vec<_> = theirs.map(|it| (it.packet, key(it.flow), it.rtt_ns, it.from_timestamps)).collect();
    let ours = trips.samples.iter().flatten();
    let ours = ours.map(|it| (it.packet, flows.key(it.flow.0).unwrap(), it.rtt.ns(), it.evidence == Evidence::Stamps));
    assert_eq!(ours.collect::<Vec<_>>(), theirs);
}

/// What the captures must have shown for the comparison to mean something.
#[derive(Debug, Default)]
struct Coverage {
    colours: [u64; 5],
    reverse: u64,
    expired: u64,
    labels: u64,
    near: u64,
    samples: u64,
}

#[test]
fn the_same_bytes_drops_colours_labels_and_round_trips() {
    let (mut shown, captures) = (Coverage::default(), captures());
    assert!(captures.len() >= 14, "{}", captures.len());
    for (name, bytes) in &captures {
        for (policy, it) in policies().iter().enumerate() {
            let (written, report) = marked(it, bytes);
            let Forwarder { host, seen, sent, dropped, unread, .. } = forwarded(it, buffers(bytes));
            let sent: Vec<_> = sent.into_iter().map(|it| it.buffer).collect();
            assert!(sent == written, "{name}, policy {policy}: other bytes, or other drops");
            assert_eq!(dropped.len() as u64, report.directions.dropped.packets, "{name}, policy {policy}");
            assert_eq!(unread.values().sum::<u64>(), report.flaws.unchanged.iter().map(|it| it.packets).sum::<u64>());
            assert_eq!(host.expired(), report.capture.expired_flows, "{name}, policy {policy}");
            if let Some(labels) = &report.labels {
                let it = host.labels().counts;
                let ours = [it.came, it.foreign, it.left, it.changed, it.saturated, it.no_room];
                let theirs =
                    [labels.came, labels.foreign, labels.left, labels.changed, labels.saturated, labels.no_room];
                assert_eq!(ours, theirs, "{name}");
                shown.labels += it.left;
            }
            let expired = host.expired().unwrap_or(0);
            let flows = host.into_flows();
            let colour = |(flow, counts): (&perhop_core::packet::FlowId, &[perhop_core::count::Count; 5])| {
                (flows.key(flow.0).unwrap(), counts.map(Volume::from))
            };
            let colours: Colours = seen.colours.iter().map(colour).collect();
            assert_eq!(colours, reported_colours(&report), "{name}, policy {policy}");
            let trips = metered(it, bytes).round_trips.expect("asked for");
            same_round_trips(&seen.round_trips, &flows, &trips);
            for of_flow in colours.values() {
                shown.colours.iter_mut().zip(of_flow).for_each(|(all, it)| *all += it.packets);
            }
            shown.reverse += report.directions.reverse.packets;
            shown.expired += expired;
            shown.near += report
                .codes
                .code_points
                .iter()
                .filter(|row| row.name == "AF31")
                .map(|row| row.after.packets)
                .sum::<u64>();
            shown.samples += trips.samples.map_or(0, |all| all.len() as u64);
        }
    }
    let Coverage { colours, reverse, expired, labels, near, samples } = shown;
    let least = colours.into_iter().chain([reverse, expired, labels, near, samples]).min();
    assert!(least.is_some_and(|least| least >= 10), "{shown:?}");
}

/// With a queue, packets leave when it lets them go, with the marks that it has set.
#[test]
fn the_same_fates_at_a_queue() {
    let (it, mut total) = (queue(), [0; 3]);
    for (name, bytes) in captures() {
        let report = metered(&it, &bytes).load.queue.expect("there is one");
        let Forwarder { sent, dropped, .. } = forwarded(&it, buffers(&bytes));
        let forward = sent.iter().filter(|it| it.buffer.direction == Direction::Forward);
        let marks = |packets: &[&Buffer]| {
            let ce = |it: &&&Buffer| locate(it.link, &it.bytes, it.length).is_ok_and(|headers| headers.ecn == 3);
            packets.iter().filter(ce).count() as u64
        };
        let (after, came): (Vec<_>, Vec<_>) = (forward.map(|it| &it.buffer).collect(), buffers(&bytes));
        let marked = marks(&after) - marks(&came.iter().collect::<Vec<_>>());
        let lost = |reason| dropped.iter().filter(|it| it.1 == reason).count() as u64;
        let reasons = Reason::ALL[1..].iter().map(|reason| (reason.name(), lost(*reason))).filter(|it| it.1 > 0);
        let theirs: Vec<_> = report.all.reasons.iter().map(|it| (it.reason, it.volume.packets)).collect();
        assert_eq!(reasons.collect::<Vec<_>>(), theirs, "{name}");
        assert_eq!((after.len() as u64, marked), (report.all.sent.packets, report.all.marked.packets), "{name}");
        let policed = lost(Reason::Policer);
        total = [total[0] + policed, total[1] + report.all.dropped.packets, total[2] + marked];
    }
    assert!(total.iter().all(|it| *it > 0), "{total:?}");
}
