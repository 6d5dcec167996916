//! BBR v3: paced by the rate and the minimum round trip of the path, as version 1, and bounded by losses. A probe
//! that loses more than 2 % sets a long-term bound; any loss in a round trip between probes sets a short-term bound.
//!
//! Source: draft-ietf-ccwg-bbr (text of 3 August 2026), sections 2, 4.1 and 5. No kernel at hand implements it, so
//! the oracle of its tests is the draft's pseudo-code, ACK by ACK (`tests/all/transport/bbr3/`).
//!
//! ```text
//! max_bw = greatest delivery rate of this cycle and the one before     bw = min(max_bw, bw_shortterm)
//! rate   = 0.99 G bw                                                   BDP = bw R
//! target = max(H BDP + extra_acked, 3 quanta, 4), and 2 in UP;  quantum: 1 ms of data, from 2 segments to 64 KiB
//! ACK of N:       cwnd = min(cwnd + N, target), at most its bounds, at least 4;  while starting, cwnd + N below the target
//!
//!            G     H     until
//!   STARTUP  2.77  2     bw grew by less than 25 % in three round trips, or one of recovery lost 6 stretches and 2 %
//!   DRAIN    0.5   2     no more than BDP is in flight, or three round trips
//!   DOWN     0.9   2     no more than BDP and 0.85 of the long-term bound is in flight
//!   CRUISE   1     2     2 s to 3 s after DOWN began, or min(BDP, 63) round trips after the last probe
//!   REFILL   1     2     a round trip
//!   UP       1.25  2.25  bw no longer grows, or a probe loses more than 2 %: inflight_longterm = max(in flight then, 0.7 BDP)
//!   PROBERTT 1     0.5   every 5 s, unless the round trip was seen: 200 ms and a round trip with at most 0.5 BDP in flight
//!
//! round trip with losses in DRAIN, DOWN, CRUISE, PROBERTT:
//!   bw_shortterm       = max(of this round trip, 0.7 of its last value)       likewise inflight_shortterm; both end with REFILL
//! ```
//!
//! | symbol            | field                 | unit          | default  |
//! |-------------------|-----------------------|---------------|----------|
//! | max_bw, bw        | `Model`               | segments / us | -        |
//! | R (min_rtt)       | `Model::min_rtt_us`   | us            | SRTT     |
//! | inflight_longterm | `Model::inflight_long` | segments     | infinite |
//! | inflight_shortterm | `Model::inflight_short` | segments   | infinite |
//! | LossThresh, Beta, Headroom | `LOSS`, `BETA`, `HEADROOM` | -    | 0.02, 0.7, 0.15 |
//!
//! Deviations: none known. Where the draft's pseudo-code and its table of gains differ, or the draft is silent: H is
//! 2.25 in UP (table). DRAIN is not bounded by inflight_longterm (pseudo-code). A window of n round trips or cycles
//! is the present one and the n - 1 before it. An ACK that reports nothing new changes nothing. A stretch of losses
//! has consecutive sequence numbers. ECN is not used (section 3.6).

mod control;
mod loss;
mod model;
mod phases;
mod probing;

use super::dice::Dice;
use super::{CongestionControl, CongestionLaw, Event, LostSegment, Report, Signal, State, Window};
use loss::Undo;
use model::{Latest, Lumps, Model, Plateau, Rounds, Sample};
use perhop_core::params::{ParamError, Params as Declared};
use perhop_core::units::Time;
use phases::ProbeRtt;
use probing::Probe;

/// What a scenario states.
#[derive(Declared, Clone, Copy, Debug, PartialEq)]
pub struct Params {}

impl Params {
    /// # Errors
    /// Never.
    pub fn build(self, (): &()) -> Result<Bbr3, ParamError> {
        Ok(Bbr3::new())
    }
}

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Doubles its rate each round trip.
    Startup,
    /// Drains the queue that this has made.
    Drain,
    /// `ProbeBW_DOWN`: slower than the path.
    Down,
    /// `ProbeBW_CRUISE`: as fast.
    Cruise,
    /// `ProbeBW_REFILL`: as fast, without the short-term bounds.
    Refill,
    /// `ProbeBW_UP`: faster.
    Up,
    /// Little in flight.
    ProbeRtt,
}

/// Segments in flight at least.
const LEAST_WINDOW: f64 = 4.0;

/// How fast it sends, and what it goes back to.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    /// Segments / us, once the connection is open.
    rate: Option<f64>,
    initial_cwnd: f64,
    quantum: f64,
    saved_cwnd: f64,
    recovering: bool,
    idle_restart: bool,
    drain_round: u64,
}

/// A connection's model of its path, and what it does about it.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    phase: Phase,
    dice: Dice,
    sending: Sending,
    model: Model,
    rounds: Rounds,
    latest: Latest,
    plateau: Plateau,
    lumps: Lumps,
    probe: Probe,
    probe_rtt: ProbeRtt,
    undo: Undo,
}

fn us(at: Time) -> u64 {
    at.ns() / 1000
}

impl Bbr3 {
    fn new() -> Self {
        Self {
            phase: Phase::Startup,
            dice: Dice::default(),
            sending: Sending::default(),
            model: Model::default(),
            rounds: Rounds::default(),
            latest: Latest::default(),
            plateau: Plateau::default(),
            lumps: Lumps::default(),
            probe: Probe::default(),
            probe_rtt: ProbeRtt::default(),
            undo: Undo::default(),
        }
    }

    /// BBR.state.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Pacing rate, segments/us; BBR.bw; BBR.inflight_longterm and BBR.inflight_shortterm, segments, infinite where none is set.
    pub fn told(&self) -> [f64; 4] {
        let Model { bw, inflight_long, inflight_short, .. } = self.model;
        [self.sending.rate.unwrap_or_default(), bw, inflight_long, inflight_short]
    }

    fn open(&mut self, report: &Report, window: &Window) {
        let now = us(report.signal.now);
        let srtt = report.signal.srtt.map(|rtt| rtt.ns() / 1000);
        self.sending.initial_cwnd = window.cwnd;
        self.model.min_rtt_us = srtt;
        self.model.min_rtt_at = now;
        self.probe_rtt.open(srtt, now);
        self.lumps.since_us = now;
        self.sending.rate = Some(self.phase.gains().0 * (window.cwnd / srtt.unwrap_or(1000).max(1) as f64));
    }

    fn restart(&mut self, report: &Report, window: &mut Window) {
        self.sending.idle_restart = true;
        self.lumps.since_us = us(report.signal.now);
        if self.phase.probes_bandwidth() {
            self.set_rate(1.0);
        } else if self.phase == Phase::ProbeRtt {
            self.end_probe_rtt(report, window);
        }
    }

    fn update_model(&mut self, sample: &Sample, report: &Report, window: &mut Window) {
        self.note_latest(sample, report);
        self.adapt_to_congestion(sample, report, window);
        self.note_lumps(report, window);
        self.plateau.look(sample, self.rounds.started);
        self.end_startup(sample, report);
        self.end_drain(report);
        self.turn(sample, report, window);
        self.watch_round_trip(report);
        self.probe_round_trip(sample, report, window);
        self.latest.advance(sample, self.rounds.loss_started);
        self.model.bound();
    }
}

impl CongestionLaw for Params {
    fn paces(&self) -> bool {
        true
    }
}

impl CongestionControl for Bbr3 {
    /// Not called: [`CongestionControl::on_report`] is.
    fn on_ack(&mut self, _: &Signal, _: &mut Window) {}

    fn on_loss(&mut self, _: &Signal, window: &mut Window) {
        self.save_state(window);
    }

    fn on_timeout(&mut self, _: &Signal, window: &mut Window) {
        self.save_state(window);
    }

    /// Not used.
    fn on_ecn(&mut self, _: &Signal, _: &mut Window) {}

    fn is_in_control(&self) -> bool {
        true
    }

    fn on_report(&mut self, report: &Report, window: &mut Window) {
        let recovering = report.state >= State::Recovery;
        if std::mem::replace(&mut self.sending.recovering, recovering) && !recovering {
            self.restore_cwnd(window);
        }
        self.probe_rtt.holds_back = false;
        if let Some(sample) = report.rate.as_ref().map(Sample::of) {
            self.update_model(&sample, report, window);
            self.update_control(report, window);
        }
    }

    fn on_event(&mut self, event: Event, report: &Report, window: &mut Window) {
        match event {
            Event::Open => self.open(report, window),
            Event::Restart => self.restart(report, window),
            Event::TimeOut => self.sending.recovering = true,
            Event::Undo => self.undo(report, window),
        }
    }

    fn sees_losses(&self) -> bool {
        true
    }

    fn on_lost(&mut self, lost: &LostSegment, report: &Report, window: &Window) {
        self.lose(lost, report, window);
    }

    fn holds_back(&self) -> bool {
        self.probe_rtt.holds_back
    }

    fn pacing_rate(&self, mss: u16) -> Option<u64> {
        self.sending.rate.map(|rate| (rate * f64::from(mss) * 1e6) as u64)
    }

    fn seed(&mut self, seed: u64) {
        self.dice = Dice::new(seed);
    }
}
