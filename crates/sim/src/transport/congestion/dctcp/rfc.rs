//! DCTCP in real numbers.

use super::Params;
use crate::transport::congestion::{CongestionControl, Signal, Window};

/// A connection's numbers.
#[derive(Clone, Debug)]
pub struct State {
    g: f64,
    alpha: f64,
    /// `DCTCP.WindowEnd`
    end: u32,
    acked: u32,
    marked: u32,
}

impl State {
    pub(super) fn new(params: &Params) -> Self {
        Self { g: params.g, alpha: params.initial_alpha, end: 0, acked: 0, marked: 0 }
    }
}

fn cut(kept: f64, window: &mut Window) {
    let left = kept.max(2.0);
    *window = Window { cwnd: left, ssthresh: left };
}

impl CongestionControl for State {
    fn on_feedback(&mut self, signal: &Signal) {
        self.acked += signal.acked;
        self.marked += signal.marked;
        if signal.una <= self.end || self.acked == 0 {
            return;
        }
        self.alpha += self.g * (f64::from(self.marked) / f64::from(self.acked) - self.alpha);
        (self.end, self.acked, self.marked) = (signal.next, 0, 0);
    }

    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        let acked = f64::from(signal.acked);
        window.cwnd += if window.cwnd < window.ssthresh { acked } else { acked / window.cwnd };
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        cut(signal.usable / 2.0, window);
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        cut(signal.usable / 2.0, window);
        window.cwnd = 1.0;
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        cut(signal.usable * (1.0 - self.alpha / 2.0), window);
    }
}
