//! DCTCP in Linux's integer arithmetic.

use crate::transport::congestion::reno::{Growth, Reno};
use crate::transport::congestion::{CongestionControl, Signal, Window};

/// alpha of 1.
const ONE: u32 = 1024;

/// A connection's numbers.
#[derive(Clone, Debug)]
pub struct State {
    reno: Reno,
    /// g = 2^-shift
    shift: u32,
    /// In 1/1024.
    alpha: u32,
    /// The window of data ends when this number is expected.
    end: u32,
    acked: u32,
    marked: u32,
}

impl State {
    pub(super) fn new(alpha: f64, shift: u32) -> Self {
        let alpha = (alpha * f64::from(ONE)).round() as u32;
        Self { reno: Reno::growing(Growth::Segments), shift, alpha, end: 0, acked: 0, marked: 0 }
    }

    /// A part of alpha that rounds to nothing is all of it.
    fn forgotten(&self) -> u32 {
        match self.alpha >> self.shift {
            0 => self.alpha,
            part => part,
        }
    }
}

fn cut(left: u32, window: &mut Window) {
    let left = f64::from(left.max(2));
    *window = Window { cwnd: left, ssthresh: left };
}

impl CongestionControl for State {
    fn on_feedback(&mut self, signal: &Signal) {
        self.acked += signal.acked;
        self.marked += signal.marked;
        if signal.una < self.end {
            return;
        }
        let fraction = (self.marked << (10 - self.shift)) / self.acked.max(1);
        self.alpha = (self.alpha - self.forgotten() + fraction).min(ONE);
        (self.end, self.acked, self.marked) = (signal.next, 0, 0);
    }

    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        self.reno.on_ack(signal, window);
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        cut(signal.usable as u32 / 2, window);
        self.reno.forget();
    }

    fn on_loss_after_echo(&mut self, signal: &Signal, window: &mut Window) {
        window.ssthresh = f64::from((signal.usable as u32 / 2).max(2));
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        self.on_loss(signal, window);
        window.cwnd = 1.0;
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        let whole = signal.usable as u32;
        cut(whole - ((whole * self.alpha) >> 11), window);
        self.reno.forget();
    }
}
