//! Tests of statistics, for comparisons with other programs' results.

#![allow(dead_code)]

use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};

/// Sample mean.
pub(crate) fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

/// Squared standard error of the mean (n - 1).
pub(crate) fn squared_error(x: &[f64]) -> f64 {
    let (m, n) = (mean(x), x.len() as f64);
    x.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / (n - 1.0) / n
}

/// Two-sided p-value of Welch's test that `a` and `b` have one mean.
///
/// Two samples without variance: 1 when equal, else 0.
pub(crate) fn welch_p(a: &[f64], b: &[f64]) -> f64 {
    let (va, vb) = (squared_error(a), squared_error(b));
    let difference = mean(a) - mean(b);
    if va + vb == 0.0 {
        return if difference == 0.0 { 1.0 } else { 0.0 };
    }
    let freedom = |v: f64, x: &[f64]| v * v / (x.len() as f64 - 1.0);
    let degrees = (va + vb) * (va + vb) / (freedom(va, a) + freedom(vb, b));
    let t = difference / (va + vb).sqrt();
    2.0 * StudentsT::new(0.0, 1.0, degrees).unwrap().cdf(-t.abs())
}

/// Which hypotheses Holm's procedure rejects, their family-wise error at most `alpha`.
pub(crate) fn holm_rejects(p: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    let mut rejected = vec![false; p.len()];
    for (rank, &i) in order.iter().enumerate() {
        if p[i] > alpha / (p.len() - rank) as f64 {
            break;
        }
        rejected[i] = true;
    }
    rejected
}

/// p-value of the chi-square test that `counts` are equally likely.
pub(crate) fn uniform_p(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|&c| (c as f64 - expected) * (c as f64 - expected) / expected).sum();
    ChiSquared::new(counts.len() as f64 - 1.0).unwrap().sf(statistic)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means 2 and 5, variances 1 and 4, 3 values each: t = -3 / sqrt(5/3) with 50/17 degrees of freedom, twice the
    /// tail of Student's density, integrated numerically. Holm: bounds alpha/3, alpha/2, alpha in order of p.
    #[test]
    fn by_hand() {
        assert!((welch_p(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]) - WELCH).abs() < 1e-9);
        assert_eq!(holm_rejects(&[0.04, 0.001, 0.02], 0.05), [true, true, true]);
        assert_eq!(holm_rejects(&[0.04, 0.02, 0.03], 0.05), [false, false, false]);
        assert_eq!(welch_p(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
    }

    const WELCH: f64 = 0.104_478_886_67;
}
