//! A rate of events by TSW, from the first event on: packets, ACKs or tickets per second.
//!
//! Source: Zhang et al., "Probabilistic Packet Scheduling" (PPS), section II-B, by Clark and Fang's TSW
//! ([`crate::estimate::Tsw`]).
//!
//! ```text
//! first event:   t_f = t, then as any other:  avg = x/W
//! later:         avg = (avg W + x) / ((t - t_f) + W);  t_f = t
//! warm start:    while t - t_1 < W:  avg = sum of x / max(t - t_1, warm)
//! ```
//!
//! | symbol | argument | unit  |
//! |--------|----------|-------|
//! | W      | `window` | s     |
//! | warm   | `warm`   | s     |
//! | x      | `amount` | any   |
//! | avg    | `rate`   | any/s |
//!
//! Without a warm start the estimate is far too low for about W. Two rates that are divided by each other have to count
//! the same events: the shortfall then cancels.
//!
//! Deviations: the warm start is ours.

use super::Tsw;
use crate::units::{Span, Time};

/// A rate that starts with its first event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventRate {
    tsw: Tsw,
    window: Span,
    warm: Option<Span>,
    first: Option<Time>,
    total: f64,
}

impl EventRate {
    /// A rate before its first event; `window` above zero.
    pub fn new(window: Span) -> Self {
        Self { tsw: Tsw::new(window, 0.0), window, warm: None, first: None, total: 0.0 }
    }

    /// The same, taking the plain mean during its first window, over at least `warm`, above zero.
    pub fn warmed(self, warm: Option<Span>) -> Self {
        Self { warm, ..self }
    }

    /// Counts an event.
    #[inline]
    pub fn update(&mut self, now: Time, amount: f64) {
        let first = *self.first.get_or_insert_with(|| {
            self.tsw.restart(now, 0.0);
            now
        });
        self.tsw.update(now, amount);
        if let Some(warm) = self.warm
            && now.since(first) < self.window
        {
            self.total += amount;
            self.tsw.restart(now, self.total / now.since(first).max(warm).seconds());
        }
    }

    /// The rate at the last event, 0 before the first.
    pub const fn rate(&self) -> f64 {
        self.tsw.rate()
    }

    /// The rate at `now` if there has been no event since the last.
    #[inline]
    pub fn decayed(&self, now: Time) -> f64 {
        if self.first.is_none() { 0.0 } else { self.tsw.decayed(now) }
    }

    /// Gives later events another window; the rate stays.
    pub fn rewindow(&mut self, window: Span) {
        self.window = window;
        self.tsw.rewindow(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x every T seconds: avg (T + W) = avg W + x has the one solution x/T; what the start lacks shrinks by W/(T + W)
    /// an event, below 1e-9 after 21 windows.
    #[test]
    fn periodic_events_give_their_rate() {
        let mut rate = EventRate::new(Span::from_s(5));
        let mut now = Time::from_ns(7_000_000_000);
        rate.update(now, 8.0);
        assert_eq!(rate.rate(), 8.0 / 5.0);
        for _ in 0..21 * 50 {
            now += Span::from_ms(100);
            rate.update(now, 8.0);
        }
        assert!((rate.rate() - 80.0).abs() < 80.0 * 1e-8, "{}", rate.rate());
        assert_eq!(rate.decayed(now + Span::from_s(5)), rate.rate() / 2.0);
    }

    /// n + 1 events in n gaps: the plain mean counts the first one too.
    #[test]
    fn a_warm_start_is_the_plain_mean() {
        let mut rate = EventRate::new(Span::from_s(5)).warmed(Some(Span::from_ms(50)));
        for i in 0..10 {
            rate.update(Time::from_ns(i * 100_000_000), 2.0);
        }
        assert!((rate.rate() - 20.0 / 0.9).abs() < 1e-9, "{}", rate.rate());
    }

    /// Poisson events of rate r: E[(avg W + 1)/(T + W)] with T exponential. The stationary mean of avg solves
    /// m = (m W + 1) E[1/(T + W)], and r W E[1/(T + W)] = a e^a E1(a) with a = r W: m = r times a factor above 1, which
    /// goes to 1 + 1/a for large a. For a = 6.25 (the slowest flow of PPS's Fig. 4): e^a E1(a) = 0.14011, so
    /// W E[1/(T + W)] = 0.87569 and m W = 0.87569/0.12431 = 7.0442, m/r = 1.1271. avg varies by about sqrt(r/2W) = 0.35,
    /// correlated over about 2a = 13 of the 200 000 steps: standard error of m/r 0.28 sqrt(13/2e5) = 0.0023.
    #[test]
    fn poisson_events_are_overestimated_by_a_known_factor() {
        let (r, window) = (1.25, 5.0);
        let mut rng = crate::Rng::stream(3, 0, "poisson");
        let mut rate = EventRate::new(Span::from_s(5));
        let (mut now, mut sum) = (0.0, 0.0);
        let n = 200_000;
        for i in 0..n + 100 {
            now += rng.exponential(1.0 / r);
            rate.update(Time::from_ns((now * 1e9) as u64), 1.0);
            sum += if i >= 100 { rate.rate() } else { 0.0 };
        }
        let factor = sum / f64::from(n) / r;
        let e1 = 0.140_110; // e^a E1(a), a = 6.25
        let expected = (e1 * r * window / (1.0 - e1 * r * window)) / (r * window);
        assert!((factor - expected).abs() < 4.0 * 0.0023, "{factor} against {expected}");
    }
}
