//! TSW: the time sliding window, a rate estimate with a memory of one window.
//!
//! Source: Clark and Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", section III-D;
//! RFC 2859 section 3 (Figure 2).
//!
//! ```text
//! avg = (avg W + B) / ((t - t_f) + W);  t_f = t
//! ```
//!
//! | symbol | argument  | unit |
//! |--------|-----------|------|
//! | W      | `window`  | s    |
//! | avg    | `initial` | B/s  |
//! | B      | `size`    | B, or what else is counted: packets, tickets |
//! | t      | `now`     | s    |
//!
//! Deviations: none. The clock starts at 0; packets of the same instant need no special case, the window keeps the
//! denominator above zero.

use crate::units::{Span, Time};

/// A rate over a sliding window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tsw {
    window: f64,
    average: f64,
    front: Time,
}

impl Tsw {
    /// An estimate of `initial` bytes/s at the start of the run; `window` above zero.
    pub fn new(window: Span, initial: f64) -> Self {
        Self { window: window.seconds(), average: initial, front: Time::ZERO }
    }

    /// Counts a packet; returns the rate with it, in bytes/s.
    #[inline]
    pub fn update(&mut self, now: Time, size: f64) -> f64 {
        let gap = now.since(self.front).seconds();
        self.average = (self.average * self.window + size) / (gap + self.window);
        self.front = self.front.max(now);
        self.average
    }

    /// Starts the clock at `start`, at a rate of `average`.
    pub fn restart(&mut self, start: Time, average: f64) {
        (self.front, self.average) = (start, average);
    }

    /// The rate at `now` if nothing more has arrived: the last one, decayed.
    #[inline]
    pub fn decayed(&self, now: Time) -> f64 {
        self.average * self.window / (now.since(self.front).seconds() + self.window)
    }

    /// The rate at the last packet, bytes/s.
    pub const fn rate(&self) -> f64 {
        self.average
    }

    /// Gives later packets another window; the rate stays.
    pub fn rewindow(&mut self, window: Span) {
        self.window = window.seconds();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2859 section 3 by hand: W = 1 s, 125 000 B/s at first.
    #[test]
    fn a_rate_by_hand() {
        let mut tsw = Tsw::new(Span::from_s(1), 125_000.0);
        assert_eq!(tsw.update(Time::from_ns(1_000_000_000), 1_000.0), 126_000.0 / 2.0);
        assert_eq!(tsw.update(Time::from_ns(1_000_000_000), 1_000.0), 64_000.0);
        assert_eq!(tsw.update(Time::from_ns(4_000_000_000), 0.0), 16_000.0);
    }

    /// Packets of l bytes every T seconds: avg (T + W) = avg W + l has the one solution l/T. What is left of the
    /// initial value shrinks by W/(T + W) a packet: below 1e-9 after 21 windows, as (1 + T/W)^-(21 W/T) < e^-20.7.
    #[test]
    fn periodic_packets_give_their_rate() {
        let mut tsw = Tsw::new(Span::from_ms(500), 1e5);
        let gap = Span::from_ms(10);
        let mut now = Time::ZERO;
        for _ in 0..21 * 50 {
            now += gap;
            tsw.update(now, 1_000.0);
        }
        assert!((tsw.rate() - 1e5).abs() < 1e-4, "{}", tsw.rate());
        let mut cold = Tsw::new(Span::from_ms(500), 0.0);
        let mut now = Time::ZERO;
        for _ in 0..21 * 50 {
            now += gap;
            cold.update(now, 1_000.0);
        }
        assert!((cold.rate() / 1e5 - 1.0).abs() < 1e-8, "{}", cold.rate());
    }
}
