//! Reno: the window grows exponentially up to the threshold and by one segment per round trip above it. Congestion
//! halves it.
//!
//! Source: RFC 5681 sections 3.1 and 3.2, in the form of ns-2's `windowOption_ 1`; `growth = "segments"`: RFC 3465 as
//! Linux 6.12 has it; `abe`: RFC 8511.
//!
//! ```text
//! growth = "acks"
//!   ACK, cwnd < ssthresh (slow start):   cwnd = cwnd + 1
//!   ACK, otherwise:                      cwnd = cwnd + 1 / cwnd
//! growth = "segments", an ACK of N
//!   cwnd < ssthresh:                     cwnd = min(cwnd + N, ssthresh); of N stays what was not added
//!   count >= cwnd:                       cwnd = cwnd + 1, count = 0
//!   count = count + N;  cwnd = cwnd + floor(count / cwnd);  count = count mod the cwnd of before
//! loss or ECN echo:                      cwnd = W/2, ssthresh = max(2, floor(W/2))
//! ECN echo with abe:                     cwnd = 0.8 W, ssthresh = max(2, floor(0.8 W))
//! time-out:                              cwnd = 1, ssthresh = max(2, floor(W/2))
//! ```
//!
//! | symbol   | field             | unit     | default                                |
//! |----------|-------------------|----------|----------------------------------------|
//! | cwnd     | `Window::cwnd`    | segments | 1 before the SYN's ACK, then `initial_window` |
//! | ssthresh | `Window::ssthresh`| segments | the advertised window, as in ns-2      |
//! | W        | `Signal::usable`  | segments | -                                      |
//! | N        | `Signal::acked`   | segments | -                                      |
//! |          | `growth`          |          | `acks`                                 |
//! |          | `abe`             |          | false                                  |
//!
//! Deviations from RFC 5681, all as in ns-2: growth counts ACKs, not the bytes they acknowledge (`growth =
//! "segments"` counts segments). W is the window min(cwnd, advertised), not FlightSize. Growth continues while the
//! advertised window or the application limits the sender. After halving, cwnd keeps its fraction (`precisionReduce_
//! true`); with `growth = "segments"` it is the threshold, a whole number. Deviation from RFC 3465, as in Linux: an
//! ACK in slow start adds all that it acknowledges, without the limit L.

use super::{CongestionControl, CongestionLaw, Signal, Window};
use perhop_core::design::policer::Sender;
use perhop_core::params::{Choice, ParamError, Params as Declared};

/// What the window grows by.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// ACKs, whatever they acknowledge.
    #[default]
    Acks,
    /// Segments acknowledged, in whole segments.
    Segments,
}

/// What a scenario states.
#[derive(Declared, Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// What the window grows by: ACKs (ns-2) or the segments they acknowledge (RFC 3465, Linux).
    #[param(default = "acks")]
    pub growth: Growth,
    /// Whether an ECN echo cuts the window less than a loss does (RFC 8511): to 0.8 of it with "reno", 0.85 with "cubic".
    #[param(default = false)]
    pub abe: bool,
}

impl Params {
    /// As declared.
    pub const DEFAULT: Self = Self { growth: Growth::Acks, abe: false };

    /// # Errors
    /// Never.
    pub fn build(self, (): &()) -> Result<Reno, ParamError> {
        Ok(Reno { growth: self.growth, abe: self.abe, count: 0 })
    }
}

/// The law, and what it has counted towards the next segment.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    growth: Growth,
    abe: bool,
    count: u32,
}

/// After an ECN echo with `abe` (RFC 8511 section 3.1).
const BETA_ECN: f64 = 0.8;

impl Reno {
    /// With the default parameters it counts nothing: it has no state.
    pub(super) const DEFAULT: Self = Self::growing(Growth::Acks);

    /// Without ABE.
    pub(super) const fn growing(growth: Growth) -> Self {
        Self { growth, abe: false, count: 0 }
    }

    /// Forgets what was counted towards the next segment.
    pub(super) fn forget(&mut self) {
        self.count = 0;
    }

    fn cut(&mut self, kept: f64, window: &mut Window) {
        window.ssthresh = f64::max(2.0, kept.floor());
        window.cwnd = if self.growth == Growth::Acks { kept } else { window.ssthresh };
        self.count = 0;
    }

    /// Slow start up to the threshold, and from there one segment for each window of segments.
    fn grow_by_segments(&mut self, acked: u32, window: &mut Window) {
        let mut rest = acked;
        if window.cwnd < window.ssthresh {
            let before = window.cwnd;
            window.cwnd = (before + f64::from(acked)).min(window.ssthresh);
            rest -= (window.cwnd - before) as u32;
        }
        if rest > 0 {
            let every = window.cwnd as u32;
            window.cwnd += f64::from(earned(&mut self.count, every, rest));
        }
    }
}

/// Segments that a window earns by `acked` more, one for `every` so many; `count` keeps the rest. What was counted
/// when more were needed earns one, at once.
pub(super) fn earned(count: &mut u32, every: u32, acked: u32) -> u32 {
    let (every, mut more) = (every.max(1), 0);
    if *count >= every {
        (*count, more) = (0, 1);
    }
    *count += acked;
    more += *count / every;
    *count %= every;
    more
}

impl CongestionLaw for Params {
    fn paces(&self) -> bool {
        false
    }

    fn linux(&self) -> Option<&'static str> {
        Some("reno")
    }

    fn stack(&self) -> Option<&'static str> {
        Some("linux-reno")
    }

    fn policed(&self) -> Option<Sender> {
        Some(Sender::LinuxReno)
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        if self.growth == Growth::Segments {
            return self.grow_by_segments(signal.acked, window);
        }
        window.cwnd += if window.cwnd < window.ssthresh { 1.0 } else { 1.0 / window.cwnd };
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        self.cut(signal.usable / 2.0, window);
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        self.cut(signal.usable / 2.0, window);
        window.cwnd = 1.0;
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        self.cut(if self.abe { BETA_ECN * signal.usable } else { signal.usable / 2.0 }, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENO: Reno = Reno::DEFAULT;
    const BY_SEGMENTS: Reno = Reno { growth: Growth::Segments, ..RENO };

    fn signal(usable: f64) -> Signal {
        Signal { acked: 1, usable, ..Signal::default() }
    }

    #[test]
    fn doubles_below_and_adds_one_a_window_above_the_threshold() {
        let mut window = Window { cwnd: 2.0, ssthresh: 8.0 };
        for _ in 0..6 {
            RENO.clone().on_ack(&signal(window.cwnd), &mut window);
        }
        assert_eq!(window.cwnd, 8.0);
        for _ in 0..8 {
            RENO.clone().on_ack(&signal(window.cwnd), &mut window);
        }
        // 8 ACKs add the sum of 1/w over windows from 8 to below 9: between 8/9 and 1.
        assert!(window.cwnd > 8.0 + 8.0 / 9.0 && window.cwnd < 9.0, "{}", window.cwnd);
    }

    /// W, cwnd after a loss, ssthresh after a loss.
    #[test]
    fn halving_keeps_the_fraction_and_bounds_the_threshold() {
        for (usable, cwnd, ssthresh) in [(20.0, 10.0, 10.0), (13.5, 6.75, 6.0), (3.0, 1.5, 2.0), (1.0, 0.5, 2.0)] {
            let (mut law, mut window) = (RENO, Window { cwnd: usable, ssthresh: 64.0 });
            law.on_loss(&signal(usable), &mut window);
            assert_eq!(window, Window { cwnd, ssthresh });
            law.on_timeout(&signal(usable), &mut window);
            assert_eq!(window, Window { cwnd: 1.0, ssthresh });
        }
    }

    /// An ACK of 5 crosses the threshold: 2 complete slow start, 3 count; 7 more make a window of 10.
    #[test]
    fn segments_count_one_by_one_across_the_threshold() {
        let (mut law, mut window) = (BY_SEGMENTS, Window { cwnd: 8.0, ssthresh: 10.0 });
        for (acked, cwnd) in [(5, 10.0), (6, 10.0), (1, 11.0), (10, 11.0), (1, 12.0), (25, 14.0)] {
            law.on_ack(&Signal { acked, ..signal(cwnd) }, &mut window);
            assert_eq!(window.cwnd, cwnd, "{acked}");
        }
        law.on_loss(&signal(13.0), &mut window);
        assert_eq!(window, Window { cwnd: 6.0, ssthresh: 6.0 });
        assert_eq!(law.count, 0);
    }

    /// RFC 8511 section 3.1: 0.8 for an echo, 1/2 for a loss.
    #[test]
    fn abe_spares_the_window_at_an_echo_only() {
        let (mut law, mut window) = (Reno { abe: true, ..RENO }, Window { cwnd: 20.0, ssthresh: 64.0 });
        law.on_ecn(&signal(20.0), &mut window);
        assert_eq!(window, Window { cwnd: 16.0, ssthresh: 16.0 });
        law.on_loss(&signal(20.0), &mut window);
        assert_eq!(window, Window { cwnd: 10.0, ssthresh: 10.0 });
    }
}
