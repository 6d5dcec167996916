//! Adaptive RED: its steps and their effect on drops as in its slow versions.

use super::support::{self, RATE, common, packets, profile};
use crate::common::port::Port;
use crate::oracle::aqm_early::{Oracle, Rule, Seen};
use crate::oracle::red_linux::{Linux, Outcome};
use perhop_core::Rng;
use perhop_core::aqm::early::{Beyond, Common, Spacing, Weight};
use perhop_core::aqm::{AqmParams, red};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::math::power_of_two;
use perhop_core::packet::Packet;
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{Bytes, Length, Packets, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use proptest::prelude::*;

const LIMIT: u32 = 60;
const SEED: u64 = 11;

fn rng() -> Rng {
    Rng::stream(SEED, 0, "queue")
}

fn adaptive(thresholds: [Length; 2], max_p: f64, common: Common, arithmetic: Arithmetic) -> AqmParams {
    let profile = profile(thresholds[0], thresholds[1], max_p).into();
    AqmParams::Red(red::Params { profile, common, min_waiting: Packets::new(0), arithmetic, adaptive: true })
}

/// Four seconds in which the load is half the link's rate, near it, or twice it, for a few hundred ms in turn.
fn load(seed: u64) -> Vec<(Span, Packet)> {
    let mut rng = Rng::stream(seed, 0, "load");
    let mut one = |mean: f64| {
        let size = 100 + (rng.uniform() * 1400.0) as u32;
        (Span::from_ns((rng.exponential(mean) * 1e9) as u64), Packet { size, ..Packet::default() })
    };
    let part = |i: usize| [0.32e-3, 0.6e-3, 1.3e-3, 0.6e-3, 0.3e-3][(seed as usize + i / 700) % 5];
    (0..6000).map(|i| one(part(i))).collect()
}

/// Runs a load; before each step and arrival the slow version is asked.
fn follow(
    port: &mut Port,
    load: &[(Span, Packet)],
    step: &mut dyn FnMut(&mut Port, Time),
    arrive: &mut dyn FnMut(&mut Port, Time, Packet),
) {
    let mut now = Time::ZERO;
    for (gap, packet) in load {
        now += *gap;
        while let Some(at) = port.poll_at().filter(|at| *at <= now) {
            port.advance(at);
            step(port, at);
        }
        port.advance(now);
        arrive(port, now, *packet);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_papers_step_by_step(
        numbers in (2u32..12, 2u32..25, prop_oneof![0.005..0.6f64, Just(0.01), Just(0.5)]), wq in prop::sample::select(vec![0.01, 0.1, 0.5]),
        gentle in any::<bool>(), seed in any::<u64>(),
    ) {
        let (min, width, max_p) = numbers;
        let beyond = if gentle { Beyond::Gentle } else { Beyond::Drop };
        let common = Common { beyond, ..common(wq, Spacing::Uniformised) };
        let params = adaptive([min, min + width].map(packets), max_p, common, Arithmetic::Exact);
        let rule = Rule { min: min.into(), max: (min + width).into(), max_p, names: vec![] };
        let oracle = Oracle {
            system: "red", rules: vec![rule], in_bytes: false, gentle, spacing: "uniformised", ecn: false, wq, mean_packet: 500.0,
            link: RATE.bytes_s(), rng: rng(), avg: vec![0.0], count: vec![-1], last_arrival: Time::ZERO, expectation: None,
        };
        let oracle = std::cell::RefCell::new(oracle);
        let gate = Gate::new(params.build(&support::scope(LIMIT)).unwrap(), Limit::Packets(LIMIT), rng());
        let mut steps = 0;
        follow(&mut Port::new(gate, RATE), &load(seed), &mut |port, at| {
            let idle_since = port.backlog().idle_since;
            oracle.borrow_mut().adapt(Seen { now: at, waiting: &[], idle_since, room: true });
            port.on_timer(at);
            steps += 1;
            assert_eq!(at.ns(), steps * 500_000_000);
            let max_p = oracle.borrow().rules[0].max_p;
            assert!((port.gauge(at, "max_p") - max_p).abs() < 1e-12, "step {steps}: {max_p}");
        }, &mut |port, now, packet| {
            let waiting: Vec<_> = port.waiting().iter().map(|it| it.1).collect();
            let (room, idle_since) = (waiting.len() < LIMIT as usize, port.backlog().idle_since);
            let expected = oracle.borrow_mut().arrive(Seen { now, waiting: &waiting, idle_since, room }, &packet);
            assert_eq!(port.arrive(now, packet), expected);
        });
        prop_assert!(steps >= 6, "{steps} steps");
    }

    #[test]
    fn linuxs_step_by_step(
        numbers in (2000u64..9000, 100u64..20_000, prop_oneof![0.005..0.6f64, Just(0.01)]), log in 1i32..8, seed in any::<u64>(),
    ) {
        let (min, width, max_p) = numbers;
        let bytes = |n| Length::Bytes(Bytes::new(n));
        let common = Common { weight: Weight(power_of_two(-log)), ..common(0.5, Spacing::Uniformised) };
        let params = adaptive([bytes(min), bytes(min + width)], max_p, common, Arithmetic::Linux);
        let scope = perhop_core::Scope { limit: Some(bytes(60_000)), ..support::scope(LIMIT) };
        let gate = Gate::new(params.build(&scope).unwrap(), Limit::Bytes(60_000), rng());
        let linux = Linux::new([min, min + width], max_p, [log as u32, 500], RATE.bytes_s(), rng());
        let (linux, mut steps) = (std::cell::RefCell::new(linux), 0);
        follow(&mut Port::new(gate, RATE), &load(seed), &mut |port, at| {
            linux.borrow_mut().adapt(at.ns(), port.backlog().idle_since.map(Time::ns));
            port.on_timer(at);
            steps += 1;
            assert_eq!(at.ns(), steps * 504_000_000);
            assert_eq!(port.gauge(at, "max_p"), linux.borrow().max_p(), "step {steps}");
        }, &mut |port, now, packet| {
            let backlog = port.backlog();
            let room = backlog.bytes + u64::from(packet.size) <= 60_000;
            let expected = match linux.borrow_mut().arrive(now.ns(), backlog.bytes, backlog.idle_since.map(Time::ns)) {
                Outcome::Drawn => Fate::Dropped(Reason::Early),
                Outcome::Forced => Fate::Dropped(Reason::Forced),
                Outcome::Pass if room => Fate::Queued,
                Outcome::Pass => Fate::Dropped(Reason::Overflow),
            };
            assert_eq!(port.arrive(now, packet), expected);
        });
        prop_assert!(steps >= 6, "{steps} steps");
    }
}

/// Where the load stays, the average comes to the middle of the ramp.
#[test]
fn the_average_comes_to_the_middle() {
    let thresholds = [packets(10), packets(30)];
    let params = adaptive(thresholds, 0.02, common(0.002, Spacing::Uniformised), Arithmetic::Exact);
    let gate = Gate::new(params.build(&support::scope(LIMIT)).unwrap(), Limit::Packets(LIMIT), rng());
    let (mut port, mut random, mut now) = (Port::new(gate, RATE), Rng::stream(1, 0, "load"), Time::ZERO);
    while now < Time::ZERO + Span::from_s(60) {
        now += Span::from_ns((random.exponential(0.72e-3) * 1e9) as u64);
        step(&mut port, now);
        port.arrive(now, Packet { size: 1000, ..Packet::default() });
    }
    // A tenth has to go. Gaps between 1 and 1/p_b are even, so p_b is 0.053, at averages of 18 to 22 with a max_p of 0.088 to 0.13.
    let (average, max_p) = (port.gauge(now, "avg_queue_packets"), port.gauge(now, "max_p"));
    assert!((17.0..23.0).contains(&average) && (0.08..0.14).contains(&max_p), "{average} {max_p}");
}

fn step(port: &mut Port, now: Time) {
    while let Some(at) = port.poll_at().filter(|at| *at <= now) {
        port.advance(at);
        port.on_timer(at);
    }
}

/// A step outside the bounds is not taken: max_p does not fall below 0.01 nor rise above 0.5 by more than one step.
#[test]
fn bounds_are_kept() {
    for (gap_us, bound) in [(50_000u64, 0.009..0.01), (100, 0.5..0.51)] {
        let params = adaptive([packets(5), packets(15)], 0.1, common(0.1, Spacing::Uniformised), Arithmetic::Exact);
        let gate = Gate::new(params.build(&support::scope(LIMIT)).unwrap(), Limit::Packets(LIMIT), rng());
        let (mut port, mut now) = (Port::new(gate, RATE), Time::ZERO);
        while now < Time::ZERO + Span::from_s(40) {
            now += Span::from_us(gap_us);
            step(&mut port, now);
            port.arrive(now, Packet { size: 1000, ..Packet::default() });
        }
        assert!(bound.contains(&port.gauge(now, "max_p")), "{}", port.gauge(now, "max_p"));
    }
}

/// Beside a curve there is no max-p to adapt, and of 0 no step is a share.
#[test]
fn refused() {
    let code = |keys: &[(&'static str, perhop_core::params::Tree)]| {
        use perhop_core::params::{Place, Problems, Reader, Tree};
        let Tree::Table(table) = Tree::table(keys.to_vec()) else { unreachable!() };
        let (mut problems, _) = (Problems::default(), ());
        let params =
            AqmParams::read("red", Place::default(), &mut Reader::new(&table, Place::default(), &mut problems));
        params.unwrap().build(&support::scope(LIMIT)).map(|_| ()).map_err(|error| (error.field, error.code))
    };
    use perhop_core::params::Tree;
    let text = |text: &str| Tree::Text(text.into());
    let ramp = [("min", text("5p")), ("max", text("15p")), ("adaptive", Tree::Bool(true))];
    assert_eq!(code(&ramp), Ok(()));
    let zero = [&ramp[..], &[("max-p", Tree::Float(0.0))]].concat();
    assert_eq!(code(&zero), Err(("max-p", "E201")));
    let point = |at: &str, p: f64| Tree::List(vec![text(at).into(), Tree::Float(p).into()]).into();
    let curve = Tree::List(vec![point("5p", 0.0), point("15p", 1.0)]);
    assert_eq!(code(&[("curve", curve), ("adaptive", Tree::Bool(true))]), Err(("adaptive", "E239")));
}
