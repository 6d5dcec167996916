//! Round trips and the time-out, as Linux estimates them.
//!
//! Source: RFC 6298, RFC 7323 sections 4 and 4.1 (time stamps, where no segment that was sent only once gives a sample), and for
//! the variance Linux's `tcp_rtt_estimator`: 4 RTTVAR is never below the least time-out, follows a rise at once and falls by a
//! quarter of the difference once a round trip. Whole microseconds.
//!
//! | symbol  | field       | unit       | default |
//! |---------|-------------|------------|---------|
//! | SRTT    | `srtt8`     | us / 8     | -       |
//! | RTTVAR  | `variance`  | us, 4 RTTVAR | -     |
//! | RTO     | [`Rtt::rto`] | time      | 1 s before a sample |

use crate::transport::{RtoConfig, tick};
use perhop_core::units::Span;

/// One connection's estimate.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    srtt8: u64,
    deviation4: u64,
    worst4: u64,
    variance: u64,
    /// The worst deviation of this round trip counts until this number is acknowledged.
    round: u32,
    backoff: u8,
    least_us: u64,
    config: RtoConfig,
}

impl Rtt {
    pub(super) fn new(config: RtoConfig) -> Self {
        let least_us = u64::MAX;
        Self { srtt8: 0, deviation4: 0, worst4: 0, variance: 0, round: 0, backoff: 0, least_us, config }
    }

    fn floor(&self) -> u64 {
        self.config.minimum.ns() / 1000
    }

    /// SRTT, microseconds / 8; 0: unknown.
    pub(super) fn srtt8(&self) -> u64 {
        self.srtt8
    }

    /// A segment sent once took `rtt`; `una` and `next` are the sender's numbers.
    pub(super) fn sample(&mut self, rtt: Span, una: u32, next: u32) {
        let rtt = (rtt.ns() / 1000).max(1);
        self.backoff = 0;
        if self.srtt8 == 0 {
            (self.srtt8, self.deviation4) = (rtt << 3, rtt << 1);
            self.variance = self.deviation4.max(self.floor());
            (self.worst4, self.round) = (self.variance, next);
            return;
        }
        let error = rtt as i64 - (self.srtt8 >> 3) as i64;
        self.srtt8 = (self.srtt8 as i64 + error) as u64;
        let change = error.abs() - (self.deviation4 >> 2) as i64;
        // A round trip that is shorter than thought raises the deviation by an eighth of that only.
        let change = if error < 0 && change > 0 { change >> 3 } else { change };
        self.deviation4 = (self.deviation4 as i64 + change).max(0) as u64;
        self.worst4 = self.worst4.max(self.deviation4);
        self.variance = self.variance.max(self.worst4);
        if una > self.round {
            self.variance -= self.variance.saturating_sub(self.worst4) >> 2;
            (self.round, self.worst4) = (next, self.floor());
        }
    }

    /// A segment sent once took so long; the least counts.
    pub(super) fn least_of(&mut self, rtt: Span) {
        self.least_us = self.least_us.min((rtt.ns() / 1000).max(1));
    }

    /// Something new was acknowledged.
    pub(super) fn end_back_off(&mut self) {
        self.backoff = 0;
    }

    /// Smoothed.
    pub fn srtt(&self) -> Option<Span> {
        (self.srtt8 > 0).then(|| Span::from_us(self.srtt8 >> 3))
    }

    /// The least so far.
    pub(super) fn least(&self) -> Option<Span> {
        (self.least_us < u64::MAX).then(|| Span::from_us(self.least_us))
    }

    /// The time-out, back-off included: of whole ticks.
    pub(super) fn rto(&self) -> Span {
        let base = tick::up(match self.srtt8 {
            0 => self.config.initial,
            srtt8 => Span::from_us((srtt8 >> 3) + self.variance),
        });
        Span::from_ns(base.ns() << self.backoff.min(20)).min(self.config.maximum)
    }

    /// The timer has expired.
    pub(super) fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// The least time-out.
    pub(super) fn minimum(&self) -> Span {
        self.config.minimum
    }
}
