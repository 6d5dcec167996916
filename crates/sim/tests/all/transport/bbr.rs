//! BBR v1 on a path: what its phases do to the window and to the times of segments. How near it is to Linux's is measured beside
//! a kernel (`lab/cells/cells.toml`).

use super::path::{Path, Setup};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::congestion::bbr;
use perhop_sim::transport::{Config, LawParams, Reaction, Recovery, RtoConfig};

/// Data of a segment, and its time on the wire at 1 Mbit/s.
const MSS: u16 = 1448;
const SEGMENT_US: u64 = 12_000;
/// Segments of 1 Mbit/s in the round trip without a queue: 100 ms, and the segment itself three times and twice its ACK.
const BDP: f64 = (100_000.0 + 1.2 * 12_000.0 + 0.5e3) / 12_000.0;

fn path(seed: u64, limit: usize, losses: Vec<u64>) -> Path {
    let config = Config {
        recovery: Recovery::Rack,
        congestion: LawParams::Bbr(bbr::Params { policer_estimate: true }),
        reaction: Reaction { sack: true, ..Reaction::default() },
        initial_window: 10,
        window: 2000,
        rto: RtoConfig::MODERN,
        mss: MSS,
        header: 52,
        ..Config::default()
    };
    Path::run(Setup { config, phase: Span::from_ns(seed), limit, losses, end: at(25_000) })
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Segments that come to the bottleneck between two times, ms.
fn arrivals(path: &Path, from: u64, to: u64) -> Vec<u64> {
    let within = |it: &&_| -> bool {
        let it: &&super::path::Arrival = it;
        it.at >= at(from) && it.at < at(to)
    };
    path.arrivals.iter().filter(within).map(|it| it.at.ns() / 1000).collect()
}

/// Ten segments at 10 Mbit/s, and in the first round trips twice as many each; from 2 s on as many as the link takes, and at most
/// 2 BDP, the budget (3 bursts of 1, up to an even number, and 2) and two that ACKs lump together in flight; never two closer
/// than half of what the greatest gain of 5/4 gives.
#[test]
fn it_finds_the_rate_and_keeps_to_it() {
    let path = path(1, 1000, vec![]);
    assert!(arrivals(&path, 0, 400).len() > 20);
    let steady = arrivals(&path, 2_000, 9_000);
    let most = 7_000_000 / SEGMENT_US;
    assert!((most * 98 / 100..=most + 1).contains(&(steady.len() as u64)), "{} of {most}", steady.len());
    let closest = steady.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
    assert!(closest > SEGMENT_US * 4 / 5 / 2, "{closest} us");
    let widest = path.windows.iter().filter(|it| it.at > at(3_000)).map(|it| it.cwnd).fold(0.0, f64::max);
    assert!(widest <= (2.0 * BDP).ceil() + 3.0 + 2.0 + 1.0 + 2.0, "{widest}");
}

/// The least round trip is of the beginning: 10 s later the window is 4 for 200 ms, a round trip, and what it takes to get
/// there and back.
#[test]
fn it_measures_the_round_trip_every_ten_seconds() {
    let path = path(2, 1000, vec![]);
    let small: Vec<_> = path.windows.windows(2).filter(|pair| pair[0].cwnd <= 4.0 && pair[0].at > at(5_000)).collect();
    let starts: Vec<u64> = small.iter().map(|pair| pair[0].at.ns() / 1_000_000).collect();
    assert_eq!(starts.len(), 2, "{starts:?}");
    for (pair, turn) in small.iter().zip(1..) {
        let start = pair[0].at;
        assert!(start > at(10_000 * turn) && start < at(10_000 * turn + 1_500), "{start:?}");
        let lasts = pair[1].at.since(start);
        assert!(lasts >= Span::from_ms(200) && lasts < Span::from_ms(700), "{lasts}");
    }
}

/// The phase that is probed first is the seed's; all else is the same.
#[test]
fn a_seed_draws_the_first_phase() {
    let times = |seed| arrivals(&path(seed, 1000, vec![]), 0, 9_000);
    let one = times(1);
    assert_eq!(one, times(1));
    assert!((2..10).any(|seed| times(seed) != one));
}

/// One segment is lost: it is repeated, and the window is what it was. Reno would have halved it.
#[test]
fn a_loss_does_not_slow_it() {
    let steady = |path: &Path| arrivals(path, 5_000, 9_000).len();
    let (lossy, clean) = (path(1, 1000, (200..600).step_by(50).collect()), path(1, 1000, vec![]));
    assert!(lossy.sender.counters().retransmitted >= 8 && lossy.sender.counters().timeouts == 0);
    assert!(steady(&lossy).abs_diff(steady(&clean)) <= steady(&clean) / 50, "{}", steady(&lossy));
}
