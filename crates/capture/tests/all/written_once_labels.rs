//! Written once is proved for labels: what comes to a simulated port from both sides, written as an IPv6 capture and sent
//! through `mark`, leaves with the labels that the port gave it, packet for packet, for every conditioner that writes any.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

use etherparse::{IpNumber, Ipv6FlowLabel, Ipv6Header, TcpHeader, UdpHeader};
use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness, TsResolution};
use perhop_capture::export::{SimulatedPacket, SimulatedTransport};
use perhop_capture::mark::{LabelReport, Marking};
use perhop_core::Scope;
use perhop_core::accounting::Accounting;
use perhop_core::classify::Prefix;
use perhop_core::conditioner::{Conditioner, ConditionerParams, LIST, Writes};
use perhop_core::flow_label::Encoding;
use perhop_core::params::Tree;
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::units::{BitRate, Bytes, Span};
use perhop_sim::plan::{Link, Node, Offered, Plan, Probes, Tap, TapPoint};
use perhop_sim::record::Captured;
use perhop_sim::{EngineOptions, Outcome, Simulation};

use crate::common::marking::{marked, packets};
use crate::common::simulated::{Entries, conditioner, headers, link, needed, offered, text, traffic};

const SEED: u64 = 20;

const S1: usize = 0;
const S2: usize = 1;
const E: usize = 2;
const C: usize = 3;
const D: usize = 4;
/// Links S1 - E, S2 - E, E - C, C - D, each with its mate.
const WAYS: [(usize, usize); 8] = [(S1, E), (E, S1), (S2, E), (E, S2), (E, C), (C, E), (C, D), (D, C)];
/// The port under test, what comes back to it, and the port where the ACKs start.
const OUT: usize = 4;
const BACK: usize = 5;
const SINK: usize = 7;

/// IPv6's header is 20 bytes longer than the simulator's: l1 there is l2+fcs of what is captured.
const LONGER: u32 = 20;
const OF_CAPTURE: Accounting = Accounting::L2Fcs;

/// What is at the port under test, and where the ACKs start.
struct Case {
    name: String,
    out: Vec<StageSpec>,
    sink: Vec<StageSpec>,
}

fn stage(name: &str, params: ConditionerParams, per: Per) -> StageSpec {
    let scope = Scope { largest_packet: Bytes::new(1500), ..Scope::default() };
    StageSpec { name: name.into(), matches: Default::default(), per, params, actions: [Action::TRANSMIT; 4], scope }
}

/// `name` with its required parameters and `more`, together with the conditioners that write what it reads.
fn case(name: &str, more: &Entries, per: Per) -> Case {
    let entries = |name: &str| [needed(name), more.clone()].concat();
    let tested = conditioner(name, entries(name));
    let reads = tested.build(&Scope::default()).expect("sound").reads();
    let writer = |name: &str| vec![stage(name, conditioner(name, entries(name)), Per::Flow)];
    let (before, sink) = match reads {
        None | Some(Writes::Colour) => (vec![], vec![]),
        Some(Writes::Rate) => (writer("rate-labeller"), vec![]),
        Some(Writes::Tickets) => {
            let issued = [entries("pps-tagger"), vec![("tickets", text("500t/s"))]].concat();
            (vec![stage("tagger", conditioner("pps-tagger", issued), Per::Flow)], vec![])
        }
        Some(Writes::AckTickets) => (writer("pps-tagger"), writer("pps-ack-tagger")),
    };
    let out = [before, vec![stage("under-test", tested, per)]].concat();
    Case { name: format!("{name} {more:?}"), out, sink }
}

fn plan(case: &Case) -> Plan {
    let mut links: Vec<Link> = WAYS.into_iter().map(|(from, to)| link(from, to)).collect();
    // a capture knows no queue: here no packet waits either, as each is gone before the next nanosecond
    links[OUT].rate = BitRate::bps(100_000_000_000_000);
    links[OUT].edge = case.out.clone();
    links[SINK].edge = case.sink.clone();
    let node = |i: u8| Node { name: format!("n{i}"), address: Ipv4Addr::new(10, 0, i, 1) };
    Plan {
        seed: SEED,
        replication: 0,
        duration: Span::from_s(10),
        warmup: Span::ZERO,
        accounting: Accounting::L1,
        nodes: (0..5).map(node).collect(),
        links: links.into(),
        classes: vec!["all".into()].into(),
        traffic: sources().into(),
        changes: Vec::new(),
        sampling: None,
        probes: Probes {
            taps: [(OUT, TapPoint::Input), (OUT, TapPoint::Output), (BACK, TapPoint::Input), (BACK, TapPoint::Output)]
                .map(|(link, point)| Tap { link, point })
                .into(),
            ..Probes::default()
        },
    }
}

/// Long and short connections out, one in, and datagrams.
fn sources() -> Vec<Offered> {
    let cbr = vec![("rate", text("400kbit/s")), ("size", text("500B")), ("jitter", Tree::Float(0.5))];
    let mice = vec![("size", text("20000B")), ("gap", text("400ms"))];
    vec![
        offered("cbr", (S2, D), traffic("cbr", cbr)),
        Offered { flows: 2, ..offered("bulk", (S1, D), traffic("ftp", vec![])) },
        Offered { flows: 3, ..offered("mice", (S2, D), traffic("transfers", mice)) },
        offered("back", (D, S1), traffic("ftp", vec![])),
    ]
}

fn simulated(case: &Case) -> Outcome {
    let simulation = Simulation::new(plan(case), EngineOptions::default()).expect("a good plan");
    let outcome = simulation.run(|_| true).expect("it is not stopped");
    assert!(outcome.faults.breaches.is_empty(), "{:?}", outcome.faults.breaches);
    outcome
}

fn tap(outcome: &Outcome, link: usize, point: TapPoint) -> Vec<&Captured> {
    outcome.captured.iter().filter(|it| it.link == link as u32 && it.point == point).collect()
}

/// A record of the packet over IPv6, with this flow label.
fn record(outcome: &Outcome, packet: &Captured, flow_label: u32) -> Vec<u8> {
    let v4 = SimulatedPacket::new(packet.at, packet.wire, &packet.packet, &headers(outcome, packet)).expect("IPv4");
    let (transport, next) = match v4.transport {
        SimulatedTransport::Udp => {
            let (source_port, destination_port) = (v4.ports.source, v4.ports.destination);
            let udp = UdpHeader { source_port, destination_port, length: v4.ip_length as u16 - 20, checksum: 0 };
            (udp.to_bytes().to_vec(), IpNumber::UDP)
        }
        SimulatedTransport::Tcp { seq, ack, flags } => {
            let tcp = TcpHeader {
                acknowledgment_number: ack,
                ..TcpHeader::new(v4.ports.source, v4.ports.destination, seq, 1)
            };
            let mut bytes = tcp.to_bytes().to_vec();
            bytes[13] = flags;
            (bytes, IpNumber::TCP)
        }
    };
    let ip = Ipv6Header {
        traffic_class: v4.dscp << 2 | v4.ecn,
        flow_label: Ipv6FlowLabel::try_new(flow_label).expect("20 bits"),
        payload_length: v4.ip_length as u16 - 20,
        next_header: next,
        hop_limit: 64,
        source: v4.source.to_ipv6_mapped().octets(),
        destination: v4.destination.to_ipv6_mapped().octets(),
    };
    [&ip.to_bytes()[..], &transport].concat()
}

/// What came to the port under test from both sides, in the engine's order. `flow_label` of what came back: its tickets as
/// they were before the port; what arrived at the port had none.
fn capture(outcome: &Outcome, encoding: &Encoding) -> Vec<u8> {
    let header = PcapHeader {
        datalink: DataLink::from(101),
        ts_resolution: TsResolution::NanoSecond,
        endianness: Endianness::Little,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    let mut sent = tap(outcome, BACK, TapPoint::Input).into_iter();
    for packet in &outcome.captured {
        let label = match (packet.link as usize, packet.point) {
            (OUT, TapPoint::Input) => packet.packet.label(),
            (BACK, TapPoint::Output) => encoding.label(&sent.next().expect("sent before it came").packet),
            _ => continue,
        };
        let data = record(outcome, packet, label.map_or(0, |label| encoding.code(label).code));
        let at = packet.at.ns();
        writer
            .write_raw_packet(&RawPcapPacket {
                ts_sec: (at / 1_000_000_000) as u32,
                ts_frac: (at % 1_000_000_000) as u32,
                incl_len: data.len() as u32,
                orig_len: packet.wire + LONGER,
                data: Cow::Owned(data),
            })
            .unwrap();
    }
    writer.into_writer()
}

/// A node's address in the capture.
fn address(node: usize) -> IpAddr {
    Ipv4Addr::new(10, 0, node as u8, 1).to_ipv6_mapped().into()
}

fn encoding(case: &Case) -> Encoding {
    let tags = |stage: &StageSpec| stage.params.build(&stage.scope).expect("sound").tags().cloned();
    case.out.iter().find_map(tags).map_or(Encoding::Rate, Encoding::Tickets)
}

/// Through `mark`, the port's packets and those that came back leave with the port's labels.
fn check(case: &Case) -> LabelReport {
    let (outcome, encoding) = (simulated(case), encoding(case));
    let inside = [S1, S2].map(|i| Prefix(format!("{}/128", address(i)).parse().unwrap())).into();
    let flow_label = Some(encoding.clone());
    let marking = Marking {
        stages: case.out.clone(),
        inside,
        flow_label,
        seed: SEED,
        accounting: OF_CAPTURE,
        ..Marking::default()
    };
    let (output, report) = marked(&capture(&outcome, &encoding), marking).unwrap();
    let mut compared = [0, 0];
    let left = [OUT, BACK].map(|link| tap(&outcome, link, TapPoint::Output));
    for packet in packets(&output) {
        let ip = packet.ip.unwrap();
        let back = usize::from([S1, S2].iter().any(|i| ip.destination == address(*i)));
        // what was on the link at the end reached no second tap
        let Some(theirs) = left[back].get(compared[back]) else { continue };
        let expected = encoding.label(&theirs.packet).map_or(0, |label| encoding.code(label).code);
        assert_eq!(ip.flow_label, Some(expected), "{}: packet {} of {back}", case.name, compared[back]);
        compared[back] += 1;
    }
    assert!(compared[0] > 3_000 && compared[1] > 2_000, "{}: {compared:?}", case.name);
    report.labels.expect("carried")
}

#[test]
fn the_same_labels_packet_for_packet() {
    let writes = |name: &str| conditioner(name, needed(name)).build(&Scope::default()).expect("sound").writes();
    let mut names = 0;
    for entry in LIST.iter().filter(|entry| writes(entry.name) != Writes::Colour) {
        let report = check(&case(entry.name, &vec![], Per::Flow));
        // the case says something: labels of many values
        assert!(report.changed > 500 && report.saturated + report.no_room + report.foreign == 0, "{report:?}");
        names += 1;
    }
    assert!(names >= 5, "{names}");
}

/// Also at one instance for all, with draws, with other codes, and in the sender-based scheme.
#[test]
fn and_whatever_the_tags() {
    check(&case("pps-tagger", &vec![("tickets", text("700t/s"))], Per::Flow));
    let stochastic = vec![("rounding", text("stochastic"))];
    let log = vec![("tags", text("log")), ("bits", Tree::Integer(12))];
    for more in [stochastic, log] {
        for name in ["pps-tagger", "pps-relabeller", "pps-ack-tagger", "pps-ack-relabeller"] {
            check(&case(name, &more, Per::Aggregate));
        }
    }
}
