//! The spacing of early drops: from p_b to a decision.
//!
//! Sources: Floyd and Jacobson 1993, section 7 (Bernoulli is their method 1, uniformised their method 2); ns-2's
//! options `wait_` and the module dsRED by behaviour.
//!
//! `count` is the number of arrivals since the last early drop, -1 while the average is below the minimum. In the
//! probabilistic zone every arrival first sets `count = count + 1` and is then dropped with probability
//!
//! ```text
//! bernoulli     p_b
//! uniformised   p_b / (1 - count p_b), 1 where count p_b >= 1
//! wait          0 where count p_b < 1, p_b / (2 - count p_b) where count p_b < 2, else 1
//! ds-red        as uniformised, but 0 where count p_b > 1
//! ```
//!
//! A drop sets `count = 0`. Under a constant p_b the gaps between drops are geometric (`bernoulli`), uniform on 1 ..
//! 1/p_b - 1 (`uniformised`) or uniform on 1/p_b .. 2/p_b - 1 (`wait`).
//!
//! Deviations: the 1993 paper derives gaps uniform on 1 .. 1/p_b. But its pseudo-code sets `count = 0` at a drop and
//! raises it before the next decision, which makes the gaps 1 .. 1/p_b - 1 (and 1 .. 1/p_b for the first after the
//! average crossed the minimum). The rule here is that of the pseudo-code and of ns-2.
//!
//! Decision: docs/decisions/062-overflow-restarts-reds-count.md

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

/// How well p_b is known before it is divided: as a part of it.
pub const NEAR: f64 = 1.0 / (1u64 << 45) as f64;

/// Draws this close to p_a are compared with the quotient; far more than [`NEAR`].
const CLOSE: f64 = 1.0 / (1u64 << 40) as f64;

/// Where less than this is left of 1 - count p_b, the quotient is taken.
const LEAST_LEFT: f64 = 1.0 / 256.0;

/// The count of one drop precedence.
#[derive(Clone, Debug)]
pub struct Spacer {
    spacing: Spacing,
    /// A whole number, exact up to 2^53.
    count: f64,
}

impl Spacer {
    /// Before the first packet.
    pub const fn new(spacing: Spacing) -> Self {
        Self { spacing, count: -1.0 }
    }

    /// The average is below the minimum.
    #[inline]
    pub fn rest(&mut self) {
        self.count = -1.0;
    }

    /// A packet was dropped.
    #[inline]
    pub fn restart(&mut self) {
        self.count = 0.0;
    }

    /// Counts an arrival in the probabilistic zone that is spared.
    #[inline]
    pub fn pass_over(&mut self) {
        self.count += 1.0;
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
        self.count += 1.0;
        let hit = rng.uniform() < self.chance(p_b).min(1.0) * factor;
        if hit {
            self.restart();
        }
        hit
    }

    /// As [`Spacer::hits`] with p_b = `exact()`, of which `near` is not further away than [`NEAR`]. A draw that is not close to
    /// p_a is judged by `near`, without a division; the answer is the same.
    #[inline(always)]
    pub fn hits_near(&mut self, near: f64, exact: impl FnOnce() -> f64, rng: &mut Rng) -> bool {
        self.count += 1.0;
        let draw = rng.uniform();
        let hit = self.is_below(draw, near).unwrap_or_else(|| draw < self.chance(exact()).min(1.0));
        if hit {
            self.restart();
        }
        hit
    }

    /// Whether `draw` is below p_a for every p_b near this one; `None` if that depends on which. Both sides of the
    /// comparison are known to a few [`NEAR`].
    #[inline(always)]
    fn is_below(&self, draw: f64, p_b: f64) -> Option<bool> {
        let left = match self.spacing {
            Spacing::Bernoulli => 1.0,
            Spacing::Uniformised => 1.0 - self.count * p_b,
            Spacing::Wait | Spacing::DsRed => return None,
        };
        let above = draw * left - p_b;
        (left > LEAST_LEFT && above.abs() > CLOSE).then_some(above < 0.0)
    }

    /// p_a of the arrival just counted.
    #[inline]
    fn chance(&self, p_b: f64) -> f64 {
        let progress = self.count * p_b;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    /// p_b of which p_a is this draw, after `count` arrivals.
    fn tie(spacing: Spacing, draw: f64, count: u32) -> f64 {
        if spacing == Spacing::Bernoulli { draw } else { draw / (1.0 + f64::from(count) * draw) }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// With any p_b, and with those that make p_a the draw, or a few steps beside it, a p_b that is off by NEAR decides as
        /// the exact one.
        #[test]
        fn what_is_near_decides_as_what_is_exact(
            which in 0usize..4, seed in 0u64..1000, count in 0u32..300, p in 0.0f64..=1.0, steps in -3i64..=3, tied: bool,
            off in -1.0f64..=1.0,
        ) {
            let spacing = [Spacing::Uniformised, Spacing::Bernoulli, Spacing::Wait, Spacing::DsRed][which];
            let mut exact = Spacer { spacing, count: f64::from(count) - 1.0 };
            let mut near = exact.clone();
            let mut rngs = [Rng::stream(seed, 0, "spacing"), Rng::stream(seed, 0, "spacing")];
            let draw = rngs[0].clone().uniform();
            let p_b = if tied { tie(spacing, draw, count) } else { p * p * p };
            let p_b = f64::from_bits((p_b.to_bits() as i64 + steps).max(0) as u64);
            let hit = exact.hits(p_b, &mut rngs[0]);
            prop_assert_eq!(near.hits_near(p_b * (1.0 + off * NEAR), || p_b, &mut rngs[1]), hit);
            prop_assert_eq!(near.count, exact.count);
            prop_assert_eq!(rngs[0].bits(), rngs[1].bits());
        }
    }
}
