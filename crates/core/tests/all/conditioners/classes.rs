//! Classifiers at an edge: a chain of markers, and what a flow's round-trip time changes once it is known.

use perhop_core::Scope;
use perhop_core::classify::{FlowHeaders, Match, Protocol, RttClass};
use perhop_core::conditioner::{ConditionerParams, Passage, marker, token_bucket};
use perhop_core::dscp::Dscp;
use perhop_core::needs::Needs;
use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::port::Port;
use perhop_core::port::edge::{Action, Edge, Per, StageSpec};
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_core::verdict::Fate;

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
    let actions = [Action::TRANSMIT; 4];
    StageSpec { name: name.into(), matches, per: Per::Aggregate, params, actions, scope: Scope::default() }
}

/// Marks what it takes with this code point.
fn class(dscp: u8, matches: Match) -> StageSpec {
    let mut stage =
        stage(&dscp.to_string(), matches, ConditionerParams::Marker(marker::Params { colour: marker::Mark::Green }));
    stage.actions[Colour::Green.index()] = Action::mark(Dscp::new(dscp).unwrap());
    stage
}

fn below(ms: u64) -> Match {
    Match { rtt: RttClass::new(Span::ZERO, Some(Span::from_ms(ms))), ..Match::default() }
}

fn port_of(conditioners: Vec<StageSpec>) -> Port<()> {
    Port::of_edge(Edge::new(conditioners, 1, 0).unwrap())
}

fn through(port: &mut Port<()>, flow: FlowId, now: Time) -> Packet {
    let mut packet = Packet { flow, size: 1500, ..Packet::default() };
    assert_eq!(port.arrive(&Passage::of(now, packet.flow), &mut packet, ()), Fate::Queued);
    assert!(port.next(now, &mut packet).is_some());
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
    let mut port = port_of(chain);
    assert!(port.edge_needs().contains(Needs::RTT));
    let flows = [(Protocol::TCP, Some(79), 1), (Protocol::TCP, Some(80), 2), (Protocol::TCP, None, 2)];
    let others = [(Protocol::UDP, Some(0), 3), (Protocol::UDP, Some(500), 4), (Protocol(1), None, 4)];
    for ((protocol, rtt, expected), flow) in flows.into_iter().chain(others).zip((0..).map(FlowId)) {
        port.register(flow, &headers(protocol, rtt));
        let packet = through(&mut port, flow, Time::ZERO);
        assert_eq!((packet.dscp.get(), packet.colour), (expected, Colour::Green), "{protocol:?} {rtt:?}");
    }
    let one = port_of(vec![class(1, Match::default())]);
    assert_eq!(one.edge_needs(), Needs::NOTHING, "nothing needs round-trip times");
}

/// A bucket of one packet that never fills again: its second packet is red, whoever sends it.
fn bucket(per: Per, matches: Match) -> StageSpec {
    let params = token_bucket::Params::new(BitRate::bps(8), Bytes::new(1500));
    StageSpec { per, ..stage("bucket", matches, ConditionerParams::TokenBucketMarker(params)) }
}

#[test]
fn a_flow_keeps_its_state_where_it_is_still_taken() {
    for per in [Per::Aggregate, Per::Flow, Per::Pair, Per::Source, Per::Destination, Per::Class] {
        for matches in [Match::default(), below(80)] {
            let mut port = port_of(vec![bucket(per, matches)]);
            let flow = FlowId(0);
            port.register(flow, &headers(Protocol::TCP, Some(10)));
            assert_eq!(through(&mut port, flow, Time::ZERO).colour, Colour::Green);
            port.reclassify(flow, &headers(Protocol::TCP, Some(20)));
            assert_eq!(
                through(&mut port, flow, Time::ZERO).colour,
                Colour::Red,
                "{per:?}: the bucket was emptied before"
            );
        }
    }
    // A flow announced again is another one.
    let mut port = port_of(vec![bucket(Per::Flow, Match::default())]);
    for _ in 0..2 {
        port.register(FlowId(0), &headers(Protocol::TCP, Some(10)));
        assert_eq!(through(&mut port, FlowId(0), Time::ZERO).colour, Colour::Green);
    }
}

/// Flows of one address have one bucket between them: on the side that `per` says.
#[test]
fn per_source_and_per_destination_mean_an_address() {
    let ends = [([10, 0, 0, 1], [192, 0, 2, 1]), ([10, 0, 0, 1], [192, 0, 2, 2]), ([10, 0, 0, 2], [192, 0, 2, 2])];
    let (green, red) = (Colour::Green, Colour::Red);
    let of = [(Per::Source, [green, red, green]), (Per::Destination, [green, green, red]), (Per::Pair, [green; 3])];
    for (per, expected) in of {
        let mut port = port_of(vec![bucket(per, Match::default())]);
        let found = ends.map(|(source, destination)| {
            let flow = FlowId(u32::from(source[3]) * 4 + u32::from(destination[3]));
            let ends =
                FlowHeaders { source: source.into(), destination: destination.into(), ..headers(Protocol::TCP, None) };
            port.register(flow, &ends);
            through(&mut port, flow, Time::ZERO).colour
        });
        assert_eq!(found, expected, "{per:?}");
    }
}

/// Two traffics of one class have one bucket between them, a traffic of another class its own.
#[test]
fn per_class_means_the_class_and_not_the_traffic() {
    let mut port = port_of(vec![bucket(Per::Class, Match::default())]);
    let flows = [("web", "data", Colour::Green), ("mail", "data", Colour::Red), ("voice", "voice", Colour::Green)];
    for ((traffic, class, expected), flow) in flows.into_iter().zip((0..).map(FlowId)) {
        let names = FlowHeaders { traffic: traffic.into(), class: class.into(), ..headers(Protocol::TCP, None) };
        port.register(flow, &names);
        assert_eq!(through(&mut port, flow, Time::ZERO).colour, expected, "{traffic}");
    }
}

/// Known late: the default class first, then its own. Known to be of another class: the conditioner forgets it, and the
/// instance that it kept for the flow is there for the next one, as new.
#[test]
fn a_round_trip_time_that_becomes_known_moves_a_flow() {
    let mut port = port_of(vec![bucket(Per::Flow, below(80)), class(4, Match::default())]);
    let place = |port: &Port<()>, flow| port.edge().colouring(&Packet { flow, ..Packet::default() });
    let (first, second) = (FlowId(0), FlowId(1));
    port.register(first, &headers(Protocol::TCP, None));
    assert_eq!(place(&port, first), Some((1, 0)));
    port.reclassify(first, &headers(Protocol::TCP, Some(10)));
    assert_eq!(place(&port, first), Some((0, 0)));
    assert_eq!(through(&mut port, first, Time::ZERO).colour, Colour::Green);
    port.reclassify(first, &headers(Protocol::TCP, Some(90)));
    assert_eq!(place(&port, first), Some((1, 0)));
    port.register(second, &headers(Protocol::TCP, Some(10)));
    assert_eq!(place(&port, second), Some((0, 0)), "the instance that was left");
    assert_eq!(through(&mut port, second, Time::ZERO).colour, Colour::Green, "with a full bucket");
    port.reclassify(first, &headers(Protocol::TCP, Some(10)));
    assert_eq!(place(&port, first), Some((0, 1)), "that one is taken");
}
