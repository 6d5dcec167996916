//! Closed forms: K, and the average window of RFC 9438 section 5.1.

use super::{Arithmetic, DEFAULTS, Params, law};
use perhop_core::math::{cbrt, pow};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{CongestionControl, Law, Signal, Window};

const RTT: Span = Span::from_ms(100);

/// A connection that is acknowledged segment by segment, evenly over each round trip.
struct Flow {
    law: Law,
    window: Window,
    signal: Signal,
}

impl Flow {
    fn new(params: Params, cwnd: f64) -> Self {
        let signal = Signal { srtt: Some(RTT), min_rtt: Some(RTT), sample: Some(RTT), ..Signal::default() };
        Self { law: law(params), window: Window { cwnd, ssthresh: 1.0 }, signal }
    }

    fn ack(&mut self) {
        let now = self.signal.now + Span::from_ns((RTT.ns() as f64 / self.window.cwnd) as u64);
        self.signal = Signal { now, acked: 1, usable: self.window.cwnd, ..self.signal };
        self.law.on_ack(&self.signal, &mut self.window);
    }

    fn lose(&mut self) {
        self.signal = Signal { acked: 0, usable: self.window.cwnd, ..self.signal };
        self.law.on_loss(&self.signal, &mut self.window);
    }
}

/// K = cbrt(W (1 - beta) / C) after a loss at W the window is at W again. It is within a gap of W for cbrt(gap / C) before
/// that, and up to a round trip ahead. Linux rounds what is missing down to whole segments, and its K is exact to 1 %.
#[test]
fn the_window_is_back_after_k() {
    for (arithmetic, gap, whole, error) in [(Arithmetic::Rfc, 0.5, 0.0, 0.0), (Arithmetic::Linux, 2.0, 1.0, 0.01)] {
        for w in [200.0_f64, 1000.0, 5000.0] {
            let mut flow = Flow::new(Params { arithmetic, ..DEFAULTS }, w);
            flow.lose();
            while flow.window.cwnd < w - gap {
                flow.ack();
            }
            let k = cbrt(w * 0.3 / 0.4);
            let early = k - flow.signal.now.since(Time::ZERO).seconds();
            let most = cbrt((gap + whole) / 0.4) + error * k + RTT.seconds();
            assert!((-error * k..=most).contains(&early), "{arithmetic:?} at {w}: {early} s before {k} s, most {most}");
        }
    }
}

/// Average of the window over time with one loss in `every` segments, from a window at a loss on.
fn average(params: Params, every: u32, most: f64) -> f64 {
    let (mut flow, mut area) = (Flow::new(params, most.floor()), 0.0);
    for _ in 0..40 {
        flow.lose();
        for _ in 0..every {
            let (before, cwnd) = (flow.signal.now, flow.window.cwnd);
            flow.ack();
            area += cwnd * flow.signal.now.since(before).seconds();
        }
    }
    area / flow.signal.now.since(Time::ZERO).seconds()
}

/// Section 5.1: with one loss in 1/p segments the average is (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4).
///
/// The formula takes the time T between losses as K. The window approaches W_cubic(t + RTT) by the factor 1/e a round trip:
/// with X exponential of mean RTT it is W_max + C E (t - K + RTT - X)^3 = W_max + C (d^3 + 3 d RTT^2 - 2 RTT^3), d = t - K, and
/// W_max again at d = 0.6 RTT. So T is longer by less than RTT, and the average, 1/p RTT / T, is off by less than RTT / K.
/// Linux's window is up to a segment beside that each way, from rounding and waiting: d by up to cbrt(2 / C) more; K is
/// exact to 1 %. W_max is where it was after each loss, but hardly attracts (the slope of the cubic there is 0): so it
/// begins there.
#[test]
fn the_average_window_is_that_of_section_5_1() {
    for (arithmetic, whole, error) in [(Arithmetic::Rfc, 0.0, 0.0), (Arithmetic::Linux, 2.0, 0.01)] {
        for every in [20_000, 100_000, 400_000] {
            let params = Params { arithmetic, reno_friendly: false, fast_convergence: false, ..DEFAULTS };
            let (c, beta) = (0.4_f64, 0.7);
            let segments = RTT.seconds() * f64::from(every);
            let expected = pow(c * (3.0 + beta) / (4.0 * (1.0 - beta)), 0.25) * pow(segments, 0.75);
            let most = expected * 4.0 / (3.0 + beta);
            let k = cbrt(most * (1.0 - beta) / c);
            let allowed = error + (RTT.seconds() + cbrt(whole / c)) / k;
            let ratio = average(params, every, most) / expected;
            println!("{arithmetic:?}, 1 / {every}: {ratio:.4} of {expected:.2}, allowed {allowed:.4}");
            assert!((ratio - 1.0).abs() <= allowed, "{arithmetic:?}, 1 / {every}: {ratio} of {expected}");
        }
    }
}
