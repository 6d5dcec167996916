//! Columns and sums that several tables share.

use crate::output::columns::Columns;
use perhop_core::count::Count;
use perhop_core::verdict::Reason;
use perhop_sim::record::Quantiles;

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

impl<R> Columns<'_, R> {
    /// `X_packets` and `X_bytes`.
    pub(super) fn count(self, name: &str, of: impl Fn(&R) -> Count) -> Self {
        let packets = self.integer(&format!("{name}_packets"), |row| of(row).packets);
        packets.integer(&format!("{name}_bytes"), |row| of(row).bytes)
    }

    /// `dropped_X_packets` for each of some reasons.
    pub(super) fn dropped(self, reasons: &[Reason], of: impl Fn(&R, Reason) -> Count) -> Self {
        reasons.iter().fold(self, |columns, reason| {
            columns.integer(&format!("dropped_{}_packets", reason.name()), |row| of(row, *reason).packets)
        })
    }

    /// `X_mean_ms` to `X_max_ms`.
    pub(super) fn quantiles(self, name: &str, of: impl Fn(&R) -> Option<Quantiles>) -> Self {
        let each: [(&str, fn(Quantiles) -> f64); 6] = [
            ("mean", |q| q.mean / 1e6),
            ("sd", |q| q.sd / 1e6),
            ("p50", |q| ms(q.p50)),
            ("p99", |q| ms(q.p99)),
            ("p999", |q| ms(q.p999)),
            ("max", |q| ms(q.max)),
        ];
        each.into_iter()
            .fold(self, |columns, (what, value)| columns.real(&format!("{name}_{what}_ms"), |row| of(row).map(value)))
    }
}
