//! The retransmission time-out against RFC 6298 in real numbers, and its back-off.

use perhop_core::units::{Span, Time};
use perhop_sim::transport::{RtoConfig, RtoEstimator};
use proptest::prelude::*;

/// RFC 6298 sections 2.2, 2.3, 2.4 and 2.5 as written, in ticks (G = 1).
struct Plain {
    estimate: Option<(f64, f64)>,
}

impl Plain {
    fn sample(&mut self, r: f64) -> f64 {
        let (srtt, rttvar) = match self.estimate {
            None => (r, r / 2.0),
            Some((srtt, rttvar)) => (0.875 * srtt + 0.125 * r, 0.75 * rttvar + 0.25 * (srtt - r).abs()),
        };
        self.estimate = Some((srtt, rttvar));
        srtt + f64::max(1.0, 4.0 * rttvar)
    }
}

const TICK: Span = Span::from_ms(1);

/// Bounds that never bind.
const FREE: RtoConfig =
    RtoConfig { granularity: TICK, minimum: Span::from_ms(2), maximum: Span::from_s(3600), initial: Span::from_s(3) };

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

proptest! {
    /// Integer arithmetic errs by a bounded number of ticks. With s = 8 SRTT, v = 4 RTTVAR and e, d their errors:
    /// e' = 7/8 e + f, f in [0, 7/8], so e in [0, 7]; the deviation is off by at most 7/8, so d' = 3/4 d + g,
    /// g in [-7/8, 7/8 + 3/4], and d in [-3.5, 6.5]. The RTO v + floor(s / 8) is off by d + e/8 less a fraction
    /// below 1: within (-4.5, 7.4).
    #[test]
    fn follows_rfc_6298(samples in prop::collection::vec(1u64..2000, 1..200)) {
        let (mut rto, mut plain, mut now) = (RtoEstimator::new(FREE, Span::ZERO), Plain { estimate: None }, 0);
        for r in samples {
            rto.sample(ms(now), ms(now + r));
            now += r;
            let expected = plain.sample(r as f64);
            let error = rto.rto().seconds() * 1e3 - expected;
            prop_assert!(error > -4.5 && error < 7.4, "{} against {expected} ticks", rto.rto());
            let srtt_error = rto.srtt().unwrap().seconds() * 1e3 - plain.estimate.unwrap().0;
            prop_assert!(srtt_error > -1e-6 && srtt_error < 0.875 + 1e-6);
        }
    }

    /// A sample counts the boundaries of ticks it spans, whatever the phase of the clock within its tick.
    #[test]
    fn samples_count_ticks(sent in 0u64..10_000_000_000, took in 0u64..2_000_000_000, phase in 0u64..10_000_000) {
        let mut rto = RtoEstimator::new(RtoConfig::NS2_2_35, Span::from_ns(phase));
        rto.sample(Time::from_ns(sent), Time::from_ns(sent + took));
        let tick = 10_000_000;
        let mut boundary = (sent + phase).next_multiple_of(tick);
        if boundary == sent + phase {
            boundary += tick;
        }
        let ticks = (boundary..=sent + took + phase).step_by(tick as usize).count() as u64;
        prop_assert_eq!(rto.srtt(), Some(Span::from_ns(ticks.max(1) * tick)));
    }
}

/// Round trips of 10, 11, 11, 11, 11, 13 ticks of 10 ms, as ns-2 measures them in `reno_droptail10`: it traces
/// 4 RTTVAR = 20, 16, 13, 11, 10, 11 ticks while SRTT stays between 10 and 11.
#[test]
fn a_vector_from_ns2() {
    let mut rto = RtoEstimator::new(RtoConfig { minimum: Span::from_ms(20), ..RtoConfig::NS2_2_35 }, Span::ZERO);
    for (r, expected) in [(10, 300), (11, 260), (11, 230), (11, 210), (11, 200), (13, 210)] {
        rto.sample(ms(0), ms(r * 10));
        assert_eq!(rto.rto(), Span::from_ms(expected));
    }
}

#[test]
fn a_round_trip_below_one_tick_counts_as_one() {
    let mut rto = RtoEstimator::new(RtoConfig::ERA, Span::ZERO);
    rto.sample(ms(110), ms(120));
    assert_eq!(rto.srtt(), Some(Span::from_ms(100)));
    assert_eq!(rto.rto(), Span::from_s(1));
}

/// RFC 6298 section 5.5, and 2.5 for the maximum.
#[test]
fn back_off_doubles_to_the_maximum_and_ends_with_a_sample() {
    let mut rto = RtoEstimator::new(RtoConfig::NS2_2_35, Span::ZERO);
    assert_eq!((rto.rto(), rto.srtt()), (Span::from_s(3), None));
    rto.sample(ms(0), ms(100));
    assert_eq!(rto.rto(), Span::from_ms(300));
    let mut shown = Vec::new();
    for doubling in 1..=10 {
        rto.back_off();
        shown.push(rto.rto().ns() / 1_000_000);
        assert_eq!(rto.srtt().is_some(), doubling < 4, "forgotten after the fourth doubling");
    }
    assert_eq!(shown, [600, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000, 60_000, 60_000]);
    rto.end_back_off();
    rto.sample(ms(1000), ms(1500));
    assert_eq!((rto.rto(), rto.srtt()), (Span::from_ms(1500), Some(Span::from_ms(500))));
}

/// RFC 6298 section 5.7, which concerns initial values below 3 s only.
#[test]
fn a_lost_syn_makes_it_three_seconds() {
    let mut modern = RtoEstimator::new(RtoConfig::MODERN, Span::ZERO);
    modern.back_off();
    assert_eq!(modern.rto(), Span::from_s(2));
    modern.after_lost_syn();
    assert_eq!(modern.rto(), Span::from_s(3));
    let mut ns2 = RtoEstimator::new(RtoConfig::NS2_2_35, Span::ZERO);
    ns2.back_off();
    ns2.after_lost_syn();
    assert_eq!(ns2.rto(), Span::from_s(6));
}
