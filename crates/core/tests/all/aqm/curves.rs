//! RED by curves of points, marks apart from drops, the queue as it is for an average; RED in Linux's numbers.

use super::support::{self, Load, RATE, common, packets, profile};
use crate::common::port::Port;
use crate::oracle::red_linux::{Linux, Outcome};
use perhop_core::Rng;
use perhop_core::aqm::early::curve::{Interpolation, Point, Points};
use perhop_core::aqm::early::shape::{MarkRamp, Shape, Stated};
use perhop_core::aqm::early::{Beyond, Common, Spacing, Weight};
use perhop_core::aqm::{AqmParams, red, wred};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::math::power_of_two;
use perhop_core::packet::Colour;
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{Bytes, Length, Packets, Probability, Time};
use perhop_core::verdict::{Fate, Reason};
use proptest::prelude::*;

const LIMIT: u32 = 40;

fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

fn curve(points: &[(u32, f64)], interpolation: Interpolation) -> Shape {
    let points = points.iter().map(|(at, p)| Point { at: packets(*at), p: probability(*p) }).collect();
    Shape { drops: Stated::Curve(Points { points, interpolation }), marks: None }
}

fn red(profile: Shape, common: Common) -> AqmParams {
    let min_waiting = Packets::new(0);
    AqmParams::Red(red::Params { profile, common, min_waiting, arithmetic: Arithmetic::Exact, adaptive: false })
}

fn wred(profile: Shape, common: Common) -> AqmParams {
    let profiles = vec![wred::Class { filter: Default::default(), profile }];
    AqmParams::Wred(wred::Params { profiles, averages: perhop_core::aqm::early::Counted::Common, common })
}

/// Points that rise, the last of them above 0.
fn any_points() -> impl Strategy<Value = Vec<(u32, f64)>> {
    let point = (0u32..30, prop_oneof![1 => Just(0.0), 4 => 0.0..0.5f64, 1 => Just(1.0)]);
    (prop::collection::vec(point, 1..6), 0.01..=1.0f64).prop_map(|(points, last)| {
        let (mut at, mut p): (Vec<_>, Vec<_>) = points.into_iter().unzip();
        p.push(last);
        at.push(30);
        at.sort_unstable();
        p.sort_unstable_by(f64::total_cmp);
        at.into_iter().zip(p).collect()
    })
}

/// p of a queue: 1 means that all are dropped.
fn p_of(points: &[(u32, f64)], interpolation: Interpolation, queue: f64) -> f64 {
    let passed = points.iter().filter(|(at, _)| f64::from(*at) <= queue).count();
    match passed {
        0 => 0.0,
        n if n == points.len() || interpolation == Interpolation::Step => points[n - 1].1,
        n => {
            let ((x1, y1), (x2, y2)) = (points[n - 1], points[n]);
            y1 + (y2 - y1) * (queue - f64::from(x1)) / f64::from(x2 - x1)
        }
    }
}

/// What becomes of a packet that is drawn with p, and to which `early` is then done.
fn drawn(p: Option<f64>, early: Fate, room: bool, rng: &mut Rng) -> Fate {
    match p {
        Some(p) if rng.uniform() < p => early,
        _ if room => Fate::Queued,
        _ => Fate::Dropped(Reason::Overflow),
    }
}

fn load() -> impl Strategy<Value = Load> {
    support::load(&[Colour::Unmarked])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// RED and WRED draw by draw where the average is the queue and each packet is drawn for.
    #[test]
    fn a_curve_is_drawn_point_by_point(
        points in any_points(), step in any::<bool>(), ecn in any::<bool>(), marks in prop::option::of((0u32..20, 0u32..20, 0.0..1.0f64)),
        load in load(), seed in any::<u64>(),
    ) {
        let interpolation = if step { Interpolation::Step } else { Interpolation::Line };
        let marks = marks.filter(|_| ecn);
        let ramp = marks.map(|(min, more, p)| MarkRamp { min: packets(min), max: packets(min + more), max_p: probability(p) });
        let shape = Shape { marks: ramp, ..curve(&points, interpolation) };
        let common = Common { ecn, ..common(1.0, Spacing::Bernoulli) };
        for params in [red(shape.clone(), common.clone()), wred(shape, common)] {
            let mut rng = Rng::stream(seed, 0, "queue");
            let aqm = params.build(&support::scope(LIMIT)).unwrap();
            let mut port = Port::new(Gate::new(aqm, Limit::Packets(LIMIT), rng.clone()), RATE);
            let mut now = Time::ZERO;
            for (gap, packet) in &load {
                now += *gap;
                port.advance(now);
                let (queue, room) = (port.waiting().len(), port.waiting().len() < LIMIT as usize);
                let (p, capable) = (p_of(&points, interpolation, queue as f64), packet.ecn.capable());
                let early = if ecn && capable && room { Fate::Marked } else if ecn && capable { Fate::Dropped(Reason::Overflow) } else { Fate::Dropped(Reason::Early) };
                let expected = match marks.filter(|_| capable) {
                    _ if p >= 1.0 => Fate::Dropped(Reason::Forced),
                    Some((min, more, _)) if queue >= (min + more) as usize => early,
                    Some((min, more, top)) => {
                        let share = (queue as f64 - f64::from(min)) / f64::from(more);
                        drawn((queue >= min as usize).then_some(top * share), early, room, &mut rng)
                    }
                    None => drawn((queue as u32 >= points[0].0).then_some(p), early, room, &mut rng),
                };
                prop_assert_eq!(port.arrive(now, *packet), expected);
                if packet.size > 0 && matches!(params, AqmParams::Red(_)) {
                    prop_assert_eq!(port.gauge(now, "avg_queue_packets"), queue as f64);
                }
            }
        }
    }

    /// RED's ramp and its gentle variant are curves, with any weight and spacing.
    #[test]
    fn a_ramp_is_a_curve(
        numbers in support::any_numbers(), common in support::any_common(), load in load(),
    ) {
        let (min, max, p) = numbers;
        let plain = Common { beyond: Beyond::Drop, ..common.clone() };
        let end = if common.beyond == Beyond::Gentle { 2 * max } else { max };
        let points = [(min, 0.0), (max, p), (end, 1.0)];
        let ramp = red(profile(packets(min), packets(max), p).into(), common);
        let curve = red(curve(&points, Interpolation::Line), plain);
        prop_assert_eq!(support::run(&ramp, LIMIT, &load), support::run(&curve, LIMIT, &load));
    }

    /// Linux's RED, draw by draw, with bursts and idle time.
    #[test]
    fn linuxs_red_is_its_integers(
        numbers in (0u64..8000, 1u64..12_000, prop_oneof![9 => 0.001..1.0f64, 1 => Just(1.0)]), log in 1i32..10, mean in 100u64..1500, ecn in any::<bool>(),
        load in load(), seed in any::<u64>(),
    ) {
        let (min, width, p) = numbers;
        let bytes = |n| Length::Bytes(Bytes::new(n));
        let weight = Weight(power_of_two(-log));
        let common = Common { weight, mean_packet: Bytes::new(mean), spacing: Spacing::Uniformised, beyond: Beyond::Drop, ecn };
        let profile = profile(bytes(min), bytes(min + width), p).into();
        let params = AqmParams::Red(red::Params { profile, common, min_waiting: Packets::new(0), arithmetic: Arithmetic::Linux, adaptive: false });
        let scope = perhop_core::Scope { limit: Some(bytes(30_000)), ..support::scope(LIMIT) };
        let rng = Rng::stream(seed, 0, "queue");
        let mut port = Port::new(Gate::new(params.build(&scope).unwrap(), Limit::Bytes(30_000), rng.clone()), RATE);
        let mut linux = Linux::new([min, min + width], p, [log as u32, mean as u32], RATE.bytes_s(), rng);
        let mut now = Time::ZERO;
        for (gap, packet) in &load {
            now += *gap;
            port.advance(now);
            let backlog = port.backlog();
            let room = backlog.bytes + u64::from(packet.size) <= 30_000;
            let idle = backlog.idle_since.map(Time::ns);
            let marks = ecn && packet.ecn.capable();
            let expected = match linux.arrive(now.ns(), backlog.bytes, idle) {
                Outcome::Pass if room => Fate::Queued,
                Outcome::Drawn | Outcome::Forced if marks && room => Fate::Marked,
                Outcome::Drawn if !marks => Fate::Dropped(Reason::Early),
                Outcome::Forced if !marks => Fate::Dropped(Reason::Forced),
                _ => Fate::Dropped(Reason::Overflow),
            };
            prop_assert_eq!(port.arrive(now, *packet), expected);
            prop_assert_eq!(port.gauge(now, "avg_queue_bytes"), linux.average());
        }
    }
}

/// Every refusal of a curve, its code and what it says.
#[test]
fn refused() {
    let line = Interpolation::Line;
    let percent = |points: &[(f64, f64)]| {
        let points = points.iter().map(|(at, p)| Point { at: Length::Percent(*at), p: probability(*p) }).collect();
        Shape { drops: Stated::Curve(Points { points, interpolation: line }), marks: None }
    };
    let mixed = vec![
        Point { at: packets(5), p: probability(0.0) },
        Point { at: Length::Bytes(Bytes::new(9000)), p: probability(1.0) },
    ];
    let mixed = Shape { drops: Stated::Curve(Points { points: mixed, interpolation: line }), marks: None };
    let apart = |min, max| Shape {
        marks: Some(MarkRamp { min: packets(min), max: packets(max), max_p: probability(0.1) }),
        ..curve(&[(5, 0.0), (9, 1.0)], line)
    };
    let plain = common(1.0, Spacing::Bernoulli);
    let marking = Common { ecn: true, ..plain.clone() };
    let gentle = Common { beyond: Beyond::Gentle, ..plain.clone() };
    let faults = [
        (
            percent(&[(20.0, 0.0), (50.0, 0.2), (80.0, 0.1)]),
            &plain,
            "curve",
            "E214",
            "point 3 of `curve` has probability 0.1, below 0.2 of point 2",
        ),
        (
            percent(&[(50.0, 0.0), (20.0, 0.2)]),
            &plain,
            "curve",
            "E214",
            "point 2 of `curve` has length 20%, below 50% of point 1",
        ),
        (percent(&[(50.0, 0.0)]), &plain, "curve", "E201", "no point of `curve` has a probability above 0"),
        (
            percent(&[(100.0, 0.0), (100.0, 1.0)]),
            &plain,
            "curve",
            "E215",
            "`curve` 100% is not below the queue's limit 40p",
        ),
        (mixed, &plain, "curve", "E219", "`curve` is measured in bytes, the thresholds before it in packets"),
        (
            curve(&[(5, 0.0), (9, 1.0)], line),
            &gentle,
            "beyond",
            "E239",
            "`beyond` has no effect beside `curve`: its last point says what is beyond it",
        ),
        (apart(5, 6), &plain, "ecn-min", "E239", "`ecn-min` and `ecn-max` without `ecn`"),
        (apart(7, 6), &marking, "ecn-min", "E214", "`ecn-min` 7p is above `ecn-max` 6p"),
    ];
    for (shape, common, field, code, message) in faults {
        let error = red(shape, common.clone()).build(&support::scope(LIMIT)).unwrap_err();
        assert_eq!((error.field, error.code, &*error.message), (field, code, message));
    }
    assert!(red(apart(6, 6), marking).build(&support::scope(LIMIT)).is_ok());
}
