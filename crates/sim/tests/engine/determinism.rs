//! Same seed, same outcome; one component's draws are its own.

use crate::common::net::{Net, bulk, poisson, red};
use crate::common::random::any_net;
use perhop_core::aqm::AqmParams;
use perhop_core::units::{BitRate, Probability, Span};
use perhop_sim::Outcome;
use perhop_sim::plan::{Tap, TapPoint};
use perhop_sim::tap::Captured;
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
    link.aqm = AqmParams::Red(red(2, 10, 0.1));
    link.loss = Probability::new(0.01).unwrap();
    for model in [bulk(), poisson(BitRate::kbps(300), 500)] {
        let traffic = net.traffic([0, 1], model);
        traffic.name = format!("{:?}", traffic.model);
        traffic.spread = Span::from_s(1);
    }
    net.plan.taps = vec![Tap { link: 0, point: TapPoint::Output }];
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
fn another_component_moves_nobody_elses_draws() {
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
fn another_replication_or_seed_draws_anew() {
    let first = passed(&pair().run());
    let mut net = pair();
    assert!(passed(&net.replicate(1)) != first);
    assert!(passed(&net.replicate(0)) == first);
    net.plan.seed += 1;
    assert!(passed(&net.run()) != first);
}
