//! Flows that are silent for too long, and contracts of flows that several conditioners take.

use crate::common::marking::{by_name, marked, stage};
use perhop_capture::export::{Exporter, SimulatedPacket, SimulatedTransport};
use perhop_capture::mark::{Marking, Report};
use perhop_core::Scope;
use perhop_core::classify::Match;
use perhop_core::params::Tree;
use perhop_core::port::edge::{Per, StageSpec};
use perhop_core::units::{Bytes, Span};
use perhop_edge::Ports;
use perhop_results::captures;

const MS: u64 = 1_000_000;

/// 1000 B of UDP from 10.0.0.`host` at so many ms, with a code point.
fn packet(ms: u64, host: u8, dscp: u8) -> SimulatedPacket {
    SimulatedPacket {
        time_ns: ms * MS,
        source: [10, 0, 0, host].into(),
        destination: [192, 0, 2, 1].into(),
        ports: Ports { source: 1000, destination: 2000 },
        dscp,
        ecn: 0,
        ip_length: 1000,
        transport: SimulatedTransport::Udp,
    }
}

fn made(packets: &[SimulatedPacket]) -> Vec<u8> {
    let mut exporter = Exporter::new(Vec::new()).unwrap();
    packets.iter().for_each(|packet| exporter.write(packet).unwrap());
    exporter.into_inner()
}

/// 1000 B/s into a bucket of 2000 B.
fn bucket(name: &str, per: Per) -> StageSpec {
    let text = |value: &str| Tree::Text(value.into());
    let params = by_name("token-bucket", vec![("cir", text("8kbit/s")), ("cbs", text("2000B"))]);
    StageSpec { per, ..stage(name, params) }
}

fn run(packets: &[SimulatedPacket], stages: Vec<StageSpec>, timeout_ms: Option<u64>) -> Report {
    let flow_timeout = timeout_ms.map(Span::from_ms);
    marked(&made(packets), Marking { stages, seed: 1, flow_timeout, ..Marking::default() }).unwrap().1
}

fn green_packets(report: &Report, host: u8) -> u64 {
    let source = std::net::IpAddr::from([10, 0, 0, host]);
    report.flows.iter().find(|flow| flow.source == source).expect("it sent").fates.green.packets
}

/// Two hosts empty their buckets at once. Host 1 is silent for 500 ms, which earns half a packet; host 2 sends in between, which
/// is red.
fn pause() -> Vec<SimulatedPacket> {
    let at = [(0, 1), (0, 1), (0, 2), (0, 2), (300, 2), (500, 1), (500, 2)];
    at.map(|(ms, host)| packet(ms, host, 0)).into()
}

#[test]
fn a_flow_that_returns_has_a_full_bucket() {
    let of_flows = || vec![bucket("tb", Per::Flow)];
    let never = run(&pause(), of_flows(), None);
    assert_eq!([1, 2].map(|host| green_packets(&never, host)), [2, 2]);
    assert_eq!(never.capture.expired_flows, None);
    assert_eq!(never.conditioners[0].conforming_cbs_bytes, Some(3500));

    let expires = run(&pause(), of_flows(), Some(400));
    assert_eq!([1, 2].map(|host| green_packets(&expires, host)), [3, 2]);
    assert_eq!(expires.capture.expired_flows, Some(1));
    assert!(
        captures::text(&expires, 9).contains("\nexpired: 1 flow silent for more than 0.4 s\n"),
        "{}",
        captures::text(&expires, 9)
    );
    let excess: u64 = expires.load.contracts.iter().map(|row| row.excess.volume.packets).sum();
    assert_eq!(excess, 2, "the contract begins afresh with the flow: only host 2 exceeds it");
    assert_eq!(expires.flows.len(), 2, "it is the same flow in the report");

    let just_not = run(&pause(), of_flows(), Some(500));
    assert_eq!([1, 2].map(|host| green_packets(&just_not, host)), [2, 2], "silent for 500 ms, not for more");
    assert_eq!(just_not.flows, never.flows);
}

/// The demand on a contract: a flow that returns owes nothing, nor does the next that is given its instance.
#[test]
fn a_flow_that_returns_owes_nothing() {
    let alone = [0, 0, 500].map(|ms| packet(ms, 1, 0));
    let demand = |timeout| run(&alone, vec![bucket("tb", Per::Flow)], timeout).conditioners[0].conforming_cbs_bytes;
    assert_eq!([demand(None), demand(Some(400))], [Some(2500), Some(2000)]);
    let heir = [(0, 1), (0, 1), (500, 2)].map(|(ms, host)| packet(ms, host, 0));
    let report = run(&heir, vec![bucket("tb", Per::Flow)], Some(400));
    assert_eq!(report.conditioners[0].conforming_cbs_bytes, Some(2000));
}

/// The same of second buckets. Behind RFC 4115's committed bucket of 2001 B only the third packet asks for more, and after the
/// pause none.
#[test]
fn a_flow_that_returns_owes_nothing_to_a_second_bucket() {
    let alone = [0, 0, 500].map(|ms| packet(ms, 1, 0));
    let two_rates = |kind, own: [(&'static str, &str); 4]| {
        let params = by_name(kind, own.map(|(key, value)| (key, Tree::Text(value.into()))).into());
        let scope = Scope { largest_packet: Bytes::new(1000), ..Scope::default() };
        StageSpec { per: Per::Flow, scope, ..stage("m", params) }
    };
    let peak = || two_rates("trtcm", [("cir", "8kbit/s"), ("cbs", "2000B"), ("pir", "8kbit/s"), ("pbs", "2000B")]);
    let excess =
        || two_rates("trtcm-4115", [("cir", "8kbit/s"), ("cbs", "2001B"), ("eir", "8kbit/s"), ("ebs", "2000B")]);
    let of = |stage, timeout| run(&alone, vec![stage], timeout).conditioners.remove(0);
    assert_eq!([None, Some(400)].map(|it| of(peak(), it).peak.conforming_pbs_bytes), [Some(2500), Some(2000)]);
    assert_eq!([None, Some(400)].map(|it| of(excess(), it).excess.conforming_ebs_bytes), [Some(1001), None]);
}

#[test]
fn what_flows_share_does_not_expire() {
    let shared = |per, timeout| run(&pause(), vec![bucket("tb", per)], timeout);
    for per in [Per::Aggregate, Per::Pair, Per::Class] {
        let (never, expires) = (shared(per, None), shared(per, Some(400)));
        assert_eq!(never.conditioners, expires.conditioners);
        assert_eq!(expires.capture.expired_flows, Some(1));
    }
}

/// A flow counts each time, also if it does not return; the time that counts is that of the last packet of the capture.
#[test]
fn every_silence_counts() {
    let expired = |at: &[(u64, u8)]| {
        let packets: Vec<_> = at.iter().map(|&(ms, host)| packet(ms, host, 0)).collect();
        run(&packets, Vec::new(), Some(100)).capture.expired_flows
    };
    assert_eq!(expired(&[(0, 1), (100, 1), (200, 2)]), Some(0));
    assert_eq!(expired(&[(0, 1), (101, 1), (300, 1)]), Some(2));
    assert_eq!(expired(&[(0, 1), (0, 2), (101, 3)]), Some(2));
}

/// Each conditioner's contract with a flow has the packets that it took, whoever else took some, in whatever order.
#[test]
fn a_flow_of_several_conditioners_has_a_contract_with_each() {
    let stages = || {
        let urgent = Match { dscp: vec!["EF".parse().unwrap()], ..Match::default() };
        vec![StageSpec { matches: urgent, ..bucket("ef", Per::Flow) }, bucket("rest", Per::Flow)]
    };
    for order in [[0, 0, 0, 46, 46, 46], [46, 0, 46, 0, 46, 0], [46, 46, 46, 0, 0, 0]] {
        let report = run(&order.map(|dscp| packet(0, 1, dscp)), stages(), None);
        let rows: Vec<_> = report.load.contracts.iter().collect();
        let got: Vec<_> =
            rows.iter().map(|row| (&row.conditioner[..], row.offered.packets, row.excess.volume.packets)).collect();
        assert_eq!(got, [("ef", 3, 1), ("rest", 3, 1)], "{order:?}");
        let flow = report.flows.iter().next().unwrap();
        assert_eq!((flow.total.packets, flow.excess.volume.packets, flow.fates.green.packets), (6, 2, 4));
    }
}
