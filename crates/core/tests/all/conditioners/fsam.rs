//! The invariants of F-SAM (specification section 1.3). The bucket bound and the flow ids are in `invariants`.

use super::scope;
use crate::common::generate::{any_conditioner, conditioner, quantity};
use crate::common::load::{Offered, Source, Spacing, arrivals, gauge, green_by_flow, merged, pass};
use crate::common::stats::{jain, mean};
use perhop_core::Rng;
use perhop_core::conditioner::{AnyConditioner, ConditionerParams, LIST};
use perhop_core::packet::{Colour, Packet, flags};
use perhop_core::params::Tree;
use perhop_core::units::Time;
use proptest::prelude::*;

fn fsam(more: &[(&'static str, Tree)]) -> AnyConditioner {
    let mut entries = vec![("cir", quantity("500kbit/s")), ("cbs", quantity("100000B"))];
    entries.retain(|e| !more.iter().any(|m| m.0 == e.0));
    entries.extend_from_slice(more);
    conditioner("f-sam", &entries).build(&scope()).unwrap()
}

fn sources(rates: &[f64], spacing: Spacing) -> Vec<Source> {
    rates.iter().zip(0..).map(|(&rate, flow)| Source::new(flow, rate, spacing)).collect()
}

/// alpha* with sum min(r_i, alpha*) = CIR, by bisection.
fn fair_rate(rates: &[f64], cir: f64) -> f64 {
    let (mut low, mut high) = (0.0, cir);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        let total: f64 = rates.iter().map(|r| r.min(middle)).sum();
        if total < cir { low = middle } else { high = middle }
    }
    low
}

struct Steady {
    /// IN rate by flow, bit/s.
    shares: Vec<f64>,
    /// Fair rates seen at the packets, bit/s.
    alphas: Vec<f64>,
}

/// Runs 42 s of a load and looks at the last 40 (warm-up is 20 K_c).
fn steady(marker: &mut AnyConditioner, sources: &[Source], seed: u64) -> Steady {
    let load = merged(sources, 42.0, seed);
    let mut rng = Rng::stream(seed, 0, "marker");
    let (mut kept, mut marked, mut alphas) = (Vec::new(), Vec::new(), Vec::new());
    for offered in &load {
        let out = pass(marker, offered, &mut rng);
        if offered.at.seconds() >= 2.0 {
            kept.push(*offered);
            marked.push(out);
            alphas.push(8.0 * gauge(marker, offered.at, "fair_rate_bytes_s"));
        }
    }
    let green = green_by_flow(&kept, &marked, sources.len());
    Steady { shares: green.into_iter().map(|(_, green)| green * 8000.0 / 40.0).collect(), alphas }
}

/// Invariants 3 and 4: stationary flows with exact labels get min(r_i, alpha*): within 10 % where r_i is 25 % or more
/// away from alpha*, within 30 % where it is nearer; Jain's index of the shares divided by min(r_i, alpha*) is at least
/// 0.98; and sum min(r_i, alpha) stays within 10 % of CIR on average.
#[test]
fn shares_are_max_min_fair() {
    let ten: Vec<f64> = (1..=10).map(|i| f64::from(i) * 1e5).collect();
    for (rates, cir) in [(vec![1e6, 4e6, 2e6], "500kbit/s"), (ten, "1Mbit/s")] {
        let bit_s = cir.parse::<perhop_core::units::BitRate>().unwrap().bit_s() as f64;
        let fair = fair_rate(&rates, bit_s);
        for (spacing, overflow) in [(Spacing::Jittered, true), (Spacing::Poisson, true), (Spacing::Jittered, false)] {
            let mut marker = fsam(&[("cir", quantity(cir)), ("overflow", Tree::Bool(overflow))]);
            let got = steady(&mut marker, &sources(&rates, spacing), 1);
            let place = format!("{spacing:?} overflow {overflow} fair {fair}: {:?}", got.shares);
            for (rate, share) in rates.iter().zip(&got.shares) {
                let tolerance = if (rate / fair - 1.0).abs() > 0.25 { 0.10 } else { 0.30 };
                assert!((share / rate.min(fair) - 1.0).abs() <= tolerance, "{rate} {place}");
            }
            let normal: Vec<f64> = rates.iter().zip(&got.shares).map(|(rate, share)| share / rate.min(fair)).collect();
            assert!(jain(&normal) >= 0.98, "{place}");
            let sums: Vec<f64> = got.alphas.iter().map(|alpha| rates.iter().map(|r| r.min(*alpha)).sum()).collect();
            assert!((mean(&sums) / bit_s - 1.0).abs() <= 0.10, "{} {place}", mean(&sums));
        }
    }
}

/// Weighted F-SAM: labels r/w give shares in proportion to the weights where no flow is slower than its share.
#[test]
fn weights_set_the_shares() {
    let weights = [1.0, 2.0, 4.0];
    let mut load = merged(&sources(&[2e6; 3], Spacing::Jittered), 42.0, 4);
    for offered in &mut load {
        let weight = weights[offered.packet.flow.0 as usize];
        offered.packet.set_label((2e6 / 8.0 / weight) as f32);
    }
    let (mut marker, mut rng) = (fsam(&[]), Rng::stream(4, 0, "marker"));
    let out: Vec<Packet> = load.iter().map(|o| pass(&mut marker, o, &mut rng)).collect();
    let green = green_by_flow(&load, &out, 3);
    for (weight, (_, green)) in weights.iter().zip(&green) {
        let expected = weight / 7.0 * 2600.0 * 42.0 / 42.0;
        assert!((green / expected - 1.0).abs() <= 0.10, "{green:?} {expected}");
    }
}

/// Invariant 5: below CIR, with a bucket that holds the bursts, everything is IN after the start.
#[test]
fn uncongested_all_is_in() {
    for spacing in [Spacing::Strict, Spacing::Jittered, Spacing::Poisson] {
        let load = merged(&sources(&[1e5, 2e5, 1e5], spacing), 40.0, 6);
        let (mut marker, mut rng) = (fsam(&[]), Rng::stream(6, 0, "marker"));
        for offered in load {
            let colour = pass(&mut marker, &offered, &mut rng).colour;
            assert!(colour == Colour::Green || offered.at.seconds() < 1.0, "{spacing:?} at {}", offered.at);
        }
    }
}

/// Invariant 7, a known limitation: a sender that splits a flow in two gets twice the tokens. Against one other flow of the same
/// rate the split one has 2/3 instead of 1/2.
#[test]
fn splitting_a_flow_doubles_its_tokens() {
    let share = |rates: &[f64]| {
        let shares = steady(&mut fsam(&[]), &sources(rates, Spacing::Jittered), 8).shares;
        shares[1..].iter().sum::<f64>() / shares[0]
    };
    let (whole, split) = (share(&[2e6, 2e6]), share(&[2e6, 1e6, 1e6]));
    assert!((whole - 1.0).abs() < 0.10 && (split - 2.0).abs() < 0.20, "{whole} {split}");
}

fn any_fsam() -> BoxedStrategy<ConditionerParams> {
    any_conditioner(LIST.iter().find(|e| e.name == "f-sam").unwrap(), scope())
}

proptest! {
    /// Invariants 2 and 6: alpha is unknown (0) or in (0, CIR]; a flow not faster than alpha is limited by the bucket
    /// alone; a faster one is IN with alpha/L > 0, so with the smallest number drawn it is limited by the bucket too.
    #[test]
    fn the_filter_spares_slow_flows(params in any_fsam(), load in arrivals(300), seed in any::<u64>()) {
        let ConditionerParams::FSam(p) = &params else { unreachable!() };
        let mut marker = params.build(&scope()).unwrap();
        let mut rng = Rng::stream(seed, 0, "marker");
        for offered in &load {
            let alpha = gauge(&marker, offered.at, "fair_rate_bytes_s");
            prop_assert!((0.0..=p.cir.bytes_s()).contains(&alpha));
            let tokens = gauge(&marker, offered.at, "bucket_bytes") >= f64::from(offered.packet.size);
            let out = pass(&mut marker, offered, &mut rng);
            let label = f64::from(offered.packet.label().unwrap_or(f32::NAN));
            if label > 0.0 && label.is_finite() && (alpha == 0.0 || label <= alpha) {
                prop_assert_eq!(out.colour == Colour::Green, tokens);
            }
            prop_assert!(tokens || out.colour == Colour::Red);
        }
    }

    /// A retune keeps alpha as far as the new token rate allows.
    #[test]
    fn a_retune_keeps_the_fair_rate(old in any_fsam(), new in any_fsam(), load in arrivals(100), seed in any::<u64>()) {
        let mut marker = old.build(&scope()).unwrap();
        let mut rng = Rng::stream(seed, 0, "marker");
        for offered in &load {
            pass(&mut marker, offered, &mut rng);
        }
        let ConditionerParams::FSam(p) = &new else { unreachable!() };
        let now = load.last().unwrap().at;
        let before = gauge(&marker, now, "fair_rate_bytes_s");
        marker.retune(now, &new, &scope()).unwrap();
        let (cir, after) = (p.cir.bytes_s(), gauge(&marker, now, "fair_rate_bytes_s"));
        prop_assert_eq!(after, before.min(cir));
    }

    /// `relabel-in` cuts the label of IN packets to alpha, and touches nothing else.
    #[test]
    fn relabelling_cuts_to_the_fair_rate(params in any_fsam(), load in arrivals(200), seed in any::<u64>()) {
        let ConditionerParams::FSam(p) = params else { unreachable!() };
        let mut marker = ConditionerParams::FSam(perhop_core::conditioner::fsam::Params { relabel_in: true, ..p })
            .build(&scope()).unwrap();
        let mut rng = Rng::stream(seed, 0, "marker");
        for offered in load.iter().filter(|o| o.packet.label().is_some_and(|l| l > 0.0 && l.is_finite())) {
            let alpha = gauge(&marker, offered.at, "fair_rate_bytes_s") as f32;
            let out = pass(&mut marker, offered, &mut rng);
            let cut = out.colour == Colour::Green && alpha > 0.0;
            let before = offered.packet.label;
            prop_assert_eq!(out.label, if cut { before.min(alpha) } else { before });
        }
    }
}

/// A packet without a label: slow where the ingress is trusted, else as fast as the whole aggregate.
#[test]
fn packets_without_label() {
    let green = |trusted: bool| {
        let mut load = merged(&sources(&[1e6, 1e6], Spacing::Jittered), 20.0, 2);
        for offered in load.iter_mut().filter(|o| o.packet.flow.0 == 1) {
            offered.packet.flags &= !flags::LABELLED;
        }
        let (mut marker, mut rng) = (fsam(&[("trusted", Tree::Bool(trusted))]), Rng::stream(2, 0, "marker"));
        let out: Vec<Packet> = load.iter().map(|o| pass(&mut marker, o, &mut rng)).collect();
        green_by_flow(&load, &out, 2)
    };
    let (trusted, not) = (green(true), green(false));
    // Trusted: it passes the filter always and takes nearly all tokens. Not: L = A = 2 Mbit/s, half the odds of 1
    // Mbit/s.
    assert!(trusted[1].1 > 5.0 * trusted[0].1, "{trusted:?}");
    let odds = (not[1].1 / not[1].0) / (not[0].1 / not[0].0);
    assert!((odds - 0.5).abs() < 0.1, "{not:?}");
}

/// By hand: K_alpha = 200 ms, CIR = 62 500 B/s, a bucket of 2000 bytes. Three packets of one flow find tokens, none,
/// and then a fair rate. Columns: ms, colour, alpha after, bytes/s.
#[test]
fn the_first_fair_rate_by_hand() {
    let mut marker = fsam(&[("cbs", quantity("2000B"))]);
    let mut packet = Packet { size: 1500, ..Packet::default() };
    packet.set_label(150_000.0);
    for (ms, colour, alpha) in [
        // Alone: nothing measured yet.
        (0, Colour::Green, 0.0),
        // 500 + 62.5 tokens: none for it. 1500 bytes in 1 ms; more than thr = 500 are missing: alpha = CIR/2, then one
        // overflow takes 1 %.
        (1, Colour::Red, 31_250.0 * 0.99),
    ] {
        let now = Time::from_ns(ms * 1_000_000);
        let out = pass(&mut marker, &Offered { at: now, packet }, &mut Rng::stream(0, 0, "unused"));
        let got = gauge(&marker, now, "fair_rate_bytes_s");
        assert_eq!((out.colour, got), (colour, alpha), "{ms} ms");
    }
    assert_eq!(gauge(&marker, Time::ZERO, "forced_out_packets"), 1.0);
    // 3000 bytes were charged to the 1 ms, two packets accepted (a-rule).
    let expected = (1.0 - perhop_core::math::exp(-0.001 / 0.2)) * 3000.0 / 0.001;
    for name in ["arrival_rate_bytes_s", "accepted_rate_bytes_s"] {
        assert!((gauge(&marker, Time::ZERO, name) / expected - 1.0).abs() < 1e-12, "{name}");
    }
}

/// Windows end at exactly K_c = 100 ms. 80 packets of one instant empty most of the bucket, then small ones come each
/// 10 ms: the aggregate is congested at first, so alpha = CIR/2 holds until 100 ms and moves then; once A is below CIR
/// at some time, alpha takes the largest label (20 000 B/s) exactly 100 ms after that and not before.
#[test]
fn windows_end_on_time() {
    let mut marker = fsam(&[]);
    let mut rng = Rng::stream(1, 0, "marker");
    let mut send = |ms: u64, size: u32| {
        let mut packet = Packet { size, ..Packet::default() };
        packet.set_label(20_000.0);
        let at = Time::from_ns(ms * 1_000_000);
        pass(&mut marker, &Offered { at, packet }, &mut rng);
        ["fair_rate_bytes_s", "arrival_rate_bytes_s"].map(|name| gauge(&marker, at, name))
    };
    for _ in 0..80 {
        send(0, 1000);
    }
    let series: Vec<(u64, [f64; 2])> = (1..60).map(|i| (10 * i, send(10 * i, 100))).collect();
    let first = |found: &dyn Fn(&[f64; 2]) -> bool| series.iter().find(|(_, s)| found(s)).map(|(ms, _)| *ms);
    assert_eq!(first(&|s| s[0] != 31_250.0), Some(100));
    let relaxed = first(&|s| s[1] < 62_500.0).unwrap();
    assert!(relaxed > 200, "{relaxed}");
    assert_eq!(first(&|s| s[0] == 20_000.0), Some(relaxed + 100));
}

/// Overflow takes 1 % of alpha at most `kdec` times a window; a retune gives no new credits.
#[test]
fn overflow_credits_end() {
    let entries = [("cir", "500kbit/s"), ("cbs", "2000B")].map(|(field, text)| (field, quantity(text)));
    let params = conditioner("f-sam", &[&entries[..], &[("kdec", Tree::Integer(2))]].concat());
    let mut marker = params.build(&scope()).unwrap();
    let mut packet = Packet { size: 1500, ..Packet::default() };
    packet.set_label(1000.0);
    let alphas = (0..5).map(|ms| {
        let at = Time::from_ns(ms * 1_000_000);
        marker.retune(at, &params, &scope()).unwrap();
        pass(&mut marker, &Offered { at, packet }, &mut Rng::stream(0, 0, "unused"));
        gauge(&marker, at, "fair_rate_bytes_s")
    });
    let [once, twice] = [31_250.0 * 0.99, 31_250.0 * 0.99 * 0.99];
    assert_eq!(alphas.collect::<Vec<_>>(), [0.0, once, twice, twice, twice]);
}

/// The bucket is contended from a shortfall of exactly `thr` on. By hand: CIR 1000 B/s, CBS 4000 B. Two packets of 1000 B
/// leave 2000 B; 1 s later a third finds 3000 B and leaves a shortfall of 2000 B. Contended, alpha becomes known.
#[test]
fn the_bucket_is_contended_from_the_threshold_on() {
    for (thr, known) in [("2000B", true), ("2001B", false)] {
        let mut marker = fsam(&[("cir", quantity("8kbit/s")), ("cbs", quantity("4000B")), ("thr", quantity(thr))]);
        let mut rng = Rng::stream(1, 0, "marker");
        for s in [0, 0, 1] {
            let mut packet = Packet { size: 1000, ..Packet::default() };
            packet.set_label(1.0);
            pass(&mut marker, &Offered { at: Time::from_ns(s * 1_000_000_000), packet }, &mut rng);
        }
        assert_eq!(gauge(&marker, Time::ZERO, "fair_rate_bytes_s") > 0.0, known, "{thr}");
    }
}
