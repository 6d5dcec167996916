//! CSFQ shares a link as water fills vessels: flow i gets min(r_i, w_i alpha*), alpha* where the sum is C.
//!
//! Datagrams at constant rates, labelled by the labeller at each host's port. How near the shares come:
//!
//! - A kept packet is a draw with probability alpha/L, so n kept packets have a relative error of at most 1/sqrt(n).
//! - The label of Poisson arrivals is too large by (m + 1) ln(1 + 1/m) - 1, about 1/2m, with m = lambda K arrivals in an
//!   averaging time, and has the relative variance 1/2m; the two nearly cancel in E(1/L), and 1/m bounds what is left.
//!   Even spacing has less.
//! - Packets of C leave F with a relative error s of at most sqrt(1/2M), M = C K_alpha / packet (that of Poisson arrivals).
//!   The iteration x' = x - (g + n), x = ln(alpha/alpha*), with g what the average F holds of x and n its error (each
//!   decays by e^(-K_c/K_alpha) from window to window), has the standard deviation 1.53 s (its covariance, solved). Without
//!   any queue the link would lose E max(0, -x) = 0.4 x 1.53 s of C; the queue only makes that less.

use crate::common::net::{self, Net, cbr, poisson};
use perhop_core::aqm::{AqmParams, csfq};
use perhop_core::conditioner::ConditionerParams;
use perhop_core::conditioner::rate_labeller::{self, FirstLabel};
use perhop_core::port::Limit;
use perhop_core::port::edge::StageSpec;
use perhop_core::units::{BitRate, Bytes, Length, Span};
use perhop_sim::Outcome;
use perhop_sim::traffic::TrafficParams;

const PACKET: u64 = 1000;
const SECONDS: u64 = 120;
const K: Span = Span::from_ms(100);
const K_ALPHA: Span = Span::from_ms(200);
const CAPACITY: f64 = 10e6;

/// A flow: Mbit/s, and its weight; without one it has no label.
#[derive(Clone, Copy, Debug)]
struct Flow(f64, Option<f64>);

/// How packets are spaced.
type Spacing = fn(BitRate, u64) -> TrafficParams;

const SPACINGS: [Spacing; 2] = [jittered, poisson];

fn jittered(rate: BitRate, size: u64) -> TrafficParams {
    let TrafficParams::Cbr(even) = cbr(rate, size) else { unreachable!() };
    let half = perhop_core::units::Probability::new(0.5).unwrap();
    TrafficParams::Cbr(perhop_sim::traffic::cbr::Params { jitter: half, random_phase: true, ..even })
}

fn mbps(rate: f64) -> BitRate {
    BitRate::bps((rate * 1e6) as u64)
}

fn labeller(name: &str, weight: f64) -> StageSpec {
    let expire = Span::from_s(60);
    let params = rate_labeller::Params { k: K, first_label: FirstLabel::Zero, weight, link: None, expire };
    net::stage(name, ConditionerParams::RateLabeller(params))
}

/// A link with CSFQ as in the paper's runs: 64 kB, of which 16 kB do not count as congestion.
fn shared(net: &mut Net, ends: [usize; 2], rate: BitRate) {
    net.duplex(ends, rate, Span::from_ms(1));
    let there = net.plan.links.len() - 2;
    let link = &mut net.plan.links[there];
    let threshold = Length::Percent(25.0);
    let params = csfq::Params { k_alpha: K_ALPHA, k_c: Span::from_ms(100), threshold, kdec: 29, ecn: false };
    let queue = &mut link.queues[0];
    (queue.aqm, queue.limit) = (AqmParams::Csfq(params), Limit::Bytes(64_000));
    queue.scope.limit = Some(Length::Bytes(Bytes::new(64_000)));
}

/// Flow number `i` of `net` from its own host, where it is labelled, to `to`, entering at `router`.
fn enter(net: &mut Net, [host, router, to]: [usize; 3], Flow(rate, weight): Flow, spacing: Spacing) {
    let name = format!("label {host}");
    net.duplex([host, router], BitRate::mbps(1000), Span::from_us(100));
    let there = net.plan.links.len() - 2;
    net.plan.links[there].edge = weight.map(|weight| labeller(&name, weight)).into_iter().collect();
    net.traffic([host, to], spacing(mbps(rate), PACKET));
}

fn empty(nodes: usize) -> Net {
    let warmup = Span::from_s(5);
    let mut net = Net::new(nodes, warmup + Span::from_s(SECONDS));
    net.plan.warmup = warmup;
    net
}

/// All flows over one link of [`CAPACITY`].
fn run(flows: &[Flow], spacing: Spacing) -> Outcome {
    let mut net = empty(flows.len() + 2);
    shared(&mut net, [0, 1], mbps(CAPACITY / 1e6));
    flows.iter().zip(2..).for_each(|(flow, host)| enter(&mut net, [host, 0, 1], *flow, spacing));
    net.run()
}

/// Mbit/s that arrived, by flow.
fn delivered(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|f| f.counts.delivered.bytes as f64 * 8.0 / SECONDS as f64 / 1e6).collect()
}

/// min(r_i, w_i alpha*), Mbit/s: the flow with the least demand by weight is served first, the rest goes to the others.
/// Flows without a label get all they send first.
fn water_filling(flows: &[Flow], capacity: f64) -> Vec<f64> {
    let mut shares: Vec<f64> = flows.iter().map(|f| f.0).collect();
    let mut left = capacity - flows.iter().filter(|f| f.1.is_none()).map(|f| f.0).sum::<f64>();
    let mut open: Vec<_> = (0..flows.len()).filter_map(|i| Some((i, flows[i].0, flows[i].1?))).collect();
    open.sort_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
    while let Some((i, rate, weight)) = open.first().copied() {
        let alpha = left / open.iter().map(|f| f.2).sum::<f64>();
        shares[i] = rate.min(weight * alpha);
        left -= shares[i];
        open.remove(0);
    }
    shares
}

/// What the link may lose.
fn loss_of_capacity(capacity: f64) -> f64 {
    let packets = capacity / 8.0 * K_ALPHA.seconds() / PACKET as f64;
    0.4 * 1.53 * (1.0 / (2.0 * packets)).sqrt()
}

/// Four standard errors of the draws, and the labels' bias, of a flow of which `share` of `rate` (Mbit/s) is kept.
fn error_of_share(rate: f64, share: f64) -> f64 {
    let packets = |mbps: f64, seconds: f64| mbps * 1e6 / 8.0 / PACKET as f64 * seconds;
    4.0 / packets(share, SECONDS as f64).sqrt() + 1.0 / packets(rate, K.seconds())
}

fn assert_shares(flows: &[Flow], expected: &[f64], got: &[f64]) {
    for ((Flow(rate, _), expected), got) in flows.iter().zip(expected).zip(got) {
        let error = loss_of_capacity(CAPACITY) + error_of_share(*rate, *expected);
        assert!((got / expected - 1.0).abs() <= error, "{got:.3}, not {expected:.3} to {error:.3}: {flows:?}");
    }
}

/// Flows of the same weight, of different ones, faster and slower than their shares; weights far below and above 1.
#[test]
fn shares_are_max_min_fair_by_weight() {
    let weighted = |rates: &[f64], weights: &[f64]| -> Vec<Flow> {
        rates.iter().zip(weights).map(|(rate, weight)| Flow(*rate, Some(*weight))).collect()
    };
    let cases = [
        weighted(&[5.0; 4], &[1.0; 4]),
        weighted(&[3.0, 4.0, 6.0, 12.0], &[1.0; 4]),
        weighted(&[5.0; 4], &[1.0, 2.0, 3.0, 4.0]),
        // The last needs half of its share: it gets that, the others 4/3 of theirs.
        weighted(&[5.0, 5.0, 5.0, 2.0], &[1.0, 2.0, 3.0, 4.0]),
        weighted(&[0.4, 9.0, 9.0], &[1.0, 1.0, 3.0]),
        // A share of one unit of weight of 10 C, labels above that.
        weighted(&[5.0; 4], &[0.01, 0.02, 0.03, 0.04]),
        // A share of one unit of weight below one packet a second.
        weighted(&[5.0; 4], &[1000.0, 2000.0, 3000.0, 4000.0]),
    ];
    for flows in &cases {
        let expected = water_filling(flows, CAPACITY / 1e6);
        for spacing in SPACINGS {
            let got = delivered(&run(flows, spacing));
            println!("{flows:?}: {got:.3?}, water {expected:.3?}");
            assert_shares(flows, &expected, &got);
            let used = got.iter().sum::<f64>() * 1e6 / CAPACITY;
            assert!(used > 1.0 - loss_of_capacity(CAPACITY), "{used} of the link used: {flows:?}");
        }
    }
}

/// At 0.6 C everything passes: A, of relative error sqrt(1/2M) = 6 % with M = 150, would have to be wrong by two thirds.
#[test]
fn an_uncongested_link_drops_nothing() {
    let flows = [Flow(3.0, Some(1.0)), Flow(2.0, Some(2.0)), Flow(1.0, None)];
    for spacing in SPACINGS {
        let outcome = run(&flows, spacing);
        assert!(outcome.flows.iter().all(|f| f.counts.dropped.packets == 0), "{:?}", outcome.flows);
    }
}

/// An unlabelled flow gets all it sends, and the labelled share the rest by weight.
#[test]
fn the_labelled_share_what_the_unlabelled_leave() {
    let flows = [Flow(5.0, Some(1.0)), Flow(5.0, Some(2.0)), Flow(4.0, None)];
    let expected = water_filling(&flows, CAPACITY / 1e6);
    assert_eq!(expected, [2.0, 4.0, 4.0]);
    for spacing in SPACINGS {
        let got = delivered(&run(&flows, spacing));
        println!("{got:.3?}");
        assert_shares(&flows, &expected, &got);
    }
}

/// Two hops in a row. A and B, 10 Mbit/s each, share 10; then A, of which 5 are left, shares 8 with C, which sends 5:
/// 4 each, as A's label says 5 and no more 10 there. If it still said 10, C would get 5 and A 3.
#[test]
fn the_second_hop_sees_the_rate_that_the_first_left() {
    for spacing in SPACINGS {
        // Hops 0 - 1 - 2; B leaves at 1 for 3; hosts 4 to 6.
        let mut net = empty(7);
        shared(&mut net, [0, 1], BitRate::mbps(10));
        shared(&mut net, [1, 2], BitRate::mbps(8));
        net.duplex([1, 3], BitRate::mbps(1000), Span::from_us(100));
        let fast = Flow(10.0, Some(1.0));
        enter(&mut net, [4, 0, 2], fast, spacing);
        enter(&mut net, [5, 0, 3], fast, spacing);
        enter(&mut net, [6, 1, 2], Flow(5.0, Some(1.0)), spacing);
        let got = delivered(&net.run());
        println!("{got:.3?}");
        // The errors of both hops add up.
        let error = |rate, share| error_of_share(rate, share) + loss_of_capacity(8e6) + loss_of_capacity(10e6);
        for (got, (expected, error)) in
            got.iter().zip([(4.0, error(10.0, 4.0)), (5.0, error(10.0, 5.0)), (4.0, error(5.0, 4.0))])
        {
            assert!((got / expected - 1.0).abs() <= error, "{got:.3}, not {expected} to {error:.3}");
        }
    }
}
