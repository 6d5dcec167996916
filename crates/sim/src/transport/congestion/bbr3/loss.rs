//! The bounds that losses set: draft-ietf-ccwg-bbr sections 5.5.10 and 5.5.11.

use super::model::Sample;
use super::{Bbr3, Phase};
use crate::transport::congestion::{LostSegment, Report, State, Window};

/// Losses that a probe may cost, of what was in flight.
const LOSS: f64 = 0.02;
/// What a round trip with losses leaves, at least.
const BETA: f64 = 0.7;
/// Stretches of losses in a round trip that end the startup.
const STARTUP_STRETCHES: u32 = 6;

/// To go back to if nothing was lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// The phase that a loss has ended.
    pub(super) phase: Option<Phase>,
    bw_short: f64,
    inflight_short: f64,
    inflight_long: f64,
    /// Stretches of losses in this round trip, and the number after the last one.
    pub(super) stretches: u32,
    next: u32,
}

/// Whether too much was in flight.
fn is_too_high(lost: f64, in_flight: f64) -> bool {
    lost > in_flight * LOSS
}

/// What may have been in flight when losses passed the bound, within the segment.
fn in_flight_at_loss(lost: f64, in_flight: f64) -> f64 {
    let (in_flight_before, lost_before) = (in_flight - 1.0, lost - 1.0);
    in_flight_before + (LOSS * in_flight_before - lost_before) / (1.0 - LOSS)
}

impl Bbr3 {
    /// Whether the losses of a sample are few.
    pub(super) fn is_safe(sample: &Sample) -> bool {
        !is_too_high(sample.lost, sample.in_flight_then)
    }

    pub(super) fn save_state(&mut self, window: &Window) {
        self.save_cwnd(window);
        self.undo.phase = None;
        self.undo.bw_short = self.model.bw_short;
        self.undo.inflight_short = self.model.inflight_short;
        self.undo.inflight_long = self.model.inflight_long;
    }

    pub(super) fn lose(&mut self, lost: &LostSegment, report: &Report, window: &Window) {
        self.undo.stretches += u32::from(lost.number != self.undo.next);
        self.undo.next = lost.number + 1;
        if !self.rounds.lossy {
            self.rounds.loss_ends = report.delivered;
            self.save_state(window);
        }
        self.rounds.lossy = true;
        let (gone, in_flight) = (f64::from(lost.lost), f64::from(lost.in_flight_then));
        if !self.probe.sampling || !is_too_high(gone, in_flight) {
            return;
        }
        self.probe.too_high = true;
        self.probe.sampling = false;
        if !lost.app_limited {
            let least = self.target_inflight(window) * BETA;
            self.model.inflight_long = in_flight_at_loss(gone, in_flight).max(least);
        }
        if self.phase == Phase::Up {
            self.undo.phase = Some(Phase::Up);
            self.go_down(report);
        }
    }

    /// Once a round trip, when the path is not probed: bounds for a while.
    pub(super) fn adapt_to_congestion(&mut self, sample: &Sample, report: &Report, window: &Window) {
        self.note_bandwidth(sample, report);
        if !self.rounds.loss_started {
            return;
        }
        let probing = matches!(self.phase, Phase::Startup | Phase::Refill | Phase::Up);
        if std::mem::take(&mut self.rounds.lossy) && !probing {
            let (model, latest) = (&mut self.model, &self.latest);
            let before = |bound: f64, first: f64| if bound.is_infinite() { first } else { bound };
            let bw_short = before(model.bw_short, model.max_bw());
            model.bw_short = latest.bw.max(BETA * bw_short);
            let inflight_short = before(model.inflight_short, window.cwnd);
            model.inflight_short = latest.inflight.max(BETA * inflight_short);
        }
    }

    /// A round trip of recovery that loses much ends the startup.
    pub(super) fn look_for_high_loss(&mut self, sample: &Sample, report: &Report) {
        if !self.rounds.loss_started {
            return;
        }
        let many = std::mem::take(&mut self.undo.stretches) >= STARTUP_STRETCHES;
        let recovers = report.state == State::Recovery;
        if self.phase == Phase::Startup && many && recovers && !Self::is_safe(sample) {
            self.undo.phase = Some(Phase::Startup);
            self.plateau.reached = true;
            self.model.inflight_long = self.bdp().max(self.latest.inflight);
        }
    }

    /// Nothing was lost after all.
    pub(super) fn undo(&mut self, report: &Report, window: &mut Window) {
        self.restore_cwnd(window);
        self.rounds.lossy = false;
        self.plateau.reset(0.0);
        let (model, undo) = (&mut self.model, &mut self.undo);
        model.bw_short = model.bw_short.max(undo.bw_short);
        model.inflight_short = model.inflight_short.max(undo.inflight_short);
        model.inflight_long = model.inflight_long.max(undo.inflight_long);
        let was = undo.phase.take().filter(|&phase| phase != self.phase);
        let elsewhere = self.phase != Phase::ProbeRtt;
        if was == Some(Phase::Startup) {
            self.plateau.reached = false;
        }
        match was {
            Some(Phase::Startup) if elsewhere => self.phase = Phase::Startup,
            Some(Phase::Up) if elsewhere => self.refill(report),
            _ => {}
        }
    }
}
