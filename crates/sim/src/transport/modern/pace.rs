//! When the next segment may go, for laws that pace.
//!
//! Source: the behaviour of Linux 6.12 (`tcp_output.c`): after each packet, of one segment or several, a pause of its data by
//! the rate, less what the packet itself came late, of that at most half the pause; none before the tenth segment has gone.
//! Where the queue of its host's port paces, the rate of a law that does not pace is that of small queues (`host_queue.rs`), by
//! the latest ACK, and the packet waits here until it may leave the port.
//!
//! Decision: docs/decisions/041-pacing-in-the-sender.md
//! Decision: docs/decisions/113-fq-paces-in-the-sender.md

use crate::transport::config::Pacing;
use perhop_core::units::{BitRate, Span, Time};

/// Segments of data that go without a pause between them.
const UNPACED: u32 = 9;

/// A connection's pacing.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    /// Nothing goes before.
    next: Time,
    /// Segments of data so far, up to [`UNPACED`].
    sent: u32,
    /// Of the packet of several segments that goes, those without a pause, and how much of what it came late has not been
    /// made up for, ns.
    free: u32,
    late: u64,
    /// Something waits for `next`.
    waits: bool,
    /// The repeat that a time-out calls for does not wait.
    exempt: bool,
    by: Pacing,
    /// By the latest ACK, bytes a second, of a law that does not pace.
    rate: Option<u64>,
}

impl Pace {
    pub(super) fn new(by: Pacing) -> Self {
        Self { by, ..Self::default() }
    }

    /// Whether a sender is paced whose law does not pace.
    #[inline]
    pub(super) fn paces(&self) -> bool {
        self.by.paces()
    }

    /// An ACK has come: how fast the sender may send, bytes a second, of what its law or its window says.
    #[inline]
    pub(super) fn learn(&mut self, rate: u64) -> u64 {
        let rate = rate.min(self.by.most.map_or(u64::MAX, bytes_s));
        self.rate = self.by.paces().then_some(rate);
        rate
    }

    /// The rate at which it sends, if its law says `law`.
    #[inline]
    pub(super) fn rate(&self, law: Option<u64>) -> Option<u64> {
        let rate = law.or(self.rate);
        match self.by.most {
            Some(most) => Some(rate.map_or(bytes_s(most), |rate| rate.min(bytes_s(most)))),
            None => rate,
        }
    }

    /// A segment with `bytes` of data goes now, at a rate of so many bytes a second; `joins`: in the packet of the one before.
    #[inline]
    pub(super) fn sent(&mut self, now: Time, bytes: u16, rate: Option<u64>, joins: bool) {
        let Some(rate) = rate else { return };
        if !joins {
            (self.free, self.late) = (0, now.ns().saturating_sub(self.next.ns()));
        }
        self.next = self.next.max(now);
        if self.sent < UNPACED {
            self.sent += u32::from(bytes > 0);
            self.free += 1;
            return;
        }
        let data = u64::from(bytes) * u64::from(1 + std::mem::take(&mut self.free));
        let pause = (data * 1_000_000_000).checked_div(rate).unwrap_or(0);
        let made_up = self.late.min(pause / 2);
        self.late -= made_up;
        self.next += Span::from_ns(pause - made_up);
    }

    /// Whether a segment has to wait; if so, for [`Pace::wake`].
    #[inline]
    pub(super) fn holds(&mut self, now: Time) -> bool {
        self.waits = now < self.next && !std::mem::take(&mut self.exempt);
        self.waits
    }

    /// Nothing waits, until something is held.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.waits = false;
    }

    /// The next segment does not wait.
    pub(super) fn exempt(&mut self) {
        self.exempt = true;
    }

    /// When what waits may go.
    #[inline]
    pub(super) fn wake(&self) -> Option<Time> {
        self.waits.then_some(self.next)
    }

    /// Nothing goes before.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// By how much timers wait longer: whole ticks of 1 ms until the next segment may go.
    #[inline]
    pub(super) fn delay(&self, now: Time) -> Span {
        Span::from_ms(self.next.ns().saturating_sub(now.ns()) / 1_000_000)
    }
}

fn bytes_s(rate: BitRate) -> u64 {
    rate.bit_s() / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a law that paces, its own rate; of another what the latest ACK says, if the host paces. A socket's rate bounds both.
    #[test]
    fn who_paces_says_the_rate() {
        let most = Some(BitRate::bps(8000));
        for (by_host, most, law, expected) in [
            (false, None, None, None),
            (false, None, Some(7), Some(7)),
            (true, None, None, Some(5000)),
            (true, None, Some(7), Some(7)),
            (false, most, None, Some(1000)),
            (true, most, Some(7000), Some(1000)),
            (true, most, Some(7), Some(7)),
        ] {
            let mut pace = Pace::new(Pacing { by_host, most });
            assert_eq!(pace.rate(None), most.map(bytes_s), "nothing is known before an ACK");
            pace.learn(5000);
            assert_eq!(pace.rate(law), expected, "{by_host} {most:?} {law:?}");
        }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// 1000 B at 1 MB/s: 1 ms each, from the tenth on. What comes 400 us late is made up for; of 3 ms, half a pause.
    #[test]
    fn a_pause_follows_each_segment_but_the_first_nine() {
        let (mut pace, rate) = (Pace::default(), Some(1_000_000));
        pace.sent(at(0), 0, rate, false); // a SYN is none
        for _ in 0..9 {
            assert!(!pace.holds(at(0)));
            pace.sent(at(0), 1000, rate, false);
        }
        for (now, next) in [(0, 1000), (1000, 2000), (2400, 3000), (6000, 6500)] {
            assert!(!pace.holds(at(now)), "{now}");
            pace.sent(at(now), 1000, rate, false);
            assert_eq!(pace.next(), at(next));
            assert!(pace.holds(at(next - 1)));
            assert_eq!(pace.wake(), Some(at(next)));
        }
        pace.exempt();
        assert!(!pace.holds(at(6400)) && pace.holds(at(6400)));
        pace.sent(at(9000), 1000, None, false);
        assert_eq!((pace.next(), pace.delay(at(4499)), pace.delay(at(7000))), (at(6500), Span::from_ms(2), Span::ZERO));
    }
    /// The fifth pair has the tenth segment: 2 ms for both. A pair that comes 3 ms late has a pause of 1 ms, half of what it would have.
    #[test]
    fn a_packet_of_several_segments_has_one_pause() {
        let (mut pace, rate) = (Pace::default(), Some(1_000_000));
        for (i, (now, next)) in [(0, 0), (0, 0), (0, 0), (0, 0), (0, 2000), (2000, 4000), (7000, 8000), (8500, 10_000)]
            .into_iter()
            .enumerate()
        {
            pace.sent(at(now), 1000, rate, false);
            pace.sent(at(now), 1000, rate, true);
            assert_eq!(pace.next(), at(next), "pair {i}");
        }
    }
}
