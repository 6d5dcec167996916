//! Classifiers at an edge: a chain of markers, and what a flow's round-trip time changes once it is known.

use perhop_core::Scope;
use perhop_core::classify::{FlowHeaders, Match, Protocol, RttClass};
use perhop_core::conditioner::{ConditionerParams, Passage, marker, token_bucket};
use perhop_core::dscp::Dscp;
use perhop_core::edge::{Action, Edge, Per, StageSpec};
use perhop_core::needs::Needs;
use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_core::verdict::Verdict;

fn headers(protocol: Protocol, rtt_ms: Option<u64>) -> FlowHeaders {
    FlowHeaders {
        protocol: protocol.0,
        source: [10, 0, 0, 1].into(),
        destination: [192, 0, 2, 1].into(),
        source_port: 1024,
        destination_port: 80,
        traffic: String::new(),
        class: String::new(),
        rtt: rtt_ms.map(Span::from_ms),
    }
}

fn stage(name: &str, matches: Match, params: ConditionerParams) -> StageSpec {
    let actions = [Action::Transmit; 4];
    StageSpec { name: name.into(), matches, per: Per::Aggregate, params, actions, scope: Scope::default() }
}

/// Marks what it takes with this code point.
fn class(dscp: u8, matches: Match) -> StageSpec {
    let mut stage =
        stage(&dscp.to_string(), matches, ConditionerParams::Marker(marker::Params { colour: marker::Mark::Green }));
    stage.actions[Colour::Green.index()] = Action::Mark(Dscp::new(dscp).unwrap());
    stage
}

fn below(ms: u64) -> Match {
    Match { rtt: RttClass::new(Span::ZERO, Some(Span::from_ms(ms))), ..Match::default() }
}

fn through(edge: &mut Edge, flow: FlowId, now: Time) -> Packet {
    let mut packet = Packet { flow, size: 1500, ..Packet::default() };
    assert_eq!(edge.forward(&Passage::of(now, packet.flow), &mut packet), Verdict::Pass);
    packet
}

/// RFC 2475 section 2.3.1: the classes of a multi-field classifier, in order; what no other takes goes to the last.
#[test]
fn a_chain_of_markers_is_a_classifier_with_a_default() {
    let tcp = |matches| Match { protocol: vec![Protocol::TCP], ..matches };
    let chain = vec![
        class(1, tcp(below(80))),
        class(2, tcp(Match::default())),
        class(3, below(80)),
        class(4, Match::default()),
    ];
    let mut edge = Edge::new(chain, 1, 0).unwrap();
    assert!(edge.needs().contains(Needs::RTT));
    let flows = [(Protocol::TCP, Some(79), 1), (Protocol::TCP, Some(80), 2), (Protocol::TCP, None, 2)];
    let others = [(Protocol::UDP, Some(0), 3), (Protocol::UDP, Some(500), 4), (Protocol(1), None, 4)];
    for ((protocol, rtt, expected), flow) in flows.into_iter().chain(others).zip((0..).map(FlowId)) {
        edge.register(flow, &headers(protocol, rtt));
        let packet = through(&mut edge, flow, Time::ZERO);
        assert_eq!((packet.dscp.get(), packet.colour), (expected, Colour::Green), "{protocol:?} {rtt:?}");
    }
    let one = Edge::new(vec![class(1, Match::default())], 1, 0).unwrap();
    assert_eq!(one.needs(), Needs::NOTHING, "nothing needs round-trip times");
}

/// A bucket of one packet that never fills again: its second packet is red, whoever sends it.
fn bucket(per: Per, matches: Match) -> StageSpec {
    let params = token_bucket::Params { cir: BitRate::bps(8), cbs: Bytes::new(1500) };
    StageSpec { per, ..stage("bucket", matches, ConditionerParams::TokenBucketMarker(params)) }
}

#[test]
fn a_flow_keeps_its_state_where_it_is_still_taken() {
    for per in [Per::Aggregate, Per::Flow, Per::Pair, Per::Class] {
        for matches in [Match::default(), below(80)] {
            let mut edge = Edge::new(vec![bucket(per, matches)], 1, 0).unwrap();
            let flow = FlowId(0);
            edge.register(flow, &headers(Protocol::TCP, Some(10)));
            assert_eq!(through(&mut edge, flow, Time::ZERO).colour, Colour::Green);
            edge.reclassify(flow, &headers(Protocol::TCP, Some(20)));
            assert_eq!(
                through(&mut edge, flow, Time::ZERO).colour,
                Colour::Red,
                "{per:?}: the bucket was emptied before"
            );
        }
    }
    // A flow announced again is another one.
    let mut edge = Edge::new(vec![bucket(Per::Flow, Match::default())], 1, 0).unwrap();
    for _ in 0..2 {
        edge.register(FlowId(0), &headers(Protocol::TCP, Some(10)));
        assert_eq!(through(&mut edge, FlowId(0), Time::ZERO).colour, Colour::Green);
    }
}

/// Two traffics of one class have one bucket between them, a traffic of another class its own.
#[test]
fn per_class_means_the_class_and_not_the_traffic() {
    let mut edge = Edge::new(vec![bucket(Per::Class, Match::default())], 1, 0).unwrap();
    let flows = [("web", "data", Colour::Green), ("mail", "data", Colour::Red), ("voice", "voice", Colour::Green)];
    for ((traffic, class, expected), flow) in flows.into_iter().zip((0..).map(FlowId)) {
        let names = FlowHeaders { traffic: traffic.into(), class: class.into(), ..headers(Protocol::TCP, None) };
        edge.register(flow, &names);
        assert_eq!(through(&mut edge, flow, Time::ZERO).colour, expected, "{traffic}");
    }
}

/// Known late: the default class first, then its own. Known to be of another class: the conditioner forgets it, and the
/// instance that it kept for the flow is there for the next one, as new.
#[test]
fn a_round_trip_time_that_becomes_known_moves_a_flow() {
    let mut edge = Edge::new(vec![bucket(Per::Flow, below(80)), class(4, Match::default())], 1, 0).unwrap();
    let place = |edge: &Edge, flow| edge.colouring(&Packet { flow, ..Packet::default() });
    let (first, second) = (FlowId(0), FlowId(1));
    edge.register(first, &headers(Protocol::TCP, None));
    assert_eq!(place(&edge, first), Some((1, 0)));
    edge.reclassify(first, &headers(Protocol::TCP, Some(10)));
    assert_eq!(place(&edge, first), Some((0, 0)));
    assert_eq!(through(&mut edge, first, Time::ZERO).colour, Colour::Green);
    edge.reclassify(first, &headers(Protocol::TCP, Some(90)));
    assert_eq!(place(&edge, first), Some((1, 0)));
    edge.register(second, &headers(Protocol::TCP, Some(10)));
    assert_eq!(place(&edge, second), Some((0, 0)), "the instance that was left");
    assert_eq!(through(&mut edge, second, Time::ZERO).colour, Colour::Green, "with a full bucket");
    edge.reclassify(first, &headers(Protocol::TCP, Some(10)));
    assert_eq!(place(&edge, first), Some((0, 1)), "that one is taken");
}
