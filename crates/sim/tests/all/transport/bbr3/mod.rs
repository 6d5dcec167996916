//! BBR v3 against its draft's pseudo-code, ACK by ACK; and what sets it apart from version 1.

mod draft;
mod network;

use network::{Moment, Network, Setup};
use perhop_sim::transport::congestion::bbr3::Phase;

/// 12 Mbit/s, 40 ms, room for 1 BDP of 40 segments.
const PATH: Setup =
    Setup { service: 1000, round_trip: 39_000, room: 40, random_loss: 0, each: 2, rests: false, seed: 1 };

fn run(setup: Setup, seconds: u64) -> Vec<Moment> {
    Network::run(setup, seconds * 1_000_000).moments
}

/// Rates from 1 to 120 Mbit/s, queues from 2 segments to 4 BDP, losses up to 5 %, ACKs of 1 to 8, with and without rests,
/// time-outs and recoveries that were for nothing. Every phase is seen.
#[test]
fn it_does_what_the_draft_says() {
    let mut seen = std::collections::HashSet::new();
    for seed in 0..60 {
        let setup = Setup {
            service: [12_000, 1000, 100][seed as usize % 3],
            round_trip: [5_000, 40_000, 150_000][seed as usize / 3 % 3],
            room: [2, 10, 60, 1600][seed as usize / 9 % 4],
            random_loss: [0, 1, 10, 50][seed as usize / 2 % 4],
            each: [1, 2, 8][seed as usize / 5 % 3],
            rests: seed % 2 == 1,
            seed,
        };
        seen.extend(run(setup, 8).iter().map(|it| format!("{:?}", it.phase)));
    }
    assert_eq!(seen.len(), 7, "{seen:?}");
}

/// The first moment of each stay in a phase.
fn entries(moments: &[Moment], phase: Phase) -> Vec<Moment> {
    let pairs = moments.windows(2).filter(|pair| pair[0].phase != phase && pair[1].phase == phase);
    pairs.map(|pair| pair[1]).collect()
}

/// Version 1 probes once in eight round trips; this every 2 s to 3 s, or BDP round trips (40 of 40 ms: 1.6 s), whichever
/// comes first.
#[test]
fn probes_are_seconds_apart() {
    let probes = entries(&run(PATH, 30), Phase::Up);
    let apart: Vec<u64> = probes.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    assert!(apart.len() > 8 && apart.iter().all(|&us| us > 1_400_000 && us < 3_500_000), "{apart:?}");
}

/// Version 1 goes down to four segments every 10 s; this to half a BDP every 5 s.
#[test]
fn the_round_trip_is_measured_with_half_a_bdp_in_flight() {
    let moments = run(PATH, 30);
    let times = entries(&moments, Phase::ProbeRtt);
    let apart: Vec<u64> = times.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    assert!(apart.len() >= 3 && apart.iter().all(|&us| us > 5_000_000 && us < 6_500_000), "{apart:?}");
    let least = moments.iter().filter(|it| it.phase == Phase::ProbeRtt).map(|it| it.cwnd).fold(f64::MAX, f64::min);
    assert!(least > 15.0 && least <= 21.0, "{least}");
}

/// A queue of a quarter of BDP: version 1 would keep up to 2 BDP in flight and lose what does not fit, time and again. Here a
/// probe that loses more than 2 % sets a long-term bound, and cruising leaves 15 % of it free.
#[test]
fn a_shallow_queue_bounds_what_is_in_flight() {
    let moments = run(Setup { room: 10, ..PATH }, 30);
    let bound = moments.last().unwrap().told[2];
    assert!(bound > 28.0 && bound < 60.0, "{bound}");
    let cruising = moments.iter().filter(|it| it.phase == Phase::Cruise && it.told[2].is_finite());
    assert!(cruising.clone().count() > 100 && cruising.clone().all(|it| it.cwnd <= 0.85 * it.told[2] + 1e-9));
    let (from, to) = (moments.iter().find(|it| it.at > 3_000_000).unwrap(), moments.last().unwrap());
    let share = (to.lost - from.lost) as f64 / (to.delivered - from.delivered) as f64;
    assert!(share < 0.01, "{share}");
    let used = (to.delivered - from.delivered) as f64 * PATH.service as f64 / (to.at - from.at) as f64;
    assert!(used > 0.85, "{used}");
}

/// Losses of 0.5 % are below the bound of 2 %: probes go on, the long-term bound stays away from the BDP, the path stays full. Of
/// 10 % they are above it. The line itself lies between; the pseudo-code beside the law says where.
#[test]
fn two_per_cent_is_the_line() {
    let used = |random_loss| {
        let moments = run(Setup { random_loss, room: 400, ..PATH }, 30);
        let (from, to) = (moments.iter().find(|it| it.at > 5_000_000).unwrap(), moments.last().unwrap());
        (to.delivered - from.delivered) as f64 * PATH.service as f64 / (to.at - from.at) as f64
    };
    let (none, little, much) = (used(0), used(5), used(100));
    assert!(none > 0.95 && little > 0.8 && much < 0.6, "{none} {little} {much}");
}

/// A round trip with losses while cruising lowers the short-term bound, to 0.7 of what it was at most; the next probe forgets it.
#[test]
fn losses_between_probes_count_until_the_next() {
    let moments = run(Setup { random_loss: 20, room: 400, ..PATH }, 30);
    let cruising = |it: &&Moment| it.phase == Phase::Cruise;
    assert!(moments.iter().filter(cruising).any(|it| it.told[3].is_finite()));
    assert!(moments.iter().filter(|it| it.phase == Phase::Refill).all(|it| it.told[3].is_infinite()));
    let falls = moments.windows(2).filter(|pair| pair[1].phase == Phase::Cruise && pair[1].told[3] < pair[0].told[3]);
    let first = |pair: &&[Moment]| pair[0].told[3].is_infinite();
    assert!(falls.clone().filter(|pair| !first(pair)).all(|pair| pair[1].told[3] >= 0.7 * pair[0].told[3] - 1e-9));
    assert!(falls.clone().filter(first).all(|pair| pair[1].told[3] >= 0.7 * pair[0].cwnd - 1e-9));
}
