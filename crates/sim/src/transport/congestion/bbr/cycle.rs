//! Phases of probing: for more bandwidth, and for the round trip.

use super::{Bbr, LEAST_WINDOW, Mode, UNIT, ms, us};
use crate::transport::congestion::dice::Dice;
use crate::transport::congestion::{Report, Window};

/// Gains of the phases, in 1/256.
const GAINS: [u32; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The first phase is one of so many.
const DRAWN: u64 = 7;
/// For how long the least round trip counts, ms.
const MIN_RTT_MS: u64 = 10_000;
/// For how long little is in flight to measure it again, ms.
const PROBE_RTT_MS: u64 = 200;

/// Phases of `PROBE_BW`.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycle {
    phase: usize,
    since_us: u64,
    dice: Dice,
}

impl Cycle {
    pub(super) fn seed(&mut self, seed: u64) {
        self.dice = Dice::new(seed);
    }

    pub(super) fn gain(&self) -> u32 {
        GAINS[self.phase]
    }

    /// The phase that probes.
    pub(super) fn probes(&self) -> bool {
        self.phase == 0
    }

    fn next(&mut self, at_us: u64) {
        (self.phase, self.since_us) = ((self.phase + 1) % GAINS.len(), at_us);
    }
}

/// Measuring the round trip again.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeRtt {
    /// When it may end, ms, once little is in flight.
    ends_ms: Option<u64>,
    round_over: bool,
    pub(super) holds_back: bool,
}

impl Bbr {
    /// Into `PROBE_BW`, at a phase that is drawn.
    pub(super) fn begin_cycle(&mut self, report: &Report) {
        self.mode = Mode::ProbeBw;
        self.cycle.phase = GAINS.len() - 1 - self.cycle.dice.below(DRAWN) as usize;
        self.cycle.next(us(report.delivered_at));
    }

    /// The next phase, if its time has come.
    pub(super) fn turn_cycle(&mut self, report: &Report) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(report) {
            self.cycle.next(us(report.delivered_at));
        }
    }

    fn is_phase_over(&self, report: &Report) -> bool {
        let long = us(report.delivered_at).saturating_sub(self.cycle.since_us) > self.least.us;
        if self.gains.pacing == UNIT {
            return long;
        }
        let in_flight = self.in_flight_at_next_send(report, report.in_flight.before);
        if self.gains.pacing > UNIT {
            return long && (report.lost > 0 || in_flight >= self.inflight(self.gains.pacing, report.mss));
        }
        long || in_flight <= self.inflight(UNIT, report.mss)
    }

    /// The least round trip; when it is too old, it is measured with little in flight.
    pub(super) fn watch_round_trip(&mut self, report: &Report, window: &mut Window) {
        let now = ms(report.signal.now);
        let old = now > self.least.ms + MIN_RTT_MS;
        if let Some(rtt) = report.signal.sample.map(|rtt| (rtt.ns() / 1000).max(1))
            && (rtt < self.least.us || old && !report.maybe_delayed)
        {
            (self.least.us, self.least.ms) = (rtt, now);
        }
        if old && !self.pacing.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save(window);
            self.probe_rtt.ends_ms = None;
        }
        self.probe_rtt.holds_back = self.mode == Mode::ProbeRtt;
        if self.probe_rtt.holds_back {
            self.probe_round_trip(report, window);
        }
        if report.rate.is_some_and(|it| it.delivered > 0) {
            self.pacing.idle_restart = false;
        }
    }

    fn probe_round_trip(&mut self, report: &Report, window: &mut Window) {
        if self.probe_rtt.ends_ms.is_none() {
            if report.in_flight.now <= LEAST_WINDOW {
                self.probe_rtt.ends_ms = Some(ms(report.signal.now) + PROBE_RTT_MS);
                self.probe_rtt.round_over = false;
                self.rounds.ends = report.delivered;
            }
            return;
        }
        self.probe_rtt.round_over |= self.rounds.started;
        if self.probe_rtt.round_over {
            self.end_probe_rtt(report, window);
        }
    }

    pub(super) fn end_probe_rtt(&mut self, report: &Report, window: &mut Window) {
        let now = ms(report.signal.now);
        if self.probe_rtt.ends_ms.is_none_or(|ends| now <= ends) {
            return;
        }
        self.least.ms = now;
        window.cwnd = window.cwnd.max(f64::from(self.saved.cwnd));
        if self.plateau.reached {
            self.begin_cycle(report);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
