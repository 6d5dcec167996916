//! The invariants of PAM (specification section 1.2). The bucket bound and the flow ids are in `invariants`, the law's
//! shape is in the algorithm's own file.

use super::scope;
use crate::common::generate::{conditioner, quantity};
use crate::common::load::{Offered, SPACINGS, Source, Spacing, arrivals, gauge, green_by_flow, merged, pass, run};
use crate::common::stats::mean;
use perhop_core::Rng;
use perhop_core::conditioner::AnyConditioner;
use perhop_core::packet::{Colour, Packet};
use perhop_core::params::Tree;
use perhop_core::units::Time;
use proptest::prelude::*;

fn pam(more: &[(&'static str, Tree)]) -> AnyConditioner {
    let mut entries = vec![("cir", quantity("1Mbit/s")), ("cbs", quantity("100000B"))];
    entries.extend_from_slice(more);
    conditioner("pam", &entries).build(&scope()).unwrap()
}

fn token_bucket() -> AnyConditioner {
    let entries = [("cir", quantity("1Mbit/s")), ("cbs", quantity("100000B"))];
    conditioner("token-bucket", &entries).build(&scope()).unwrap()
}

fn rng(seed: u64) -> Rng {
    Rng::stream(seed, 0, "marker")
}

/// Ten flows of 0.1 to 1 Mbit/s against CIR = 1 Mbit/s.
fn ten(spacing: Spacing) -> Vec<Source> {
    (0..10).map(|i| Source::new(i, f64::from(i + 1) * 1e5, spacing)).collect()
}

proptest! {
    /// Invariant 2: a threshold beyond the bucket makes everything OUT ...
    #[test]
    fn beyond_the_bucket_all_is_out(load in arrivals(200), seed in any::<u64>()) {
        let mut marker = pam(&[("min-th", quantity("100001B")), ("max-th", quantity("200000B"))]);
        prop_assert!(run(&mut marker, &load, &mut rng(seed)).iter().all(|p| p.colour == Colour::Red));
    }

    /// ... and one that no level is below makes it a token bucket, packet for packet.
    #[test]
    fn at_no_threshold_it_is_a_token_bucket(load in arrivals(400), seed in any::<u64>()) {
        let mut marker = pam(&[("min-th", quantity("0B")), ("max-th", quantity("0B"))]);
        let colours = |packets: Vec<Packet>| packets.iter().map(|p| p.colour).collect::<Vec<_>>();
        let bucket = run(&mut token_bucket(), &load, &mut rng(0));
        prop_assert_eq!(colours(run(&mut marker, &load, &mut rng(seed))), colours(bucket));
    }
}

/// Invariant 4: all flows have the same IN fraction, |f_i/f - 1| <= 0.05 + 3 sqrt((1 - f)/(N_i f)).
#[test]
fn in_is_proportional() {
    for spacing in [Spacing::Jittered, Spacing::Poisson] {
        for seed in 1..4 {
            let load = merged(&ten(spacing), 40.0, seed);
            let counts = green_by_flow(&load, &run(&mut pam(&[]), &load, &mut rng(seed)), 10);
            let f = counts.iter().map(|c| c.1).sum::<f64>() / counts.iter().map(|c| c.0).sum::<f64>();
            for (i, (n, green)) in counts.into_iter().enumerate() {
                let tolerance = 0.05 + 3.0 * ((1.0 - f) / (n * f)).sqrt();
                assert!(
                    (green / n / f - 1.0).abs() <= tolerance,
                    "{spacing:?} seed {seed} flow {i}: {} {f}",
                    green / n
                );
            }
        }
    }
}

/// Mean length of the runs of OUT packets of flow 0, and its OUT fraction.
fn out_runs(marker: &mut AnyConditioner, load: &[Offered], seed: u64) -> (f64, f64) {
    let out: Vec<bool> =
        run(marker, load, &mut rng(seed)).iter().filter(|p| p.flow.0 == 0).map(|p| p.colour == Colour::Red).collect();
    let runs = out.iter().enumerate().filter(|&(i, &red)| red && (i == 0 || !out[i - 1])).count();
    let red = out.iter().filter(|&&red| red).count();
    (red as f64 / runs as f64, red as f64 / out.len() as f64)
}

/// Invariant 5: at the same OUT fraction PAM's runs of OUT packets of a flow are shorter than the token bucket's,
/// where packets come in bursts: the bucket serves the head of a burst and refuses its tail, PAM mixes. (Against one
/// smooth source it is the other way round: a bucket that serves each fifth packet has runs of 4, independent draws
/// 1/(1 - .8).) 1.5 times as long is asked for: ten packets a burst, two of them IN, are a run of 8 behind a bucket.
#[test]
fn runs_of_out_are_shorter_than_a_token_buckets() {
    for seed in 1..6 {
        let load = merged(&[Source::new(0, 5e6, Spacing::Bursty)], 40.0, seed);
        let (pam_run, pam_out) = out_runs(&mut pam(&[]), &load, seed);
        let (bucket_run, bucket_out) = out_runs(&mut token_bucket(), &load, seed);
        assert!((pam_out - bucket_out).abs() < 0.01, "{pam_out} {bucket_out}");
        assert!(pam_run * 1.5 < bucket_run, "seed {seed}: {pam_run} {bucket_run}");
    }
}

/// Invariant 7: with load above 1.2 CIR at least 0.95 CIR is IN, for any spacing; far below CIR all of it.
#[test]
fn tokens_are_not_wasted() {
    for spacing in SPACINGS {
        for load_mbit in [1.3, 2.0, 5.0] {
            let load = merged(&[Source::new(0, load_mbit * 1e6, spacing)], 40.0, 3);
            let out = run(&mut pam(&[]), &load, &mut rng(3));
            let green: f64 = out.iter().filter(|p| p.colour == Colour::Green).map(|p| f64::from(p.size)).sum();
            assert!(green >= 0.95 * 125_000.0 * 40.0, "{spacing:?} {load_mbit}: {}", green / 40.0);
        }
        let load = merged(&[Source::new(0, 2e5, spacing)], 40.0, 3);
        let out = run(&mut pam(&[]), &load, &mut rng(3));
        assert!(out.iter().all(|p| p.colour == Colour::Green), "{spacing:?}");
    }
}

/// The fixed point: x* = min_th + (P_max - (1 - CIR/load)) (max_th - min_th)/(P_max - P_min). The time average of x is
/// within 5 % of the thresholds' distance: x wanders by the draws (w = 0.02 averages 50 samples of a level that itself
/// moves by single packets, 1 % of CBS each) and 38 s hold hundreds of such memories.
#[test]
fn the_average_settles_where_the_law_says() {
    for (load_mbit, p_min, p_max) in [(2.0, 0.0, 1.0), (5.0, 0.0, 1.0), (5.0, 0.2, 1.0), (2.0, 0.0, 0.8)] {
        let more = [("p-min", Tree::Float(p_min)), ("p-max", Tree::Float(p_max))];
        let mut marker = pam(&more);
        let mut draws = rng(9);
        let mut samples = Vec::new();
        for offered in merged(&[Source::new(0, load_mbit * 1e6, Spacing::Jittered)], 40.0, 9) {
            pass(&mut marker, &offered, &mut draws);
            if offered.at.seconds() > 2.0 {
                samples.push(gauge(&marker, offered.at, "average_bytes"));
            }
        }
        let expected = 20_000.0 + (p_max - (1.0 - 1.0 / load_mbit)) * 60_000.0 / (p_max - p_min);
        assert!(
            (mean(&samples) - expected).abs() < 3_000.0,
            "{load_mbit} {p_min} {p_max}: {} {expected}",
            mean(&samples)
        );
    }
}

/// A shallow bucket with a slow average: packets chosen IN find no token, and are counted (the stability note).
#[test]
fn forced_out_is_counted() {
    let forced = |weight: f64| {
        let entries = [("cir", quantity("500kbit/s")), ("cbs", quantity("12500B")), ("weight", Tree::Float(weight))];
        let mut marker = conditioner("pam", &entries).build(&scope()).unwrap();
        let sources = [1e6, 4e6, 2e6].map(|rate| Source::new((rate / 1e6) as u32, rate, Spacing::Jittered));
        let load = merged(&sources, 40.0, 1);
        run(&mut marker, &load, &mut rng(1));
        gauge(&marker, load.last().unwrap().at, "forced_out_packets")
    };
    let counts = [0.002, 0.02, 1.0].map(forced);
    assert!(counts[0] > 2.0 * counts[1] && counts[1] > 2.0 * counts[2], "{counts:?}");
    assert_eq!(counts[2], 0.0);
}

/// After a long silence the bucket is full; virtual samples bring the average there, `none` leaves it stale.
#[test]
fn idle_time_refreshes_the_average() {
    let busy = merged(&[Source::new(0, 5e6, Spacing::Jittered)], 5.0, 1);
    let after = |idle: &str, more: Option<(&'static str, Tree)>| {
        let mut entries = vec![("idle", quantity(idle))];
        entries.extend(more);
        let mut marker = pam(&entries);
        run(&mut marker, &busy, &mut rng(1));
        let stale = gauge(&marker, busy.last().unwrap().at, "average_bytes");
        let late = Offered { at: Time::from_ns(60_000_000_000), ..busy[0] };
        pass(&mut marker, &late, &mut rng(2));
        (stale, gauge(&marker, late.at, "average_bytes"))
    };
    let (stale, x) = after("none", None);
    assert!((x - (stale + 0.02 * (100_000.0 - stale))).abs() < 1e-6);
    // 55 s at 1.6 ms are 34 000 virtual samples: what is left is 0.98^34000 < e^-680.
    assert_eq!(after("virtual-samples", None).1, 100_000.0);
    let (stale, x) = after("time", Some(("tau", quantity("20s"))));
    let left = (100_000.0 - x) / (100_000.0 - stale);
    let gap = 60.0 - busy.last().unwrap().at.seconds();
    assert!((left - perhop_core::math::exp(-gap / 20.0)).abs() < 1e-9, "{left}");
}

/// Uniformised, the same OUT fraction has shorter runs of OUT: drops are spread.
#[test]
fn uniformising_spreads() {
    let load = merged(&[Source::new(0, 5e6, Spacing::Jittered)], 40.0, 2);
    let plain = out_runs(&mut pam(&[]), &load, 2);
    let even = out_runs(&mut pam(&[("uniformise", Tree::Bool(true))]), &load, 2);
    assert!((plain.1 - even.1).abs() < 0.01 && even.0 < plain.0, "{plain:?} {even:?}");
}

/// By hand, CBS/CIR = 0.8 s: a gap of exactly that length is an ordinary one and enters the spacing s; one nanosecond more is
/// an idle time of gap/s virtual samples. A retune to another weight keeps x and s. Columns: gap in ns, weight from then
/// on, whether the gap is idle.
#[test]
fn virtual_samples_by_hand() {
    let params = |weight| {
        let entries = [("cir", quantity("1Mbit/s")), ("cbs", quantity("100000B")), ("weight", Tree::Float(weight))];
        conditioner("pam", &entries)
    };
    let packet = Packet { size: 1000, ..Packet::default() };
    let (mut marker, mut now) = (params(0.001).build(&scope()).unwrap(), 0);
    for _ in 0..50 {
        pass(&mut marker, &Offered { at: Time::ZERO, packet }, &mut rng(1));
    }
    // 49 gaps of 0 have set s to 0.
    let (mut x, mut s) = (gauge(&marker, Time::ZERO, "average_bytes"), 0.0);
    assert!(x < 100_000.0);
    for (gap, w, idle) in [
        (10_000_000, 0.001, false),
        (800_000_000, 0.001, false),
        (800_000_001, 0.001, true),
        (700_000_000, 0.01, false),
        (900_000_000, 0.01, true),
    ] {
        marker.retune(Time::from_ns(now), &params(w), &scope()).unwrap();
        now += gap;
        let at = Time::from_ns(now);
        let level = gauge(&marker, at, "bucket_bytes");
        pass(&mut marker, &Offered { at, packet }, &mut rng(1));
        let gap = gap as f64 / 1e9;
        if idle {
            x = level + (x - level) * perhop_core::math::pow(1.0 - w, gap / s);
        } else {
            s += w * (gap - s);
        }
        x += w * (level - x);
        let got = gauge(&marker, at, "average_bytes");
        assert!((got / x - 1.0).abs() < 1e-12, "{gap}: {got} {x}");
    }
}

/// The first gap is the first s: packets 1 ms apart, then 1 s of silence, are 1000 virtual samples.
#[test]
fn the_first_gap_sets_the_spacing() {
    let mut marker = pam(&[("weight", Tree::Float(0.001)), ("min-th", quantity("0B")), ("max-th", quantity("0B"))]);
    let packet = Packet { size: 90_000, ..Packet::default() };
    let mut x = 100_000.0;
    for (ms, virtual_samples) in [(0, 0.0), (1, 0.0), (1001, 1000.0)] {
        let at = Time::from_ns(ms * 1_000_000);
        let level = gauge(&marker, at, "bucket_bytes");
        pass(&mut marker, &Offered { at, packet }, &mut rng(1));
        x = level + (x - level) * perhop_core::math::pow(0.999, virtual_samples);
        x += 0.001 * (level - x);
        let got = gauge(&marker, at, "average_bytes");
        assert!((got / x - 1.0).abs() < 1e-12, "{ms}: {got} {x}");
    }
}

/// A bucket made shallower takes the average with it: no average is above CBS.
#[test]
fn a_shallower_bucket_lowers_the_average() {
    let mut marker = pam(&[]);
    let shallow = conditioner("pam", &[("cir", quantity("1Mbit/s")), ("cbs", quantity("10000B"))]);
    marker.retune(Time::ZERO, &shallow, &scope()).unwrap();
    assert_eq!(gauge(&marker, Time::ZERO, "average_bytes"), 10_000.0);
}
