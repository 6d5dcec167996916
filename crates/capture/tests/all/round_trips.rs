//! Classes by round-trip time in a capture: what a simulated port knows from the start, `mark` knows from the end of each
//! handshake, if both directions were captured.

use std::net::Ipv4Addr;

use perhop_capture::export::{Exporter, SimulatedPacket};
use perhop_capture::mark::{Marking, RttReport};
use perhop_core::classify::{Match, Prefix, RttClass};
use perhop_core::conditioner::{ConditionerParams, marker};
use perhop_core::packet::{Colour, flags};
use perhop_core::port::edge::{Action, StageSpec};
use perhop_core::units::Span;
use perhop_results::captures;
use perhop_sim::plan::{Node, Plan, Probes, Tap, TapPoint};
use perhop_sim::record::Captured;
use perhop_sim::{EngineOptions, Outcome, Simulation};

use crate::common::marking::{af, marked, packets, stage};
use crate::common::simulated::{headers, link, offered, text, traffic};

const NEAR: usize = 0;
const FAR: usize = 1;
const E: usize = 2;
const C: usize = 3;
/// The port with the classifier, and the link back.
const OUT: usize = 4;
const BACK: usize = 5;

/// Marks what it takes with one code point.
fn class(dscp: &str, rtt: Option<RttClass>) -> StageSpec {
    let params = ConditionerParams::Marker(marker::Params { colour: marker::Mark::Green });
    let mut actions = [Action::TRANSMIT; 4];
    actions[Colour::Green.index()] = af(dscp);
    StageSpec { matches: Match { rtt, ..Match::default() }, actions, ..stage(dscp, params) }
}

/// Round trips below 60 ms, all longer ones, and the rest.
fn stages() -> Vec<StageSpec> {
    let bound = Span::from_ms(60);
    let (short, long) = (RttClass::new(Span::ZERO, Some(bound)), RttClass::new(bound, None));
    assert!(short.is_some() && long.is_some());
    vec![class("AF11", short), class("AF21", long), class("AF31", None)]
}

/// Bulk flows with round trips of 20 ms and of 100 ms, and datagrams.
fn simulated() -> Outcome {
    let ways = [(NEAR, E), (E, NEAR), (FAR, E), (E, FAR), (E, C), (C, E)];
    let mut links: Vec<_> = ways.into_iter().map(|(from, to)| link(from, to)).collect();
    links[2..4].iter_mut().for_each(|link| link.delay = Span::from_ms(45));
    links[OUT].edge = stages();
    let cbr = vec![("rate", text("1Mbit/s")), ("size", text("1000B"))];
    let bulk = |name, from| perhop_sim::plan::Offered { flows: 2, ..offered(name, (from, C), traffic("ftp", vec![])) };
    let plan = Plan {
        seed: 7,
        replication: 0,
        duration: Span::from_s(3),
        warmup: Span::ZERO,
        accounting: Default::default(),
        nodes: (0..4).map(|i| Node { name: format!("n{i}"), address: Ipv4Addr::new(10, 0, i, 1) }).collect(),
        links: links.into(),
        classes: vec!["all".into()].into(),
        traffic: vec![bulk("near", NEAR), bulk("far", FAR), offered("cbr", (FAR, C), traffic("cbr", cbr))].into(),
        changes: Vec::new(),
        sampling: None,
        probes: Probes {
            taps: [(OUT, TapPoint::Input), (OUT, TapPoint::Output), (BACK, TapPoint::Output)]
                .map(|(link, point)| Tap { link, point })
                .into(),
            ..Probes::default()
        },
    };
    let simulation = Simulation::new(plan, EngineOptions::default()).expect("a good plan");
    simulation.run(|_| true).expect("it is not stopped")
}

/// What a capture at the edge router holds: the port's input, and with `both` what comes over the link back.
fn captured(outcome: &Outcome, both: bool) -> (Vec<Captured>, Vec<u8>) {
    let here = |p: &&Captured| match p.point {
        TapPoint::Input => true,
        TapPoint::Output => both && p.link as usize == BACK,
    };
    let kept: Vec<Captured> = outcome.captured.iter().filter(here).copied().collect();
    let mut exporter = Exporter::new(Vec::new()).expect("memory takes all");
    for packet in &kept {
        let simulated = SimulatedPacket::new(packet.at, packet.wire, &packet.packet, &headers(outcome, packet));
        exporter.write(&simulated.expect("IPv4")).expect("in range");
    }
    (kept, exporter.into_inner())
}

fn marking() -> Marking {
    let prefix = |text: &str| Prefix(text.parse().expect("a prefix"));
    Marking { stages: stages(), inside: vec![prefix("10.0.0.0/24"), prefix("10.0.1.0/24")], ..Marking::default() }
}

/// Code point by flow's table and whether the packet was a SYN: the simulator's, or the capture's.
fn dscp(outcome: &Outcome, packet: &Captured, known: bool) -> u8 {
    let headers = headers(outcome, packet);
    let name = match headers.traffic.as_str() {
        _ if !known => "AF31",
        "near" => "AF11",
        "far" | "cbr" => "AF21",
        other => panic!("{other}"),
    };
    let Action::Pass(rewrite) = af(name) else { unreachable!() };
    rewrite.dscp.unwrap().get()
}

#[test]
fn the_simulator_knows_each_flows_round_trip_time() {
    let outcome = simulated();
    let left = |p: &&Captured| p.link as usize == OUT && p.point == TapPoint::Output;
    let (mut near, mut far) = (0, 0);
    for packet in outcome.captured.iter().filter(left) {
        assert_eq!(packet.packet.dscp.get(), dscp(&outcome, packet, true));
        *(if headers(&outcome, packet).traffic == "near" { &mut near } else { &mut far }) += 1;
    }
    assert!(near > 1000 && far > 500, "{near} {far}");
}

#[test]
fn a_capture_of_both_directions_knows_it_from_the_handshake_on() {
    let outcome = simulated();
    let (sent, input) = captured(&outcome, true);
    let (output, report) = marked(&input, marking()).expect("marked");
    let mut opened = 0;
    for (packet, seen) in sent.iter().zip(packets(&output)) {
        if packet.link as usize == BACK {
            continue;
        }
        let syn = packet.packet.flags & flags::SYN != 0;
        let tcp = headers(&outcome, packet).protocol == 6;
        opened += u32::from(syn);
        assert_eq!(seen.ip.expect("IP").dscp, dscp(&outcome, packet, tcp && !syn), "{packet:?}");
    }
    assert_eq!(opened, 4);
    assert_eq!(report.rtt, Some(RttReport { known_flows: 4, unknown_flows: 1 }));
    assert!(
        captures::text(&report, 0).contains("round-trip time: known for 4 flows, unknown for 1"),
        "{}",
        captures::text(&report, 0)
    );
    assert!(
        report.warnings.iter().any(|w| w.starts_with("1 of 5 flows have no known round-trip time")),
        "{:?}",
        report.warnings
    );
}

#[test]
fn with_one_direction_everything_is_of_the_default_class() {
    let outcome = simulated();
    let (sent, input) = captured(&outcome, false);
    let (output, report) = marked(&input, marking()).expect("marked");
    for (packet, seen) in sent.iter().zip(packets(&output)) {
        assert_eq!(seen.ip.expect("IP").dscp, dscp(&outcome, packet, false));
    }
    assert_eq!(report.rtt, Some(RttReport { known_flows: 0, unknown_flows: 5 }));
    // A policy that asks for no round-trip time reports none.
    let one = Marking { stages: vec![class("AF31", None)], ..marking() };
    assert_eq!(marked(&input, one).expect("marked").1.rtt, None);
}
