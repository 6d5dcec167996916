//! Random numbers: one named stream per component.
//!
//! A stream's key is BLAKE3 of (seed, replication, component's name), so adding a component moves no
//! other's draws, and two policies can be compared on the same traffic. The generator is
//! xoshiro256++, the same on every machine.
//!
//! Decision: docs/decisions/020-named-random-streams.md

use crate::math;
use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How close to each other, as a part of the larger, two numbers have to be for their comparison to depend on how a quotient is
/// rounded: far above 2^-51, the error of either way.
const CLOSE: f64 = 1.0 / (1u64 << 40) as f64;

#[cold]
#[inline(never)]
fn is_below_quotient(draw: f64, part: f64, whole: f64) -> bool {
    draw < 1.0 - part / whole
}

/// One component's stream.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream of `component` in one replication of a run.
    pub fn stream(seed: u64, replication: u32, component: &str) -> Self {
        let mut key = blake3::Hasher::new_derive_key("perhop stream v1");
        key.update(&seed.to_le_bytes());
        key.update(&replication.to_le_bytes());
        key.update(component.as_bytes());
        Self(Xoshiro256PlusPlus::from_seed(*key.finalize().as_bytes()))
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Whether `uniform() < 1.0 - part / whole`, of a part above 0 and below the whole. It is divided only where the sign of
    /// (1 - draw) whole - part, within its rounding, does not say so.
    #[inline]
    pub fn exceeds(&mut self, part: f64, whole: f64) -> bool {
        let draw = self.uniform();
        let above = (1.0 - draw) * whole - part;
        if above.abs() > CLOSE * whole { above > 0.0 } else { is_below_quotient(draw, part, whole) }
    }

    /// 64 random bits: the seed of a generator that is not ours.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Exponential with the given mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * math::ln(1.0 - self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Also where the draw is the quotient, or a few steps beside it.
        #[test]
        fn an_excess_is_drawn_as_if_divided(
            seed in 0u64..1000, whole in 1.0f64..1e10, share in 0.0f64..1.0, steps in -3i64..=3, tied: bool,
        ) {
            let mut rng = Rng::stream(seed, 0, "excess");
            let draw = rng.clone().uniform();
            let part = if tied { (1.0 - draw) * whole } else { share * whole };
            let part = f64::from_bits((part.to_bits() as i64 + steps).max(1) as u64);
            prop_assert_eq!(rng.exceeds(part, whole), draw < 1.0 - part / whole);
        }
    }

    /// Pins the numbers: a change here changes every result ever published.
    #[test]
    fn values_are_stable() {
        let draw = |seed, replication, name: &str| {
            let mut rng = Rng::stream(seed, replication, name);
            [rng.uniform(), rng.uniform()]
        };
        assert_eq!(draw(1, 0, "conditioner.marker"), PINNED);
        assert_ne!(draw(1, 1, "conditioner.marker"), PINNED);
        assert_ne!(draw(2, 0, "conditioner.marker"), PINNED);
        assert_ne!(draw(1, 0, "conditioner.label"), PINNED);
    }

    const PINNED: [f64; 2] = [0.6517569041301308, 0.4742998752454941];

    /// Mean of n exponentials is within 4 standard errors (1/sqrt(n)) of the given mean.
    #[test]
    fn exponential_has_its_mean() {
        let mut rng = Rng::stream(7, 0, "mean");
        let n = 100_000;
        let mean = (0..n).map(|_| rng.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((mean / 3.0 - 1.0).abs() < 4.0 / f64::from(n).sqrt(), "{mean}");
    }
}
