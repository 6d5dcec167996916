//! Reno's window law: exponential up to the threshold, one segment a round trip above it, half on congestion.
//!
//! Source: RFC 5681 sections 3.1 and 3.2, in the form of ns-2's `windowOption_ 1`.
//!
//! - ACK, cwnd < ssthresh (slow start): `cwnd += 1`; otherwise (congestion avoidance): `cwnd += 1 / cwnd`.
//! - Loss or ECN echo: `cwnd = W/2`, `ssthresh = max(2, floor(W/2))`.
//! - Time-out: `cwnd = 1`, `ssthresh = max(2, floor(W/2))`.
//!
//! | symbol   | field             | unit     | default                                |
//! |----------|-------------------|----------|----------------------------------------|
//! | cwnd     | `Window::cwnd`    | segments | 1 before the SYN's ACK, then `initial_window` |
//! | ssthresh | `Window::ssthresh`| segments | the advertised window, as in ns-2      |
//! | W        | `Signal::usable`  | segments | -                                      |
//!
//! Deviations from RFC 5681, all as in ns-2: growth counts ACKs, not the bytes they acknowledge; W is the
//! window min(cwnd, advertised), not FlightSize; growth continues while the advertised window or the application limits
//! the sender. cwnd after halving keeps its fraction (`precisionReduce_ true`).

use super::{CongestionControl, Signal, Window};
use perhop_core::params::{ParamError, Params as Declared};

/// No parameters.
#[derive(Declared, Clone, Copy, Debug, PartialEq)]
pub struct Params {}

impl Params {
    /// # Errors
    /// Never.
    pub fn build(self, (): &()) -> Result<Reno, ParamError> {
        Ok(Reno)
    }
}

/// The law has no state beyond the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

/// Half the window as a threshold: whole segments, at least 2 (RFC 5681 section 3.1, equation 4).
fn threshold(signal: &Signal) -> f64 {
    f64::max(2.0, (signal.usable / 2.0).floor())
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, _: &Signal, window: &mut Window) {
        window.cwnd += if window.cwnd < window.ssthresh { 1.0 } else { 1.0 / window.cwnd };
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        *window = Window { cwnd: signal.usable / 2.0, ssthresh: threshold(signal) };
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        *window = Window { cwnd: 1.0, ssthresh: threshold(signal) };
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        self.on_loss(signal, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::units::Time;

    fn signal(usable: f64) -> Signal {
        Signal { now: Time::ZERO, acked: 1, usable, srtt: None, min_rtt: None }
    }

    #[test]
    fn doubles_below_and_adds_one_a_window_above_the_threshold() {
        let mut window = Window { cwnd: 2.0, ssthresh: 8.0 };
        for _ in 0..6 {
            Reno.on_ack(&signal(window.cwnd), &mut window);
        }
        assert_eq!(window.cwnd, 8.0);
        for _ in 0..8 {
            Reno.on_ack(&signal(window.cwnd), &mut window);
        }
        // 8 ACKs add the sum of 1/w over windows from 8 to below 9: between 8/9 and 1.
        assert!(window.cwnd > 8.0 + 8.0 / 9.0 && window.cwnd < 9.0, "{}", window.cwnd);
    }

    /// W, cwnd after a loss, ssthresh after a loss.
    #[test]
    fn halving_keeps_the_fraction_and_bounds_the_threshold() {
        for (usable, cwnd, ssthresh) in [(20.0, 10.0, 10.0), (13.5, 6.75, 6.0), (3.0, 1.5, 2.0), (1.0, 0.5, 2.0)] {
            let mut window = Window { cwnd: usable, ssthresh: 64.0 };
            Reno.on_loss(&signal(usable), &mut window);
            assert_eq!(window, Window { cwnd, ssthresh });
            Reno.on_timeout(&signal(usable), &mut window);
            assert_eq!(window, Window { cwnd: 1.0, ssthresh });
        }
    }
}
