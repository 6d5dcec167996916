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

use crate::tables::column::Column;
use perhop_core::math::{power_of_ten, student_t};

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

    /// Within these bounds.
    pub fn within(self, bounds: [f64; 2]) -> Self {
        Self { bounds, ..self }
    }

    /// In another unit.
    pub fn scaled(&self, factor: f64) -> Self {
        let half = self.half.map(|half| half * factor);
        Self { mean: self.mean * factor, half, bounds: self.bounds.map(|bound| bound * factor) }
    }

    /// `4.97 ±0.03`, as [`text`] writes it.
    pub fn text(&self) -> String {
        text(self.mean, self.half_width(), self.ends().filter(|_| self.is_cut()))
    }
}

/// Digits of a mean that no interval limits.
const DIGITS: i32 = 4;
/// Relative spread of equal values that is due to arithmetic alone.
const ALIKE: f64 = 1e-12;
/// Numbers with their last digit at a higher place than 10 to the power of this, or at a lower one than its inverse, are
/// written with powers of ten.
const FAR: i32 = 9;

/// A mean with its interval, the one form in which it is printed:
///
/// - `17.02 ±0.24`, `12350 ±320`: two digits of the half-width, and the mean to the same place;
/// - `17.02` without an interval, `17.02 ±0` where all values are the same: four digits of the mean;
/// - `88 [0, 100]`: the ends of an interval that is cut at bounds, to the same place as half its width would be;
/// - `(1.23 ±0.45)e-12` if the last digit is beyond the ninth place.
pub fn text(mean: f64, half: Option<f64>, cut: Option<[f64; 2]>) -> String {
    let half = half.filter(|half| half.is_finite());
    match (half, cut) {
        (None, _) => alone(mean),
        (Some(half), _) if half <= ALIKE * mean.abs() => format!("{} ±0", alone(mean)),
        (Some(half), _) if place(half, 2).abs() > FAR => {
            let power = place(mean.abs().max(half), 1);
            let [mean, half] = [mean, half].map(|x| x / power_of_ten(power));
            format!("({})e{power}", both(mean, half))
        }
        (Some(half), Some(ends)) => {
            let [mean, low, high] = [mean, ends[0], ends[1]].map(|x| rounded(x, place(half, 2)));
            format!("{mean} [{low}, {high}]")
        }
        (Some(half), None) => both(mean, half),
    }
}

fn both(mean: f64, half: f64) -> String {
    let [mean, half] = [mean, half].map(|x| rounded(x, place(half, 2)));
    format!("{mean} ±{half}")
}

/// A number rounded to a place.
fn rounded(x: f64, place: i32) -> String {
    let unit = power_of_ten(place);
    written(if place > 0 { (x / unit).round_ties_even() * unit } else { x }, place)
}

fn alone(mean: f64) -> String {
    let place = place(mean, DIGITS);
    if place.abs() > FAR { format!("{mean:.*e}", DIGITS as usize - 1) } else { written(mean, place) }
}

/// The power of ten of the last of so many digits of a number, after it is rounded to them; 0 of zero.
fn place(x: f64, digits: i32) -> i32 {
    let text = format!("{:.*e}", digits as usize - 1, x.abs());
    let exponent: i32 = text.split_once('e').and_then(|parts| parts.1.parse().ok()).unwrap_or(0);
    if x == 0.0 { 0 } else { exponent + 1 - digits }
}

/// A number with digits down to a place, and to the point at least; without the sign of a zero.
fn written(x: f64, place: i32) -> String {
    let decimals = (-place).max(0) as usize;
    let text = format!("{x:.decimals$}");
    let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// The quantile of Student's t that a two-sided 95 % interval over `n` values takes; `None` below two.
fn t_95(n: usize) -> Option<f64> {
    let freedom = n.checked_sub(1).filter(|&it| it > 0)?;
    Some(student_t(u32::try_from(freedom).ok()?, 0.95))
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

/// Mean and interval of a column of results, which knows how finely its values are known and which bounds they have.
pub fn of_column(column: &Column, values: &[f64]) -> Option<Estimate> {
    let (plain, (resolution, bounds)) = (estimate(values)?, known(column, values));
    Some(Estimate { half: plain.half.map(|half| half + resolution), bounds, ..plain })
}

/// By how much the mean of a column's values may be above that of the exact ones, and where its interval ends at the latest:
/// at bounds that the values keep.
pub fn known(column: &Column, values: &[f64]) -> (f64, [f64; 2]) {
    let resolution = values.iter().map(|&value| column.resolution(value)).sum::<f64>() / values.len() as f64;
    let within = |bounds: &[f64; 2]| values.iter().all(|value| (bounds[0]..=bounds[1]).contains(value));
    (resolution, column.bounds().filter(within).unwrap_or(UNBOUNDED))
}

const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::column;

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
        let of = |(table, name), values: &[f64]| of_column(column(table, name), values).unwrap();
        let found = |of_table| of(of_table, &[8.290303; 5]);
        assert_eq!(found(("arrivals", "delay_p99_ms")).half_width(), Some(0.032768));
        assert_eq!(found(("arrivals", "delay_p99_ms")).text(), "8.290 ±0.033");
        let exact = [("arrivals", "delay_max_ms"), ("flows", "goodput_bit_s")];
        assert_eq!(exact.map(|column| found(column).half_width()), [Some(0.0); 2]);
        assert_eq!(of(("summary", "wait_p50_ms"), &[0.0; 5]).half_width(), Some(0.0));
        let spread = [8.290303, 8.323071];
        let t = estimate(&spread).unwrap().half_width().unwrap();
        assert_eq!(of(("summary", "wait_p50_ms"), &spread).half_width(), Some(t + 0.032768));
    }

    /// The interval of a share ends at its bounds, in whatever unit; what exceeds them has none.
    #[test]
    fn a_share_ends_at_its_bounds() {
        let lost = of_column(column("classes", "loss_percent"), &[76.92, 100.0]).unwrap();
        assert_eq!(
            (lost.text(), lost.ends(), lost.half_width()),
            ("88 [0, 100]".into(), Some([0.0, 100.0]), Some(50.0))
        );
        let used = |values: &[f64]| of_column(column("nodes", "used"), values).unwrap();
        assert_eq!(used(&[0.9, 1.0]).scaled(100.0).text(), "95 [31, 100]");
        assert_eq!(used(&[1.2, 1.0]).text(), "1.1 ±1.3");
        assert_eq!(of_column(column("traffic", "jain"), &[0.5, 0.5]).unwrap().text(), "0.5000 ±0");
    }

    /// Every form, and every corner.
    #[test]
    fn the_half_width_decides_on_the_digits() {
        let cases = [
            (17.0231, Some(0.2449), "17.02 ±0.24"),
            (4.96789, Some(0.0342), "4.968 ±0.034"),
            (4.96789, Some(0.00996), "4.968 ±0.010"),
            (4.96789, Some(0.0996), "4.97 ±0.10"),
            (12345.6, Some(321.0), "12350 ±320"),
            (12345.6, Some(9.96), "12346 ±10"),
            (10.00001, Some(0.00007), "10.000010 ±0.000070"),
            (2.0, Some(0.0), "2.000 ±0"),
            (8.3, Some(1e-15), "8.300 ±0"),
            (0.0, Some(0.0), "0 ±0"),
            (-0.001, Some(0.52), "0.00 ±0.52"),
            (-3.456, Some(0.52), "-3.46 ±0.52"),
            (0.1, Some(0.24), "0.10 ±0.24"),
            (31.4159, None, "31.42"),
            (0.0, None, "0"),
            (123456.0, None, "123456"),
            (0.99996, None, "1.000"),
            (0.000012342, None, "0.00001234"),
            (1.2342e-9, None, "1.234e-9"),
            (1.234e-12, Some(4.5e-13), "(1.23 ±0.45)e-12"),
            (1.0, Some(1e-10), "(1.00000000000 ±0.00000000010)e0"),
            (6.0221e23, Some(1.5e20), "(6.0221 ±0.0015)e23"),
            (5.0, Some(f64::NAN), "5.000"),
        ];
        for (mean, half, expected) in cases {
            assert_eq!(text(mean, half, None), expected);
        }
        assert_eq!(text(0.9877, Some(0.035), Some([0.93, 1.0])), "0.988 [0.930, 1.000]");
    }
}
