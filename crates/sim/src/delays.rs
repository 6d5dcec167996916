//! Delays: a histogram with two significant digits, in which "no delay at all" costs one addition.

use hdrhistogram::Histogram;
use perhop_core::units::NS_PER_S;

/// A distribution of nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    zeros: u64,
    others: Option<Box<Histogram<u32>>>,
}

/// Quantiles over the packets counted, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p999: u64,
    /// Largest.
    pub max: u64,
}

impl Delays {
    /// Adds a value.
    #[inline]
    pub fn observe(&mut self, ns: u64) {
        if ns == 0 {
            self.zeros += 1;
        } else {
            self.others.get_or_insert_with(histogram).saturating_record(ns);
        }
    }

    /// The same with so many values in all, those not observed being zero.
    pub fn among(&self, all: u64) -> Self {
        let observed = self.zeros + self.others.as_ref().map_or(0, |h| h.len());
        Self { zeros: self.zeros + all.saturating_sub(observed), others: self.others.clone() }
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.zeros = 0;
        self.others.iter_mut().for_each(|h| h.reset());
    }

    /// The quantiles; `None` when nothing was counted.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let positive = self.others.as_ref().filter(|h| !h.is_empty());
        let Some(h) = positive else {
            return (self.zeros > 0).then_some(Quantiles { mean: 0.0, p50: 0, p99: 0, p999: 0, max: 0 });
        };
        let all = self.zeros + h.len();
        // The smallest value that at least a share q of all values, the zeros among them, do not exceed.
        let at = |q: f64| {
            let rank = (q * all as f64).ceil() as u64;
            let above = rank.saturating_sub(self.zeros);
            if above == 0 { 0 } else { h.value_at_quantile(above as f64 / h.len() as f64) }
        };
        let mean = h.mean() * h.len() as f64 / all as f64;
        Some(Quantiles { mean, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: h.max() })
    }
}

#[cold]
fn histogram() -> Box<Histogram<u32>> {
    Box::new(Histogram::new_with_bounds(1_000, 3_600 * NS_PER_S, 2).expect("bounds are constants"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two significant digits, and steps of 1 us: a value is at most 1 % or 1024 ns above the exact one.
    #[test]
    fn quantiles_count_the_zeros() {
        let mut delays = Delays::default();
        assert_eq!(delays.quantiles(), None);
        (0..600).for_each(|_| delays.observe(0));
        (1..=400).for_each(|ms| delays.observe(ms * 1_000_000));
        let q = delays.quantiles().unwrap();
        assert_eq!(q.p50, 0);
        for (got, exact) in [(q.p99, 390e6), (q.p999, 399e6), (q.max, 400e6)] {
            assert!((got as f64 / exact - 1.0).abs() < 0.011, "{got} {exact}");
        }
        assert!((q.mean / 80.2e6 - 1.0).abs() < 0.011, "{}", q.mean);
        delays.clear();
        assert_eq!(delays.quantiles(), None);
    }
}
