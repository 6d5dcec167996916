//! CUBIC by RFC 9438, in real numbers.

use super::{Params, SlowStart};
use crate::transport::congestion::{CongestionControl, Signal, Window};
use perhop_core::math;
use perhop_core::units::Time;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// K, s.
    k: f64,
    /// `W_max` of the cubic, which is not below `cwnd_epoch`.
    most: f64,
    /// `W_est`.
    estimate: f64,
}

/// A connection's numbers.
#[derive(Clone, Debug)]
pub struct State {
    params: Params,
    /// `W_max`; none before a first congestion and after a time-out.
    most: Option<f64>,
    /// `cwnd_prior`; 0 before a first congestion.
    prior: f64,
    epoch: Option<Epoch>,
    slow_start: SlowStart,
}

impl State {
    pub(super) fn new(params: &Params) -> Self {
        Self { params: *params, most: None, prior: 0.0, epoch: None, slow_start: params.slow_start() }
    }

    /// Sections 4.6 and 4.7; what is left of the window.
    fn congested(&mut self, signal: &Signal, beta: f64) -> f64 {
        let w = signal.usable;
        let converges = self.params.fast_convergence && self.most.is_some_and(|most| w < most);
        self.most = Some(if converges { w * (1.0 + self.params.beta) / 2.0 } else { w });
        (self.prior, self.epoch) = (w, None);
        beta * w
    }

    /// Section 4.2: a stage that begins with the window of now.
    fn begin(&self, now: Time, cwnd: f64) -> Epoch {
        let most = self.most.unwrap_or(cwnd).max(cwnd);
        let k = math::cbrt((most - cwnd) / self.params.c);
        Epoch { start: now, k, most, estimate: cwnd }
    }

    /// Sections 4.3 to 4.5.
    fn avoid(&mut self, signal: &Signal, window: &mut Window) {
        let Params { c, beta, reno_friendly, .. } = self.params;
        let cwnd = window.cwnd;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(signal.now, cwnd));
        let w = |t: f64| {
            let d = t - epoch.k;
            c * (d * d * d) + epoch.most
        };
        let t = signal.now.since(epoch.start).seconds();
        let alpha = if epoch.estimate < self.prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        let estimate = epoch.estimate + alpha * f64::from(signal.acked) / cwnd;
        window.cwnd = if reno_friendly && w(t) < estimate {
            estimate
        } else {
            let rtt = signal.srtt.or(signal.min_rtt).unwrap_or_default().seconds();
            cwnd + (w(t + rtt).clamp(cwnd, 1.5 * cwnd) - cwnd) / cwnd
        };
        epoch.estimate = estimate;
        self.epoch = Some(epoch);
    }
}

impl CongestionControl for State {
    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        if window.cwnd < window.ssthresh {
            let growth = self.slow_start.on_ack(signal, 1.0, window);
            if window.cwnd < window.ssthresh {
                (self.epoch, window.cwnd) = (None, window.cwnd + growth);
                return;
            }
        }
        self.avoid(signal, window);
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        let left = self.congested(signal, self.params.beta).max(2.0);
        *window = Window { cwnd: left, ssthresh: left };
        self.slow_start.on_congestion();
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        let left = self.congested(signal, self.params.beta);
        *window = Window { cwnd: 1.0, ssthresh: left.max(2.0) };
        self.most = None;
        self.slow_start.on_timeout(signal);
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        let left = self.congested(signal, self.params.beta_ecn());
        let cwnd = if signal.usable > 1.0 { left.max(1.0) } else { left };
        *window = Window { cwnd, ssthresh: left.max(2.0) };
        self.slow_start.on_congestion();
    }
}
