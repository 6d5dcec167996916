//! Between the entries of a table.

use crate::math;

/// A place between two points of an axis, or at its end.
#[derive(Clone, Copy)]
pub(super) struct Along {
    below: usize,
    above: usize,
    /// How near to the one above.
    part: f64,
}

impl Along {
    /// Between points that rise, by logarithms.
    pub(super) fn of(axis: &[f64], at: f64) -> Self {
        let at = at.clamp(axis[0], axis[axis.len() - 1]);
        let above = axis.iter().position(|&point| point >= at).unwrap_or(axis.len() - 1);
        let below = above.saturating_sub(1);
        let part = if above == below { 0.0 } else { math::ln(at / axis[below]) / math::ln(axis[above] / axis[below]) };
        Self { below, above, part }
    }

    /// Between whole numbers below `points`.
    pub(super) fn steps(at: f64, points: usize) -> Self {
        let at = at.clamp(0.0, (points - 1) as f64);
        let below = at as usize;
        Self { below, above: (below + 1).min(points - 1), part: at - below as f64 }
    }

    pub(super) fn mix(self, value: impl Fn(usize) -> f64) -> f64 {
        value(self.below) * (1.0 - self.part) + value(self.above) * self.part
    }
}
