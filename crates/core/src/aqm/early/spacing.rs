//! The spacing of early drops: from p_b to a decision.
//!
//! Sources: Floyd and Jacobson 1993, section 7 (Bernoulli is their method 1, uniformised their method 2); ns-2's
//! options `wait_` and the module dsRED by behaviour.
//!
//! `count` is the number of arrivals since the last early drop, -1 while the average is below the minimum. In the
//! probabilistic zone every arrival first does `count = count + 1`, then is dropped with probability
//!
//! ```text
//! bernoulli     p_b
//! uniformised   p_b / (1 - count p_b), 1 where count p_b >= 1
//! wait          0 where count p_b < 1, p_b / (2 - count p_b) where count p_b < 2, else 1
//! ds-red        as uniformised, but 0 where count p_b > 1
//! ```
//!
//! and a drop sets `count = 0`. Under a constant p_b the gaps between drops are geometric; uniform on 1 .. 1/p_b - 1;
//! uniform on 1/p_b .. 2/p_b - 1.
//!
//! Deviations: the 1993 paper derives gaps uniform on 1 .. 1/p_b but sets `count = 0` at a drop and raises it before
//! the next decision, which makes them 1 .. 1/p_b - 1 (and 1 .. 1/p_b for the first after the average crossed the
//! minimum). This is the rule as its pseudo-code and ns-2 have it.

use crate::params::Choice;
use crate::rng::Rng;

/// How early drops are spread over the arrivals.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Gaps uniform up to 1/p_b (RED as published; ns-2 `wait_ false`).
    Uniformised,
    /// Each arrival independently.
    Bernoulli,
    /// Gaps uniform from 1/p_b to 2/p_b (ns-2 `wait_ true`).
    Wait,
    /// As uniformised without a guard: where p_b rises so that count p_b passes 1, early drop is off until the
    /// average leaves the ramp (ns-2's dsRED).
    DsRed,
}

/// The count of one drop precedence.
#[derive(Clone, Debug)]
pub struct Spacer {
    spacing: Spacing,
    count: i64,
}

impl Spacer {
    /// Before the first packet.
    pub const fn new(spacing: Spacing) -> Self {
        Self { spacing, count: -1 }
    }

    /// The average is below the minimum.
    #[inline]
    pub fn rest(&mut self) {
        self.count = -1;
    }

    /// A packet was dropped.
    #[inline]
    pub fn restart(&mut self) {
        self.count = 0;
    }

    /// Counts an arrival in the probabilistic zone that is spared.
    #[inline]
    pub fn pass_over(&mut self) {
        self.count += 1;
    }

    /// Continues the count of `other`.
    pub fn resume(&mut self, other: &Self) {
        self.count = other.count;
    }

    /// Counts an arrival in the probabilistic zone and decides. Always takes one draw.
    #[inline]
    pub fn hits(&mut self, p_b: f64, rng: &mut Rng) -> bool {
        self.hits_scaled(p_b, 1.0, rng)
    }

    /// The same for a packet whose p_a is `factor` times what the spacing makes of p_b.
    #[inline]
    pub fn hits_scaled(&mut self, p_b: f64, factor: f64, rng: &mut Rng) -> bool {
        self.count += 1;
        let hit = rng.uniform() < self.chance(p_b).min(1.0) * factor;
        if hit {
            self.restart();
        }
        hit
    }

    /// p_a of the arrival just counted.
    #[inline]
    fn chance(&self, p_b: f64) -> f64 {
        let progress = self.count as f64 * p_b;
        match self.spacing {
            Spacing::Bernoulli => p_b,
            Spacing::Uniformised if progress >= 1.0 => 1.0,
            Spacing::DsRed if progress > 1.0 => 0.0,
            Spacing::Uniformised | Spacing::DsRed => p_b / (1.0 - progress),
            Spacing::Wait if progress < 1.0 => 0.0,
            Spacing::Wait if progress < 2.0 => p_b / (2.0 - progress),
            Spacing::Wait => 1.0,
        }
    }
}
