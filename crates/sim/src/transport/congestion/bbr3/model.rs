//! The model of the path: draft-ietf-ccwg-bbr sections 5.3.1 and 5.5.

use super::{Bbr3, us};
use crate::transport::congestion::{RateSample, Report, Window};

/// Round trips for which lumps of ACKs count.
const LUMP_ROUNDS: usize = 10;
/// Rounds with less than a quarter more, after which the pipe is full.
const PLATEAU_ROUNDS: u32 = 3;
/// Growth that counts.
const GROWTH: f64 = 1.25;

/// RS: what an ACK tells of deliveries. Segments and us.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) rate: f64,
    pub(super) delivered: f64,
    pub(super) prior_delivered: u64,
    pub(super) app_limited: bool,
    pub(super) in_flight_then: f64,
    pub(super) lost: f64,
}

impl Sample {
    pub(super) fn of(it: &RateSample) -> Self {
        let delivered = f64::from(it.delivered);
        Self {
            rate: if it.interval_us > 0 { delivered / it.interval_us as f64 } else { 0.0 },
            delivered,
            prior_delivered: it.prior_delivered,
            app_limited: it.app_limited,
            in_flight_then: f64::from(it.in_flight_then),
            lost: f64::from(it.lost),
        }
    }
}

/// Rate, round trip and bounds.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Greatest rates of this cycle and of the one before.
    cycles: [f64; 2],
    pub(super) bw: f64,
    pub(super) bw_short: f64,
    pub(super) inflight_long: f64,
    pub(super) inflight_short: f64,
    pub(super) min_rtt_us: Option<u64>,
    pub(super) min_rtt_at: u64,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            cycles: [0.0; 2],
            bw: 0.0,
            bw_short: f64::INFINITY,
            inflight_long: f64::INFINITY,
            inflight_short: f64::INFINITY,
            min_rtt_us: None,
            min_rtt_at: 0,
        }
    }
}

impl Model {
    pub(super) fn max_bw(&self) -> f64 {
        self.cycles[0].max(self.cycles[1])
    }

    /// A cycle of probing is over.
    pub(super) fn advance(&mut self) {
        self.cycles = [0.0, self.cycles[0]];
    }

    pub(super) fn forget_short_term(&mut self) {
        (self.bw_short, self.inflight_short) = (f64::INFINITY, f64::INFINITY);
    }

    pub(super) fn bound(&mut self) {
        self.bw = self.max_bw().min(self.bw_short);
    }
}

/// Round trips by what is delivered: those that count, and those that losses are looked at for.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    ends: u64,
    pub(super) started: bool,
    pub(super) loss_ends: u64,
    pub(super) loss_started: bool,
    pub(super) lossy: bool,
}

impl Rounds {
    pub(super) fn begin(&mut self, report: &Report) {
        self.ends = report.delivered;
    }
}

/// The greatest of the last round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    pub(super) bw: f64,
    pub(super) inflight: f64,
}

impl Latest {
    pub(super) fn advance(&mut self, sample: &Sample, round: bool) {
        if round {
            (self.bw, self.inflight) = (sample.rate, sample.delivered);
        }
    }
}

/// Whether more bandwidth is to be had.
#[derive(Clone, Debug, Default)]
pub(super) struct Plateau {
    bw: f64,
    rounds: u32,
    pub(super) now: bool,
    /// Ever.
    pub(super) reached: bool,
}

impl Plateau {
    /// Looks from here on.
    pub(super) fn reset(&mut self, bw: f64) {
        (self.bw, self.rounds, self.now) = (bw, 0, false);
    }

    pub(super) fn look(&mut self, sample: &Sample, round: bool) {
        if self.now || !round || sample.app_limited {
            return;
        }
        if sample.rate >= self.bw * GROWTH {
            return self.reset(sample.rate);
        }
        self.rounds += 1;
        self.now = self.rounds >= PLATEAU_ROUNDS;
        self.reached |= self.now;
    }
}

/// ACKs that come in lumps.
#[derive(Clone, Debug, Default)]
pub(super) struct Lumps {
    pub(super) since_us: u64,
    delivered: f64,
    /// The greatest of each of the last round trips, and of which round each is.
    most: [(u64, f64); LUMP_ROUNDS],
    /// BBR.extra_acked.
    pub(super) extra: f64,
}

impl Lumps {
    /// Another, in round trip `round`; the greatest of the last `rounds` counts.
    fn note(&mut self, round: u64, extra: f64, rounds: u64) {
        let slot = &mut self.most[round as usize % LUMP_ROUNDS];
        *slot = (round, if slot.0 == round { slot.1.max(extra) } else { extra });
        self.extra = self.most.iter().filter(|it| round - it.0 < rounds).map(|it| it.1).fold(0.0, f64::max);
    }
}

impl Bbr3 {
    /// Rounds of losses, and the greatest of each.
    pub(super) fn note_latest(&mut self, sample: &Sample, report: &Report) {
        self.latest.bw = self.latest.bw.max(sample.rate);
        self.latest.inflight = self.latest.inflight.max(sample.delivered);
        self.rounds.loss_started = sample.prior_delivered >= self.rounds.loss_ends;
        if self.rounds.loss_started {
            self.rounds.loss_ends = report.delivered;
        }
    }

    /// Round trips, and the greatest rate.
    pub(super) fn note_bandwidth(&mut self, sample: &Sample, report: &Report) {
        self.rounds.started = sample.prior_delivered >= self.rounds.ends;
        if self.rounds.started {
            self.rounds.begin(report);
            self.rounds.count += 1;
            self.probe.rounds_since_up += 1;
        }
        if sample.rate > 0.0 && (sample.rate >= self.model.max_bw() || !sample.app_limited) {
            self.model.cycles[0] = self.model.cycles[0].max(sample.rate);
        }
    }

    /// What comes beyond what the rate explains; until the pipe was full, in one round trip.
    pub(super) fn note_lumps(&mut self, report: &Report, window: &Window) {
        let (now, lumps) = (us(report.signal.now), &mut self.lumps);
        let mut expected = self.model.bw * (now - lumps.since_us) as f64;
        if lumps.delivered <= expected {
            (lumps.delivered, lumps.since_us, expected) = (0.0, now, 0.0);
        }
        lumps.delivered += f64::from(report.signal.acked);
        let extra = (lumps.delivered - expected).min(window.cwnd);
        let rounds = if self.plateau.reached { LUMP_ROUNDS as u64 } else { 1 };
        lumps.note(self.rounds.count, extra, rounds);
    }
}
