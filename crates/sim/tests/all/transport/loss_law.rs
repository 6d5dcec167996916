//! Goodput against loss: the models of the literature, and ns-2.
//!
//! Sources: M. Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", CCR 1997
//! (square-root law); J. Padhye et al., "Modeling TCP Reno Performance", ToN 2000, equation 30 (full formula).
//!
//! The path loses each data packet independently. The full formula assumes instead that a loss takes the rest of
//! its round along. So two losses of one window are apart, and what the recovery does with them decides:
//! NewReno repairs them and follows the formula over the whole range; Reno leaves recovery at the first new ACK,
//! often lacks three more duplicates and times out: 9 % below the formula at 1 %, 13 % at 3 %. ns-2's Reno is as far
//! below, so beyond 1 % Reno is compared with ns-2 only.

use super::pipe::{Dice, Fate, Pipe};
use super::reference::text;
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{Config, PartialAckTimer, Reaction, Recovery, Supply};
use serde_json::Value;
use std::sync::LazyLock;

const SECONDS: u64 = 2000;
/// 100 ms, and transmission of 1000 and of 40 bytes at 100 Mbit/s.
const ROUND_TRIP: Span = Span::from_ns(100_083_200);
const RUNS: u64 = 10;

const RENO: Recovery = Recovery::Reno;
const NEW_RENO: Recovery = Recovery::NewReno(PartialAckTimer::First);
const STEADY: Recovery = Recovery::NewReno(PartialAckTimer::Each);
const RACK: Recovery = Recovery::Rack;

/// Segments per second of one run, from the SYN on.
fn goodput(recovery: Recovery, loss: f64, seed: u64) -> f64 {
    let mut dice = Dice(seed);
    let reaction = Reaction { sack: recovery == RACK, ..Reaction::default() };
    let config = Config { recovery, reaction, window: 10_000, mss: 960, ..Config::default() };
    let mut pipe =
        Pipe::new(config, Supply::Unlimited, ROUND_TRIP, |_| if dice.falls(loss) { Fate::Lose } else { Fate::Pass });
    pipe.run(Time::ZERO + Span::from_s(SECONDS));
    pipe.receiver.delivered_segments() as f64 / SECONDS as f64
}

/// Mean and standard error of the mean.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

const LOSSES: [f64; 7] = [0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03];

/// What ten runs gave: segments per second, mean and standard error.
struct Point {
    recovery: Recovery,
    loss: f64,
    goodput: (f64, f64),
}

impl Point {
    fn new(recovery: Recovery, loss: f64) -> Self {
        let runs: Vec<f64> = (0..RUNS).map(|run| goodput(recovery, loss, 1000 * run + (loss * 1e6) as u64)).collect();
        Self { recovery, loss, goodput: mean_and_error(&runs) }
    }
}

/// Each point is simulated once for all tests, which wait for it: each recovery on a thread.
static MEASURED: LazyLock<Vec<Point>> = LazyLock::new(|| {
    std::thread::scope(|scope| {
        let measure = |recovery| scope.spawn(move || LOSSES.map(|loss| Point::new(recovery, loss)));
        [RENO, NEW_RENO, STEADY, RACK].map(measure).into_iter().flat_map(|of| of.join().unwrap()).collect()
    })
});

fn measured(recovery: Recovery, loss: f64) -> (f64, f64) {
    MEASURED.iter().find(|point| point.recovery == recovery && point.loss == loss).unwrap().goodput
}

/// Segments per second by the square-root law, an ACK for every segment.
fn square_root_law(loss: f64) -> f64 {
    (1.5 / loss).sqrt() / ROUND_TRIP.seconds()
}

/// Padhye's equation 30 with b = 1, T0 = the minimum RTO (the round trip does not vary, so the RTO is the minimum).
fn full_formula(loss: f64) -> f64 {
    let first_timeout = Config::default().rto.minimum.seconds();
    let round_trips = ROUND_TRIP.seconds() * (2.0 * loss / 3.0).sqrt();
    let timeouts = first_timeout * (3.0 * (3.0 * loss / 8.0).sqrt()).min(1.0) * loss * (1.0 + 32.0 * loss * loss);
    1.0 / (round_trips + timeouts)
}

/// Fails if the model and the measurement, less two standard errors, are more than 10 % apart.
fn assert_within_a_tenth(recovery: Recovery, loss: f64, model: f64) {
    let (mean, error) = measured(recovery, loss);
    println!("{recovery:?} p {loss}: {mean:.1} +- {error:.1}, model {model:.1}, ratio {:.3}", mean / model);
    assert!((mean / model - 1.0).abs() + 2.0 * error / model < 0.10, "{recovery:?} at {loss}: {mean} against {model}");
}

#[test]
fn new_reno_follows_the_full_formula_from_0_1_to_3_percent() {
    for loss in LOSSES {
        assert_within_a_tenth(NEW_RENO, loss, full_formula(loss));
    }
}

#[test]
fn reno_follows_the_full_formula_from_0_1_to_1_percent() {
    for loss in [0.001, 0.002, 0.003, 0.005, 0.01] {
        assert_within_a_tenth(RENO, loss, full_formula(loss));
    }
}

#[test]
fn goodput_follows_the_square_root_law_up_to_0_3_percent() {
    for loss in [0.001, 0.002, 0.003] {
        for recovery in [RENO, NEW_RENO, STEADY, RACK] {
            assert_within_a_tenth(recovery, loss, square_root_law(loss));
        }
    }
}

fn ns2_case<'a>(all: &'a Value, name: &str) -> &'a Value {
    all["cases"].as_array().unwrap().iter().find(|c| c["case"] == name).unwrap()
}

/// The difference of two means of ten runs is within four of its standard errors (the largest of twelve normal
/// variates exceeds four once in 1300 such tests), which is far below a tenth.
#[test]
fn goodput_is_that_of_ns2() {
    let all: Value = serde_json::from_str(&text("tcp_bernoulli.json")).unwrap();
    assert_eq!(all["cases"].as_array().unwrap().len(), 12);
    for (name, recovery) in [("reno", RENO), ("newreno", NEW_RENO), ("newreno_steady", STEADY)] {
        for loss in [0.001, 0.003, 0.01, 0.03] {
            let case = ns2_case(&all, &format!("{name}/p{loss}"));
            let per_seed: Vec<f64> =
                case["per_seed"]["segments_per_s"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
            let (theirs, their_error) = mean_and_error(&per_seed);
            let (ours, our_error) = measured(recovery, loss);
            let allowed = 4.0 * (our_error * our_error + their_error * their_error).sqrt();
            println!("{name} p {loss}: ns-2 {theirs:.2} +- {their_error:.2}, ours {ours:.2} +- {our_error:.2}");
            assert!(allowed < 0.1 * theirs, "too few runs to decide");
            assert!((ours - theirs).abs() < allowed, "{name} at {loss}: ns-2 {theirs}, ours {ours}, allowed {allowed}");
        }
    }
}
