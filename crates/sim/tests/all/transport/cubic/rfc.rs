//! RFC 9438 section 4 as it is written, with its names.

use super::{same, seconds, switched};
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::math;
use perhop_sim::transport::congestion::cubic::Params;
use perhop_sim::transport::{CongestionControl, Signal, Window};

#[allow(non_snake_case)]
struct Slow {
    C: f64,
    beta_cubic: f64,
    beta_ecn: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    W_max: f64,
    W_max_known: bool,
    cwnd_prior: f64,
    in_avoidance: bool,
    epoch_start: f64,
    cwnd_epoch: f64,
    K: f64,
    W_est: f64,
    after_timeout: bool,
}

impl Slow {
    fn new(params: &Params) -> Self {
        Self {
            C: params.c,
            beta_cubic: params.beta,
            beta_ecn: if params.abe { 0.85 } else { params.beta },
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            W_max: 0.0,
            W_max_known: false,
            cwnd_prior: 0.0,
            in_avoidance: false,
            epoch_start: 0.0,
            cwnd_epoch: 0.0,
            K: 0.0,
            W_est: 0.0,
            after_timeout: false,
        }
    }

    /// Sections 4.2, 4.8 and 4.10.
    fn start_epoch(&mut self, now: f64, cwnd: f64) {
        self.in_avoidance = true;
        self.epoch_start = now;
        self.cwnd_epoch = cwnd;
        self.W_est = self.cwnd_epoch;
        if !self.W_max_known && !self.after_timeout {
            self.cwnd_prior = cwnd;
        }
        if !self.W_max_known || self.after_timeout || self.W_max < cwnd {
            self.K = 0.0;
            self.W_max = cwnd;
        } else {
            self.K = math::cbrt((self.W_max - self.cwnd_epoch) / self.C);
        }
    }

    #[allow(non_snake_case)]
    fn W_cubic(&self, t: f64) -> f64 {
        self.C * (t - self.K) * (t - self.K) * (t - self.K) + self.W_max
    }

    /// Sections 4.6 and 4.7.
    fn congestion(&mut self, cwnd: f64) {
        self.cwnd_prior = cwnd;
        if self.fast_convergence && self.W_max_known && !self.after_timeout && cwnd < self.W_max {
            self.W_max = cwnd * (1.0 + self.beta_cubic) / 2.0;
        } else {
            self.W_max = cwnd;
        }
        self.W_max_known = true;
        self.after_timeout = false;
        self.in_avoidance = false;
    }
}

impl CongestionControl for Slow {
    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        let now = seconds(signal.now);
        if window.cwnd < window.ssthresh {
            window.cwnd += 1.0;
            self.in_avoidance = false;
            return;
        }
        if !self.in_avoidance {
            self.start_epoch(now, window.cwnd);
        }
        let t = now - self.epoch_start;
        let mut alpha_cubic = 3.0 * (1.0 - self.beta_cubic) / (1.0 + self.beta_cubic);
        if self.W_est >= self.cwnd_prior {
            alpha_cubic = 1.0;
        }
        self.W_est += alpha_cubic * f64::from(signal.acked) / window.cwnd;
        if self.reno_friendly && self.W_cubic(t) < self.W_est {
            window.cwnd = self.W_est;
            return;
        }
        let ahead = self.W_cubic(t + signal.srtt.unwrap().seconds());
        let target = if ahead < window.cwnd {
            window.cwnd
        } else if ahead > 1.5 * window.cwnd {
            1.5 * window.cwnd
        } else {
            ahead
        };
        window.cwnd += (target - window.cwnd) / window.cwnd;
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        self.congestion(signal.usable);
        window.ssthresh = signal.usable * self.beta_cubic;
        window.cwnd = window.ssthresh.max(2.0);
        window.ssthresh = window.ssthresh.max(2.0);
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        self.congestion(signal.usable);
        window.ssthresh = (signal.usable * self.beta_cubic).max(2.0);
        window.cwnd = 1.0;
        self.after_timeout = true;
        self.W_max_known = false;
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        self.congestion(signal.usable);
        window.ssthresh = signal.usable * self.beta_ecn;
        window.cwnd = if signal.usable > 1.0 { window.ssthresh.max(1.0) } else { window.ssthresh };
        window.ssthresh = window.ssthresh.max(2.0);
    }
}

#[test]
fn every_window_is_that_of_the_text() {
    let mut avoided = 0;
    for seed in 0..200 {
        let params = switched(seed, Arithmetic::Rfc);
        avoided += same(params, Slow::new(&params), seed);
    }
    assert!(avoided > 400_000, "{avoided} ACKs in congestion avoidance are too few to say anything");
}
