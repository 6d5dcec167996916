//! TCP over a link that loses packets: the engine's connection is the one whose loss law the transport tests know.
//!
//! There sender and receiver are joined by a pipe of 100.0832 ms; here over links of 100 Mbit/s and 50 ms each way.

use crate::common::net::{Net, bulk};
use crate::stats;
use crate::transport::pipe::{Dice, Fate, Pipe};
use perhop_core::units::{BitRate, Probability, Span, Time};
use perhop_sim::transport::{Config, PartialAckTimer, Recovery, Supply};

const RUNS: u32 = 10;
const SECONDS: u64 = 500;
const ROUND_TRIP: Span = Span::from_ns(100_083_200);

fn config(recovery: Recovery) -> Config {
    Config { recovery, window: 10_000, mss: 960, ..Config::default() }
}

/// Segments per second through the pipe.
fn through_the_pipe(recovery: Recovery, loss: f64, seed: u32) -> f64 {
    let mut dice = Dice(u64::from(seed) * 1000 + 7);
    let fate = |_: &_| if dice.falls(loss) { Fate::Lose } else { Fate::Pass };
    let mut pipe = Pipe::new(config(recovery), Supply::Unlimited, ROUND_TRIP, fate);
    pipe.run(Time::ZERO + Span::from_s(SECONDS));
    pipe.receiver.delivered_segments() as f64 / SECONDS as f64
}

/// Segments per second through the engine, and the share lost on the wire.
fn through_the_engine(recovery: Recovery, loss: f64, replication: u32) -> [f64; 2] {
    let mut net = Net::new(2, Span::from_s(SECONDS));
    net.duplex([0, 1], BitRate::mbps(100), Span::from_ms(50));
    net.plan.links[0].loss = Probability::new(loss).unwrap();
    net.traffic([0, 1], bulk()).tcp = config(recovery);
    let outcome = net.replicate(replication);
    let row = outcome.ports.hops.iter().find(|h| h.link == 0).unwrap();
    assert_eq!(row.fates.lost().packets, 0, "the queue has room for every burst");
    let share = row.lost.packets as f64 / (row.lost + row.delivered).packets as f64;
    [outcome.flows[0].goodput_bytes as f64 / 960.0 / SECONDS as f64, share]
}

/// Means of ten runs each agree: Welch's test at 1 %, and within 5 %.
fn assert_agree(recovery: Recovery, loss: f64) {
    let pipe: Vec<f64> = (0..RUNS).map(|run| through_the_pipe(recovery, loss, run)).collect();
    let (engine, shares): (Vec<f64>, Vec<f64>) =
        (0..RUNS).map(|run| through_the_engine(recovery, loss, run)).map(|[goodput, share]| (goodput, share)).unzip();
    let (a, b, p) = (stats::mean(&engine), stats::mean(&pipe), stats::welch(&engine, &pipe));
    println!("{recovery:?} at {loss}: engine {a:.2}, pipe {b:.2}, p {p:.2}");
    assert!(p > 0.01 && (a / b - 1.0).abs() < 0.05, "{recovery:?} at {loss}: engine {a}, pipe {b}, p {p}");
    // Four standard errors of the share lost.
    let sent = a * SECONDS as f64 * f64::from(RUNS);
    let error = (loss / sent).sqrt();
    assert!((stats::mean(&shares) - loss).abs() < 4.0 * error, "{shares:?}");
}

#[test]
fn new_reno_at_one_percent() {
    assert_agree(Recovery::NewReno(PartialAckTimer::First), 0.01);
}

#[test]
fn reno_at_three_percent() {
    assert_agree(Recovery::Reno, 0.03);
}
