//! Statistics of the comparisons: Welch's test, Holm's correction, Jain's index.

use perhop_core::math;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Arithmetic mean.
pub fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

/// Variance with n - 1.
pub fn variance(sample: &[f64]) -> f64 {
    let mean = mean(sample);
    sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (sample.len() - 1) as f64
}

/// Two-sided p-value of Welch's test that two samples have one mean. Samples without any spread are compared as
/// numbers: 1 if equal, else 0.
pub fn welch(a: &[f64], b: &[f64]) -> f64 {
    let (va, vb) = (variance(a) / a.len() as f64, variance(b) / b.len() as f64);
    if va + vb == 0.0 {
        return if mean(a) == mean(b) { 1.0 } else { 0.0 };
    }
    let t = (mean(a) - mean(b)) / (va + vb).sqrt();
    let freedom = (va + vb) * (va + vb) / (va * va / (a.len() - 1) as f64 + vb * vb / (b.len() - 1) as f64);
    let student = StudentsT::new(0.0, 1.0, freedom).expect("freedom is above 0");
    2.0 * student.cdf(-t.abs())
}

/// Holm's step-down correction: p-values to compare with the level directly, in the given order.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    let (mut corrected, mut largest) = (vec![0.0; p.len()], 0.0f64);
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max(p[i] * (p.len() - rank) as f64).min(1.0);
        corrected[i] = largest;
    }
    corrected
}

/// Jain's index: 1 when all are equal, 1/n when one has all.
pub fn jain(x: &[f64]) -> f64 {
    let (sum, squares) = (x.iter().sum::<f64>(), x.iter().map(|x| x * x).sum::<f64>());
    sum * sum / (x.len() as f64 * squares)
}

/// Closed forms: Student's t with 2 degrees of freedom has the tail 1 - t/sqrt(2 + t^2), with 1 (Cauchy)
/// 1 - 2/pi atan t. Samples of equal spread and two elements each have 2 degrees, a spread on one side only leaves 1.
#[test]
fn closed_forms() {
    let two = 1.0 - (4.5f64 / 6.5).sqrt();
    assert!((welch(&[0.0, 2.0], &[3.0, 5.0]) - two).abs() < 1e-9);
    let one = 1.0 - 2.0 / std::f64::consts::PI * math::atan(3.0);
    assert!((welch(&[0.0, 2.0], &[4.0, 4.0]) - one).abs() < 1e-9);
    assert_eq!(welch(&[3.0, 3.0], &[3.0, 3.0]), 1.0);
    assert_eq!(welch(&[3.0, 3.0], &[4.0, 4.0]), 0.0);
    for (got, want) in holm(&[0.01, 0.04, 0.03]).iter().zip([0.03, 0.06, 0.06]) {
        assert!((got - want).abs() < 1e-12, "{got} {want}");
    }
    assert_eq!([jain(&[2.0, 2.0]), jain(&[2.0, 0.0])], [1.0, 0.5]);
}
