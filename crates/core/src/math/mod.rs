//! exp, ln, pow and other functions that no processor rounds alike: the only way to them, so that every machine computes the same
//! bits.
//!
//! Decision: docs/decisions/020-named-random-streams.md

mod powers;
mod student;

pub use powers::{decade, power_of_ten, power_of_two};
pub use student::student_t;

/// e^x.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// e^(-t/k) of times in ns: the bits of `exp(-(ns as f64 / 1e9) / k)`, in a third of the time where t is short of k/128.
///
/// There e^x - 1 is a polynomial in x = -t/k, which is not rounded but for the last bits of x. Both ways compute e^x - 1 with a
/// relative error below 2^-50, so they are closer to each other than |x| 2^-49; where that could change what 1 + (e^x - 1) is
/// rounded to, the long way is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    k: f64,
    /// -1/k, by ns.
    per_ns: f64,
}

impl Decay {
    /// With k in seconds, above 0.
    pub fn new(k: f64) -> Self {
        Self { k, per_ns: -1.0 / (1e9 * k) }
    }

    /// k, s.
    pub const fn k(&self) -> f64 {
        self.k
    }

    /// e^(-t/k), t = `ns` ns.
    #[inline]
    pub fn keep(&self, ns: u64) -> f64 {
        let x = ns as f64 * self.per_ns;
        if LITTLE.contains(&x) {
            let change = exp_m1_of_little(x);
            let keep = 1.0 + change;
            // Exact: 1 and the sum are within a factor of 2.
            let rounded_off = change - (keep - 1.0);
            if rounded_off.abs() - x * TWO_WAYS < HALF_STEP {
                return keep;
            }
        }
        self.keep_slowly(ns)
    }

    #[cold]
    #[inline(never)]
    fn keep_slowly(&self, ns: u64) -> f64 {
        exp(-(ns as f64 / 1e9) / self.k)
    }
}

/// Bound of the difference of the two ways, as a part of x.
const TWO_WAYS: f64 = 1.0 / (1u64 << 49) as f64;

/// Where there is a short way. Nearer to 0 `exp` leaves out x^2/2.
const LITTLE: std::ops::Range<f64> = -1.0 / 128.0..-1.0 / (1u64 << 27) as f64;

/// Half the distance of two numbers just below 1: 2^-54.
const HALF_STEP: f64 = 1.0 / (1u64 << 54) as f64;

/// e^x - 1 for -1/128 <= x <= 0: Taylor's series up to x^6, whose rest is below |x| 2^-54.
#[inline]
fn exp_m1_of_little(x: f64) -> f64 {
    let square = x * x;
    let upper = (1.0 / 24.0 + x * (1.0 / 120.0)) + square * (1.0 / 720.0);
    x + square * ((0.5 + x * (1.0 / 6.0)) + square * upper)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Logarithm to base 2, exact for powers of two.
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// x^y.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// x^n for whole n from 1 to 8 by multiplication, to n 2^-52 of [`pow`]; `None` for others.
#[inline]
pub fn little_power(x: f64, n: f64) -> Option<f64> {
    if n == 3.0 {
        return Some(x * x * x);
    }
    let whole = n as u32;
    let is_little = (1..=8).contains(&whole) && f64::from(whole) == n;
    is_little.then(|| (1..whole).fold(x, |power, _| power * x))
}

/// The larger of two numbers; b if one is not a number. One instruction, where `f64::max` must look for that.
#[inline(always)]
pub fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers, as [`larger`].
#[inline(always)]
pub fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Cube root of x.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// Arctangent of x.
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Bit for bit, for constants from 1 us to 1000 s and times around them and far below.
        #[test]
        fn a_decay_is_the_exponential(k_us in 1u64..1_000_000_000, shorter in 0u32..40, draw in 1u64..1 << 40) {
            let k = k_us as f64 / 1e6;
            let ns = ((u128::from(k_us * 4000) * u128::from(draw)) >> (40 + shorter)) as u64;
            let decay = Decay::new(k);
            let plain = exp(-(ns as f64 / 1e9) / k);
            prop_assert_eq!(decay.keep(ns).to_bits(), plain.to_bits(), "{} ns, k {} s", ns, k);
        }
    }

    proptest! {
        /// To n 2^-52, and only for whole n from 1 to 8.
        #[test]
        fn little_powers_are_powers(x in 1e-6f64..1e6, n in 1u32..=8, part in 0.01f64..0.99) {
            let (little, plain) = (little_power(x, n.into()).unwrap(), pow(x, n.into()));
            prop_assert!((little / plain - 1.0).abs() <= f64::from(n) * f64::EPSILON, "{little} {plain}");
            prop_assert_eq!(little_power(x, f64::from(n) + part), None);
            prop_assert_eq!((little_power(x, 0.0), little_power(x, 9.0), little_power(x, -1.0)), (None, None, None));
        }
    }

    /// All short times for one constant: each of the two ways is taken, and they agree.
    #[test]
    fn a_decay_is_the_exponential_at_every_short_time() {
        let decay = Decay::new(0.1);
        for ns in (0..2_000_000).step_by(7) {
            assert_eq!(decay.keep(ns).to_bits(), exp(-(ns as f64 / 1e9) / 0.1).to_bits(), "{ns} ns");
        }
    }
}
