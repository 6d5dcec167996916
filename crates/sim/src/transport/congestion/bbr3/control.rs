//! Rate and window: draft-ietf-ccwg-bbr section 5.6.

use super::{Bbr3, LEAST_WINDOW, Phase};
use crate::transport::congestion::{Report, Window};

/// Fraction of the estimated rate that is sent.
const MARGIN: f64 = 0.99;
/// Bytes of a quantum at most, and segments at least.
const QUANTUM: (f64, f64) = (65_536.0, 2.0);
/// Quanta that hosts may hold.
const QUANTA: f64 = 3.0;

impl Bbr3 {
    pub(super) fn update_control(&mut self, report: &Report, window: &mut Window) {
        self.set_rate(self.phase.gains().0);
        let rate = self.sending.rate.unwrap_or_default();
        self.sending.quantum = (rate * 1000.0).min(QUANTUM.0 / f64::from(report.mss)).max(QUANTUM.1);
        self.set_window(report, window);
    }

    pub(super) fn set_rate(&mut self, gain: f64) {
        let rate = gain * self.model.bw * MARGIN;
        if self.plateau.reached || self.sending.rate.is_none_or(|before| rate > before) {
            self.sending.rate = Some(rate);
        }
    }

    /// Rate times round trip.
    fn bdp_at(&self, bw: f64) -> f64 {
        self.model.min_rtt_us.map_or(self.sending.initial_cwnd, |us| bw * us as f64)
    }

    /// BBR.bdp.
    pub(super) fn bdp(&self) -> f64 {
        self.bdp_at(self.model.bw)
    }

    /// What is wanted in flight.
    pub(super) fn target_inflight(&self, window: &Window) -> f64 {
        self.bdp().min(window.cwnd)
    }

    fn with_budget(&self, inflight: f64) -> f64 {
        let least = inflight.max(QUANTA * self.sending.quantum).max(LEAST_WINDOW);
        least + if self.phase == Phase::Up { 2.0 } else { 0.0 }
    }

    /// What fills the path at a rate.
    pub(super) fn inflight_at(&self, bw: f64) -> f64 {
        self.with_budget(self.bdp_at(bw))
    }

    pub(super) fn probe_rtt_window(&self) -> f64 {
        let half = self.model.min_rtt_us.map_or(self.sending.initial_cwnd, |_| 0.5 * self.bdp());
        half.max(LEAST_WINDOW)
    }

    /// A window that is known to be good.
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let good = !self.sending.recovering && self.phase != Phase::ProbeRtt;
        self.sending.saved_cwnd = if good { window.cwnd } else { self.sending.saved_cwnd.max(window.cwnd) };
    }

    pub(super) fn restore_cwnd(&self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.sending.saved_cwnd);
    }

    fn set_window(&mut self, report: &Report, window: &mut Window) {
        let gain = self.phase.gains().1;
        let filled = self.model.min_rtt_us.map_or(self.sending.initial_cwnd, |_| gain * self.bdp());
        let most = self.with_budget(filled + self.lumps.extra);
        let grown = window.cwnd + f64::from(report.signal.acked);
        if self.plateau.reached {
            window.cwnd = grown.min(most);
        } else if window.cwnd < most || (report.delivered as f64) < self.sending.initial_cwnd {
            window.cwnd = grown;
        }
        window.cwnd = window.cwnd.max(LEAST_WINDOW);
        if self.phase == Phase::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window());
        }
        window.cwnd = window.cwnd.min(self.bound());
    }

    /// What losses allow.
    fn bound(&self) -> f64 {
        let long = match self.phase {
            Phase::Cruise | Phase::ProbeRtt => self.with_headroom(),
            Phase::Down | Phase::Refill | Phase::Up => self.model.inflight_long,
            Phase::Startup | Phase::Drain => f64::INFINITY,
        };
        long.min(self.model.inflight_short).max(LEAST_WINDOW)
    }
}
