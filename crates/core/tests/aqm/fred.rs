//! FRED: decision by decision as its oracle, and what it is for.

use crate::fred_oracle::Fred;
use crate::support::{self, Load, packets};
use perhop_core::Rng;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::early::Weight;
use perhop_core::aqm::fred::Params;
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
    }
}

fn any_params() -> impl Strategy<Value = Params> {
    let wq = prop::sample::select(vec![0.002, 0.05, 0.5, 1.0]);
    ((1u32..8, 1u32..12), (0.0..=1.0, wq), (0u32..5, any::<bool>()))
        .prop_map(|((min, width), chances, rest)| params((min, min + width), chances, rest))
}

/// The packets of a load, each of a flow of 5, one of which is greedy.
fn any_load() -> impl Strategy<Value = Load> {
    let flows = prop::collection::vec(prop_oneof![Just(0u32), 0u32..5], 400);
    (support::load(&[Colour::Unmarked]), flows).prop_map(|(mut load, flows)| {
        load.iter_mut().zip(flows).for_each(|((_, packet), flow)| packet.flow = FlowId(flow));
        load
    })
}

fn number(n: perhop_core::units::Length) -> f64 {
    let perhop_core::units::Length::Packets(n) = n else { panic!("{n}") };
    n.get().into()
}

fn compared(p: &Params, load: &Load, rng: &Rng) -> Result<Vec<Fate>, TestCaseError> {
    let aqm = AqmParams::Fred(p.clone()).build(&support::scope(LIMIT)).unwrap();
    let mut port = crate::port::Port::new(Gate::new(aqm, Limit::Packets(LIMIT), rng.clone()), support::RATE);
    let mut oracle = Fred {
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
        let mut flows: Vec<u32> = waiting.iter().map(|p| p.flow.0).collect();
        flows.sort_unstable();
        flows.dedup();
        prop_assert_eq!(port.gauge(now, "active_flows"), flows.len() as f64);
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
    for seed in 0..300 {
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
