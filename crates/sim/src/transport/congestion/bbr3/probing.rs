//! The cycle of probing for bandwidth: draft-ietf-ccwg-bbr section 5.3.3.

use super::model::Sample;
use super::{Bbr3, LEAST_WINDOW, Phase, us};
use crate::transport::congestion::{Report, Window};

/// What is left free of the long-term bound for others.
const HEADROOM: f64 = 0.15;
/// Round trips between probes at most, as Reno would have them.
const RENO_ROUNDS: f64 = 63.0;
/// Least time between probes, us, and what is drawn on top.
const WAIT_US: (u64, u64) = (2_000_000, 1_000_000);
/// The slope of the long-term bound doubles so often.
const MOST_DOUBLINGS: u32 = 30;

/// What ACKs tell of a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Acks {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// The probe that goes on, or the last one.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    acks: Acks,
    /// Losses tell of what a probe has sent.
    pub(super) sampling: bool,
    pub(super) too_high: bool,
    precautionary: bool,
    acked: f64,
    /// Segments acknowledged that raise the long-term bound by one.
    each: f64,
    doublings: u32,
    pub(super) rounds_since_up: u64,
    since_us: u64,
    wait_us: u64,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            acks: Acks::Init,
            sampling: false,
            too_high: false,
            precautionary: false,
            acked: 0.0,
            each: f64::INFINITY,
            doublings: 0,
            rounds_since_up: 0,
            since_us: 0,
            wait_us: 0,
        }
    }
}

impl Probe {
    pub(super) fn stop(&mut self) {
        self.acks = Acks::Stopping;
    }

    /// The bound rises twice as fast in each round trip.
    fn steepen(&mut self, cwnd: f64) {
        self.each = (cwnd / f64::from(1u32 << self.doublings)).max(1.0);
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
    }
}

impl Bbr3 {
    /// Into `DOWN`.
    pub(super) fn go_down(&mut self, report: &Report) {
        self.rounds.lossy = false;
        (self.latest.bw, self.latest.inflight) = (0.0, 0.0);
        self.probe.each = f64::INFINITY;
        self.probe.rounds_since_up = self.dice.below(2);
        self.probe.wait_us = WAIT_US.0 + self.dice.below(WAIT_US.1);
        self.probe.since_us = us(report.signal.now);
        self.probe.acks = Acks::Stopping;
        self.rounds.begin(report);
        self.phase = Phase::Down;
    }

    /// Into `REFILL`.
    pub(super) fn refill(&mut self, report: &Report) {
        self.model.forget_short_term();
        (self.probe.doublings, self.probe.acked, self.probe.precautionary) = (0, 0.0, false);
        self.probe.acks = Acks::Refilling;
        self.rounds.begin(report);
        self.phase = Phase::Refill;
    }

    fn go_up(&mut self, sample: &Sample, report: &Report, window: &Window) {
        self.probe.sampling = true;
        self.probe.acks = Acks::Starting;
        self.rounds.begin(report);
        self.plateau.reset(sample.rate);
        self.phase = Phase::Up;
        self.probe.steepen(window.cwnd);
    }

    /// The cycle goes on.
    pub(super) fn turn(&mut self, sample: &Sample, report: &Report, window: &Window) {
        if !self.plateau.reached || self.adapt_long_term(sample, report, window) {
            return;
        }
        let phase = self.phase;
        match phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(report, window) => self.refill(report),
            Phase::Down if self.is_time_to_cruise(report) => self.phase = Phase::Cruise,
            Phase::Refill if self.rounds.started => self.go_up(sample, report, window),
            Phase::Up if self.is_time_to_go_down(sample, report, window) => {
                self.probe.too_high = false;
                self.go_down(report);
            }
            _ => {}
        }
    }

    fn is_time_to_probe(&self, report: &Report, window: &Window) -> bool {
        let rounds = self.target_inflight(window).min(RENO_ROUNDS);
        us(report.signal.now) > self.probe.since_us + self.probe.wait_us || self.probe.rounds_since_up as f64 >= rounds
    }

    fn is_time_to_cruise(&self, report: &Report) -> bool {
        let in_flight = f64::from(report.in_flight.now);
        in_flight <= self.with_headroom() && in_flight <= self.inflight_at(self.model.max_bw())
    }

    fn is_time_to_go_down(&mut self, sample: &Sample, report: &Report, window: &Window) -> bool {
        if self.probe.too_high && f64::from(report.in_flight.now) >= self.model.inflight_long {
            self.probe.precautionary = true;
            return true;
        }
        if report.window_limited && window.cwnd >= self.model.inflight_long {
            self.plateau.reset(sample.rate);
            return false;
        }
        self.plateau.now
    }

    /// The long-term bound, less room for others.
    pub(super) fn with_headroom(&self) -> f64 {
        let bound = self.model.inflight_long;
        if bound.is_infinite() {
            return bound;
        }
        (bound - f64::max(1.0, HEADROOM * bound)).max(LEAST_WINDOW)
    }

    /// What the ACKs of a probe tell; whether that has decided the phase.
    fn adapt_long_term(&mut self, sample: &Sample, report: &Report, window: &Window) -> bool {
        let round = self.rounds.started;
        if self.probe.acks == Acks::Starting && round {
            self.probe.acks = Acks::Feedback;
        }
        if self.probe.acks == Acks::Stopping && round {
            self.probe.sampling = false;
            self.probe.acks = Acks::Init;
            if self.phase.probes_bandwidth() && !sample.app_limited {
                self.model.advance();
            }
            if self.phase.probes_bandwidth() && self.probe.precautionary && !self.probe.too_high {
                self.refill(report);
                return true;
            }
        }
        if Self::is_safe(sample) && self.model.inflight_long.is_finite() {
            self.model.inflight_long = self.model.inflight_long.max(sample.in_flight_then);
            if self.phase == Phase::Up {
                self.raise(report, window);
            }
        }
        false
    }

    /// The long-term bound rises while it is used up.
    fn raise(&mut self, report: &Report, window: &Window) {
        if !report.window_limited || window.cwnd < self.model.inflight_long {
            return;
        }
        let probe = &mut self.probe;
        probe.acked += f64::from(report.signal.acked);
        if probe.acked >= probe.each {
            let more = (probe.acked / probe.each).floor();
            probe.acked -= more * probe.each;
            self.model.inflight_long += more;
        }
        if self.rounds.started {
            probe.steepen(window.cwnd);
        }
    }
}
