//! Linux's DCTCP, one variable for each of its quantities, in whole numbers.

use super::{Arithmetic, DEFAULTS, Params, Slow, Then, same};
use perhop_sim::transport::{Signal, Window};

struct Kernel {
    shift: u32,
    /// 1024 is all.
    alpha: u64,
    round_ends_at: u64,
    delivered: u64,
    delivered_marked: u64,
    at_round: (u64, u64),
    cwnd: u64,
    threshold: u64,
    credit: u64,
}

impl Kernel {
    fn new(shift: u32, alpha: u64) -> Self {
        Self {
            shift,
            alpha,
            round_ends_at: 1,
            delivered: 0,
            delivered_marked: 0,
            at_round: (0, 0),
            cwnd: 10,
            threshold: u32::MAX.into(),
            credit: 0,
        }
    }

    fn grow(&mut self, mut acked: u64) {
        if self.cwnd < self.threshold {
            let room = self.threshold - self.cwnd;
            self.cwnd += acked.min(room);
            acked -= acked.min(room);
        }
        if acked == 0 {
            return;
        }
        if self.credit >= self.cwnd {
            self.credit = 0;
            self.cwnd += 1;
            self.credit += acked;
            let more = self.credit / (self.cwnd - 1);
            self.credit -= more * (self.cwnd - 1);
            self.cwnd += more;
            return;
        }
        self.credit += acked;
        let more = self.credit / self.cwnd;
        self.credit -= more * self.cwnd;
        self.cwnd += more;
    }

    fn set(&mut self, left: u64) {
        (self.cwnd, self.threshold, self.credit) = (left.max(2), left.max(2), 0);
    }
}

impl Slow for Kernel {
    fn feedback(&mut self, signal: &Signal) {
        self.delivered += u64::from(signal.acked);
        self.delivered_marked += u64::from(signal.marked);
        if u64::from(signal.una) < self.round_ends_at {
            return;
        }
        let all = self.delivered - self.at_round.0;
        let marked = self.delivered_marked - self.at_round.1;
        let share = self.alpha / 2u64.pow(self.shift);
        self.alpha -= if share == 0 { self.alpha } else { share };
        if marked > 0 {
            let gain = marked * 2u64.pow(10 - self.shift) / all;
            self.alpha = (self.alpha + gain).min(1024);
        }
        self.round_ends_at = signal.next.into();
        self.at_round = (self.delivered, self.delivered_marked);
    }

    fn then(&mut self, then: Then, acked: u32) {
        match then {
            Then::Grows => self.grow(acked.into()),
            Then::Echo => self.set(self.cwnd - self.cwnd * self.alpha / 2048),
            Then::Loss => self.set(self.cwnd / 2),
            Then::TimeOut => {
                self.set(self.cwnd / 2);
                self.cwnd = 1;
            }
            // the window is on its way down: only where to
            Then::LossAfterEcho => self.threshold = (self.cwnd / 2).max(2),
            Then::Nothing => {}
        }
    }

    fn window(&self) -> Window {
        Window { cwnd: self.cwnd as f64, ssthresh: self.threshold as f64 }
    }
}

#[test]
fn agrees_with_the_kernels_rules_ack_by_ack() {
    let mut echoes = 0;
    for seed in 0..60 {
        let (shift, alpha) = [(4, 1024), (0, 0), (10, 700), (4, 20)][seed as usize % 4];
        let (g, initial_alpha) = (1.0 / f64::from(1 << shift), alpha as f64 / 1024.0);
        let params = Params { g, initial_alpha, arithmetic: Arithmetic::Linux };
        echoes += same(params, Kernel::new(shift, alpha), seed, 0.0);
    }
    assert!(echoes > 3000, "{echoes} echoes are too few to say anything");
}

/// With g = 1/16 what is left below 1/64 goes at once: the fraction becomes 0, not ever smaller.
#[test]
fn a_small_fraction_is_forgotten_at_once() {
    let mut kernel = Kernel::new(4, 15);
    kernel.feedback(&Signal { acked: 1, una: 2, next: 12, ..Signal::default() });
    assert_eq!(kernel.alpha, 0);
    assert!(
        DEFAULTS.build(&()).is_ok() && Params { g: 0.3, arithmetic: Arithmetic::Linux, ..DEFAULTS }.build(&()).is_err()
    );
}
