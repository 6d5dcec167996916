//! What a source offers on average is what its page states, whatever its packets, bursts and laws.

use crate::common::net::{cbr, poisson, telnet, transfers, web};
use crate::stats;
use perhop_core::math::pow;
use perhop_core::params::ParamError;
use perhop_core::rng::Rng;
use perhop_core::units::{BitRate, Bytes, Packets, Probability, Span, Time};
use perhop_sim::traffic::law::{Drawn, Law, LawName};
use perhop_sim::traffic::transfers::Loop;
use perhop_sim::traffic::{self, Offer, Traffic as _, TrafficParams, TrafficScope, app_limited, on_off};

const SEGMENT: u64 = 1000;
const RUNS: u32 = 300;
/// Bits are counted from here on, until as long again has passed.
const WARM: Span = Span::from_s(20);

fn scope() -> TrafficScope {
    let (largest, segment) = (traffic::LARGEST_PACKET, Bytes::new(SEGMENT));
    TrafficScope { largest, segment, senders: 1, source: 0, sources: 1 }
}

const fn bytes(offer: &Offer) -> u64 {
    match offer {
        Offer::Datagram(wire) | Offer::Replayed { wire, .. } => *wire as u64,
        Offer::Segments(segments) => *segments as u64 * SEGMENT,
        Offer::Write { .. } => SEGMENT,
        Offer::Transfer(bytes) => *bytes,
        Offer::Request(request) => request.object,
        Offer::Nothing | Offer::Endless => 0,
    }
}

/// Bits per second that one source offers after `WARM`, if all that it asks for is complete at once.
fn rate(params: &TrafficParams, run: u32) -> f64 {
    let (mut source, mut rng) = (params.build(&scope()).unwrap(), Rng::stream(1, run, "rates"));
    let (from, end) = (Time::ZERO + WARM, Time::ZERO + WARM + WARM);
    let (mut now, mut sum) = (source.first(Time::ZERO, &mut rng), 0);
    while now < end {
        let step = source.wake(now, &mut rng);
        sum += if now >= from { bytes(&step.offer) } else { 0 };
        let completes = matches!(step.offer, Offer::Request(_) | Offer::Transfer(_));
        let then = if completes { source.on_complete(now, &mut rng) } else { None };
        now = step.next.or(then).expect("it goes on");
    }
    sum as f64 * 8.0 / WARM.seconds()
}

/// Mean over all runs, and four standard errors of it.
fn measured(params: &TrafficParams) -> [f64; 2] {
    let rates: Vec<f64> = (0..RUNS).map(|run| rate(params, run)).collect();
    [stats::mean(&rates), 4.0 * (stats::variance(&rates) / f64::from(RUNS)).sqrt()]
}

/// A source of no randomness may be a packet away from its mean.
fn assert_mean(params: &TrafficParams, stated: f64, size: u64) {
    let [got, error] = measured(params);
    let packet = size as f64 * 8.0 / WARM.seconds();
    assert!((got - stated).abs() < error + packet, "{params:?}: {got} bit/s for {stated}, error {error}");
}

fn on_off(kbps: u64, size: u64, [on, off]: [Span; 2]) -> TrafficParams {
    TrafficParams::OnOff(on_off::Params { rate: BitRate::kbps(kbps), size: Bytes::new(size), on, off })
}

/// Renewal theory: in a time T a source is on for T on / (on + off) on average, with a variance of
/// 2 T on^2 off^2 / (on + off)^3 where both times are exponential. Bursts of 1/10 to 1000 packets' times, and no silence.
#[test]
fn on_off_has_its_mean_for_bursts_of_any_length() {
    let ms = |on, off| [Span::from_us(on), Span::from_us(off)];
    for [on, off] in [ms(8_000, 24_000), ms(400, 1_200), ms(4_000, 1_000), ms(4_000_000, 2_000_000), ms(8_000, 0)] {
        let params = on_off(1000, 500, [on, off]);
        let share = on.seconds() / (on + off).seconds();
        let [got, error] = measured(&params);
        let time = WARM.seconds() * f64::from(RUNS);
        let variance = 2.0 * pow(on.seconds() * off.seconds(), 2.0) / pow((on + off).seconds(), 3.0) / time;
        // Exact but for a packet's part at either end of a run.
        let within = 4.0 * 1e6 * variance.sqrt() + 2.0 * 4000.0 / WARM.seconds() / f64::from(RUNS).sqrt();
        assert!((got - 1e6 * share).abs() < within, "{on} on, {off} off: {got} bit/s, error {error} of {within}");
        assert!(error < 1.3 * within, "{on} on, {off} off: {error} is more than theory's {within}");
    }
}

fn law(law: LawName) -> Law<u32> {
    Law { law, mean: None, scale: None, shape: None, min: None, max: None }
}

fn users() -> TrafficParams {
    let objects = Law { min: Some(1), max: Some(4), ..law(LawName::Uniform) };
    let pages = Law { mean: Some(5), ..law(LawName::Exponential) };
    TrafficParams::Web(traffic::web::Params {
        pages: Box::new(Drawn::Law(pages)),
        objects: Box::new(Drawn::Law(objects)),
        session_gap: Some(Box::new(Drawn::Constant(Span::from_ms(900)))),
        request: Packets::new(1),
        ..web([1, 1], 2_500, Span::from_ms(100))
    })
}

/// A model and a rate that its page states, or `load` where it depends on its laws.
fn stated(name: &str) -> Option<(TrafficParams, f64)> {
    let gap = Span::from_ms(20);
    Some(match name {
        "cbr" => (cbr(BitRate::kbps(800), 300), 8e5),
        "poisson" => (poisson(BitRate::kbps(800), 300), 8e5),
        "on-off" => (on_off(1000, 700, [Span::from_ms(9), Span::from_ms(3)]), 7.5e5),
        "transfers" => (transfers(3_000, gap, Loop::Open), 1.2e6),
        "app-limited" => (TrafficParams::AppLimited(app_limited::Params { rate: BitRate::kbps(700) }), 7e5),
        "telnet" => (telnet(Drawn::Constant(1 << 30), gap), 4e5),
        // 2.5 objects of 3 segments on a page; 30 gaps of 10 ms in 20 pages, 100 ms or 900 ms between two.
        "web" => (users(), 2.5 * 24_000.0 / (0.1 + 0.8 / 5.5 + 0.015)),
        // Without a stated mean: bulk, and what a capture holds.
        "ftp" | "capture" | "quic" => return None,
        other => panic!("the tests do not know the traffic model {other}"),
    })
}

#[test]
fn every_model_has_the_mean_that_it_states() {
    for (params, mean) in traffic::NAMES.iter().filter_map(|name| stated(name)) {
        assert_mean(&params, mean, 3 * SEGMENT);
        if let Some(load) = params.build(&scope()).unwrap().load() {
            assert!((load / mean - 1.0).abs() < 1e-9, "{params:?}: {load} for {mean}");
        }
    }
    let closed = transfers(3_000, Span::from_ms(20), Loop::Closed);
    assert_mean(&closed, 1.2e6, 3_000);
}

#[test]
fn jitter_leaves_the_mean() {
    let (rate, size, jitter) = (BitRate::kbps(800), Bytes::new(300), Probability::new(0.7).unwrap());
    assert_mean(&TrafficParams::Cbr(traffic::cbr::Params { rate, size, jitter, random_phase: true }), 8e5, 300);
}

/// Gaps are whole nanoseconds, at least one: a rate that asks for less would be lower than stated.
#[test]
fn packets_are_a_nanosecond_apart() {
    let of = |rate| {
        let refused: [Option<ParamError>; 4] = [
            cbr(rate, 100).build(&scope()).err(),
            poisson(rate, 100).build(&scope()).err(),
            TrafficParams::OnOff(on_off::Params {
                rate,
                size: Bytes::new(100),
                on: Span::from_ms(1),
                off: Span::from_ms(1),
            })
            .build(&scope())
            .err(),
            TrafficParams::AppLimited(app_limited::Params { rate })
                .build(&TrafficScope { segment: Bytes::new(100), ..scope() })
                .err(),
        ];
        refused.map(|error| error.map(|it| it.field))
    };
    assert_eq!(of(BitRate::mbps(800_000)), [None; 4]);
    assert_eq!(of(BitRate::bps(800_000_000_001)), [Some("rate"); 4]);
}
