//! How much may be in flight.

use super::{Bbr, LEAST_WINDOW, Mode, RATE_SHIFT, UNIT, us};
use crate::transport::congestion::{Report, State, Window};

/// Window of a connection that has not measured a round trip, and what is delivered before a window may be held.
const INITIAL: u32 = 10;
/// Bytes that a burst holds at most.
const LARGEST_BURST: u64 = 65_535 - 320;
/// Bytes a second below which a burst is of one segment.
const SLOW: u64 = 150_000;
/// Segments of a burst at most.
const MOST_SEGMENTS: u64 = 127;
/// Round trips for which the lumps of half the record count.
const LUMP_ROUNDS: u32 = 5;
/// Lumps of ACKs count for no more than so long, us.
const LUMP_US: u64 = 100_000;
/// A record of lumps ends with this many segments.
const LONGEST: u64 = 1 << 20;

/// ACKs that come in lumps: segments beyond what the rate explains.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    since_us: u64,
    acked: u64,
    most: [u32; 2],
    half: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) fn begin(&mut self, at_us: u64) {
        (self.since_us, self.acked) = (at_us, 0);
    }

    /// The record's older half is forgotten every five round trips.
    fn turn(&mut self) {
        self.rounds += 1;
        if self.rounds >= LUMP_ROUNDS {
            (self.rounds, self.half) = (0, 1 - self.half);
            self.most[self.half] = 0;
        }
    }
}

/// What is gone back to after recovery.
#[derive(Clone, Debug, Default)]
pub(super) struct Saved {
    pub(super) cwnd: u32,
    /// At the last ACK.
    pub(super) state: State,
    /// No more goes than arrives.
    pub(super) conserves: bool,
}

impl Bbr {
    /// A window that is known to be good.
    pub(super) fn save(&mut self, window: &Window) {
        let cwnd = window.cwnd as u32;
        let good = self.saved.state < State::Recovery && self.mode != Mode::ProbeRtt;
        self.saved.cwnd = if good { cwnd } else { self.saved.cwnd.max(cwnd) };
    }

    /// Segments that a burst is meant to have: 1 ms at the pacing rate.
    fn burst(&self, mss: u16) -> u32 {
        let rate = self.pacing.rate.unwrap_or_default();
        let least = if rate < SLOW { 1 } else { 2 };
        ((rate >> 10).min(LARGEST_BURST) / u64::from(mss)).clamp(least, MOST_SEGMENTS) as u32
    }

    /// Rate times round trip.
    fn bdp(&self, rate: u32, gain: u32) -> u32 {
        if self.least.us == u64::MAX {
            return INITIAL;
        }
        let bits = (u64::from(rate) * self.least.us * u64::from(gain)) >> 8;
        bits.div_ceil(1 << RATE_SHIFT) as u32
    }

    /// With room for what hosts hold back.
    fn with_budget(&self, cwnd: u32, mss: u16) -> u32 {
        let cwnd = (cwnd + 3 * self.burst(mss)).next_multiple_of(2);
        cwnd + if self.mode == Mode::ProbeBw && self.cycle.probes() { 2 } else { 0 }
    }

    /// What is to be in flight at the greatest rate.
    pub(super) fn inflight(&self, gain: u32, mss: u16) -> u32 {
        self.with_budget(self.bdp(self.filter.get(), gain), mss)
    }

    /// What will be in flight when pacing lets the next segment go.
    pub(super) fn in_flight_at_next_send(&self, report: &Report, in_flight: u32) -> u32 {
        let wait_us = (report.next_send.ns() - report.signal.now.ns()) / 1000;
        let gone = (u64::from(self.bandwidth()) * wait_us) >> RATE_SHIFT;
        let more = if self.gains.pacing > UNIT { self.burst(report.mss) } else { 0 };
        u64::from(in_flight + more).saturating_sub(gone) as u32
    }

    /// Segments that came beyond what the rate explains.
    pub(super) fn note_aggregation(&mut self, report: &Report, window: &Window) {
        let acked = u64::from(report.signal.acked);
        if acked == 0 || report.rate.is_none_or(|it| it.interval_us == 0) {
            return;
        }
        if self.rounds.started {
            self.aggregation.turn();
        }
        let (bandwidth, at_us) = (u64::from(self.bandwidth()), us(report.delivered_at));
        let lumps = &mut self.aggregation;
        let mut expected = (bandwidth * at_us.saturating_sub(lumps.since_us)) >> RATE_SHIFT;
        if lumps.acked <= expected || lumps.acked + acked >= LONGEST {
            lumps.begin(at_us);
            expected = 0;
        }
        lumps.acked = (lumps.acked + acked).min(LONGEST - 1);
        let extra = (lumps.acked - expected).min(window.cwnd as u64) as u32;
        lumps.most[lumps.half] = lumps.most[lumps.half].max(extra);
    }

    /// Room for lumps.
    fn lumps(&self) -> u32 {
        if !self.plateau.reached {
            return 0;
        }
        let most = (u64::from(self.bandwidth()) * LUMP_US) >> RATE_SHIFT;
        let [one, other] = self.aggregation.most;
        u64::from(one.max(other)).min(most) as u32
    }

    /// The window after an ACK.
    pub(super) fn set_window(&mut self, report: &Report, window: &mut Window) {
        if report.signal.acked > 0 {
            window.cwnd = f64::from(self.next_window(report, window.cwnd as u32));
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(f64::from(LEAST_WINDOW));
        }
    }

    fn next_window(&mut self, report: &Report, cwnd: u32) -> u32 {
        let acked = report.signal.acked;
        let cwnd = self.recover(report, cwnd);
        if self.saved.conserves {
            return cwnd.max(report.in_flight.now + acked);
        }
        let target = self.with_budget(self.bdp(self.bandwidth(), self.gains.window) + self.lumps(), report.mss);
        let next = if self.plateau.reached {
            (cwnd + acked).min(target)
        } else if cwnd < target || report.delivered < u64::from(INITIAL) {
            cwnd + acked
        } else {
            cwnd
        };
        next.max(LEAST_WINDOW)
    }

    /// Losses, and into recovery or out of it.
    fn recover(&mut self, report: &Report, cwnd: u32) -> u32 {
        let (before, state) = (self.saved.state, report.state);
        self.saved.state = state;
        let left = if report.lost > 0 { cwnd.saturating_sub(report.lost).max(1) } else { cwnd };
        if state == State::Recovery && before != State::Recovery {
            self.saved.conserves = true;
            self.rounds.ends = report.delivered;
            return report.in_flight.now + report.signal.acked;
        }
        if before >= State::Recovery && state < State::Recovery {
            self.saved.conserves = false;
            return left.max(self.saved.cwnd);
        }
        left
    }
}
