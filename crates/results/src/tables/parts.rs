//! Columns and sums that several tables share.

/// Jain's fairness index `(sum x)^2 / (n sum x^2)`; `None` when nothing was shared.
pub fn jain(shares: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let n = shares.clone().count() as f64;
    let sum: f64 = shares.clone().sum();
    let squares: f64 = shares.map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Population standard deviation.
pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    Some((values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / values.len() as f64).sqrt())
}

pub(super) fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}
