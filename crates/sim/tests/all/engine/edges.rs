//! Conditioners that measure and publish: what an edge learns of its aggregate against what the senders know, and what
//! edges learn of each other.

use crate::common::net::{self, Net, bulk, red, stage};
use perhop_core::aqm::AqmParams;
use perhop_core::conditioner::rtt::{Contract, Estimate, Excess, Exchanging, Measured, Measuring, Part, Sampled};
use perhop_core::conditioner::{ConditionerParams, rtt_aware, rtt_rto};
use perhop_core::port::Limit;
use perhop_core::port::edge::Per;
use perhop_core::units::{BitRate, Span, Time};
use perhop_sim::plan::Sampling;
use perhop_sim::record::Outcome;
use perhop_sim::traffic::TrafficParams;

fn measuring(measured: Measured) -> Measuring {
    Measuring {
        measured,
        sampled: Sampled::All,
        rtt: Estimate::Smoothed,
        part: Part::Whole,
        max_flows: 4096,
        flow_expiry: Span::from_s(60),
    }
}

fn contract() -> Contract {
    Contract { cir: BitRate::mbps(2), window: Span::from_s(1), excess: Excess::Linear }
}

const EXCHANGING: Exchanging =
    Exchanging { report_every: Span::from_s(1), report_delay: Span::ZERO, report_expiry: Span::from_s(10) };

fn basic(measured: Measured, exchanging: Exchanging) -> ConditionerParams {
    let params = rtt_aware::Params { contract: contract(), measuring: measuring(measured), exchanging };
    ConditionerParams::RttAware(params)
}

fn rto(measured: Measured) -> ConditionerParams {
    ConditionerParams::RttRto(rtt_rto::Params {
        contract: contract(),
        min_rto: Span::from_ms(200),
        law: rtt_rto::Combined::Product,
        least: rtt_rto::Least::Both,
        measuring: measuring(measured),
        exchanging: EXCHANGING,
    })
}

/// Two hosts behind separate edges, one bottleneck of 10 Mbit/s with RED; a millisecond each way in addition to
/// `delays`.
/// Their conditioners sit at links 4 and 6.
fn edges(delays: [u64; 2], flows: u32, params: [ConditionerParams; 2]) -> Net {
    let mut net = Net::new(6, Span::from_s(40));
    let rate = BitRate::mbps(10);
    let [host, edge, far] = [[0, 1], [2, 3], [4, 5]];
    for (ends, delay) in host.into_iter().zip(edge).zip(delays) {
        net.duplex([ends.0, ends.1], rate, Span::from_ms(delay));
    }
    edge.into_iter().for_each(|edge| net.duplex([edge, far[0]], rate, Span::from_us(500)));
    net.duplex(far, rate, Span::from_us(500));
    net.plan.links[8].queues[0].aqm = AqmParams::Red(red(20, 60, 0.1));
    net.plan.links[8].queues[0].limit = Limit::Packets(100);
    for (i, params) in params.into_iter().enumerate() {
        net.plan.links[4 + 2 * i].edge = vec![stage(&format!("edge{i}"), params)];
        let offered = net.traffic([host[i], far[1]], bulk());
        (offered.flows, offered.spread) = (flows, Span::from_s(1));
        // a sender's clock that counts whole ticks would round its samples
        offered.tcp.rto.granularity = Span::from_us(100);
    }
    net.plan.sampling = Some(Sampling::all(Span::from_ms(100)));
    net
}

/// A gauge of the conditioner at a link, from the 20th second on.
fn series(outcome: &Outcome, link: u32, gauge: &str) -> Vec<f64> {
    let wanted = |s: &&perhop_sim::record::Sample| {
        s.link == link && s.quantity == gauge && s.at >= Time::ZERO + Span::from_s(20)
    };
    outcome.series.ports.iter().filter(wanted).map(|s| s.value).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The specification's section 1.4: an edge's estimate is within 10 % of the senders'. Both conditioners see the same
/// packets here only in law, since what they mark differs: so the means over 20 s are compared.
#[test]
fn an_edge_knows_what_its_senders_know() {
    for delays in [[2, 40], [20, 20]] {
        for flows in [5, 20] {
            let run = |measured| edges(delays, flows, [basic(measured, EXCHANGING), basic(measured, EXCHANGING)]).run();
            let (edge, sender) = (run(Measured::Edge), run(Measured::Sender));
            for link in [4, 6] {
                let [seen, known] = [&edge, &sender].map(|it| mean(&series(it, link, "rtt_s")));
                assert!((seen / known - 1.0).abs() < 0.1, "{delays:?} x {flows}, link {link}: {seen} for {known} s");
                let least = mean(&series(&edge, link, "least_rtt_s"));
                assert!(least <= seen, "invariant 10");
            }
        }
    }
}

/// The time-out too: at least the least one, and near the senders' where it is above.
#[test]
fn an_edge_knows_the_timeout() {
    let run = |measured| edges([2, 150], 10, [rto(measured), rto(measured)]).run();
    let edge = run(Measured::Edge);
    let near = series(&edge, 4, "rto_s");
    assert!(near.iter().all(|&rto| rto >= 0.2), "{near:?}");
    let far = mean(&series(&edge, 6, "rto_s"));
    assert!((0.3..1.0).contains(&far), "{far} s: a round trip of 302 ms and what waits");
}

/// Conditioners of pairs that appear during the run publish too, from the moment they exist: the far edge hears
/// of the near one although nothing else wakes the clock, and time never goes back (asserted by the engine).
#[test]
fn a_pair_that_appears_later_publishes() {
    let mut net = edges([2, 40], 1, [basic(Measured::Edge, EXCHANGING), basic(Measured::Edge, EXCHANGING)]);
    for link in [4, 6] {
        net.plan.links[link].edge[0].per = Per::Pair;
    }
    for (i, offered) in net.plan.traffic.iter_mut().enumerate() {
        offered.model = TrafficParams::Web(net::web([9, 3], 2_000_000, Span::from_s(1)));
        offered.start = Time::ZERO + Span::from_s(5 + 10 * i as u64);
        offered.spread = Span::ZERO;
    }
    net.plan.sampling = None;
    let outcome = net.run();
    let tally = |link: usize, what: &str| {
        outcome.ports.tallies.iter().filter(|t| t.link == link && t.quantity == what).map(|t| t.value).sum::<u64>()
            as f64
    };
    let mean_q =
        |link| tally(link, "q_sum_millionths") / 1e6 / (tally(link, "drawn_red") + tally(link, "drawn_yellow"));
    assert!(mean_q(4) > 0.99 && mean_q(6) < 0.5, "q {} {}", mean_q(4), mean_q(6));
}

/// Both know the least time of all, each after the other's report; with a delay a report comes later, and with it q.
#[test]
fn edges_hear_of_each_other() {
    let q = |delay: Span| {
        let slow = Exchanging { report_delay: delay, ..EXCHANGING };
        let outcome = edges([2, 40], 5, [basic(Measured::Edge, slow.clone()), basic(Measured::Edge, slow)]).run();
        let far: Vec<_> = outcome.series.ports.iter().filter(|s| s.link == 6 && s.quantity == "q").collect();
        let heard = far.iter().find(|s| s.value < 1.0).map(|s| s.at);
        (heard, mean(&series(&outcome, 4, "q")), mean(&series(&outcome, 6, "q")))
    };
    let (at_once, near, far) = q(Span::ZERO);
    assert!(near > 0.99 && far < 0.5, "q {near} {far}");
    let (later, ..) = q(Span::from_ms(2350));
    let [at_once, later] = [at_once, later].map(|at| at.expect("heard").since(Time::ZERO).seconds());
    assert!((later - at_once - 2.4).abs() < 0.11, "{at_once} s, {later} s");
    let (never, near, far) = q(Span::from_s(50));
    assert_eq!((never, near, far), (None, 1.0, 1.0), "no other aggregate is known");
}
