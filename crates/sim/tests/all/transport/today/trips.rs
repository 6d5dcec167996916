//! Round trips: RFC 6298, RFC 7323 section 4, and the estimator of Linux, step by step in whole microseconds.

use super::board::{Board, Update};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::RtoConfig;

/// A time stamp: ms, from 1.
pub(super) fn stamp(at: Time) -> u32 {
    1 + (at.ns() / 1_000_000) as u32
}

/// Scaled as Linux keeps them.
#[derive(Clone, Debug)]
pub(super) struct Trips {
    /// Eight times SRTT.
    srtt8: i64,
    /// Four times the mean deviation, and the largest of this round trip.
    deviation4: i64,
    largest4: i64,
    /// Four times RTTVAR.
    variance4: i64,
    /// A round trip ends when more than this is acknowledged.
    round: u32,
    least: Option<i64>,
    /// RFC 6298 (5.5), so often.
    doubled: u32,
    limits: RtoConfig,
}

fn us(span: Span) -> i64 {
    (span.ns() / 1000) as i64
}

impl Trips {
    pub(super) fn new(limits: &RtoConfig) -> Self {
        let (srtt8, deviation4, largest4, variance4) = (0, 0, 0, 0);
        Self { srtt8, deviation4, largest4, variance4, round: 0, least: None, doubled: 0, limits: *limits }
    }

    pub(super) fn srtt(&self) -> Option<Span> {
        (self.srtt8 > 0).then(|| Span::from_us(self.srtt8 as u64 / 8))
    }

    /// Microseconds / 8; 0: unknown.
    pub(super) fn srtt8(&self) -> u64 {
        self.srtt8 as u64
    }

    pub(super) fn least(&self) -> Option<Span> {
        self.least.map(|us| Span::from_us(us as u64))
    }

    /// Whole ticks of 1 ms, before it is doubled.
    pub(super) fn rto(&self) -> Span {
        let base = match self.srtt() {
            Some(srtt) => srtt + Span::from_us(self.variance4 as u64),
            None => self.limits.initial,
        };
        let mut rto = Span::from_ms(base.ns().div_ceil(1_000_000));
        for _ in 0..self.doubled {
            rto = (rto * 2).min(self.limits.maximum);
        }
        rto.min(self.limits.maximum)
    }

    pub(super) fn back_off(&mut self) {
        self.doubled += 1;
    }

    /// What an ACK measures. RFC 6298 section 3: nothing if it acknowledges what was sent again; then what is acknowledged
    /// selectively is measured, else the time stamp, whose round trip is at least 1 ms (RFC 7323 section 4.1: if SND.UNA
    /// advances). The first of them counts, and the last for the least.
    pub(super) fn on_ack(&mut self, news: &Update, now: Time, board: &Board) {
        let trip = |at: Time| us(Span::from_ns(now.ns() - at.ns())).max(1);
        let (sacked, acked) = news.newly.split_at(news.sacked);
        let trips = |segments: &[super::board::Segment]| -> Vec<i64> {
            segments.iter().filter(|it| !it.retransmitted).map(|it| trip(it.xmit_ts)).collect()
        };
        let (sacked, mut acked) = (trips(sacked), trips(acked));
        if news.of_repeats {
            acked.clear();
        }
        let echoed = (news.acked > 0 && news.echoed > 0).then(|| i64::from(stamp(now) - news.echoed).max(1) * 1000);
        let Some(first) = acked.first().or(sacked.first()).copied().or(echoed) else { return };
        let last = sacked.last().or(acked.last()).copied().unwrap_or(first);
        self.least = Some(self.least.map_or(last, |least| least.min(last)));
        self.doubled = 0;
        self.estimate(first, board);
    }

    fn estimate(&mut self, sample: i64, board: &Board) {
        let floor = us(self.limits.minimum);
        if self.srtt8 == 0 {
            (self.srtt8, self.deviation4) = (8 * sample, 2 * sample);
            self.variance4 = floor.max(self.deviation4);
            (self.largest4, self.round) = (self.variance4, board.next);
            return;
        }
        let off = sample - self.srtt8 / 8;
        self.srtt8 += off;
        let more = off.abs() - self.deviation4 / 4;
        // What was sooner than thought raises the deviation by an eighth of what something later does.
        self.deviation4 += if off < 0 && more > 0 { more / 8 } else { more };
        self.largest4 = self.largest4.max(self.deviation4);
        self.variance4 = self.variance4.max(self.largest4);
        if board.una > self.round {
            self.variance4 -= (self.variance4 - self.largest4) / 4;
            (self.round, self.largest4) = (board.next, floor);
        }
    }
}
