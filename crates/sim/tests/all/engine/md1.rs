//! Poisson arrivals of one size at one link: the M/D/1 queue.
//!
//! Mean wait: rho S / (2 (1 - rho)), S the time of one transmission (Pollaczek and Khinchine).

use crate::common::net::{Net, poisson};
use crate::stats;
use perhop_core::units::{BitRate, Span, Time};
use perhop_sim::Outcome;
use perhop_sim::plan::TapPoint;
use statrs::distribution::{ContinuousCDF, StudentsT};

const RUNS: u32 = 20;
/// 1000 bytes at 10 Mbit/s.
const SERVICE: Span = Span::from_us(800);
const DELAY: Span = Span::from_ms(1);
const WARMUP: Span = Span::from_s(2);
const SECONDS: u64 = 40;
const LOADS: [f64; 4] = [0.3, 0.6, 0.8, 0.9];

fn run(load: f64, replication: u32) -> Outcome {
    let mut net = Net::new(2, WARMUP + Span::from_s(SECONDS));
    net.duplex([0, 1], BitRate::mbps(10), DELAY);
    net.traffic([0, 1], poisson(BitRate::bps((10e6 * load) as u64), 1000));
    net.plan.warmup = WARMUP;
    net.tap_all();
    net.replicate(replication)
}

fn times(outcome: &Outcome, point: TapPoint) -> Vec<Time> {
    outcome.captured.iter().filter(|c| c.link == 0 && c.point == point).map(|c| c.at).collect()
}

/// Each packet's arrival and its wait, ns, as the taps saw it.
fn waits(outcome: &Outcome) -> Vec<(Time, u64)> {
    let pairs = times(outcome, TapPoint::Input).into_iter().zip(times(outcome, TapPoint::Output));
    pairs.map(|(came, left)| (came, (left - came - SERVICE - DELAY).ns())).collect()
}

fn mean_wait(outcome: &Outcome) -> f64 {
    let after: Vec<f64> =
        waits(outcome).into_iter().filter(|w| w.0 >= Time::ZERO + WARMUP).map(|w| w.1 as f64).collect();
    stats::mean(&after)
}

/// Half of the 99 % confidence interval of the mean.
pub fn half_interval(sample: &[f64]) -> f64 {
    let n = sample.len() as f64;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).unwrap().inverse_cdf(0.995);
    t * (stats::variance(sample) / n).sqrt()
}

#[test]
fn the_mean_wait_is_that_of_m_d_1() {
    for load in LOADS {
        let runs: Vec<f64> = (0..RUNS).map(|r| mean_wait(&run(load, r))).collect();
        let expected = load * SERVICE.ns() as f64 / (2.0 * (1.0 - load));
        let (mean, half) = (stats::mean(&runs), half_interval(&runs));
        println!("load {load}: {mean:.0} +- {half:.0} ns, theory {expected:.0}");
        assert!(half < 0.05 * expected, "too few runs to decide: {half} of {expected}");
        assert!((mean - expected).abs() < half, "load {load}: {mean} +- {half}, theory {expected}");
    }
}

/// Lindley: a packet waits for what its predecessor left over. Exactly, packet for packet.
#[test]
fn every_wait_follows_from_the_arrivals() {
    let outcome = run(0.9, 0);
    let waits = waits(&outcome);
    assert!(waits.len() > 40_000 && waits.iter().filter(|w| w.1 == 0).count() > 1000);
    for pair in waits.windows(2) {
        let [(before, waited), (came, wait)] = pair else { unreachable!() };
        assert_eq!(*wait, (*waited + SERVICE.ns()).saturating_sub((*came - *before).ns()), "at {came}");
    }
}

/// The outcome's histogram has two significant digits; utilisation is the load, within four standard errors of the
/// number of arrivals.
#[test]
fn the_rows_say_the_same() {
    let outcome = run(0.6, 1);
    let row = outcome.ports.hops.iter().find(|h| h.link == 0).unwrap();
    let wait = row.wait.unwrap().mean;
    assert!((wait / mean_wait(&outcome) - 1.0).abs() < 0.011, "{wait}");
    let n = row.delivered.packets as f64;
    let utilisation = n * SERVICE.seconds() / SECONDS as f64;
    assert!((utilisation / 0.6 - 1.0).abs() < 4.0 / n.sqrt(), "{utilisation}");
}
