//! Is the path policed? If so, at what rate?

use super::{RATE_SHIFT, UNIT, bytes_a_second, ms};
use crate::transport::congestion::Report;

/// Round trips of a stretch: at least, at most.
const STRETCH: (u32, u32) = (4, 16);
/// Lost for each 256 delivered.
const LOSSY: u64 = 50;
/// Rates are the same that differ by so much of 256, or by so many bytes a second.
const SAME: (u64, u64) = (UNIT as u64 / 8, 500);
/// Round trips for which the verdict holds.
const HOLDS: u32 = 48;

/// A policed path's rate, or the search for it.
#[derive(Clone, Debug)]
pub(super) struct Policer {
    looks: bool,
    sampling: bool,
    policed: bool,
    /// Of the last stretch, or of the path; 0: none.
    rate: u32,
    rounds: u32,
    since: Since,
}

/// When a stretch began.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    ms: u64,
    delivered: u64,
    lost: u64,
}

/// What is seen at an ACK.
pub(super) struct Seen<'a> {
    pub(super) report: &'a Report,
    pub(super) app_limited: bool,
    /// A round trip begins.
    pub(super) round: bool,
    /// In `PROBE_BW`.
    pub(super) probing: bool,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Nothing,
    Policed,
    /// It may no longer be.
    Over,
}

impl Policer {
    pub(super) fn new(looks: bool) -> Self {
        Self { looks, sampling: false, policed: false, rate: 0, rounds: 0, since: Since::default() }
    }

    /// Of the path, if it is policed.
    pub(super) fn rate(&self) -> Option<u32> {
        self.policed.then_some(self.rate)
    }

    pub(super) fn reset(&mut self, report: &Report) {
        (self.rate, self.policed, self.sampling) = (0, false, false);
        self.begin_stretch(report);
    }

    fn begin_stretch(&mut self, report: &Report) {
        let Report { delivered, lost_in_all: lost, .. } = *report;
        (self.since, self.rounds) = (Since { ms: ms(report.delivered_at), delivered, lost }, 0);
    }

    pub(super) fn look(&mut self, seen: &Seen) -> Verdict {
        if !self.looks {
            return Verdict::Nothing;
        }
        if !self.policed {
            return self.search(seen);
        }
        if seen.probing && seen.round {
            self.rounds += 1;
            if self.rounds >= HOLDS {
                self.reset(seen.report);
                return Verdict::Over;
            }
        }
        Verdict::Nothing
    }

    fn search(&mut self, seen: &Seen) -> Verdict {
        let report = seen.report;
        if !self.sampling {
            if report.lost == 0 {
                return Verdict::Nothing;
            }
            self.begin_stretch(report);
            self.sampling = true;
        }
        if seen.app_limited {
            self.reset(report);
            return Verdict::Nothing;
        }
        self.rounds += u32::from(seen.round);
        if self.rounds > STRETCH.1 {
            self.reset(report);
        }
        if self.rounds < STRETCH.0 || report.lost == 0 {
            return Verdict::Nothing;
        }
        self.end_stretch(report)
    }

    /// A stretch ends with a loss, if there were many.
    fn end_stretch(&mut self, report: &Report) -> Verdict {
        let lost = report.lost_in_all - self.since.lost;
        let delivered = report.delivered - self.since.delivered;
        let took_ms = ms(report.delivered_at).saturating_sub(self.since.ms);
        if delivered == 0 || lost << 8 < LOSSY * delivered || took_ms < 1 {
            return Verdict::Nothing;
        }
        let rate = (delivered << RATE_SHIFT) / (took_ms * 1000);
        self.compare(rate as u32, report)
    }

    fn compare(&mut self, rate: u32, report: &Report) -> Verdict {
        let apart = u64::from(rate.abs_diff(self.rate));
        let same = apart << 8 <= SAME.0 * u64::from(self.rate) || bytes_a_second(apart, UNIT, report.mss) <= SAME.1;
        if self.rate > 0 && same {
            self.rate = ((u64::from(rate) + u64::from(self.rate)) / 2) as u32;
            (self.policed, self.rounds) = (true, 0);
            return Verdict::Policed;
        }
        self.rate = rate;
        self.begin_stretch(report);
        Verdict::Nothing
    }
}
