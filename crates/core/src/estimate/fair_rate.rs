//! Fair rate: the alpha at which flows of rates r_i, each cut to min(r_i, alpha), fill a link or take all tokens.
//!
//! Source: Stoica, Shenker and Zhang, "Core-Stateless Fair Queueing", SIGCOMM 1998, section 2.2, pseudo-code and the two
//! amendments on buffers; start, bound and constants as in ports of the authors' ns-2 code.
//!
//! ```text
//! A, F:       arrival and accepted rate, averaged with K_alpha at each packet
//! congested   (A >= C), each K_c:   alpha = alpha C/F
//! uncongested (A < C),  each K_c:   alpha = largest label of the window; unknown while C suffices
//! unknown:    nothing is refused; once C does not suffice, alpha = largest label seen, C/2 if none
//! overflow:   alpha = 0.99 alpha, at most kdec times a window
//! ```
//!
//! F(alpha) = sum min(r_i, alpha) is concave and grows with alpha, so the iteration finds F = C. alpha is only ever
//! compared with labels: labels r_i/w_i make it the share of one unit of weight, with nothing else to change.
//!
//! | symbol  | field      | unit    |
//! |---------|------------|---------|
//! | C       | `capacity` | B/s     |
//! | K_alpha | `k_alpha`  | s       |
//! | K_c     | `k_c`      | s       |
//! | kdec    | `kdec`     | packets |
//!
//! Bounds hold for labels, so they are stated in the labels' unit, the rate of one unit of weight: multiply all weights
//! by any number, and alpha is divided by it and every decision stays. A known alpha is above 0, which means unknown, and
//! not so far above all labels that it takes long to come down:
//!
//! ```text
//! weights known:  alpha <= C/w_min: the whole of C for the lightest flow. C/2 is C/2w_min. A first alpha is at least
//!                 `least`/w_max, as labels of flows that have only begun say little
//! not known:      alpha <= largest label seen, which also stands for C/2
//! ```
//!
//! Deviations: these bounds; the credits of the overflow rule are refilled each congested window.
//!
//! Decision: docs/decisions/006-fair-rates-by-weight.md

use crate::estimate::ExpRate;
use crate::rng::Rng;
use crate::scope::Weights;
use crate::units::{Span, Time};

/// Smallest rate, bytes/s: that of a flow about which nothing is known yet.
pub const EPS: f64 = 1.0;

/// What an overflow leaves of alpha.
const OVERFLOW: f64 = 0.99;

/// How high alpha may be where weights are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ceiling {
    /// C/w_min: no share of it is larger.
    Capacity,
    /// That, or the largest label seen if that is larger.
    Labels,
}

/// What is shared, and the constants of the iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// C, bytes/s.
    pub capacity: f64,
    /// Weights of the labelled flows, if they are known.
    pub weights: Option<Weights>,
    /// What a first alpha leaves to the heaviest flow at least, bytes/s; used where weights are known.
    pub least: f64,
    /// Upper bound of alpha.
    pub ceiling: Ceiling,
    /// Averaging constant of A and F.
    pub k_alpha: Span,
    /// Time between two changes of alpha.
    pub k_c: Span,
    /// Overflows in a window that lower alpha.
    pub kdec: u32,
}

/// A packet that [`FairRate::refuses`] has judged.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// Now.
    pub now: Time,
    /// Bytes.
    pub size: u32,
    /// Its label, bytes/s (by weight); 0 if it has none.
    pub label: f64,
    /// Whether it counts as accepted.
    pub accepted: bool,
}

/// The iteration.
#[derive(Clone, Debug)]
pub struct FairRate {
    rules: Rules,
    /// A and F.
    rates: ExpRate<2>,
    /// 0: unknown.
    alpha: f64,
    tmp_alpha: f64,
    /// Largest label ever.
    largest: f64,
    congested: bool,
    window: Time,
    credits: u32,
}

impl FairRate {
    /// An iteration that knows nothing yet.
    pub fn new(rules: Rules) -> Self {
        Self {
            rates: ExpRate::new(rules.k_alpha, [0.0; 2]),
            alpha: 0.0,
            tmp_alpha: 0.0,
            largest: 0.0,
            congested: true,
            window: Time::ZERO,
            credits: rules.kdec,
            rules,
        }
    }

    /// The label of a flow of this rate, bytes/s, that has the least weight.
    #[inline]
    pub fn label(&self, rate: f64) -> f64 {
        self.rules.weights.map_or(rate, |weights| rate / weights.lightest)
    }

    /// Whether a packet is refused: probability max(0, 1 - alpha/label), 0 while alpha is unknown. Draws only where
    /// that is above 0.
    #[inline]
    pub fn refuses(&self, label: f64, rng: &mut Rng) -> bool {
        self.cuts(label) && rng.exceeds(self.alpha, label)
    }

    /// Whether flows of this label are cut.
    #[inline]
    pub fn cuts(&self, label: f64) -> bool {
        self.alpha > 0.0 && label > self.alpha
    }

    /// Counts a packet, and moves alpha. `spare` says whether C suffices: queue below its threshold, bucket nearly full.
    #[inline]
    pub fn count(&mut self, packet: &Judged, spare: impl Fn() -> bool) {
        let size = f64::from(packet.size);
        self.largest = self.largest.max(packet.label);
        if !self.rates.add(packet.now, [size, if packet.accepted { size } else { 0.0 }]) {
            return;
        }
        if self.alpha == 0.0 && !self.starts(packet, spare()) {
            return;
        }
        if self.arriving() >= self.rules.capacity {
            self.congested(packet.now)
        } else {
            self.uncongested(packet, spare)
        }
    }

    /// An accepted packet found the queue full, or no token.
    pub fn overflow(&mut self) {
        if self.credits > 0 {
            self.credits -= 1;
            if self.alpha > 0.0 {
                self.alpha = self.bounded(self.alpha * OVERFLOW);
            }
        }
    }

    /// Makes a first alpha once C does not suffice; whether there is one.
    fn starts(&mut self, packet: &Judged, spare: bool) -> bool {
        if spare {
            self.tmp_alpha = self.tmp_alpha.max(packet.label);
            return false;
        }
        self.alpha = self.first(if self.tmp_alpha > 0.0 { self.tmp_alpha } else { self.without_labels() });
        self.tmp_alpha = 0.0;
        self.alpha > 0.0
    }

    /// A first alpha where there is no label to take it from.
    fn without_labels(&self) -> f64 {
        self.rules.weights.map_or(self.largest, |weights| self.rules.capacity / weights.lightest / 2.0)
    }

    #[inline]
    fn congested(&mut self, now: Time) {
        let entered = !self.congested;
        if !entered && now.since(self.window) < self.rules.k_c {
            return;
        }
        self.congested = true;
        self.window = now;
        self.credits = self.rules.kdec;
        if !entered && self.accepted() > 0.0 {
            self.alpha = self.bounded(self.alpha * self.rules.capacity / self.accepted());
        }
    }

    #[inline]
    fn uncongested(&mut self, packet: &Judged, spare: impl Fn() -> bool) {
        if self.congested {
            self.congested = false;
            self.window = packet.now;
            self.tmp_alpha = 0.0;
        } else if packet.now.since(self.window) < self.rules.k_c {
            self.tmp_alpha = self.tmp_alpha.max(packet.label);
        } else {
            self.relax(packet.now, spare());
        }
    }

    /// An uncongested window is over: its fastest flow sets alpha, or alpha becomes unknown.
    fn relax(&mut self, now: Time, spare: bool) {
        self.window = now;
        if spare {
            self.alpha = 0.0;
            return;
        }
        self.alpha = if self.tmp_alpha > 0.0 { self.first(self.tmp_alpha) } else { 0.0 };
        self.tmp_alpha = 0.0;
    }

    /// The upper bound of alpha.
    fn top(&self) -> f64 {
        let Some(weights) = self.rules.weights else { return self.largest };
        let capacity = self.rules.capacity / weights.lightest;
        match self.rules.ceiling {
            Ceiling::Capacity => capacity,
            Ceiling::Labels => capacity.max(self.largest),
        }
    }

    /// A first alpha from a rate: within the bounds, and not too small. 0 while there is no label at all.
    fn first(&self, rate: f64) -> f64 {
        let least = self.rules.weights.map_or(0.0, |weights| self.rules.least / weights.heaviest);
        rate.max(least).min(self.top())
    }

    /// A rate within the bounds of a known alpha.
    fn bounded(&self, rate: f64) -> f64 {
        rate.min(self.top()).max(f64::MIN_POSITIVE)
    }

    /// alpha, bytes/s; 0 while unknown.
    #[inline]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// A, bytes/s.
    #[inline]
    pub const fn arriving(&self) -> f64 {
        self.rates.rates()[0]
    }

    /// F, bytes/s.
    #[inline]
    pub const fn accepted(&self) -> f64 {
        self.rates.rates()[1]
    }

    /// Takes new rules: rates, window and credits stay, and alpha as far as its new bounds allow.
    pub fn retune(&mut self, rules: Rules) {
        self.rates.reaverage(rules.k_alpha);
        self.rules = rules;
        self.alpha = if self.alpha > 0.0 { self.bounded(self.alpha) } else { 0.0 };
    }
}
