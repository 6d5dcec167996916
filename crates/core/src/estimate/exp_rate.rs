//! Exponential averaging of a rate: CSFQ's estimator, exact for any packet spacing.
//!
//! Source: Stoica, Shenker and Zhang, "Core-Stateless Fair Queueing", section II-B, equation (1).
//!
//! ```text
//! r = (1 - e^(-T/K)) l/T + e^(-T/K) r
//! ```
//!
//! Packets of one instant (T = 0) are added up and charged at the next gap. Several counts may share the clock, so
//! that arrivals and acceptances need one exponential.
//!
//! | symbol | argument | unit |
//! |--------|----------|------|
//! | K      | `k`      | s    |
//! | l      | `sizes`  | B    |
//! | T      | since the last gap | s |
//! | r      | `rates`  | B/s  |
//!
//! Deviations: none.

use crate::math::Decay;
use crate::units::{Span, Time};

/// No packet comes at the end of time.
const NEVER: Time = Time::MAX;

/// N rates over one clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpRate<const N: usize> {
    decay: Decay,
    /// [`NEVER`] before the first packet.
    last: Time,
    pending: [f64; N],
    rates: [f64; N],
}

impl<const N: usize> ExpRate<N> {
    /// Rates that start at `initial` bytes/s, with averaging constant `k` above zero. The clock starts with the first
    /// call of [`ExpRate::add`].
    pub fn new(k: Span, initial: [f64; N]) -> Self {
        Self { decay: Decay::new(k.seconds()), last: NEVER, pending: [0.0; N], rates: initial }
    }

    /// The same with its clock started at `start`.
    pub fn since(self, start: Time) -> Self {
        Self { last: start, ..self }
    }

    /// Counts a packet's bytes; whether time has passed, so that there is a new estimate.
    #[inline]
    pub fn add(&mut self, now: Time, sizes: [f64; N]) -> bool {
        for (pending, size) in self.pending.iter_mut().zip(sizes) {
            *pending += size;
        }
        if self.last == NEVER {
            self.last = now;
            return false;
        }
        let gap = now.since(self.last);
        if gap == Span::ZERO {
            return false;
        }
        let (keep, gap) = (self.decay.keep(gap.ns()), gap.seconds());
        for (rate, pending) in self.rates.iter_mut().zip(&mut self.pending) {
            *rate = (1.0 - keep) * *pending / gap + keep * *rate;
            *pending = 0.0;
        }
        self.last = now;
        true
    }

    /// The estimates, bytes/s.
    #[inline]
    pub const fn rates(&self) -> [f64; N] {
        self.rates
    }

    /// When the last estimate was made, or the clock started; `None` before the first packet.
    #[inline]
    pub fn last(&self) -> Option<Time> {
        (self.last != NEVER).then_some(self.last)
    }

    /// Gives later gaps another averaging constant; the estimates stay.
    pub fn reaverage(&mut self, k: Span) {
        self.decay = Decay::new(k.seconds());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;
    use proptest::prelude::*;

    proptest! {
        /// CSFQ's property: packets of l bytes every T give r -> l/T, whatever K. From r = 0 the error after n gaps is
        /// e^(-n T/K), so r itself is checked against that closed form (n products, each good to one part in 2^52).
        #[test]
        fn periodic_packets_give_their_rate(
            k_ms in 1u64..1000, gap_us in 1u64..100_000, size in 1u32..9000, n in 1u32..300,
        ) {
            let mut rate = ExpRate::new(Span::from_ms(k_ms), [0.0]).since(Time::ZERO);
            for i in 1..=u64::from(n) {
                prop_assert!(rate.add(Time::from_ns(i * gap_us * 1000), [f64::from(size)]));
            }
            let truth = f64::from(size) / (gap_us as f64 * 1e-6);
            let elapsed = f64::from(n) * gap_us as f64 * 1e-6 / (k_ms as f64 * 1e-3);
            let expected = truth * (1.0 - math::exp(-elapsed));
            let tolerance = 8.0 * f64::from(n) * f64::EPSILON * truth;
            prop_assert!((rate.rates()[0] - expected).abs() <= tolerance, "{} {expected}", rate.rates()[0]);
        }

        /// Splitting a packet into parts of the same instant changes nothing once time has passed (sizes are whole, so
        /// their sums are exact).
        #[test]
        fn packets_of_one_instant_count_together(
            parts in prop::collection::vec(1u32..1500, 1..20), gap in 1u64..1_000_000_000,
        ) {
            let start = ExpRate::new(Span::from_ms(100), [500.0]).since(Time::ZERO);
            let (mut whole, mut split) = (start, start);
            let at = Time::from_ns(gap);
            whole.add(at, [f64::from(parts[0])]);
            whole.add(Time::from_ns(2 * gap), [parts.iter().map(|&p| f64::from(p)).sum()]);
            for &part in &parts {
                split.add(at, [f64::from(part)]);
            }
            split.add(Time::from_ns(2 * gap), [f64::from(parts[0])]);
            prop_assert_eq!(whole, split);
        }
    }

    #[test]
    fn the_clock_starts_with_the_first_packet() {
        let mut rate = ExpRate::new(Span::from_ms(100), [0.0, 0.0]);
        assert!(!rate.add(Time::from_ns(5_000_000_000), [1000.0, 0.0]));
        assert_eq!(rate.rates(), [0.0, 0.0]);
        assert!(rate.add(Time::from_ns(5_100_000_000), [1000.0, 1000.0]));
        let share = 1.0 - math::exp(-1.0);
        assert!((rate.rates()[0] - share * 20_000.0).abs() < 1e-8);
        assert!((rate.rates()[1] - share * 10_000.0).abs() < 1e-8);
    }
}
