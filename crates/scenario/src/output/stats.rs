//! Means and 95 % intervals over replications.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean with half the width of its 95 % t-interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean over replications.
    pub mean: f64,
    /// Half width; `None` for a single replication.
    pub half_width: Option<f64>,
}

/// The quantile of Student's t that a two-sided 95 % interval over `n` values takes; `None` below two.
pub fn t_95(n: usize) -> Option<f64> {
    let t = StudentsT::new(0.0, 1.0, n.checked_sub(1).filter(|&d| d > 0)? as f64).ok()?;
    Some(t.inverse_cdf(0.975))
}

/// Mean and interval; `None` without values.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let half_width = t_95(values.len()).map(|t| t * (squares / (n - 1.0) / n).sqrt());
    Some(Estimate { mean, half_width })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t(0.975) of 2 and of 9 degrees of freedom, from printed tables.
    #[test]
    fn intervals_are_students() {
        assert!((t_95(3).unwrap() - 4.302_653).abs() < 1e-5);
        assert!((t_95(10).unwrap() - 2.262_157).abs() < 1e-5);
        assert_eq!(t_95(1), None);
        let e = estimate(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(e.mean, 2.0);
        assert!((e.half_width.unwrap() - 4.302_653 / 3f64.sqrt()).abs() < 1e-5);
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[5.0]).unwrap().half_width, None);
    }
}
