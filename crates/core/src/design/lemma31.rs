//! Lemma 3.1: the threshold above which SVB's loop with TCP is stable.
//!
//! Source: the paper of MSVB and SIO, section 3.2; derived again from the fluid model of TCP,
//! dlambda/dt = N/R^2 - (beta/N) lambda(t) lambda(t-R) p(t-R), about lambda = phi C.
//!
//! ```text
//! x    = beta R^2 phi^2 C^2,  beta = 2/3
//! p*   = N^2 / x                                          no equilibrium where p* >= 1
//! K1   = N / (R^2 phi C)
//! w    in (0, pi/R):  w R + 2 arctan(w / K1) = pi
//! Vth' = (x - N^2) (x (1 + alpha) - N^2) / (beta phi^2 N R^4 C^2 w^2)
//! ```
//!
//! The loop is stable if, and only if, the threshold in equilibrium is above Vth'.
//!
//! | symbol | field      | unit      |
//! |--------|------------|-----------|
//! | N      | `flows`    | flows     |
//! | R      | `rtt`      | s         |
//! | C      | `capacity` | packets/s |
//! | phi    | `share`    | -         |
//!
//! Deviations: phi to the second power in the denominator, as the derivation gives it; our copy of the paper shows the
//! first. With phi = 1 they are the same; below 1 this gives the larger threshold.

use crate::math;

/// The share of its rate that TCP loses to a mark: 2/3 fits windows that halve.
pub(super) const BETA: f64 = 2.0 / 3.0;
/// What [`Loop::recommended_v0`] adds to the critical threshold.
const MARGIN: f64 = 1.2;

/// A class's load and its part of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loop {
    /// TCP flows.
    pub flows: f64,
    /// Round-trip time with the queue's part, s.
    pub rtt: f64,
    /// Rate of the link, packets/s.
    pub capacity: f64,
    /// The class's share; 1 for SVB.
    pub share: f64,
}

impl Loop {
    /// beta R^2 phi^2 C^2.
    fn x(&self) -> f64 {
        let window = self.rtt * self.share * self.capacity;
        BETA * window * window
    }

    /// N^2.
    fn n2(&self) -> f64 {
        self.flows * self.flows
    }

    /// Packets that a flow has in flight in equilibrium.
    pub fn window(&self) -> f64 {
        self.share * self.capacity * self.rtt / self.flows
    }

    /// p* of the fluid model's equilibrium; `None` where it would be 1 or more: windows below 1.22 packets, where
    /// timeouts dominate.
    pub fn equilibrium_p(&self) -> Option<f64> {
        Some(self.n2() / self.x()).filter(|p| *p < 1.0)
    }

    /// The frequency at which the loop's phase is pi, 1/s. The left side of its equation grows with it.
    pub fn crossover(&self) -> f64 {
        let pi = std::f64::consts::PI;
        let k1 = self.flows / (self.rtt * self.rtt * self.share * self.capacity);
        let (mut low, mut high) = (0.0, pi / self.rtt);
        // Each step halves the interval: after 60 it is at the resolution of a double.
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let phase = middle * self.rtt + 2.0 * math::atan(middle / k1);
            *(if phase < pi { &mut low } else { &mut high }) = middle;
        }
        0.5 * (low + high)
    }

    /// beta phi^2 N R^4 C^2 w^2.
    fn denominator(&self) -> f64 {
        let w = self.crossover();
        self.x() * self.flows * self.rtt * self.rtt * w * w
    }

    /// The critical threshold, packets; `None` where there is no equilibrium.
    pub fn critical_threshold(&self, alpha: f64) -> Option<f64> {
        self.equilibrium_p()?;
        let (x, n2) = (self.x(), self.n2());
        Some((x - n2) * (x * (1.0 + alpha) - n2) / self.denominator())
    }

    /// The largest alpha that is stable with a threshold of `v0` packets; negative where none is, `None` where there is
    /// no equilibrium. Use at most half of it.
    pub fn largest_alpha(&self, v0: f64) -> Option<f64> {
        self.equilibrium_p()?;
        let (x, n2) = (self.x(), self.n2());
        Some((v0 * self.denominator() / (x - n2) + n2) / x - 1.0)
    }

    /// A threshold to start with, packets: 1.2 times the critical one of a small alpha.
    pub fn recommended_v0(&self) -> Option<f64> {
        self.critical_threshold(0.0).map(|critical| MARGIN * critical)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(flows: f64, rtt: f64) -> Loop {
        Loop { flows, rtt, capacity: 1250.0, share: 1.0 }
    }

    /// Equal in three significant digits.
    fn three_digits(measured: f64, expected: f64) {
        let unit = math::pow(10.0, (math::ln(expected) / math::ln(10.0)).floor() - 2.0);
        assert!((measured - expected).abs() <= 0.5 * unit * (1.0 + 1e-9), "{measured}, not {expected}");
    }

    /// The table of the specification: C = 1250, alpha = 0.05.
    #[test]
    fn check_values() {
        const TABLE: [(f64, [f64; 3], f64); 6] = [
            (10.0, [11_800.0, 28_000.0, 54_800.0], 0.0067),
            (25.0, [1790.0, 4370.0, 8640.0], 0.0417),
            (50.0, [350.0, 963.0, 2000.0], 0.167),
            (75.0, [91.5, 334.0, 770.0], 0.375),
            (100.0, [16.0, 122.0, 342.0], 0.667),
            (120.0, [0.320, 47.9, 180.0], 0.960),
        ];
        for (flows, expected, p) in TABLE {
            for (rtt, expected) in [0.12, 0.16, 0.20].into_iter().zip(expected) {
                three_digits(of(flows, rtt).critical_threshold(0.05).unwrap(), expected);
            }
            assert!((of(flows, 0.12).equilibrium_p().unwrap() - p).abs() <= 5e-4);
        }
        three_digits(of(50.0, 0.12).critical_threshold(1.0).unwrap(), 726.0);
        three_digits(of(100.0, 0.12).critical_threshold(1.0).unwrap(), 55.7);
        assert_eq!(of(123.0, 0.12).critical_threshold(0.05), None);
    }

    proptest! {
        /// Critical threshold and largest alpha are each other's inverse; the frequency solves its equation.
        #[test]
        fn one_rule_both_ways(
            flows in 1.0..100.0, rtt in 0.13..0.5, share in 0.05..1.0, alpha in 0.0..5.0,
        ) {
            let it = Loop { flows: flows * share, rtt, capacity: 1250.0, share };
            prop_assume!(it.equilibrium_p().is_some_and(|p| p < 0.99));
            let critical = it.critical_threshold(alpha).unwrap();
            prop_assert!((it.largest_alpha(critical).unwrap() - alpha).abs() <= 1e-9 * (1.0 + alpha));
            let (w, k1) = (it.crossover(), it.flows / (rtt * rtt * share * 1250.0));
            prop_assert!((w * rtt + 2.0 * math::atan(w / k1) - std::f64::consts::PI).abs() <= 1e-9);
            prop_assert!(it.recommended_v0().unwrap() <= 1.2 * critical * (1.0 + 1e-12));
        }
    }
}
