//! EWMA: exponentially weighted moving average of samples, with the idle decay of RED.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", section 4.
//!
//! ```text
//! sample:  x = x + w (s - x)
//! idle:    x = t + (x - t) (1 - w)^m      as m samples equal to t would have done
//! ```
//!
//! | symbol | argument          | unit    |
//! |--------|-------------------|---------|
//! | w      | `weight`          | -       |
//! | s      | `sample`          | any     |
//! | t      | `towards`         | as s    |
//! | m      | `virtual_samples` | samples |
//!
//! Deviations: m is a real number, not rounded down.

use crate::math;

/// A moving average: weight of a sample, value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ewma {
    weight: f64,
    value: f64,
}

impl Ewma {
    /// An average that starts at `initial`; `weight` in [0, 1] is the share by which one sample moves it.
    pub const fn new(weight: f64, initial: f64) -> Self {
        Self { weight, value: initial }
    }

    /// Takes a sample; returns the new average.
    #[inline]
    pub fn update(&mut self, sample: f64) -> f64 {
        self.value += self.weight * (sample - self.value);
        self.value
    }

    /// Does what `virtual_samples` (real, at least 0) samples equal to `towards` would do; returns the new average.
    #[inline]
    pub fn decay(&mut self, towards: f64, virtual_samples: f64) -> f64 {
        self.relax(towards, math::pow(1.0 - self.weight, virtual_samples))
    }

    /// Moves towards a value, keeping the share `keep` of the distance; returns the new average.
    #[inline]
    pub fn relax(&mut self, towards: f64, keep: f64) -> f64 {
        self.value = towards + (self.value - towards) * keep;
        self.value
    }

    /// The average.
    #[inline]
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// The share by which one sample moves it.
    pub const fn weight(&self) -> f64 {
        self.weight
    }

    /// Gives later samples another weight; the average stays.
    pub const fn reweigh(&mut self, weight: f64) {
        self.weight = weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_average_by_hand() {
        let mut average = Ewma::new(0.25, 8.0);
        assert_eq!(average.update(16.0), 10.0);
        assert_eq!(average.update(2.0), 8.0);
        assert_eq!(average.decay(0.0, 2.0), 4.5);
        assert_eq!(average.decay(9.0, 0.0), 4.5);
    }

    proptest! {
        /// m equal samples and m virtual samples differ by rounding only: each of the m steps is good to 2 units
        /// in the last place of numbers below 1e6, and 1 - w contracts what came before.
        #[test]
        fn decay_is_that_many_samples(w in 0.0..=1.0, from in 0.0..1e6, towards in 0.0..1e6, m in 0u32..200) {
            let (mut stepped, mut jumped) = (Ewma::new(w, from), Ewma::new(w, from));
            for _ in 0..m {
                stepped.update(towards);
            }
            jumped.decay(towards, f64::from(m));
            let tolerance = 4.0 * f64::from(m + 1) * f64::EPSILON * 1e6;
            prop_assert!((stepped.value() - jumped.value()).abs() <= tolerance);
        }

        /// The average never leaves the range of its samples.
        #[test]
        fn it_stays_among_its_samples(w in 0.0..=1.0, samples in prop::collection::vec(0.0f64..1e6, 1..100)) {
            let mut average = Ewma::new(w, samples[0]);
            let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
            let most = samples.iter().copied().fold(0.0, f64::max);
            for sample in samples {
                average.update(sample);
                prop_assert!(average.value() >= least * (1.0 - 1e-12) && average.value() <= most * (1.0 + 1e-12));
            }
        }
    }
}
