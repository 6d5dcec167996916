//! Linux's CUBIC in one variable for each of its quantities, step by step, all in whole numbers.

use super::{same, switched};
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_sim::transport::congestion::cubic::Params;
use perhop_sim::transport::{CongestionControl, Signal, Window};

/// Starts of the cube root for the six highest bits of its argument, from 8 on, in 1/64.
const STARTS: [u128; 56] = [
    133, 139, 144, 148, 153, 157, 161, 166, 167, 171, 174, 178, 180, 183, 186, 189, 191, 195, 197, 200, 202, 204, 207,
    209, 210, 212, 214, 216, 219, 221, 223, 225, 227, 229, 231, 232, 234, 235, 237, 239, 241, 242, 244, 246, 247, 249,
    250, 252, 254, 255, 256, 258, 260, 261, 262, 264,
];

fn cube_root(a: u128) -> u128 {
    let mut bits = 0;
    while a >> bits > 0 {
        bits += 1;
    }
    let third = bits * 84 / 256 - 1;
    let x = STARTS[(a >> (3 * third)) as usize - 8] * 2u128.pow(third as u32) / 64;
    (2 * x + a / (x * (x - 1))) * 341 / 1024
}

#[derive(Default)]
struct Slow {
    beta: i128,
    beta_ecn: i128,
    bic_scale: i128,
    fast_convergence: bool,
    reno_friendly: bool,
    cnt: i128,
    w_last_max: i128,
    last_cwnd: i128,
    last_ms: i128,
    origin: i128,
    k: i128,
    delay_min_us: i128,
    epoch_ms: Option<i128>,
    acks: i128,
    w_reno: i128,
    credit: i128,
}

impl Slow {
    fn new(params: &Params) -> Self {
        let scaled = |x: f64| (x * 1024.0).round() as i128;
        Self {
            beta: scaled(params.beta),
            beta_ecn: scaled(if params.abe { 0.85 } else { params.beta }),
            bic_scale: (params.c * 102.4).round() as i128,
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            ..Self::default()
        }
    }

    fn set_epoch(&mut self, now: i128, cwnd: i128, acked: i128) {
        self.epoch_ms = Some(now);
        (self.acks, self.w_reno) = (acked, cwnd);
        (self.k, self.origin) = (0, cwnd);
        if self.w_last_max > cwnd {
            let factor = 2i128.pow(40) / (10 * self.bic_scale);
            self.k = cube_root((factor * (self.w_last_max - cwnd)) as u128) as i128;
            self.origin = self.w_last_max;
        }
    }

    fn cubic_count(&mut self, now: i128, cwnd: i128) {
        let ms = now - self.epoch_ms.unwrap() + (self.delay_min_us + 999) / 1000;
        let t = ms * 1024 / 1000;
        let distance = (t - self.k).abs();
        let delta = 10 * self.bic_scale * distance.pow(3) / 2i128.pow(40);
        let target = if t < self.k { self.origin - delta } else { self.origin + delta };
        self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.w_last_max == 0 {
            self.cnt = self.cnt.min(20);
        }
    }

    fn reno_count(&mut self, cwnd: i128) {
        let scale = 8 * (1024 + self.beta) / 3 / (1024 - self.beta);
        let each = cwnd * scale / 8;
        while self.acks > each {
            self.acks -= each;
            self.w_reno += 1;
        }
        if self.w_reno > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.w_reno - cwnd));
        }
    }

    fn update(&mut self, now: i128, cwnd: i128, acked: i128) {
        self.acks += acked;
        if self.last_cwnd == cwnd && now - self.last_ms <= 31 {
            return;
        }
        if self.epoch_ms.is_none() || now != self.last_ms {
            (self.last_cwnd, self.last_ms) = (cwnd, now);
            if self.epoch_ms.is_none() {
                self.set_epoch(now, cwnd, acked);
            }
            self.cubic_count(now, cwnd);
        }
        if self.reno_friendly {
            self.reno_count(cwnd);
        }
        self.cnt = self.cnt.max(2);
    }

    /// The window after `acked` more.
    fn credited(&mut self, mut cwnd: i128, acked: i128) -> i128 {
        if self.credit >= self.cnt {
            self.credit = 0;
            cwnd += 1;
        }
        self.credit += acked;
        while self.credit >= self.cnt {
            self.credit -= self.cnt;
            cwnd += 1;
        }
        cwnd
    }

    fn congestion(&mut self, cwnd: i128, beta: i128) -> i128 {
        self.epoch_ms = None;
        self.credit = 0;
        self.w_last_max = match cwnd < self.w_last_max && self.fast_convergence {
            true => cwnd * (1024 + self.beta) / 2048,
            false => cwnd,
        };
        (cwnd * beta / 1024).max(2)
    }

    fn forget(&mut self) {
        (self.cnt, self.w_last_max, self.last_cwnd, self.last_ms) = (0, 0, 0, 0);
        (self.origin, self.k, self.delay_min_us, self.acks, self.w_reno) = (0, 0, 0, 0, 0);
        self.epoch_ms = None;
    }
}

impl CongestionControl for Slow {
    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        let now = i128::from(signal.now.ns() / 1_000_000);
        if let Some(sample) = signal.sample {
            let us = i128::from(sample.ns() / 1000).max(1);
            let young = self.epoch_ms.is_some_and(|start| now - start < 1000);
            if !young && (self.delay_min_us == 0 || us < self.delay_min_us) {
                self.delay_min_us = us;
            }
        }
        let (mut cwnd, mut acked) = (window.cwnd as i128, i128::from(signal.acked));
        while acked > 0 && cwnd < window.ssthresh as i128 {
            (cwnd, acked) = (cwnd + 1, acked - 1);
        }
        if acked > 0 {
            self.update(now, cwnd, acked);
            cwnd = self.credited(cwnd, acked);
        }
        window.cwnd = cwnd as f64;
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        let left = self.congestion(signal.usable as i128, self.beta) as f64;
        *window = Window { cwnd: left, ssthresh: left };
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        let left = self.congestion(signal.usable as i128, self.beta) as f64;
        *window = Window { cwnd: 1.0, ssthresh: left };
        self.forget();
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        let left = self.congestion(signal.usable as i128, self.beta_ecn) as f64;
        *window = Window { cwnd: left, ssthresh: left };
    }
}

#[test]
fn every_window_is_that_of_the_steps() {
    let mut avoided = 0;
    for seed in 0..200 {
        let params = switched(seed, Arithmetic::Linux);
        avoided += same(params, Slow::new(&params), seed);
    }
    assert!(avoided > 400_000, "{avoided} ACKs in congestion avoidance are too few to say anything");
}
