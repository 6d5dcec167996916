//! The spacing of drops under a constant average.
//!
//! With wq = 1 the average is the queue, held at 1 packet; min 0, max 16 and max-p 1 make p_b = 1/16 exactly.

use super::support::{self, built, common, packets, profile};
use perhop_core::Rng;
use perhop_core::aqm::early::{Beyond, Common, Spacing};
use perhop_core::aqm::{AnyAqm, Aqm, AqmParams, Arrival, Backlog, red};
use perhop_core::math;
use perhop_core::packet::Packet;
use perhop_core::port::Turn;
use perhop_core::units::{Packets, Time};
use perhop_core::verdict::Verdict;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const P: f64 = 1.0 / 16.0;
/// Bound of a test with a fixed seed: a right program fails it for one seed in 10,000.
const ALPHA: f64 = 1e-4;

fn queue(common: Common) -> AnyAqm {
    built(&support::red(profile(packets(0), packets(16), 1.0), common))
}

/// p-value of the chi-square test that all are equally likely.
fn uniform_p(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|&c| math::pow(c as f64 - expected, 2.0) / expected).sum();
    ChiSquared::new(counts.len() as f64 - 1.0).unwrap().sf(statistic)
}

/// An arrival at a busy queue of `packets`.
fn finds(packets: u32) -> Arrival {
    let backlog = Backlog { packets, room: true, ..Backlog::default() };
    Arrival { now: Time::ZERO, backlog }
}

/// Arrivals until the next drop, that one included.
fn gap(aqm: &mut AnyAqm, rng: &mut Rng) -> usize {
    let drop = |_: &usize| aqm.on_arrival(Turn::testing(&finds(1)), &mut Packet::default(), rng) != Verdict::Pass;
    (1..).find(drop).unwrap()
}

/// With fewer than `min-waiting` packets waiting nothing is dropped, though the average is beyond its maximum.
#[test]
fn a_short_queue_is_spared() {
    let params = |min_waiting| {
        AqmParams::Red(red::Params {
            profile: profile(packets(1), packets(2), 1.0).into(),
            common: common(1.0, Spacing::Bernoulli),
            min_waiting: Packets::new(min_waiting),
            arithmetic: perhop_core::arithmetic::Arithmetic::Exact,
            adaptive: false,
        })
    };
    let dropped = |min_waiting, waiting| {
        let mut rng = Rng::stream(4, 0, "spared");
        built(&params(min_waiting)).on_arrival(Turn::testing(&finds(waiting)), &mut Packet::default(), &mut rng)
            != Verdict::Pass
    };
    assert_eq!([0, 1, 2, 3, 4].map(|waiting| dropped(0, waiting)), [false, false, true, true, true]);
    assert_eq!([0, 1, 2, 3, 4].map(|waiting| dropped(3, waiting)), [false, false, false, true, true]);
    assert_eq!([3, 4].map(|waiting| dropped(4, waiting)), [false, true]);
}

/// How often each gap of `range` occurred in `n`; any other gap is a failure.
fn counts(spacing: Spacing, range: std::ops::RangeInclusive<usize>, n: usize) -> Vec<u64> {
    let (mut aqm, mut rng) = (queue(common(1.0, spacing)), Rng::stream(4, 0, "gaps"));
    gap(&mut aqm, &mut rng);
    let mut counts = vec![0; range.end() - range.start() + 1];
    for _ in 0..n {
        let gap = gap(&mut aqm, &mut rng);
        assert!(range.contains(&gap), "gap {gap} outside {range:?}");
        counts[gap - range.start()] += 1;
    }
    counts
}

/// Between drops: 1 to 1/p - 1, see Deviations in `early/spacing.rs`.
#[test]
fn uniformised_gaps_are_uniform() {
    for spacing in [Spacing::Uniformised, Spacing::DsRed] {
        let p = uniform_p(&counts(spacing, 1..=15, 30_000));
        assert!(p > ALPHA, "{spacing:?}: {p}");
    }
}

/// After the average crossed the minimum: 1 to 1/p, as the paper derives.
#[test]
fn the_first_uniformised_gap_is_uniform() {
    let mut rng = Rng::stream(4, 1, "gaps");
    let mut counts = [0; 16];
    let fresh = queue(common(1.0, Spacing::Uniformised));
    for _ in 0..16_000 {
        counts[gap(&mut fresh.clone(), &mut rng) - 1] += 1;
    }
    assert!(uniform_p(&counts) > ALPHA, "{counts:?}");
}

#[test]
fn waiting_gaps_are_uniform_from_one_to_two_over_p() {
    let p = uniform_p(&counts(Spacing::Wait, 16..=31, 16_000));
    assert!(p > ALPHA, "{p}");
}

/// k drops in n arrivals: |k - n p| within 4 sqrt(n p (1 - p)), and as many gaps of 1 as p asks (independence).
#[test]
fn bernoulli_drops_at_its_rate() {
    let (mut aqm, mut rng) = (queue(common(1.0, Spacing::Bernoulli)), Rng::stream(4, 2, "gaps"));
    let drops = 20_000;
    let gaps: Vec<usize> = (0..drops).map(|_| gap(&mut aqm, &mut rng)).collect();
    let n = gaps.iter().sum::<usize>() as f64;
    let within = |k: f64, n: f64| (k - n * P).abs() < 4.0 * (n * P * (1.0 - P)).sqrt();
    assert!(within(f64::from(drops), n), "{drops} of {n}");
    let ones = gaps.iter().filter(|g| **g == 1).count();
    assert!(within(ones as f64, f64::from(drops)), "{ones} gaps of 1 in {drops}");
}

/// The guard: the average jumps while the count is large (15 x 5/16 > 1). RED drops at once; ds-red not until
/// the average leaves the ramp.
#[test]
fn ds_red_stops_where_red_drops_at_once() {
    for (spacing, dropped) in [(Spacing::Uniformised, 1000), (Spacing::DsRed, 0)] {
        let mut aqm = queue(common(1.0, spacing));
        let mut rng = (0..).map(|i| Rng::stream(4, i, "guard")).find(survives_15).unwrap();
        for _ in 0..15 {
            assert_eq!(aqm.on_arrival(Turn::testing(&finds(1)), &mut Packet::default(), &mut rng), Verdict::Pass);
        }
        let first = aqm.on_arrival(Turn::testing(&finds(5)), &mut Packet::default(), &mut rng);
        assert_eq!(first != Verdict::Pass, dropped > 0, "{spacing:?}");
        if dropped == 0 {
            let silent = |aqm: &mut AnyAqm, rng: &mut Rng| {
                (0..1000)
                    .all(|_| aqm.on_arrival(Turn::testing(&finds(5)), &mut Packet::default(), rng) == Verdict::Pass)
            };
            assert!(silent(&mut aqm, &mut rng));
            aqm.on_arrival(Turn::testing(&finds(16)), &mut Packet::default(), &mut rng);
            assert!(!silent(&mut aqm, &mut rng), "early drop is back after the average was beyond the ramp");
        }
    }
}

/// Whether a fresh RED lets 15 packets pass on these draws.
fn survives_15(rng: &Rng) -> bool {
    gap(&mut queue(common(1.0, Spacing::Uniformised)), &mut rng.clone()) > 15
}

/// The ramp, point by point, on max 16 and max-p 1/2: below, at, within, at max, within gentle, at twice max.
#[test]
fn the_ramp() {
    let p_at = |beyond, q| {
        let common = Common { beyond, ..common(1.0, Spacing::Bernoulli) };
        let mut aqm = built(&support::red(profile(packets(8), packets(16), 0.5), common));
        aqm.on_arrival(Turn::testing(&finds(q)), &mut Packet::default(), &mut Rng::stream(0, 0, "ramp"));
        let mut p = f64::NAN;
        aqm.gauges(Time::ZERO, &mut |name, value| p = if name == "drop_p" { value } else { p });
        p
    };
    for (q, p) in [(7, 0.0), (8, 0.0), (10, 0.125), (15, 0.4375), (16, 1.0), (40, 1.0)] {
        assert_eq!(p_at(Beyond::Drop, q), p, "{q}");
    }
    for (q, p) in [(7, 0.0), (15, 0.4375), (16, 0.5), (24, 0.75), (31, 0.96875), (32, 1.0)] {
        assert_eq!(p_at(Beyond::Gentle, q), p, "gentle {q}");
    }
}
