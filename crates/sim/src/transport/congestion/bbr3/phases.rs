//! The other phases: draft-ietf-ccwg-bbr sections 5.3.1, 5.3.2 and 5.3.4.

use super::model::Sample;
use super::{Bbr3, Phase, us};
use crate::transport::congestion::{Report, Window};

/// Round trips that the drain lasts at most.
const DRAIN_ROUNDS: u64 = 3;
/// For how long the least round trip counts, us.
const MIN_RTT_US: u64 = 10_000_000;
/// How often it is measured, us.
const PROBE_RTT_EVERY_US: u64 = 5_000_000;
/// For how long little is in flight then, us.
const PROBE_RTT_US: u64 = 200_000;

impl Phase {
    /// Of the pacing rate, and of the window.
    pub(super) fn gains(self) -> (f64, f64) {
        match self {
            Self::Startup => (2.77, 2.0),
            Self::Drain => (0.5, 2.0),
            Self::Down => (0.9, 2.0),
            Self::Cruise | Self::Refill => (1.0, 2.0),
            Self::Up => (1.25, 2.25),
            Self::ProbeRtt => (1.0, 0.5),
        }
    }

    /// One of the four `ProbeBW` phases.
    pub(super) fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }
}

/// Measuring the round trip again.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeRtt {
    least_us: Option<u64>,
    least_at: u64,
    expired: bool,
    /// When it may end, us, once little is in flight.
    ends_us: Option<u64>,
    round_over: bool,
    pub(super) holds_back: bool,
}

impl ProbeRtt {
    pub(super) fn open(&mut self, rtt_us: Option<u64>, now: u64) {
        (self.least_us, self.least_at) = (rtt_us, now);
    }
}

impl Bbr3 {
    pub(super) fn end_startup(&mut self, sample: &Sample, report: &Report) {
        self.look_for_high_loss(sample, report);
        if self.phase == Phase::Startup && self.plateau.reached {
            self.phase = Phase::Drain;
            self.sending.drain_round = self.rounds.count;
        }
    }

    pub(super) fn end_drain(&mut self, report: &Report) {
        let drained = f64::from(report.in_flight.now) <= self.inflight_at(self.model.bw);
        if self.phase == Phase::Drain && (drained || self.rounds.count > self.sending.drain_round + DRAIN_ROUNDS) {
            self.go_down(report);
        }
    }

    pub(super) fn watch_round_trip(&mut self, report: &Report) {
        let (now, least) = (us(report.signal.now), &mut self.probe_rtt);
        least.expired = now > least.least_at + PROBE_RTT_EVERY_US;
        if let Some(rtt) = report.signal.sample.map(|rtt| rtt.ns() / 1000)
            && (least.expired || least.least_us.is_none_or(|us| rtt < us))
        {
            (least.least_us, least.least_at) = (Some(rtt), now);
        }
        let model = &mut self.model;
        let less = least.least_us.is_some_and(|us| model.min_rtt_us.is_none_or(|least| us < least));
        if less || now > model.min_rtt_at + MIN_RTT_US {
            (model.min_rtt_us, model.min_rtt_at) = (least.least_us, least.least_at);
        }
    }

    pub(super) fn probe_round_trip(&mut self, sample: &Sample, report: &Report, window: &mut Window) {
        if self.phase != Phase::ProbeRtt && self.probe_rtt.expired && !self.sending.idle_restart {
            self.phase = Phase::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt.ends_us = None;
            self.probe.stop();
            self.rounds.begin(report);
        }
        if self.phase == Phase::ProbeRtt {
            self.probe_rtt.holds_back = true;
            self.wait_for_round_trip(report, window);
        }
        if sample.delivered > 0.0 {
            self.sending.idle_restart = false;
        }
    }

    fn wait_for_round_trip(&mut self, report: &Report, window: &mut Window) {
        if self.probe_rtt.ends_us.is_some() {
            self.probe_rtt.round_over |= self.rounds.started;
            if self.probe_rtt.round_over {
                self.end_probe_rtt(report, window);
            }
        } else if f64::from(report.in_flight.now) <= self.probe_rtt_window() {
            self.probe_rtt.ends_us = Some(us(report.signal.now) + PROBE_RTT_US);
            self.probe_rtt.round_over = false;
            self.rounds.begin(report);
        }
    }

    pub(super) fn end_probe_rtt(&mut self, report: &Report, window: &mut Window) {
        let now = us(report.signal.now);
        if self.probe_rtt.ends_us.is_none_or(|ends| now <= ends) {
            return;
        }
        self.probe_rtt.least_at = now;
        self.restore_cwnd(window);
        self.model.forget_short_term();
        if self.plateau.reached {
            self.go_down(report);
            self.phase = Phase::Cruise;
        } else {
            self.phase = Phase::Startup;
        }
    }
}
