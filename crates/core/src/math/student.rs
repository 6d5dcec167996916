//! Quantiles of Student's t.
//!
//! Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4: P(|T| < t) as a finite series.

use super::atan;
use std::f64::consts::FRAC_2_PI;

/// The t for which P(|T| < t) is `level`, between 0 and 1, of Student's T with `freedom` degrees of freedom, at least 1.
///
/// P is concave for t > 0, so Newton's steps from 0 stay below the root. Each squares the error: behind one of 1e-9 t it is rounding.
pub fn student_t(freedom: u32, level: f64) -> f64 {
    let (mut t, mut step) = (0.0, 1.0);
    while step > 1e-9 * t {
        let (within, slope) = within(freedom, t);
        step = (level - within) / slope;
        t += step;
    }
    t
}

/// P(|T| < t) and its derivative. The angle of 26.7.3 has the tangent t / sqrt(freedom).
fn within(freedom: u32, t: f64) -> (f64, f64) {
    let n = f64::from(freedom);
    let (square, tangent) = (n / (n + t * t), t / n.sqrt());
    let cos = square.sqrt();
    if freedom == 1 {
        return (FRAC_2_PI * atan(tangent), FRAC_2_PI * square);
    }
    let odd = freedom % 2;
    let first = if odd == 1 { cos } else { 1.0 };
    let (sum, last) = series(first, square, (2 + odd..freedom - 1).step_by(2));
    let (sin, by_angle) = (tangent * cos, (n - 1.0) * last * cos);
    let (within, by_angle) =
        if odd == 1 { (FRAC_2_PI * (atan(tangent) + sin * sum), FRAC_2_PI * by_angle) } else { (sin * sum, by_angle) };
    (within, by_angle * square / n.sqrt())
}

/// The sum of the terms and the last one. Each is the one before it times `square` (k - 1) / k.
fn series(first: f64, square: f64, ks: impl Iterator<Item = u32>) -> (f64, f64) {
    let (mut sum, mut last) = (first, first);
    for k in ks {
        last *= square * f64::from(k - 1) / f64::from(k);
        sum += last;
    }
    (sum, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    /// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2: the columns 0.975 and 0.995, to three decimals.
    #[test]
    fn quantiles_are_those_of_printed_tables() {
        let table = [
            (1, 12.706, 63.657),
            (2, 4.303, 9.925),
            (3, 3.182, 5.841),
            (4, 2.776, 4.604),
            (5, 2.571, 4.032),
            (6, 2.447, 3.707),
            (9, 2.262, 3.250),
            (10, 2.228, 3.169),
            (29, 2.045, 2.756),
            (30, 2.042, 2.750),
            (60, 2.000, 2.660),
            (100, 1.984, 2.626),
        ];
        for (freedom, at_95, at_99) in table {
            assert!((student_t(freedom, 0.95) - at_95).abs() <= 0.0005, "{freedom}");
            assert!((student_t(freedom, 0.99) - at_99).abs() <= 0.0005, "{freedom}");
        }
    }

    /// With 2 degrees of freedom P is t / sqrt(2 + t^2). 5 roundings there and 10 here, of which each is worth 1/(1 - level) in t.
    #[test]
    fn two_degrees_of_freedom_have_a_closed_form() {
        for level in [0.5, 0.9, 0.95, 0.99, 0.999] {
            let exact = level * f64::sqrt(2.0 / (1.0 - level * level));
            let allowed = 15.0 * f64::EPSILON / (1.0 - level);
            assert!((student_t(2, level) / exact - 1.0).abs() <= allowed, "{level}");
        }
    }

    /// 26.7.5: the expansion about the quantile z of the normal distribution, to 1/n^2. Its next term is below 3/n^3; 26.7.4 is
    /// rounded as in the comparison with statrs.
    #[test]
    fn many_degrees_of_freedom_are_nearly_normal() {
        let z: f64 = 1.959_963_984_540_054;
        for freedom in [1_000, 1_001, 20_000] {
            let n = f64::from(freedom);
            let [z3, z5] = [z * z * z, z * z * z * z * z];
            let expanded = z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n);
            let t = student_t(freedom, 0.95);
            let allowed = 3.0 / (n * n * n) + rounding(freedom) / within(freedom, t).1;
            assert!((t - expanded).abs() <= allowed, "{freedom}: {t} {expanded}");
        }
    }

    /// By how much P may be off: each of `freedom` / 2 factors of the last term has 3 roundings and the two of `square`, and the
    /// rest of the formula has 12.
    fn rounding(freedom: u32) -> f64 {
        (2.5 * f64::from(freedom) + 12.0) * f64::EPSILON / 2.0
    }

    /// statrs's own tests hold its quantiles to 1e-10 of those of mpmath (its `consts::ACC`).
    #[test]
    fn quantiles_are_those_of_statrs() {
        for (freedom, level) in (1..3_000).flat_map(|it| [(it, 0.95), (it, 0.99)]) {
            let theirs = StudentsT::new(0.0, 1.0, freedom.into()).unwrap().inverse_cdf(0.5 + level / 2.0);
            let allowed = 1e-10 * theirs + rounding(freedom) / within(freedom, theirs).1;
            assert!((student_t(freedom, level) - theirs).abs() <= allowed, "{freedom} at {level}");
        }
    }
}
