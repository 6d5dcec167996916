//! FRED: decision by decision as its oracle, and what it is for.

use super::support::{self, Load, packets};
use crate::oracle::fred::Fred;
use perhop_core::Rng;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::early::Weight;
use perhop_core::aqm::fred::{Params, Per};
use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{Bytes, Packets, Probability, Time};
use perhop_core::verdict::Fate;
use proptest::prelude::*;
use std::collections::BTreeMap;

const LIMIT: u32 = 16;

fn params((min, max): (u32, u32), (max_p, wq): (f64, f64), (minq, ecn): (u32, bool)) -> Params {
    Params {
        min: packets(min),
        max: packets(max),
        max_p: Probability::new(max_p).unwrap(),
        minq: Packets::new(minq),
        weight: Weight(wq),
        mean_packet: Bytes::new(1000),
        ecn,
        per: Per::Flow,
    }
}

fn any_params() -> impl Strategy<Value = Params> {
    let wq = prop::sample::select(vec![0.002, 0.05, 0.5, 1.0]);
    let per = prop::sample::select(vec![Per::Flow, Per::Class]);
    ((1u32..8, 1u32..12), (0.0..=1.0, wq), (0u32..5, any::<bool>()), per)
        .prop_map(|((min, width), chances, rest, per)| Params { per, ..params((min, min + width), chances, rest) })
}

/// The packets of a load, each of a flow of 5, one of which is greedy, and of a class of 5 likewise.
fn any_load() -> impl Strategy<Value = Load> {
    let one = || prop_oneof![Just(0u16), 0u16..5];
    let flows = prop::collection::vec((one(), one()), 400);
    (support::load(&[Colour::Unmarked]), flows).prop_map(|(mut load, flows)| {
        let own = |((_, packet), (flow, class)): (&mut (_, Packet), (u16, _))| {
            (packet.flow, packet.class) = (FlowId(flow.into()), class);
        };
        load.iter_mut().zip(flows).for_each(own);
        load
    })
}

fn number(n: perhop_core::units::Length) -> f64 {
    let perhop_core::units::Length::Packets(n) = n else { panic!("{n}") };
    n.get().into()
}

fn compared(p: &Params, load: &Load, rng: &Rng) -> Result<Vec<Fate>, TestCaseError> {
    let aqm = AqmParams::Fred(p.clone()).build(&support::scope(LIMIT)).unwrap();
    let mut port = crate::common::port::Port::new(Gate::new(aqm, Limit::Packets(LIMIT), rng.clone()), support::RATE);
    let (of, active): (fn(&Packet) -> u32, _) = match p.per {
        Per::Flow => (|packet| packet.flow.0, "active_flows"),
        Per::Class => (|packet| packet.class.into(), "active_classes"),
    };
    let mut oracle = Fred {
        of,
        minth: number(p.min),
        maxth: number(p.max),
        maxp: p.max_p.get(),
        minq: p.minq.get().into(),
        wq: p.weight.0,
        ecn: p.ecn,
        avg: 0.0,
        count: -1.0,
        strike: BTreeMap::new(),
        rng: rng.clone(),
    };
    let (mut now, mut seen, mut fates) = (Time::ZERO, Time::ZERO, Vec::new());
    let mut waiting: Vec<Packet> = Vec::new();
    for (n, (gap, packet)) in load.iter().enumerate() {
        now += *gap;
        port.advance(now);
        while waiting.len() > port.waiting().len() {
            let left = waiting.remove(0);
            oracle.depart(&left, &waiting);
        }
        let idle = port.backlog().idle_since.map_or(0.0, |since| now.since(since.max(seen)).seconds());
        seen = now;
        let room = waiting.len() < LIMIT as usize;
        let expected = oracle.arrive(packet, (&waiting, idle * 1250.0, room));
        prop_assert_eq!(port.arrive(now, *packet), expected, "packet {}", n);
        if expected.stays() {
            waiting.push(*packet);
            if port.waiting().len() < waiting.len() {
                let left = waiting.remove(0);
                oracle.depart(&left, &waiting);
            }
        }
        let avg = port.gauge(now, "avg_queue_packets");
        prop_assert!((avg - oracle.avg).abs() <= 1e-9 * (1.0 + avg), "packet {}: {} {}", n, avg, oracle.avg);
        let mut flows: Vec<u32> = waiting.iter().map(of).collect();
        flows.sort_unstable();
        flows.dedup();
        prop_assert_eq!(port.gauge(now, active), flows.len() as f64);
        fates.push(expected);
    }
    Ok(fates)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn every_decision_is_the_oracles(p in any_params(), load in any_load(), seed in any::<u64>()) {
        compared(&p, &load, &Rng::stream(seed, 0, "queue"))?;
    }
}

/// The loads of the comparison reach all there is to compare.
#[test]
fn everything_occurs() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeMap::<_, u32>::new();
    for seed in 0..600 {
        let (p, load) = (any_params(), any_load()).new_tree(&mut runner).unwrap().current();
        for fate in compared(&p, &load, &Rng::stream(seed, 0, "queue")).unwrap() {
            *seen.entry(format!("{fate:?}")).or_default() += 1;
        }
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert!(seen.values().all(|n| *n >= 20), "{seen:?}");
}

/// A flow that sends at the link's rate together with four that send a tenth of it each: they lose nothing, it loses the rest.
/// It holds at most min = 25 packets, and after its strikes avgcq.
#[test]
fn a_greedy_flow_alone_is_dropped() {
    let p = params((25, 50), (0.02, 0.002), (2, false));
    let mut port = support::port(&AqmParams::Fred(p), 100);
    let mut lost = [0u32; 5];
    for n in 0..20_000u64 {
        // 14 packets in the 8 ms that 10 take: ten of flow 0, one of each other.
        let (at, flow) = (Time::from_ns(n * 8_000_000 / 14), (n % 14).saturating_sub(9) as u32);
        let packet = Packet { size: 1000, flow: FlowId(flow), ..Packet::default() };
        lost[flow as usize] += u32::from(!port.arrive(at, packet).stays());
    }
    assert_eq!(lost[1..], [0; 4]);
    let excess = 20_000 - 20_000 * 10 / 14;
    assert!((i64::from(lost[0]) - excess).abs() <= 100, "{lost:?} {excess}");
}

/// Twenty flows that send a twentieth of the link's rate each, twelve of them of one class, and two of each other class. By flow
/// none holds more than another, and all lose alike of what is too much; by class the large one alone does.
#[test]
fn by_class_a_class_of_many_flows_is_one() {
    let lost = |per| {
        let p = Params { per, ..params((25, 50), (0.02, 0.002), (2, false)) };
        let mut port = support::port(&AqmParams::Fred(p), 100);
        let mut lost = [0u32; 5];
        for n in 0..40_000u64 {
            // 20 packets in the time that 16 take.
            let (at, flow) = (Time::from_ns(n * 800_000 * 16 / 20), (n % 20) as u32);
            let class = if flow < 12 { 0 } else { (flow as u16 - 12) / 2 + 1 };
            let packet = Packet { size: 1000, flow: FlowId(flow), class, ..Packet::default() };
            lost[usize::from(class)] += u32::from(!port.arrive(at, packet).stays());
        }
        lost
    };
    // A class of two flows offers 1/8 of the link's rate, less than its share of 1/5: it loses nothing.
    let excess = 40_000 - 40_000 * 16 / 20;
    let by_class = lost(Per::Class);
    assert_eq!(by_class[1..], [0; 4], "{by_class:?}");
    assert!((i64::from(by_class[0]) - excess).abs() <= 100, "{by_class:?} {excess}");
    let by_flow = lost(Per::Flow);
    assert!(by_flow[1..].iter().all(|n| *n > 300), "{by_flow:?}");
}

/// What waits is counted by the old one.
#[test]
fn flows_cannot_become_classes_on_the_way() {
    let by = |per| AqmParams::Fred(Params { per, ..params((25, 50), (0.02, 0.002), (2, false)) });
    let mut aqm = support::built(&by(Per::Flow));
    let error = aqm.retune(Time::ZERO, &by(Per::Class), &support::scope(1000)).unwrap_err();
    assert_eq!((error.field, error.code), ("per", "E202"));
    aqm.retune(Time::ZERO, &by(Per::Flow), &support::scope(1000)).unwrap();
}
