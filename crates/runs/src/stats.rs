//! Means and 95 % intervals over replications.
//!
//! A quantile comes from a bucket and is its upper end: the exact one lies at most a width w below. The mean of n of them is
//! then at most the mean width above the mean of the exact ones, so that half-width is added to that of Student's t:
//! |m - mu| <= |m - mean of the exact| + |mean of the exact - mu| <= w + t s / sqrt(n). For s that of the values as they
//! are known is taken: rounding to buckets adds to it where they fall into several. Where all fall into one it is 0, and
//! the expectation of a symmetric quantity is outside of the bucket only if all n lie on one side of it: with a probability
//! of 2^(1 - n), 5 % from six replications on.
//!
//! An interval of a share, an index or a percentage ends at its bounds.

use perhop_scenario::tables::meaning;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean over replications.
    pub mean: f64,
    /// Half the width of the interval before it is cut; `None` for a single replication.
    half: Option<f64>,
    /// Where it ends at the latest.
    bounds: [f64; 2],
}

impl Estimate {
    /// A mean and half the width of its interval, if it has one.
    pub fn new(mean: f64, half: Option<f64>) -> Self {
        Self { mean, half, bounds: UNBOUNDED }
    }

    /// The ends of the interval; `None` for a single replication.
    pub fn ends(&self) -> Option<[f64; 2]> {
        self.half.map(|half| [(self.mean - half).max(self.bounds[0]), (self.mean + half).min(self.bounds[1])])
    }

    /// Half the width between them.
    pub fn half_width(&self) -> Option<f64> {
        let whole = self.half.filter(|_| !self.is_cut());
        whole.or_else(|| self.ends().map(|[low, high]| (high - low) / 2.0))
    }

    /// Whether it would reach beyond the bounds of what is estimated.
    fn is_cut(&self) -> bool {
        self.half.is_some_and(|half| self.mean - half < self.bounds[0] || self.mean + half > self.bounds[1])
    }

    /// In another unit.
    pub fn scaled(&self, factor: f64) -> Self {
        let half = self.half.map(|half| half * factor);
        Self { mean: self.mean * factor, half, bounds: self.bounds.map(|bound| bound * factor) }
    }

    /// `4.97 ±0.03`; with the ends of the interval, `88.46 [0.00, 100.00]`, where it is cut; the mean alone without one.
    pub fn text(&self, decimals: usize) -> String {
        let mean = self.mean;
        match (self.ends(), self.half) {
            (Some([low, high]), _) if self.is_cut() => {
                format!("{mean:.decimals$} [{low:.decimals$}, {high:.decimals$}]")
            }
            (_, Some(half)) => format!("{mean:.decimals$} ±{half:.decimals$}"),
            (_, None) => format!("{mean:.decimals$}"),
        }
    }
}

/// The quantile of Student's t that a two-sided 95 % interval over `n` values takes; `None` below two.
fn t_95(n: usize) -> Option<f64> {
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
    Some(Estimate::new(mean, half_width))
}

/// Mean and interval of a column of results, which says how finely its values are known and which bounds they have.
pub fn of_column(column: &str, values: &[f64]) -> Option<Estimate> {
    let (plain, (resolution, bounds)) = (estimate(values)?, known(column, values));
    Some(Estimate { half: plain.half.map(|half| half + resolution), bounds, ..plain })
}

/// By how much the mean of a column's values may be above that of the exact ones, and where its interval ends at the latest:
/// at bounds that the values keep.
pub fn known(column: &str, values: &[f64]) -> (f64, [f64; 2]) {
    let resolution = values.iter().map(|&value| meaning::resolution(column, value)).sum::<f64>() / values.len() as f64;
    let within = |bounds: &[f64; 2]| values.iter().all(|value| (bounds[0]..=bounds[1]).contains(value));
    (resolution, meaning::bounds(column).filter(within).unwrap_or(UNBOUNDED))
}

const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

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
        assert!((e.half_width().unwrap() - 4.302_653 / 3f64.sqrt()).abs() < 1e-5);
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[5.0]).unwrap().half_width(), None);
    }
    /// Five replications in one bucket: the interval has its width to both sides, and so the exact quantile, whatever it is.
    #[test]
    fn an_interval_is_no_narrower_than_its_bucket() {
        let found = |column| of_column(column, &[8.290303; 5]).unwrap();
        assert_eq!(found("delay_p99_ms").half_width(), Some(0.032768));
        assert_eq!(found("delay_p99_ms").text(3), "8.290 ±0.033");
        assert_eq!(["delay_max_ms", "goodput_bit_s"].map(|column| found(column).half_width()), [Some(0.0); 2]);
        assert_eq!(of_column("wait_p50_ms", &[0.0; 5]).unwrap().half_width(), Some(0.0));
        let spread = [8.290303, 8.323071];
        let t = estimate(&spread).unwrap().half_width().unwrap();
        assert_eq!(of_column("wait_p50_ms", &spread).unwrap().half_width(), Some(t + 0.032768));
    }

    /// The interval of a share ends at its bounds, in whatever unit; what exceeds them has none.
    #[test]
    fn a_share_ends_at_its_bounds() {
        let lost = of_column("loss_percent", &[76.92, 100.0]).unwrap();
        assert_eq!(
            (lost.text(2), lost.ends(), lost.half_width()),
            ("88.46 [0.00, 100.00]".into(), Some([0.0, 100.0]), Some(50.0))
        );
        let used = of_column("used", &[0.9, 1.0]).unwrap();
        assert_eq!(used.scaled(100.0).text(1), "95.0 [31.5, 100.0]");
        assert_eq!(of_column("used", &[1.2, 1.0]).unwrap().text(1), "1.1 ±1.3");
        assert_eq!(of_column("jain", &[0.5, 0.5]).unwrap().text(1), "0.5 ±0.0");
    }
}
