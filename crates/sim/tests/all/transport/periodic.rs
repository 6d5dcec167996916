//! Reno's sawtooth: one segment in N is lost, and the window goes from W/2 to W and back.
//!
//! Source: M. Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", CCR 1997, section 2: a cycle
//! of W/2 round trips delivers 3/8 W^2 = N segments, so W = sqrt(8 N / 3), and 3/4 W segments a round trip.

use super::pipe::{Fate, Pipe};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::congestion::reno;
use perhop_sim::transport::{Config, LawParams, Reaction, Recovery, RtoConfig, Supply};

const ROUND_TRIP: Span = Span::from_ms(50);

/// Segments delivered a round trip, after 20 cycles and over 40.
fn rate(every: u64) -> f64 {
    let config = Config {
        recovery: Recovery::Rack,
        congestion: LawParams::Reno(reno::Params { growth: reno::Growth::Segments, abe: false }),
        window: 10_000,
        rto: RtoConfig::MODERN,
        reaction: Reaction { sack: true, ..Reaction::default() },
        syn: false,
        ..Config::default()
    };
    let mut sent = 0;
    let mut pipe = Pipe::new(config, Supply::Unlimited, ROUND_TRIP, |_| {
        sent += 1;
        if sent % every == 0 { Fate::Lose } else { Fate::Pass }
    });
    let cycle = ROUND_TRIP * ((8.0 * every as f64 / 3.0).sqrt() as u64) / 2;
    pipe.run(Time::ZERO + cycle * 20);
    let (before, from) = (pipe.receiver.delivered_segments(), pipe.now);
    pipe.run(Time::ZERO + cycle * 60);
    (pipe.receiver.delivered_segments() - before) as f64 / (pipe.now.since(from).seconds() / ROUND_TRIP.seconds())
}

/// Beside W/2 round trips of growth a cycle has the one in which the loss is
/// repaired; W is whole, and so is W/2: 3 in W/2 at most.
#[test]
fn the_sawtooth_has_its_mean() {
    for every in [200, 500, 2000] {
        let w = (8.0 * every as f64 / 3.0).sqrt();
        let (mean, allowed) = (rate(every), 3.0 / (w / 2.0));
        println!("1 / {every}: {mean:.2} of {:.2}, allowed {allowed:.3}", 0.75 * w);
        assert!((mean / (0.75 * w) - 1.0).abs() <= allowed, "1 / {every}: {mean} of {}", 0.75 * w);
    }
}
