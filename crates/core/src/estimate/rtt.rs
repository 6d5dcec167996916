//! Round-trip times as an edge sees them: samples of a flow, and the smoothed time of an aggregate.
//!
//! Source: Habib, Bhargava and Fahmy, "A Round Trip Time and Time-out Aware Traffic Conditioner for Differentiated
//! Services Networks" (2001), sections on measurement; Karn and Partridge (1987); RFC 6298 sections 2.2, 2.3
//! and 3; RFC 7323 section 4.2.
//!
//! ```text
//! data beyond the highest seen, no sample open:   open (end, now)
//! data that begins below the highest seen and before the open sample's end:   sample void (Karn)
//! ACK >= end:                                     sample = now - opened
//! with timestamps:   TSval that no packet had before: an ACK whose TSecr it is closes it, too, void or not (RFC 7323)
//!
//! aggregate:  first sample s:  SRTT = s, RTTVAR = s/2
//!             later:           RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - s|;  SRTT = (1 - g) SRTT + g s
//!             RTO = max(minRTO, SRTT + 4 RTTVAR)
//! ```
//!
//! | symbol | argument  | unit |
//! |--------|-----------|------|
//! | g      | `gain`    | -    |
//! | minRTO | `minimum` | s    |
//! | s      | `sample`  | s    |
//!
//! A sample is the time from the edge to the receiver and back; the path from the host to the edge is not included.
//!
//! Deviations: a retransmission of data before the open sample voids it too, since the ACK that covers both waits for it:
//! senders (RFC 6298 section 3, ns-2) take no sample there either. A lost segment before a sample
//! cannot be recognised if its retransmission is not seen here.
//!
//! Decision: docs/decisions/012-samples-of-round-trips.md

use crate::packet::{Packet, after};
use crate::units::{Span, Time};

/// TCP timestamps of a segment (RFC 7323 section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The other side's clock, echoed.
    pub echo: u32,
}

/// A segment whose ACK is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Open {
    /// Its last byte's number plus one; `None` once an ACK of it could answer either of two segments.
    end: Option<u32>,
    at: Time,
    /// Its timestamp, if no earlier packet had it.
    stamp: Option<u32>,
}

/// Where a round-trip time came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Sequence numbers.
    Numbers,
    /// TCP timestamps.
    Stamps,
}

/// g if one flow is sampled (RFC 6298).
pub const GAIN_OF_ONE: f64 = 0.125;
/// g if all flows of an aggregate are.
pub const GAIN_OF_ALL: f64 = 0.02;

/// One flow's samples: at most one is open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RttSampler {
    open: Option<Open>,
    highest: Option<u32>,
    /// The latest timestamp.
    newest: Option<u32>,
}

impl RttSampler {
    /// A segment on its way to the receiver.
    pub fn on_segment(&mut self, now: Time, segment: &Packet, stamps: Option<Timestamps>) {
        let Packet { seq_end: end, .. } = *segment;
        let start = segment.seq_start();
        let fresh = self.highest.is_none_or(|highest| !after(highest, start));
        if !fresh {
            self.void_from(start);
        }
        let own = self.on_stamp(stamps);
        if fresh && self.open.is_none() {
            self.open = Some(Open { end: Some(end), at: now, stamp: own });
        }
        if self.highest.is_none_or(|highest| after(end, highest)) {
            self.highest = Some(end);
        }
    }

    /// The data that begins at `start` is sent again.
    fn void_from(&mut self, start: u32) {
        if let Some(open) = &mut self.open {
            open.end = open.end.filter(|end| !after(*end, start));
        }
        self.open = self.open.filter(|open| open.end.is_some() || open.stamp.is_some());
    }

    /// A packet of the segments' direction, of any kind: its timestamp if no packet had it before. An echo of an older one
    /// may answer another packet.
    pub fn on_stamp(&mut self, stamps: Option<Timestamps>) -> Option<u32> {
        let value = stamps?.value;
        let own = self.newest.is_none_or(|newest| after(value, newest));
        if own {
            self.newest = Some(value);
        }
        own.then_some(value)
    }

    /// A returning ACK: the round-trip time, if it is the one waited for.
    pub fn on_ack(&mut self, now: Time, ack: u32, stamps: Option<Timestamps>) -> Option<(Span, Evidence)> {
        let Open { end, at, stamp } = self.open?;
        let echo = stamps.map(|stamps| stamps.echo);
        let echoed = stamp.is_some() && stamp == echo;
        let covered = end.is_some_and(|end| !after(end, ack));
        // the receiver has gone on without echoing it
        let passed = stamp.zip(echo).is_some_and(|(stamp, echo)| after(echo, stamp));
        if echoed || covered || passed {
            self.open = None;
        }
        let evidence = if echoed { Evidence::Stamps } else { Evidence::Numbers };
        (echoed || covered).then(|| (now.since(at), evidence))
    }
}

/// The smoothed round-trip time of an aggregate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundTrip {
    known: Option<Smoothed>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Smoothed {
    mean: f64,
    variation: f64,
    least: f64,
}

impl RoundTrip {
    /// Nothing known.
    pub const NONE: Self = Self { known: None };

    /// Takes a sample; `gain` in (0, 1].
    pub fn sample(&mut self, sample: Span, gain: f64) {
        let sample = sample.seconds();
        let Some(Smoothed { mean, variation, least }) = &mut self.known else {
            self.known = Some(Smoothed { mean: sample, variation: sample / 2.0, least: sample });
            return;
        };
        *variation = 0.75 * *variation + 0.25 * (*mean - sample).abs();
        *mean = (1.0 - gain) * *mean + gain * sample;
        *least = least.min(sample);
    }

    /// SRTT, s; `None` before the first sample.
    pub fn smoothed(&self) -> Option<f64> {
        self.known.map(|known| known.mean)
    }

    /// RTTVAR, s.
    pub fn variation(&self) -> Option<f64> {
        self.known.map(|known| known.variation)
    }

    /// The shortest sample, s.
    pub fn least(&self) -> Option<f64> {
        self.known.map(|known| known.least)
    }

    /// The time-out a sender would set: max(`minimum`, SRTT + 4 RTTVAR), s.
    pub fn timeout(&self, minimum: Span) -> Option<f64> {
        self.known.map(|known| (known.mean + 4.0 * known.variation).max(minimum.seconds()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::flags;

    fn data(start: u32) -> Packet {
        Packet { seq_end: start.wrapping_add(100), payload: 100, flags: flags::ACK, ..Packet::default() }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Segments (ms, start) and ACKs (ms, number) through a sampler: the samples, ms.
    fn samples(events: &[(u64, Result<u32, u32>)]) -> Vec<u64> {
        let mut it = RttSampler::default();
        let mut out = Vec::new();
        for &(ms, event) in events {
            match event {
                Ok(start) => it.on_segment(at(ms), &data(start), None),
                Err(ack) => out.extend(it.on_ack(at(ms), ack, None).map(|(rtt, _)| rtt.ns() / 1_000_000)),
            }
        }
        out
    }

    /// Sequence numbers compare modulo 2^32 (RFC 9293 section 3.4).
    #[test]
    fn one_sample_at_a_time() {
        assert_eq!(samples(&[(0, Ok(0)), (1, Ok(100)), (50, Err(100)), (51, Err(200)), (60, Ok(200))]), [50]);
        assert_eq!(samples(&[(0, Ok(0)), (1, Ok(100)), (50, Err(200)), (60, Ok(200)), (95, Err(300))]), [50, 35]);
        assert_eq!(samples(&[(0, Ok(u32::MAX - 49)), (40, Err(u32::MAX)), (41, Err(50))]), [41], "numbers wrap");
    }

    /// RFC 6298 section 3 (Karn).
    #[test]
    fn a_retransmission_at_or_before_it_voids_the_sample() {
        assert_eq!(samples(&[(0, Ok(0)), (10, Ok(0)), (50, Err(100))]), [0u64; 0]);
        // 100 is open when 0, sent before it, comes again: the ACK of both waits for that.
        let before =
            [(0, Ok(0)), (5, Err(100)), (6, Ok(200)), (9, Ok(100)), (50, Err(300)), (51, Ok(300)), (61, Err(400))];
        assert_eq!(samples(&before), [5, 10]);
        // What lies behind it does not matter.
        assert_eq!(samples(&[(0, Ok(0)), (1, Ok(100)), (2, Ok(100)), (50, Err(100))]), [50]);
    }

    /// RFC 7323 section 3: the value of a segment and the echo of it.
    #[test]
    fn timestamps_tell_a_retransmission_from_the_first() {
        let stamps = |value, echo| Some(Timestamps { value, echo });
        let mut it = RttSampler::default();
        it.on_segment(at(0), &data(0), stamps(7, 0));
        it.on_segment(at(30), &data(0), stamps(9, 0));
        assert_eq!(it.on_ack(at(50), 100, stamps(1, 7)), Some((Span::from_ms(50), Evidence::Stamps)));
        it.on_segment(at(60), &data(100), stamps(10, 0));
        it.on_segment(at(61), &data(100), stamps(11, 0));
        assert_eq!(it.on_ack(at(62), 100, stamps(1, 9)), None, "an older one");
        assert_eq!(it.on_ack(at(63), 200, stamps(1, 11)), None, "a later one: not echoed");
        assert_eq!(it.on_ack(at(64), 200, stamps(1, 10)), None, "no longer open");
    }

    #[test]
    fn sequence_numbers_answer_where_timestamps_do_not() {
        let stamps = |value, echo| Some(Timestamps { value, echo });
        let mut it = RttSampler::default();
        it.on_segment(at(0), &data(0), stamps(7, 0));
        // a delayed ACK echoes the first of two segments (RFC 7323 section 4.2)
        assert_eq!(it.on_ack(at(50), 100, stamps(1, 5)), Some((Span::from_ms(50), Evidence::Numbers)));
        // a bare ACK of the same tick went before: its echo would come too soon
        assert_eq!(it.on_stamp(stamps(8, 0)), Some(8));
        it.on_segment(at(60), &data(100), stamps(8, 0));
        assert_eq!(it.on_ack(at(61), 100, stamps(1, 8)), None);
        assert_eq!(it.on_ack(at(90), 200, stamps(1, 8)), Some((Span::from_ms(30), Evidence::Numbers)));
        // cut off or not sent by one side
        it.on_segment(at(100), &data(200), stamps(9, 0));
        assert_eq!(it.on_ack(at(130), 300, None), Some((Span::from_ms(30), Evidence::Numbers)));
    }

    /// RFC 6298 sections 2.2 and 2.3 by hand, gain 1/8: 100 ms, then 180 ms.
    #[test]
    fn smoothing_by_hand() {
        let mut it = RoundTrip::default();
        assert_eq!((it.smoothed(), it.timeout(Span::from_ms(200))), (None, None));
        let near = |got: Option<f64>, want: f64| (got.unwrap() - want).abs() < 1e-12;
        it.sample(Span::from_ms(100), 0.125);
        assert_eq!((it.smoothed(), it.variation()), (Some(0.1), Some(0.05)));
        assert!(near(it.timeout(Span::from_ms(200)), 0.3));
        it.sample(Span::from_ms(180), 0.125);
        assert!(near(it.variation(), 0.0575) && near(it.smoothed(), 0.11) && near(it.least(), 0.1), "{it:?}");
        assert!(near(it.timeout(Span::from_ms(200)), 0.34) && near(it.timeout(Span::from_s(1)), 1.0));
    }
}
