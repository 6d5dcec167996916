//! When a timer of Linux expires: on a tick, never early, and the later the longer it was set for.
//!
//! Source: the behaviour of Linux 6.12 with 1000 ticks a second (`timer.c`).
//!
//! A timer set for n ticks expires at the next multiple of g ticks past its time, where g is 1 below 63 ticks, 8 below 504, 64
//! below 4032, 512 below 32,256 and 4096 from there on. Ticks are whole milliseconds of the simulated time; Linux counts
//! them from 300 s before its boot.
//!
//! Decision: docs/decisions/037-tcp-is-compared-with-ns2.md

use perhop_core::units::{Span, Time};

const TICK: u64 = 1_000_000;
/// By how much Linux's count of ticks is ahead, less what every g divides.
const AHEAD: u64 = 4096 * 74 - 300_000;
/// Below which numbers of ticks a timer is how exact, as a power of two.
const LEVELS: [(u64, u32); 4] = [(63, 0), (504, 3), (4032, 6), (32_256, 9)];
const COARSEST: u32 = 12;

/// A host's time stamp (RFC 7323), ms; 0 is none.
#[inline]
pub fn stamp(now: Time) -> u32 {
    (now.ns() / TICK) as u32 + 1
}

/// The tick of a time, as a time.
pub(super) fn floor(time: Time) -> Time {
    Time::from_ns(time.ns() / TICK * TICK)
}

/// A time in whole microseconds, rounded down.
pub(super) fn us(span: Span) -> Span {
    Span::from_us(span.ns() / 1000)
}

/// A time in whole ticks, rounded down.
pub(super) fn down(span: Span) -> Span {
    Span::from_ns(span.ns() / TICK * TICK)
}

/// A time in whole ticks, rounded up.
pub(super) fn up(span: Span) -> Span {
    Span::from_ns(span.ns().next_multiple_of(TICK))
}

/// When a timer that is set now for so long expires.
pub(super) fn expiry(now: Time, after: Span) -> Time {
    let ticks = after.ns().div_ceil(TICK);
    let power = LEVELS.iter().find(|(below, _)| ticks < *below).map_or(COARSEST, |level| level.1);
    let due = now.ns() / TICK + ticks + AHEAD;
    let rounded = (due + (1 << power)) >> power << power;
    Time::from_ns((rounded - AHEAD) * TICK)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After 0.2 ms of the 100th millisecond: the next tick past 40 ms; past 240 ms
    /// the next of 8; past 480 ms too; past 1 s of 64.
    #[test]
    fn the_longer_the_coarser() {
        let now = Time::from_ns(99_200_000);
        let at = |ms| expiry(now, Span::from_ms(ms)).ns() / TICK;
        assert_eq!(at(40), 140);
        for (ms, gran) in [(62, 1), (63, 8), (240, 8), (503, 8), (504, 64), (1000, 64), (4032, 512)] {
            let tick = at(ms);
            assert!((tick + AHEAD).is_multiple_of(gran) && tick > 99 + ms && tick <= 99 + ms + gran, "{ms}: {tick}");
        }
        assert_eq!(expiry(now, Span::from_us(39_100)), expiry(now, Span::from_ms(40)));
    }
}
