//! With a fixed set of flows nothing is allocated after the warm-up, if the network was as full as it gets in it.

use crate::common::net::{Net, bulk, cbr, poisson, red, stage};
use crate::common::random::scheduler;
use perhop_core::aqm::AqmParams;
use perhop_core::conditioner::{ConditionerParams, token_bucket, tsw3cm};
use perhop_core::port::NodeSpec;
use perhop_core::port::edge::Per;
use perhop_core::units::{BitRate, Bytes, Probability, Span, Time};
use perhop_sim::transport::{Config, Reaction};
use perhop_sim::{EngineOptions, Simulation};

const WARMUP: Span = Span::from_s(100);

fn net() -> Net {
    let mut net = Net::new(4, Span::from_s(200));
    net.plan.warmup = WARMUP;
    net.duplex([0, 1], BitRate::mbps(20), Span::from_ms(2));
    net.duplex([1, 2], BitRate::mbps(5), Span::from_ms(10));
    net.duplex([2, 3], BitRate::mbps(20), Span::from_ms(2));
    let marker = ConditionerParams::Tsw3Cm(tsw3cm::Params {
        cir: BitRate::mbps(2),
        pir: BitRate::mbps(3),
        window: Span::from_s(1),
    });
    let bucket = token_bucket::Params::new(BitRate::kbps(500), Bytes::new(10_000));
    net.plan.links[0].edge = vec![stage("tsw", marker)];
    net.plan.links[4].edge = vec![stage("bucket", ConditionerParams::TokenBucketMarker(bucket))];
    net.plan.links[4].edge[0].per = Per::Flow;
    let mut red = red(5, 30, 0.1);
    red.common.ecn = true;
    net.plan.links[2].queues[0].aqm = AqmParams::Red(red);
    // The return route has two queues, of which ACKs use the last.
    let back = &mut net.plan.links[3];
    back.queues = vec![back.queues[0].clone(), back.queues[0].clone()];
    back.nodes = NodeSpec::flat(scheduler("drr", &[1, 1]), &back.queues);
    net.plan.links[2].loss = Probability::new(0.001).unwrap();
    for ecn in [false, true] {
        let delayed_ack = ecn.then_some(Span::from_ms(100));
        let tcp = net.traffic([0, 3], bulk());
        (tcp.flows, tcp.spread) = (5, Span::from_s(1));
        tcp.tcp = Config {
            ecn,
            reaction: Reaction { ack: delayed_ack.into(), overhead: None, sack: ecn, ..Reaction::NONE },
            mss: 960,
            ..Config::default()
        };
    }
    net.traffic([0, 3], cbr(BitRate::mbps(1), 500));
    net.traffic([0, 3], poisson(BitRate::mbps(1), 1000));
    net
}

/// Of either kind of link.
#[test]
fn nothing_is_allocated_after_the_warm_up() {
    for transmit_done in [false, true] {
        let mut simulation = Simulation::new(net().plan, EngineOptions { transmit_done }).unwrap();
        let first = allocation_counter::measure(|| {
            simulation.run_until(Time::ZERO + WARMUP);
        });
        assert!(first.count_total > 100, "the counter counts: {first:?}");
        let later = allocation_counter::measure(|| assert!(simulation.run_until(Time::MAX)));
        assert_eq!(later.count_total, 0, "transmit_done {transmit_done}: {later:?}");
        let outcome = simulation.run(|_| true).unwrap();
        assert!(
            outcome.faults.breaches.is_empty() && outcome.work.packet_hops > 500_000,
            "{} hops",
            outcome.work.packet_hops
        );
    }
}
