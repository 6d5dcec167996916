//! What PI-PAM promises: its level settles at the reference at any load, as fast as `response` says, and marks in proportion.
//! The bucket bound and the flow ids are in `invariants`.

use super::scope;
use crate::common::generate::{conditioner, quantity};
use crate::common::load::{Offered, SPACINGS, Source, Spacing, gauge, green_by_flow, merged, pass, run};
use crate::common::stats::mean;
use perhop_core::Rng;
use perhop_core::conditioner::AnyConditioner;
use perhop_core::packet::{Colour, Packet};
use perhop_core::params::Tree;
use perhop_core::units::Time;

/// 125000 bytes/s, and 100000 bytes: the bucket fills in .8 s, tau is .2 s.
fn with(more: &[(&'static str, Tree)]) -> AnyConditioner {
    let mut entries = vec![("cir", quantity("1Mbit/s")), ("cbs", quantity("100000B"))];
    entries.extend_from_slice(more);
    conditioner("pi-pam", &entries).build(&scope()).unwrap()
}

fn rng(seed: u64) -> Rng {
    Rng::stream(seed, 0, "marker")
}

/// Level and probability that each packet after `from` seconds finds.
fn found(marker: &mut AnyConditioner, load: &[Offered], from: f64) -> [Vec<f64>; 2] {
    let (mut draws, mut seen) = (rng(9), [Vec::new(), Vec::new()]);
    for offered in load {
        let level = gauge(marker, offered.at, "bucket_bytes");
        pass(marker, offered, &mut draws);
        if offered.at.seconds() > from {
            seen[0].push(level);
            seen[1].push(gauge(marker, offered.at, "out_probability"));
        }
    }
    seen
}

/// The reference is held at every load, where PAM's level is another at each, and P is what the load needs, 1 - CIR/load.
/// The draws move the level by sqrt(B C tau P (1 - P)/4), 1250 bytes at most, with a memory of about .4 s: the mean over
/// 38 s is within 200 bytes of the reference, and 1000 are allowed; of P within K/z times that, and .02 are.
#[test]
fn the_level_settles_at_the_reference() {
    for load_mbit in [1.2, 2.0, 5.0, 20.0] {
        for reference in [30.0, 50.0, 80.0] {
            let load = merged(&[Source::new(0, load_mbit * 1e6, Spacing::Jittered)], 40.0, 9);
            let mut marker = with(&[("reference", quantity(&format!("{reference}%")))]);
            let [level, p] = found(&mut marker, &load, 2.0).map(|values| mean(&values));
            assert!((level - reference * 1e3).abs() < 1000.0, "{load_mbit} {reference}: {level}");
            assert!((p - (1.0 - 1.0 / load_mbit)).abs() < 0.02, "{load_mbit} {reference}: {p}");
        }
    }
}

/// At 2 C the bucket is down to the reference after .4 s. From then on the error falls with the slower pole: 1/tau at A = C,
/// (k - sqrt(k^2 - k))/tau at A = k C, so .59/tau here. Ten tau later .3 % of 50 000 bytes is left at most; the draws of
/// packets of 100 bytes move the level by sqrt(B C tau P (1 - P)/4).
#[test]
fn it_settles_in_the_time_stated() {
    for (response, tau) in [("50ms", 0.05), ("200ms", 0.2), ("800ms", 0.8)] {
        let load = merged(&[Source { size: 100, ..Source::new(0, 2e6, Spacing::Strict) }], 0.4 + 20.0 * tau, 1);
        let [level, _] = found(&mut with(&[("response", quantity(response))]), &load, 0.4 + 10.0 * tau);
        let furthest = level.iter().map(|b| (b - 50_000.0).abs()).fold(0.0, f64::max);
        let sd = (100.0 * 125_000.0 * tau * 0.25 / 4.0).sqrt();
        assert!(furthest < 150.0 + 5.0 * sd, "{response}: {furthest}");
    }
}

/// All flows have the same IN fraction, |f_i/f - 1| <= 3 sqrt((1 - f)/(N_i f)) and 2 % for what P moves, where PAM needs 5 %.
#[test]
fn in_is_proportional() {
    let sources = |spacing| (0..10).map(|i| Source::new(i, f64::from(i + 1) * 1e5, spacing)).collect::<Vec<_>>();
    for spacing in [Spacing::Jittered, Spacing::Poisson] {
        for seed in 1..4 {
            let load = merged(&sources(spacing), 40.0, seed);
            let counts = green_by_flow(&load, &run(&mut with(&[]), &load, &mut rng(seed)), 10);
            let f = counts.iter().map(|c| c.1).sum::<f64>() / counts.iter().map(|c| c.0).sum::<f64>();
            for (i, (n, green)) in counts.into_iter().enumerate() {
                let tolerance = 0.02 + 3.0 * ((1.0 - f) / (n * f)).sqrt();
                assert!(
                    (green / n / f - 1.0).abs() <= tolerance,
                    "{spacing:?} seed {seed} flow {i}: {} {f}",
                    green / n
                );
            }
        }
    }
}

/// Above CIR what is IN is CIR, for any spacing, with what the bucket held beyond the reference; far below it everything.
#[test]
fn tokens_are_not_wasted() {
    for spacing in SPACINGS {
        for load_mbit in [1.1, 2.0, 5.0] {
            let load = merged(&[Source::new(0, load_mbit * 1e6, spacing)], 40.0, 3);
            let out = run(&mut with(&[]), &load, &mut rng(3));
            let green: f64 = out.iter().filter(|p| p.colour == Colour::Green).map(|p| f64::from(p.size)).sum();
            // 40 s, and half of the bucket; a burst of ten packets and a quarter second of what was not offered.
            assert!((green - 5_050_000.0).abs() < 40_000.0, "{spacing:?} {load_mbit}: {green}");
        }
        let load = merged(&[Source::new(0, 2e5, spacing)], 40.0, 3);
        let out = run(&mut with(&[]), &load, &mut rng(3));
        assert!(out.iter().all(|p| p.colour == Colour::Green), "{spacing:?}");
    }
}

/// By hand: K/z = 2/(.2 x 125000) = 8e-5 by byte, K = 2e-4 by byte and second. Columns: time in ms, the level found, P. What
/// is larger than the level is OUT in any case.
#[test]
fn probability_by_hand() {
    let mut marker = with(&[]);
    for (ms, level, size, p) in [
        (0, 100_000.0, 55_000, 0.0),
        (0, 45_000.0, 90_000, 0.4),
        // e = 4000, I = 2e-4 x .008 x 4000
        (8, 46_000.0, 90_000, 0.3264),
        // e = 3000, I = .0064 + 2e-4 x .008 x 3000
        (16, 47_000.0, 90_000, 0.2512),
        // Full for a minute: nothing is wound up.
        (60_000, 100_000.0, 75_000, 0.0),
        (60_000, 25_000.0, 90_000, 1.0),
    ] {
        let at = Time::from_ns(ms * 1_000_000);
        assert_eq!(gauge(&marker, at, "bucket_bytes"), level);
        pass(&mut marker, &Offered { at, packet: Packet { size, ..Packet::default() } }, &mut rng(1));
        let got = gauge(&marker, at, "out_probability");
        assert!((got - p).abs() < 1e-12, "{ms}: {got}");
    }
}

/// A nearly full bucket marks nothing, however the packets come: Hollot's sum, cut off at 0, does.
#[test]
fn a_full_bucket_marks_nothing() {
    let mut marker = with(&[]);
    for burst in 0..100 {
        for _ in 0..10 {
            let at = Time::from_ns(burst * 100_000_000);
            let packet =
                pass(&mut marker, &Offered { at, packet: Packet { size: 1000, ..Packet::default() } }, &mut rng(1));
            assert_eq!(packet.colour, Colour::Green);
        }
    }
}

/// With a loop slower than the bucket, packets chosen IN find no token when the load begins: they are counted.
#[test]
fn forced_out_is_counted() {
    let load = merged(&[Source::new(0, 5e6, Spacing::Jittered)], 10.0, 1);
    let forced = |response: &str| {
        let mut marker = with(&[("response", quantity(response))]);
        run(&mut marker, &load, &mut rng(1));
        gauge(&marker, load[load.len() - 1].at, "forced_out_packets")
    };
    assert_eq!(forced("200ms"), 0.0);
    assert!(forced("10s") > 100.0);
}
