//! The one timer: RFC 6298 section 5, RFC 8985 sections 6.2, 7.2, 7.3 and 8 (timers exclude one another).

use super::board::Board;
use super::{Departure, Linux, Phase, Seen};
use perhop_core::units::{Span, Time};

const TICKS: Span = Span::from_ms(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Rto,
    Pto,
    Reordering,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    pub(super) armed: Option<(Kind, Time)>,
    /// TLP.max_ack_delay.
    max_ack_delay: Span,
}

/// What decides whether a probe is scheduled, and when.
pub(super) struct Moment<'a> {
    pub(super) now: Time,
    pub(super) phase: Phase,
    pub(super) board: &'a Board,
    /// A probe is out.
    pub(super) probing: bool,
    pub(super) seen: &'a Seen,
    pub(super) linux: &'a Linux,
}

impl Moment<'_> {
    /// When the first segment's time-out is over: RFC 6298 section 5, as Linux counts.
    fn expiry(&self) -> Time {
        let first = &self.board.segments[&self.board.una];
        let due = first.xmit_ts + self.seen.rto;
        due.max(self.now + Span::from_us(1))
    }

    /// Section 7.2: not in a recovery, not while segments are sacked, one probe at a time.
    fn may_probe(&self) -> bool {
        let calm = match self.phase {
            Phase::Open => {
                self.board.segs_sacked() == 0 && self.board.segments.values().all(|it| !it.lost && !it.repeat)
            }
            Phase::Reduction => self.board.segs_sacked() == 0 || self.linux.has(Departure::ProbeGoesFirst),
            Phase::Fast | Phase::Rto => false,
        };
        calm && !self.probing && !self.board.segments.is_empty()
    }
}

impl Timer {
    pub(super) fn new(max_ack_delay: Span) -> Self {
        Self { armed: None, max_ack_delay }
    }

    /// For a time that is `due`; with Linux, on the next tick past it of those that a timer of so many ms can expire on.
    pub(super) fn arm(&mut self, kind: Kind, now: Time, due: Time, linux: &Linux) {
        let ms = due.since(now).ns().div_ceil(1_000_000);
        let each = match ms {
            0..63 => 1,
            63..504 => 8,
            504..4032 => 64,
            4032..32_256 => 512,
            _ => 4096,
        };
        let mut tick = now.ns() / 1_000_000 + ms + 1;
        // Linux counts from 300 s before its boot.
        while (tick as i64 - 300_000) % each != 0 {
            tick += 1;
        }
        let at = if linux.has(Departure::Ticks) { Time::ZERO + Span::from_ms(tick) } else { due };
        self.armed = Some((kind, at));
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.armed.is_some_and(|it| it.0 == kind)
    }

    /// RFC 6298 (5.1), (5.2), (5.3): restarts, or stops when nothing is outstanding.
    pub(super) fn restart(&mut self, at: &Moment) {
        let full = at.now + at.seen.rto;
        let due = match self.armed {
            Some((Kind::Pto | Kind::Reordering, _)) if at.linux.has(Departure::FromTheFirst) => at.expiry(),
            _ => full,
        };
        self.armed = None;
        if !at.board.segments.is_empty() {
            self.arm(Kind::Rto, at.now, due, at.linux);
        }
    }

    /// RFC 8985 section 7.2, TLP_calc_PTO(). `expiration`: of the time-out.
    pub(super) fn schedule_probe(&mut self, at: &Moment, expiration: Time) -> bool {
        if !at.may_probe() {
            return false;
        }
        let ticks = if at.linux.has(Departure::TwoTicks) { TICKS } else { Span::ZERO };
        let pto = match at.seen.srtt {
            Some(srtt) => srtt * 2 + if at.board.segments.len() == 1 { self.max_ack_delay } else { ticks },
            None => Span::from_s(1),
        };
        self.arm(Kind::Pto, at.now, (at.now + pto).min(expiration), at.linux);
        true
    }

    /// After new data: RFC 8985 section 7.2, "after transmitting new data".
    pub(super) fn after_sending(&mut self, at: &Moment) {
        let free = !self.is(Kind::Reordering) || at.linux.has(Departure::ProbeGoesFirst);
        if free && !at.board.segments.is_empty() {
            self.schedule_probe(at, at.expiry());
        }
    }

    /// After an ACK of new data: RFC 8985 section 7.2, else RFC 6298 (5.3).
    pub(super) fn after_ack(&mut self, at: &Moment) {
        if at.board.segments.is_empty() {
            self.armed = None;
        } else if !self.schedule_probe(at, at.now + at.seen.rto) {
            self.restart(at);
        }
    }

    /// RFC 8985 section 6.2 step 5.
    pub(super) fn await_reordering(&mut self, now: Time, timeout: Span, linux: &Linux) {
        let ticks = if linux.has(Departure::TwoTicks) { TICKS } else { Span::ZERO };
        self.arm(Kind::Reordering, now, now + timeout + ticks, linux);
    }
}
