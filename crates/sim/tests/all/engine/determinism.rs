//! Same seed, same outcome; one component's draws are its own.

use crate::common::net::{Net, bulk, cbr, poisson, red};
use crate::common::random::any_net;
use perhop_core::aqm::AqmParams;
use perhop_core::units::{BitRate, Probability, Span, Time};
use perhop_sim::Outcome;
use perhop_sim::plan::{Tap, TapPoint};
use perhop_sim::record::Captured;
use perhop_sim::traffic::{TrafficParams, on_off};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_plan_gives_the_same_outcome(mut net in any_net()) {
        net.tap_all();
        let [first, second] = [net.run(), net.run()].map(|outcome| format!("{outcome:?}"));
        prop_assert!(first == second);
    }
}

/// TCP and Poisson datagrams from node 0 to node 1 over a lossy RED link: sources, queue and wire all draw.
fn pair() -> Net {
    let mut net = Net::new(4, Span::from_s(20));
    net.duplex([0, 1], BitRate::mbps(1), Span::from_ms(10));
    let link = &mut net.plan.links[0];
    link.queues[0].aqm = AqmParams::Red(red(2, 10, 0.1));
    link.loss = Probability::new(0.01).unwrap();
    for model in [bulk(), poisson(BitRate::kbps(300), 500)] {
        let traffic = net.traffic([0, 1], model);
        traffic.name = format!("{:?}", traffic.model);
        traffic.spread = Span::from_s(1);
    }
    net.plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Output }];
    net
}

/// What passed the tap, but for the flows' numbers.
fn passed(outcome: &Outcome) -> Vec<Captured> {
    let nameless = |c: &Captured| {
        let mut c = *c;
        c.packet.flow = Default::default();
        c
    };
    outcome.captured.iter().map(nameless).collect()
}

#[test]
fn another_component_moves_no_other_draws() {
    let alone = passed(&pair().run());
    assert!(alone.len() > 1000);
    let mut more = pair();
    more.duplex([2, 3], BitRate::kbps(777), Span::from_ms(3));
    more.plan.links[2].loss = Probability::new(0.2).unwrap();
    let (rate, size, on, off) =
        (BitRate::mbps(2), perhop_core::units::Bytes::new(300), Span::from_ms(50), Span::from_ms(50));
    more.traffic([2, 3], TrafficParams::OnOff(on_off::Params { rate, size, on, off })).flows = 3;
    more.plan.traffic.rotate_right(1);
    let outcome = more.run();
    assert!(outcome.flows[..3].iter().all(|f| f.counts.delivered.packets > 1000));
    assert!(passed(&outcome) == alone);
}

#[test]
fn another_replication_or_seed_draws_again() {
    let first = passed(&pair().run());
    let mut net = pair();
    assert!(passed(&net.replicate(1)) != first);
    assert!(passed(&net.replicate(0)) == first);
    net.plan.seed += 1;
    assert!(passed(&net.run()) != first);
}

/// Two networks side by side, identical except in name: sources of one table, wires and queues draw from separate
/// streams.
#[test]
fn components_of_a_kind_draw_apart() {
    let mut net = Net::new(4, Span::from_s(20));
    for ends in [[0, 1], [2, 3]] {
        net.duplex(ends, BitRate::mbps(1), Span::from_ms(10));
        let link = net.plan.links.iter_mut().rev().nth(1).unwrap();
        (link.queues[0].aqm, link.loss) = (AqmParams::Red(red(2, 10, 0.1)), Probability::new(0.1).unwrap());
        net.traffic(ends, cbr(BitRate::kbps(900), 500));
    }
    let arrivals = |outcome: &Outcome, link: u32| -> Vec<Time> {
        outcome.captured.iter().filter(|c| c.link == link).map(|c| c.at).collect()
    };
    net.plan.probes.taps = [0, 2].map(|link| Tap { link, point: TapPoint::Output }).to_vec();
    let outcome = net.run();
    assert!(arrivals(&outcome, 0) != arrivals(&outcome, 2), "the wires lose the same packets");
    // Without wire loss, and overloaded so that RED drops.
    for (link, traffic) in [(0, 0), (2, 1)] {
        net.plan.links[link].loss = Probability::ZERO;
        net.plan.traffic[traffic].model = cbr(BitRate::kbps(1100), 500);
    }
    let outcome = net.run();
    assert!(arrivals(&outcome, 0) != arrivals(&outcome, 2), "the queues drop the same packets");
    // Without RED's drops, two Poisson sources of one table.
    let mut net = Net::new(2, Span::from_s(20));
    net.duplex([0, 1], BitRate::mbps(100), Span::from_ms(10));
    net.traffic([0, 1], poisson(BitRate::mbps(1), 500)).flows = 2;
    net.plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Input }];
    let captured = net.run().captured;
    let of = |flow: u32| captured.iter().filter(|c| c.packet.flow.0 == flow).map(|c| c.at).collect::<Vec<_>>();
    assert!(of(0) != of(2), "the sources send at the same times");
}
