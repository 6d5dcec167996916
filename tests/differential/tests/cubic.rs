//! CUBIC beside that of s2n-quic, given the same ACKs and losses.
//!
//! s2n-quic-core has RFC 8312's, in bytes, in `f32`, with the least round trip; perhop's `arithmetic = "rfc"` has RFC 9438's, in
//! segments, in `f64`, with the smoothed one. The round trip is constant here, so the two are the same. What else differs is
//! kept out: W_est of RFC 8312 is a function of time (so windows are large enough for the cubic to be above it, and perhop's
//! is off), it restores the least window of 2 segments, and starts K = 0 where slow start has ended by itself (here a loss ends it).
//! Neither adds more than half a segment an ACK.

use num_rational::Ratio;
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::units::{Span, Time};
use perhop_sim::transport::congestion::cubic::Params;
use perhop_sim::transport::congestion::hystart::HyStart;
use perhop_sim::transport::{CongestionControl as _, Law, LawParams, Signal, Window};
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::{CongestionController, CubicCongestionController, RttEstimator};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};
use std::time::Duration;

const MSS: u32 = 1200;

/// Listens to nothing, and draws nothing.
struct Silent;

impl Publisher for Silent {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {}
    fn on_delivery_rate_sampled(&mut self, _: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _: BbrState) {}
}

impl Generator for Silent {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0);
    }
    fn private_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0);
    }
}

/// The law of s2n-quic, its window always full.
struct Theirs {
    law: CubicCongestionController,
    rtt: RttEstimator,
    zero: Timestamp,
}

impl Theirs {
    fn new(rtt: Duration) -> Self {
        let zero = NoopClock.get_time();
        let mut estimator = RttEstimator::new(rtt);
        estimator.update_rtt(Duration::ZERO, rtt, zero, true, PacketNumberSpace::ApplicationData);
        Self { law: CubicCongestionController::new(MSS as u16, Default::default()), rtt: estimator, zero }
    }

    fn at(&self, us: u64) -> Timestamp {
        self.zero + Duration::from_micros(us)
    }

    fn fill(&mut self, us: u64) {
        let now = self.at(us);
        while self.law.bytes_in_flight() + MSS <= self.law.congestion_window() {
            self.law.on_packet_sent(now, MSS as usize, Some(false), &self.rtt, &mut Silent);
        }
    }

    /// One segment, sent at `sent`, is acknowledged at `now`.
    fn ack(&mut self, sent: u64, now: u64) {
        self.fill(now);
        let (sent, now) = (self.at(sent), self.at(now));
        self.law.on_ack(sent, MSS as usize, (), &self.rtt, &mut Silent, now, &mut Silent);
    }

    fn lose(&mut self, now: u64, echo: bool) {
        self.fill(now);
        let now = self.at(now);
        match echo {
            true => self.law.on_explicit_congestion(1, now, &mut Silent),
            false => self.law.on_packet_lost(MSS, (), false, true, &mut Silent, now, &mut Silent),
        }
    }

    fn segments(&self) -> f64 {
        f64::from(self.law.congestion_window()) / f64::from(MSS)
    }
}

/// perhop's.
struct Ours {
    law: Law,
    window: Window,
    rtt: Span,
}

impl Ours {
    fn new(rtt: Duration) -> Self {
        let params = Params {
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            reno_friendly: false,
            hystart: HyStart::None,
            abe: false,
            arithmetic: Arithmetic::Rfc,
        };
        let window = Window { cwnd: 10.0, ssthresh: f64::MAX };
        Self { law: Law::new(LawParams::Cubic(params)).unwrap(), window, rtt: Span::from_us(rtt.as_micros() as u64) }
    }

    fn signal(&self, us: u64, acked: u32) -> Signal {
        let (now, rtt) = (Time::ZERO + Span::from_us(us), Some(self.rtt));
        Signal { now, acked, usable: self.window.cwnd, srtt: rtt, min_rtt: rtt, sample: rtt, ..Signal::default() }
    }

    fn ack(&mut self, us: u64) {
        let signal = self.signal(us, 1);
        self.law.on_ack(&signal, &mut self.window);
    }

    fn lose(&mut self, us: u64, echo: bool) {
        let signal = self.signal(us, 0);
        match echo {
            true => self.law.on_ecn(&signal, &mut self.window),
            false => self.law.on_loss(&signal, &mut self.window),
        }
    }
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn draw(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// When congestion strikes: at windows of which both RFCs think the same.
struct Congestion {
    /// W_max as perhop has it, and the window that congestion met last.
    most: f64,
    met: f64,
}

impl Congestion {
    /// Fast convergence: RFC 9438 compares with W_max, which it may itself have lowered, RFC 8312 with the window that met
    /// congestion. Between the two they differ.
    fn may_strike(&self, cwnd: f64) -> bool {
        (LEAST..MOST).contains(&cwnd) && !(self.most - 1.0..self.met + 1.0).contains(&cwnd)
    }

    fn strike(&mut self, cwnd: f64) {
        self.most = if cwnd < self.most { cwnd * 0.85 } else { cwnd };
        self.met = cwnd;
    }
}

/// Windows at congestion, segments: with round trips of at least 100 ms W_est stays below the cubic.
const LEAST: f64 = 500.0;
const MOST: f64 = 3000.0;

/// By how much the windows may differ. Theirs is an `f32` of bytes: what is added is lost where it is below half a unit in the last
/// place, (target - cwnd) / cwnd MSS < ulp / 2; so it lags by cwnd / MSS ulp / 2, most at the largest window so far. Congestion
/// leaves 0.7 of that, and all of it in W_max, so that a history's lags sum up to 1 / (1 - 0.7) as much. `congestion_window()` is cut to whole bytes; their t is in
/// microseconds and K an `f32`: 1e-6 of 15 s, at a slope of less than 3 C K^2 = 270 segments/s.
fn allowed(largest: f64) -> f64 {
    let bytes = (largest * f64::from(MSS)) as f32;
    let ulp = f64::from(bytes.next_up() - bytes);
    largest / f64::from(MSS) * ulp / 2.0 / 0.3 + 1.0 / f64::from(MSS) + 15e-6 * 270.0
}

/// One history, ACK by ACK, with some congestion, after each of which a round trip of ACKs moves neither window.
fn compare(seed: u64) {
    let mut dice = Dice(seed);
    let rtt = Duration::from_millis(100 + dice.draw(100));
    let (mut ours, mut theirs, mut now, mut acks) =
        (Ours::new(rtt), Theirs::new(rtt), 1_000_000, 500 + dice.draw(1000));
    let (mut congestion, mut largest) = (Congestion { most: 0.0, met: 0.0 }, 0.0_f64);
    let rtt = rtt.as_micros() as u64;
    for _ in 0..10 {
        while acks > 0 || !congestion.may_strike(ours.window.cwnd) && ours.window.cwnd < MOST {
            now += rtt / ours.window.cwnd as u64;
            ours.ack(now);
            theirs.ack(now - rtt, now);
            largest = largest.max(ours.window.cwnd);
            acks = if ours.window.cwnd < MOST { acks.saturating_sub(1) } else { 0 };
            same(seed, &ours, &theirs, largest);
        }
        let echo = dice.draw(3) == 0;
        congestion.strike(ours.window.cwnd);
        ours.lose(now, echo);
        theirs.lose(now, echo);
        let lost_at = now;
        while now + rtt / ours.window.cwnd as u64 <= lost_at + rtt {
            now += rtt / ours.window.cwnd as u64;
            theirs.ack(now - rtt, now);
            same(seed, &ours, &theirs, largest);
        }
        acks = dice.draw(40_000);
    }
}

fn same(seed: u64, ours: &Ours, theirs: &Theirs, largest: f64) {
    let (ours, theirs, allowed) = (ours.window.cwnd, theirs.segments(), allowed(largest));
    assert!((ours - theirs).abs() <= allowed, "seed {seed}: {ours}, s2n-quic {theirs}, allowed {allowed}");
}

#[test]
fn the_windows_are_those_of_s2n_quic() {
    (0..60).for_each(compare);
}
