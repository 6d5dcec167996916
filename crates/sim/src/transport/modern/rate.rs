//! How fast the network delivers.
//!
//! Source: draft-ietf-ccwg-bbr section 4.1; where it leaves a choice, Linux 6.12's `tcp_rate.c`: a sample is of the segment
//! sent last of those that an ACK reports, and is not believed if it took less than the least round trip.
//!
//! | symbol               | field               | unit     |
//! |----------------------|---------------------|----------|
//! | C.delivered          | `delivered`         | segments |
//! | C.delivered_time     | `delivered_at`      | time     |
//! | C.first_send_time    | `first_sent`        | time     |
//! | C.app_limited        | `app_limited`       | segments |

use crate::transport::congestion::RateSample;
use perhop_core::units::{Span, Time};

/// What was so when a segment was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    pub(super) first_sent: Time,
    pub(super) delivered_at: Time,
    pub(super) delivered: u32,
    pub(super) lost: u32,
    pub(super) in_flight: u32,
    pub(super) app_limited: bool,
}

/// The scoreboard's counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) outstanding: u32,
    pub(super) in_flight: u32,
    /// Taken as lost since the beginning.
    pub(super) lost: u64,
}

/// Of the segments that an ACK reports, the one that was sent last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    stamp: Stamp,
    number: u32,
    send_us: u64,
}

/// What a sample is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Close {
    pub(super) newest: Option<Newest>,
    pub(super) min_rtt: Option<Span>,
    /// Taken as lost since the beginning.
    pub(super) lost: u64,
}

/// One connection's deliveries.
#[derive(Clone, Debug, Default)]
pub(super) struct Rate {
    first_sent: Time,
    pub(super) delivered_at: Time,
    pub(super) delivered: u64,
    /// What is delivered up to here was held back by the application; 0: nothing is.
    app_limited: u64,
}

fn us(at: Time) -> u64 {
    at.ns() / 1000
}

impl Rate {
    /// A segment is about to be sent.
    #[inline]
    pub(super) fn stamp(&mut self, now: Time, flight: Flight) -> Stamp {
        if flight.outstanding == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        Stamp {
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered as u32,
            lost: flight.lost as u32,
            in_flight: flight.in_flight + 1,
            app_limited: self.app_limited > 0,
        }
    }

    /// A segment that was sent at `at` has arrived.
    #[inline]
    pub(super) fn delivered(&mut self, number: u32, at: Time, stamp: &Stamp, newest: &mut Option<Newest>) {
        self.delivered += 1;
        let later = newest.is_none_or(|it| (us(at), number) > (us(self.first_sent), it.number));
        if later {
            self.first_sent = at;
            *newest = Some(Newest { stamp: *stamp, number, send_us: us(at) - us(stamp.first_sent) });
        }
    }

    /// Segments delivered in all when it was sent.
    pub(super) fn prior(&self, newest: &Newest) -> u64 {
        self.delivered - u64::from((self.delivered as u32).wrapping_sub(newest.stamp.delivered))
    }

    /// After all that an ACK reports: the sample.
    pub(super) fn sample(&mut self, now: Time, close: Close) -> Option<RateSample> {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let newest = close.newest?;
        let Newest { stamp, send_us, .. } = newest;
        self.delivered_at = now;
        let interval_us = send_us.max(us(now) - us(stamp.delivered_at));
        let least_us = close.min_rtt.map_or(0, |it| it.ns() / 1000);
        Some(RateSample {
            delivered: (self.delivered as u32).wrapping_sub(stamp.delivered),
            prior_delivered: self.prior(&newest),
            interval_us: if interval_us < least_us { 0 } else { interval_us },
            app_limited: stamp.app_limited,
            in_flight_then: stamp.in_flight,
            lost: (close.lost as u32).wrapping_sub(stamp.lost),
        })
    }

    /// The sender has nothing to send: what is in flight says nothing of the network.
    pub(super) fn limit(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// The application holds the sender back.
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.app_limited > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn flight(outstanding: u32) -> Flight {
        Flight { outstanding, in_flight: outstanding, lost: 0 }
    }

    fn close(newest: Option<Newest>) -> Close {
        Close { newest, min_rtt: Some(Span::from_ms(10)), lost: 3 }
    }

    /// Ten segments in 9 ms, of which the first arrives 20 ms after it was sent and the tenth 11 ms after the first: the sample
    /// of the first spans 20 ms and one segment, that of the rest the flight of ten, 31 ms by their ACKs.
    #[test]
    fn a_sample_spans_the_longer_of_sending_and_hearing() {
        let mut rate = Rate::default();
        let stamps: Vec<Stamp> = (0..10).map(|i| rate.stamp(at(1000 * i), flight(i as u32))).collect();
        let mut newest = None;
        rate.delivered(1, at(0), &stamps[0], &mut newest);
        let first = rate.sample(at(20_000), close(newest)).unwrap();
        assert_eq!((first.delivered, first.prior_delivered, first.interval_us, first.lost), (1, 0, 20_000, 3));
        let mut newest = None;
        for i in 1..10 {
            rate.delivered(i as u32 + 1, at(1000 * i), &stamps[i as usize], &mut newest);
        }
        let rest = rate.sample(at(31_000), close(newest)).unwrap();
        assert_eq!((rest.delivered, rest.prior_delivered, rest.interval_us, rest.in_flight_then), (10, 0, 31_000, 10));
        assert_eq!(rate.sample(at(32_000), close(None)), None);
    }

    /// An ACK that comes sooner than is possible is not believed; ACKs that come faster than their segments
    /// went count as if they had come at that rate.
    #[test]
    fn compressed_acks_do_not_count_as_speed() {
        let mut rate = Rate::default();
        let stamps: Vec<Stamp> = (0..10).map(|i| rate.stamp(at(5000 * i), flight(i as u32))).collect();
        let mut newest = None;
        for i in 0..10 {
            rate.delivered(i as u32 + 1, at(5000 * i), &stamps[i as usize], &mut newest);
        }
        assert_eq!(rate.sample(at(45_001), close(newest)).unwrap().interval_us, 45_001);
        let stamp = rate.stamp(at(50_000), flight(1));
        let mut newest = None;
        rate.delivered(11, at(50_000), &stamp, &mut newest);
        assert_eq!(rate.sample(at(51_000), close(newest)).unwrap().interval_us, 0);
    }

    #[test]
    fn what_the_application_holds_back_is_marked_until_it_is_delivered() {
        let mut rate = Rate::default();
        rate.limit(2);
        let marked: Vec<bool> = (0..4)
            .map(|i| {
                let stamp = rate.stamp(at(i), flight(1));
                let mut newest = None;
                rate.delivered(i as u32, at(i), &stamp, &mut newest);
                rate.sample(at(i + 20_000), close(newest)).unwrap().app_limited
            })
            .collect();
        assert_eq!(marked, [true, true, true, false]);
    }
}
