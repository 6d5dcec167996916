//! Delays: exact sums and maximum, and a histogram with two significant digits; "no delay at all" costs one addition.

use super::histogram::Histogram;

/// A distribution of nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    zeros: u64,
    /// Of the values, ns, and of their squares.
    sums: [u128; 2],
    max: u64,
    others: Histogram,
}

/// Quantiles over the packets counted, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    /// Mean, exact.
    pub mean: f64,
    /// Standard deviation over all of them, exact.
    pub sd: f64,
    /// Median.
    pub p50: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p999: u64,
    /// Largest, exact.
    pub max: u64,
}

impl Delays {
    /// Adds a value.
    #[inline]
    pub fn observe(&mut self, ns: u64) {
        if ns == 0 {
            self.zeros += 1;
        } else {
            let [sum, squares] = &mut self.sums;
            *sum += u128::from(ns);
            *squares += u128::from(ns) * u128::from(ns);
            self.max = self.max.max(ns);
            self.others.record(ns);
        }
    }

    /// The same with this many values in total, those not observed being zero.
    pub fn among(&self, all: u64) -> Self {
        let observed = self.zeros + self.others.len();
        Self { zeros: self.zeros + all.saturating_sub(observed), ..self.clone() }
    }

    /// Adds all values of another.
    pub fn add(&mut self, other: &Self) {
        self.zeros += other.zeros;
        self.sums = [self.sums[0] + other.sums[0], self.sums[1] + other.sums[1]];
        self.max = self.max.max(other.max);
        self.others.add(&other.others);
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        (self.zeros, self.sums, self.max) = (0, [0; 2], 0);
        self.others.clear();
    }

    /// How often each delay was seen, in ns, from the smallest up; at most 1 % or 512 ns above the exact ones, and never
    /// above the largest.
    pub fn distribution(&self) -> Vec<(u64, u64)> {
        let others = self.others.buckets().into_iter().map(|(ns, packets)| (ns.min(self.max), packets));
        (self.zeros > 0).then_some((0, self.zeros)).into_iter().chain(others).collect()
    }

    /// The quantiles; `None` when nothing was counted.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let positive = self.others.len();
        let all = self.zeros + positive;
        if all == 0 {
            return None;
        }
        // The smallest value that at least a share q of all values, the zeros among them, do not exceed. Of the positive ones it
        // is a share again, as HdrHistogram takes it, and rounding may make that the next rank. A bucket may end above them all.
        let rank = |q: f64| {
            let above = ((q * all as f64).ceil() as u64).saturating_sub(self.zeros);
            if above == 0 { 0 } else { (above as f64 / positive as f64 * positive as f64).ceil() as u64 }
        };
        let ranks = [0.5, 0.99, 0.999].map(rank);
        let found = self.others.ranked(ranks).map(|found| found.unwrap_or(0).min(self.max));
        let at = |i: usize| if ranks[i] == 0 { 0 } else { found[i] };
        let (mean, sd) = self.moments(all);
        Some(Quantiles { mean, sd, p50: at(0), p99: at(1), p999: at(2), max: self.max })
    }

    /// Mean and standard deviation of this many values. Squares are taken about the mean's whole nanoseconds, in whole
    /// numbers, so that nothing cancels.
    fn moments(&self, n: u64) -> (f64, f64) {
        let ([sum, squares], n) = (self.sums, u128::from(n));
        let (about, rest) = (sum / n, (sum % n) as f64 / n as f64);
        let centred = squares + n * about * about - 2 * about * sum;
        (about as f64 + rest, (centred as f64 / n as f64 - rest * rest).max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::units::NS_PER_S;

    /// Values that differ by little, far from 0: of 1 h +- 1 us, where sums of squares in floating point are
    /// meaningless.
    #[test]
    fn moments_are_exact() {
        let mut delays = Delays::default();
        let hour = 3_600 * NS_PER_S;
        [hour - 1000, hour + 1000].iter().for_each(|&ns| delays.observe(ns));
        let q = delays.quantiles().unwrap();
        assert_eq!((q.mean, q.sd), (hour as f64, 1000.0));
        // One packet in four waits 8 ms: mean 2 ms, variance 16 - 4 = 12 ms^2 ... of four, (64 - 16) / 4 = 12.
        let mut delays = Delays::default();
        delays.observe(8_000_000);
        let q = delays.among(4).quantiles().unwrap();
        assert_eq!((q.mean, q.sd), (2e6, 12e12_f64.sqrt()));
    }

    /// Two significant digits, and steps of 1 us: a value is at most 1 % or 1024 ns above the exact one.
    #[test]
    fn quantiles_count_the_zeros() {
        let mut delays = Delays::default();
        assert_eq!(delays.quantiles(), None);
        (0..600).for_each(|_| delays.observe(0));
        (1..=400).for_each(|ms| delays.observe(ms * 1_000_000));
        let q = delays.quantiles().unwrap();
        assert_eq!(q.p50, 0);
        assert_eq!(q.max, 400_000_000);
        for (got, exact) in [(q.p99, 390e6), (q.p999, 399e6)] {
            assert!((got as f64 / exact - 1.0).abs() < 0.011, "{got} {exact}");
        }
        assert_eq!(q.mean, 80.2e6);
        let halves = [0..500, 500..1000].map(|part| {
            let mut half = Delays::default();
            part.for_each(|i: u64| half.observe(i.saturating_sub(599) * 1_000_000));
            half
        });
        let mut sum = Delays::default();
        halves.iter().for_each(|half| sum.add(half));
        assert_eq!(sum.quantiles(), delays.quantiles());
        delays.clear();
        assert_eq!(delays.quantiles(), None);
        delays.observe(3);
        assert_eq!(
            delays.quantiles().map(|q| [q.p50, q.max]),
            Some([3, 3]),
            "no quantile above the largest, nor one of before"
        );
        delays.observe(0);
        assert_eq!(delays.distribution(), [(0, 1), (3, 1)]);
    }
}
