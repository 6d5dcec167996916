//! Edges at a port: what labellers and actions do, what is forgotten, and reports between conditioners.

use super::{at, scope};
use perhop_core::classify::{FlowHeaders, Match, Protocol};
use perhop_core::conditioner::{ConditionerParams, Passage};
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Colour, FlowId, Packet, flags};
use perhop_core::params::{Place, Problems, Reader, Tree};
use perhop_core::port::Port;
use perhop_core::port::edge::{Action, Edge, Mail, Per, StageSpec};
use perhop_core::units::{Span, Time};
use perhop_core::verdict::{Fate, Reason};
use proptest::prelude::*;

fn conditioner(kind: &str, entries: Vec<(&'static str, String)>) -> ConditionerParams {
    let entries = entries.into_iter().map(|(key, text)| (key, Tree::Text(text))).collect();
    let Tree::Table(table) = Tree::table(entries) else { unreachable!() };
    let mut problems = Problems::default();
    let read =
        ConditionerParams::read(kind, Place::default(), &mut Reader::new(&table, Place::default(), &mut problems));
    read.unwrap_or_else(|| panic!("{:?}", problems.list))
}

fn stage(name: &str, params: ConditionerParams) -> StageSpec {
    let (matches, per, actions) = (Match::default(), Per::Aggregate, [Action::TRANSMIT; 4]);
    StageSpec { name: name.into(), matches, per, params, actions, scope: scope() }
}

fn port(stages: Vec<StageSpec>) -> Port<()> {
    Port::of_edge(Edge::new(stages, 1, 0).unwrap())
}

fn headers(flow: u32) -> FlowHeaders {
    let address = |last| std::net::Ipv4Addr::new(10, 0, 0, last).into();
    FlowHeaders {
        protocol: Protocol::TCP.0,
        source: address(1),
        destination: address(2),
        source_port: flow as u16,
        destination_port: 80,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    }
}

/// A packet of 1000 B that is no TCP segment.
fn datagram() -> Packet {
    Packet { size: 1000, ..Packet::default() }
}

/// Segment `n` of a flow, with the code point of its conditioner.
fn segment(flow: u32, n: u32) -> Packet {
    let dscp = Dscp::new(flow as u8).unwrap();
    let flow = FlowId(flow);
    Packet { size: 1040, payload: 1000, seq_end: 1000 * (n + 1), flags: flags::ACK, flow, dscp, ..Packet::default() }
}

/// The ACK of all segments before `n`.
fn ack(n: u32) -> Packet {
    Packet { size: 40, ack: 1000 * n, flags: flags::ACK, ..Packet::default() }
}

fn passes(port: &mut Port<()>, now: Time, mut packet: Packet) -> (Fate, Packet) {
    let fate = port.arrive(&Passage::of(now, packet.flow), &mut packet, ());
    port.next(now, &mut packet);
    (fate, packet)
}

fn tally(port: &Port<()>, name: &str) -> u64 {
    let mut total = None;
    port.edge().tallies(&mut |_, what, n| total = if what == name { Some(n) } else { total });
    total.unwrap()
}

fn gauge(port: &Port<()>, now: Time, stage: &str, name: &str) -> Option<f64> {
    let mut found = None;
    port.edge()
        .gauges(now, &mut |of, what, value| found = if (of, what) == (stage, name) { Some(value) } else { found });
    found
}

/// Actions are for colours: what writes a label acts on none, whatever its section says.
#[test]
fn a_labeller_applies_no_action() {
    let labeller = StageSpec { actions: [Action::Drop; 4], ..stage("label", conditioner("rate-labeller", vec![])) };
    let mut port = port(vec![labeller]);
    port.register(FlowId(0), &headers(0));
    let (fate, packet) = passes(&mut port, at(0), datagram());
    assert_eq!((fate, packet.label()), (Fate::Queued, Some(1.0)));
    let bucket = vec![("cir", "8kbit/s".into()), ("cbs", "1500B".into())];
    let policer = StageSpec { actions: [Action::Drop; 4], ..stage("police", conditioner("token-bucket", bucket)) };
    let mut port = super::edges::port(vec![policer]);
    port.register(FlowId(0), &headers(0));
    assert_eq!(passes(&mut port, at(0), datagram()).0, Fate::Dropped(Reason::Policer));
}

/// A flow number given to another flow: a segment of the old one opened a round trip that an ACK of the new one must not
/// close.
#[test]
fn a_flow_is_forgotten_before_its_number_is_used_again() {
    let samples = |again: bool| {
        let mut port = port(vec![stage("edge", conditioner("rtt-aware", vec![("cir", "1Mbit/s".into())]))]);
        port.register(FlowId(0), &headers(0));
        passes(&mut port, at(0), segment(0, 0));
        if again {
            port.register(FlowId(0), &headers(1));
        }
        port.reverse(&Passage::of(at(40_000), FlowId(0)), &mut ack(1));
        tally(&port, "rtt_samples")
    };
    assert_eq!([samples(false), samples(true)], [1, 0]);
}

fn exchanging([every, delay, expiry]: [u64; 3]) -> ConditionerParams {
    let ms = |ms: u64| format!("{ms}ms");
    let times = [("report-every", ms(every)), ("report-delay", ms(delay)), ("report-expiry", ms(expiry))];
    conditioner("rtt-rto", [vec![("cir", "8kbit/s".into())], times.into()].concat())
}

/// Conditioners that take a flow each, by its code point.
fn reporting(rules: &[[u64; 3]]) -> Port<()> {
    let each = |(flow, rules): (usize, &[u64; 3])| StageSpec {
        matches: Match { dscp: vec![Dscp::new(flow as u8).unwrap()], ..Match::default() },
        ..stage(&flow.to_string(), exchanging(*rules))
    };
    let mut port = port(rules.iter().enumerate().map(each).collect());
    (0..rules.len() as u32).for_each(|flow| port.register(FlowId(flow), &headers(flow)));
    port
}

/// Reports each second take 300 ms: what the second conditioner measured (10 ms) is known to the first (40 ms) from 1.3 s on
/// and not before; 10 s after the last report it no longer counts.
#[test]
fn a_report_takes_its_delay() {
    let (mut port, mut mail) = (reporting(&[[1000, 300, 10_000]; 2]), Mail::default());
    for (flow, ms) in [(0, 40), (1, 10)] {
        passes(&mut port, at(0), segment(flow, 0));
        port.reverse(&Passage::of(at(ms * 1000), FlowId(flow)), &mut ack(1));
    }
    for (ms, least) in [(999, 0.04), (1000, 0.04), (1299, 0.04), (1300, 0.01), (5000, 0.01)] {
        port.catch_up(at(ms * 1000), &mut mail);
        assert_eq!(gauge(&port, at(ms * 1000), "0", "least_rtt_s"), Some(least), "{ms} ms");
    }
}

/// A gap of ten years takes as long as the reports in flight; each report of it is there at its end.
#[test]
fn a_long_gap_is_skipped() {
    let (mut port, mut mail) = (reporting(&[[1, 0, 10], [1000, 2500, 10_000]]), Mail::default());
    for (flow, ms) in [(0, 40), (1, 10)] {
        passes(&mut port, at(0), segment(flow, 0));
        port.reverse(&Passage::of(at(ms * 1000), FlowId(flow)), &mut ack(1));
    }
    let now = Time::from_ns(3650 * 86_400 * 1_000_000_000 + 700_000_000);
    port.catch_up(now, &mut mail);
    let known = ["0", "1"].map(|stage| gauge(&port, now, stage, "least_rtt_s"));
    // The first hears each second and forgets after 10 ms: the last report arrived 200 ms ago.
    assert_eq!(known, [Some(0.04), Some(0.01)]);
    assert!(port.publishes_at().is_some_and(|next| next > now));
}

/// What happens at the port.
#[derive(Clone, Copy, Debug)]
struct Step {
    gap: u64,
    flow: u32,
    back: bool,
}

/// Every colour drawn and every gauge, with the timers one at a time or caught up at once.
fn story(rules: &[[u64; 3]], steps: &[Step], one_by_one: bool) -> Vec<(Option<Colour>, Vec<f64>)> {
    let (mut port, mut mail, mut now) = (reporting(rules), Mail::default(), Time::ZERO);
    let mut sent = vec![0; rules.len()];
    let mut happened = Vec::new();
    for Step { gap, flow, back } in steps {
        let flow = *flow as usize % rules.len();
        now += Span::from_ns(*gap);
        while let Some(next) = port.publishes_at().filter(|next| one_by_one && *next <= now) {
            port.catch_up(next, &mut mail);
        }
        port.catch_up(now, &mut mail);
        let colour = if *back {
            port.reverse(&Passage::of(now, FlowId(flow as u32)), &mut ack(sent[flow]));
            None
        } else {
            sent[flow] += 1;
            Some(passes(&mut port, now, segment(flow as u32, sent[flow] - 1)).1.colour)
        };
        let mut gauges = Vec::new();
        port.edge().gauges(now, &mut |_, _, value| gauges.push(value));
        happened.push((colour, gauges));
    }
    happened
}

proptest! {
    /// A port that skips what later reports replace is a port that steps through all of them.
    #[test]
    fn catching_up_is_stepping(
        rules in prop::collection::vec((1u64..3000, 0u64..5000, 1u64..9000), 1..4),
        steps in prop::collection::vec(
            (prop_oneof![4 => 0u64..100_000_000, 2 => 0u64..3_000_000_000, 1 => 0u64..60_000_000_000], 0u32..4, any::<bool>()),
            1..40,
        ),
    ) {
        let rules: Vec<_> = rules.into_iter().map(|(every, delay, more)| [every, delay.min(1000 * every), every + more]).collect();
        let steps: Vec<_> = steps.into_iter().map(|(gap, flow, back)| Step { gap, flow, back }).collect();
        prop_assert_eq!(story(&rules, &steps, false), story(&rules, &steps, true));
    }
}

/// The loads of the comparison reach what is to be compared: colours drawn with times that others reported.
#[test]
fn reports_matter_in_the_comparison() {
    let rules = [[1000, 300, 5000], [700, 0, 5000]];
    let step = |n: u32| Step {
        gap: if n.is_multiple_of(7) { 2_050_000_000 } else { 50_000_000 },
        flow: n / 2,
        back: n % 2 == 1,
    };
    let steps: Vec<_> = (0..200).map(step).collect();
    let alone: Vec<_> = story(&[[1000, 300, 5000]], &steps, true).into_iter().map(|it| it.0).collect();
    let both: Vec<_> = story(&rules, &steps, true).into_iter().map(|it| it.0).collect();
    assert!(alone != both && both.contains(&Some(Colour::Red)) && both.contains(&Some(Colour::Yellow)));
}
