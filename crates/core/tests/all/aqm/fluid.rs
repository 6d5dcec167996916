//! SVB, MSVB and SIO against their differential equations: Euler's rule over rates that change by steps, and the AQM fed
//! with so many packets of a few bytes that they are nearly a fluid.
//!
//! ```text
//! dVq/dt    = lambda - C while Vq > F              lambda_i = r_i (1 - p_i) where p drops, r_i where it marks
//! dVth_i/dt = alpha_i (phi_i C - lambda_i)         within [0, V0]
//! dq/dt     = lambda_in + lambda_out - C           the real queue, SIO only
//! ```
//!
//! How far apart they may be. What comes in a tick comes at once: two ticks of arrivals. And drops are drawn: r/epsilon packets
//! a second, each of variance epsilon^2 p (1 - p), against which p pulls back to the fluid at the rate r dp/dV, dp/dV = Vth/V^2.
//! So to first order the variance s of the difference follows ds/dt = r epsilon p (1 - p) - 2 s r Vth/V^2, all classes added; six
//! standard deviations are exceeded at one in 10^9 of the instants. What moves Vq by one moves Vth by alpha.

use super::support::{RATE, scope};
use crate::common::port::Port;
use perhop_core::Rng;
use perhop_core::aqm::cap::Cap;
use perhop_core::aqm::members::Member;
use perhop_core::aqm::sio::{self, Halving, Recovery};
use perhop_core::aqm::virtual_buffer::{Common, Counting};
use perhop_core::aqm::{AqmParams, msvb, svb};
use perhop_core::packet::{Colour, Ecn, Packet};
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{Bytes, Length, Probability, Span, Time};

/// Bytes of a packet, and the units that are: kB.
const SIZE: u32 = 2;
const EPSILON: f64 = SIZE as f64 / 1000.0;
/// kB/s
const C: f64 = 1250.0;
const V0: f64 = 40.0;
const OUT: f64 = 20.0;
/// ns
const TICK: u64 = 20_000;
/// Euler steps a tick.
const STEPS: u32 = 4;

/// A stretch of time, ms, and the two classes' rates in C.
type Stretch = (u64, [f64; 2]);

/// Below C, above it, one alone, silence, far above, below again.
const STRETCHES: [Stretch; 7] = [
    (200, [0.3, 0.3]),
    (600, [1.2, 0.4]),
    (400, [0.2, 0.9]),
    (100, [0.0, 0.0]),
    (500, [0.7, 0.7]),
    (300, [2.0, 1.5]),
    (300, [0.4, 0.5]),
];

fn length(kb: f64) -> Length {
    Length::Bytes(Bytes::new((kb * 1000.0) as u64))
}

fn common(floor: f64, ecn: bool) -> Common {
    Common { v0: length(V0), floor: length(floor), counting: Counting::Passed, mean_packet: Bytes::new(1000), ecn }
}

/// The equations of one queue.
#[derive(Clone, Copy)]
struct Fluid {
    /// alpha and phi; SVB and SIO's IN: of the first alone.
    classes: [(f64, f64); 2],
    floor: f64,
    kind: Kind,
    /// Packets are marked where others are dropped.
    marks: bool,
    vq: f64,
    vth: [f64; 2],
    q: f64,
    /// Variance of the difference that drops make, now and at most, kB^2.
    variance: [f64; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Svb,
    Msvb,
    Sio,
}

fn chance(v: f64, threshold: f64) -> f64 {
    if v > threshold { (v - threshold) / v } else { 0.0 }
}

impl Fluid {
    fn step(&mut self, rates: [f64; 2], dt: f64) {
        let rates = rates.map(|r| r * C);
        let of = |i: usize| match self.kind {
            Kind::Svb => (self.vq, self.vth[0]),
            Kind::Msvb => (self.vq, self.vth[i]),
            Kind::Sio if i == 0 => (self.vq, self.vth[0]),
            Kind::Sio => (self.q, OUT),
        };
        // Of SIO only OUT is dropped here.
        let drops = |i: usize| !self.marks && (self.kind != Kind::Sio || i == 1);
        let passed = [0, 1].map(|i| rates[i] * if drops(i) { 1.0 - chance(of(i).0, of(i).1) } else { 1.0 });
        let noisy = (0..2).filter(|i| drops(*i) && of(*i).0 > of(*i).1);
        let (noise, pull) = noisy.fold((0.0, 0.0), |(noise, pull), i| {
            let ((v, threshold), p) = (of(i), chance(of(i).0, of(i).1));
            (noise + rates[i] * EPSILON * p * (1.0 - p), pull + rates[i] * threshold / (v * v))
        });
        let s = (self.variance[0] + noise * dt) / (1.0 + 2.0 * pull * dt);
        self.variance = [s, s.max(self.variance[1])];
        let all = passed[0] + passed[1];
        let counted = if self.kind == Kind::Sio { passed[0] } else { all };
        self.vq = self.floor.max(self.vq + (counted - C) * dt);
        self.q = 0.0f64.max(self.q + (all - C) * dt);
        for (i, (alpha, phi)) in self.classes.into_iter().enumerate() {
            let own = match self.kind {
                Kind::Svb => all,
                _ => passed[i],
            };
            self.vth[i] = (self.vth[i] + alpha * (phi * C - own) * dt).clamp(0.0, V0);
        }
    }

    /// kB by which the packets may differ.
    fn tolerance(&self, most: f64) -> f64 {
        let (ticks, alpha) = (2.0 * most * C * TICK as f64 / 1e9, self.classes[0].0.max(self.classes[1].0));
        (ticks + 6.0 * self.variance[1].sqrt()) * (1.0 + alpha)
    }
}

/// Plays the stretches on both; the largest difference over the tolerance, and the largest p that was met.
fn apart(params: &AqmParams, mut fluid: Fluid, gauges: &[&str]) -> (f64, f64) {
    let room = 1 << 20;
    let aqm = params.build(&scope(room)).unwrap();
    let mut port = Port::new(Gate::new(aqm, Limit::Packets(room), Rng::stream(9, 0, "queue")), RATE);
    let (mut now, mut credit) = (Time::ZERO, [0.0; 2]);
    let (mut differences, mut p) = (Vec::new(), 0.0f64);
    for (ms, rates) in STRETCHES {
        for tick in 0..ms * 1_000_000 / TICK {
            for i in 0..2 {
                credit[i] += rates[i] * C * TICK as f64 / 1e9;
                let ecn = if fluid.marks || fluid.kind == Kind::Sio && i == 0 { Ecn::Ect0 } else { Ecn::NotEct };
                let colour = if i == 0 { Colour::Green } else { Colour::Red };
                while credit[i] >= EPSILON {
                    credit[i] -= EPSILON;
                    port.arrive(now, Packet { size: SIZE, colour, ecn, ..Packet::default() });
                }
            }
            for _ in 0..STEPS {
                fluid.step(rates, TICK as f64 / 1e9 / f64::from(STEPS));
            }
            now += Span::from_ns(TICK);
            if tick % 100 == 0 {
                let states = [fluid.vq, fluid.vth[0], fluid.vth[1]].map(|kb| kb * 1000.0);
                let seen = gauges.iter().map(|name| port.gauge(now, name));
                differences.extend(seen.zip(states).map(|(a, b)| (a - b).abs() / 1000.0));
                if fluid.kind == Kind::Sio {
                    port.advance(now);
                    differences.push((port.waiting().len() as f64 * EPSILON - fluid.q).abs());
                    p = p.max(chance(fluid.q, OUT));
                }
                p = p.max(chance(fluid.vq, fluid.vth[0]));
            }
        }
    }
    let most = STRETCHES.iter().map(|s| s.1[0] + s.1[1]).fold(0.0, f64::max);
    (differences.into_iter().fold(0.0, f64::max) / fluid.tolerance(most), p)
}

fn start(kind: Kind, classes: [(f64, f64); 2], [floor, marks]: [f64; 2]) -> Fluid {
    Fluid { classes, floor, kind, marks: marks > 0.0, vq: floor, vth: [V0; 2], q: 0.0, variance: [0.0; 2] }
}

fn check(params: &AqmParams, fluid: Fluid, gauges: &[&str]) {
    let (apart, p) = apart(params, fluid, gauges);
    let what = format!(
        "{} marks {} floor {}: {apart:.2} of the tolerance, p up to {p:.2}",
        params.name(),
        fluid.marks,
        fluid.floor
    );
    println!("{what}");
    assert!(apart <= 1.0 && p > 0.3, "{what}");
}

#[test]
fn svb_follows_its_equations() {
    for (alpha, floor, marks) in [(0.05, 0.0, false), (0.5, 0.0, false), (0.5, 20.0, false), (0.2, 0.0, true)] {
        let params = AqmParams::Svb(svb::Params { alpha, cap: Cap::V0, common: common(floor, marks) });
        let fluid = start(Kind::Svb, [(alpha, 1.0); 2], [floor, f64::from(u8::from(marks))]);
        check(&params, fluid, &["virtual_queue_bytes", "threshold_bytes"]);
    }
}

#[test]
fn msvb_follows_its_equations() {
    for (classes, marks) in
        [([(0.5, 0.5), (0.5, 0.5)], false), ([(0.2, 0.7), (1.0, 0.3)], false), ([(0.5, 0.5); 2], true)]
    {
        let members = [vec![Member::Colour(Colour::Green)], vec![]].into_iter().zip(classes);
        let class = |(members, (alpha, phi))| msvb::Class {
            filter: Vec::into(members),
            share: Probability::new(phi).unwrap(),
            alpha,
        };
        let params = AqmParams::Msvb(msvb::Params {
            classes: members.map(class).collect(),
            common: common(0.0, marks),
            redistribute: msvb::Redistribute::Off,
        });
        let fluid = start(Kind::Msvb, classes, [0.0, f64::from(u8::from(marks))]);
        check(&params, fluid, &["virtual_queue_bytes", "threshold_1", "threshold_2"]);
    }
}

/// IN is marked, so that no drop of IN halves OUT's threshold; OUT is dropped by the real queue.
#[test]
fn sio_follows_its_equations() {
    let alpha = 0.2;
    let params = AqmParams::Sio(sio::Params {
        alpha,
        v0: length(V0),
        cap: Cap::V0,
        counting: Counting::Passed,
        out_threshold: length(OUT),
        halving: Halving::Drops,
        recovery: Recovery::None,
        recovery_after: Span::from_s(1),
        overflow_after: Span::from_s(1),
        mean_packet: Bytes::new(1000),
        ecn: true,
    });
    let fluid = start(Kind::Sio, [(alpha, 1.0), (0.0, 0.0)], [0.0, 0.0]);
    check(&params, fluid, &["virtual_queue_bytes", "threshold_bytes"]);
}
