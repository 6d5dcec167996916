//! Where the clock of timestamps stepped back, and which measured times that spoils.
//!
//! A packet stamped earlier than a preceding one gets the largest time seen, so its own time is off by its lag. A time that
//! was measured is void if it ends with such a packet, or if some packet since its beginning lagged by more than a
//! hundredth of it: packets of several queues are out of order by microseconds, which does no harm to milliseconds.

use std::collections::VecDeque;

use perhop_core::units::{Span, Time};

use crate::clock::Moment;
use crate::idle::EXPIRY;

/// A measured time may be off by one part of so many.
const PARTS: u64 = 100;

/// The lags of packets.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// That of the latest packet.
    lag: Span,
    /// Lags and when they were: each is larger than those after it. Older ones than any open sample are forgotten.
    largest: VecDeque<(Time, Span)>,
}

impl Steps {
    /// A packet comes.
    #[inline]
    pub(crate) fn see(&mut self, Moment { now, lag }: Moment) {
        self.lag = lag;
        if lag > Span::ZERO {
            self.keep(now, lag);
        }
    }

    #[cold]
    fn keep(&mut self, now: Time, lag: Span) {
        while self.largest.back().is_some_and(|it| it.1 <= lag) {
            self.largest.pop_back();
        }
        if self.largest.back().is_none_or(|it| it.0 < now) {
            self.largest.push_back((now, lag));
        }
        while self.largest.front().is_some_and(|it| now.since(it.0) > EXPIRY) {
            self.largest.pop_front();
        }
    }

    /// Whether what was measured up to the latest packet, at `now`, is void.
    pub fn spoil(&self, now: Time, measured: Span) -> bool {
        let begun = Time::from_ns(now.ns().saturating_sub(measured.ns()));
        let since = self.largest.iter().find(|it| it.0 >= begun);
        self.lag > Span::ZERO || since.is_some_and(|it| it.1.ns().saturating_mul(PARTS) > measured.ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After packets with these times and lags, ms: is this time, measured up to the last of them, void?
    fn void(packets: &[(u64, u64)], measured: u64) -> bool {
        let mut steps = Steps::default();
        let ms = Span::from_ms;
        packets.iter().for_each(|(now, lag)| steps.see(Moment { now: Time::ZERO + ms(*now), lag: ms(*lag) }));
        steps.spoil(Time::ZERO + ms(packets.last().unwrap().0), ms(measured))
    }

    #[test]
    fn a_time_across_a_step_is_void() {
        assert!(!void(&[(0, 0), (50, 0)], 50));
        assert!(void(&[(0, 0), (50, 0), (50, 9)], 50), "it ends while the clock stands");
        assert!(void(&[(0, 0), (20, 0), (20, 9), (50, 0)], 50), "9 of 50 ms");
        assert!(void(&[(0, 0), (20, 9), (20, 3), (50, 0)], 30), "it began while the clock stood");
        assert!(!void(&[(0, 0), (20, 9), (50, 0)], 20), "that was before");
        assert!(!void(&[(0, 0), (200, 5), (600, 0)], 600), "5 of 600 ms");
        assert!(void(&[(0, 0), (100, 9), (200, 5), (250, 1), (600, 0)], 450), "the largest since its beginning");
    }
}
