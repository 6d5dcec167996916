//! The sender that the texts describe, put together: what is sent, in which order, and when.

mod answers;
mod bursts;

use super::board::{Board, Update};
use super::frto::FRto;
use super::prr::{Delivery, Prr};
use super::rack::Rack;
use super::timers::{Kind, Moment, Timer};
use super::trips::Trips;
use super::{Departure, Linux, Phase, Seen};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{Bursts, Config};

/// What is to be sent, and the receiver's window as long as no ACK tells of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) end: u32,
    pub(super) window: u32,
}

/// RFC 8985 section 7.1.
#[derive(Clone, Copy, Debug, Default)]
struct Tlp {
    end_seq: Option<u32>,
    is_retrans: bool,
    due: bool,
}

/// What tells that an episode was for nothing, as Linux has it: D-SACKs of all that was sent again (RFC 3708 section 2), or an
/// arrival before anything was.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// SND.UNA when it began; 0: there is nothing to undo.
    marker: u32,
    /// Sent again and not known to be needless; `None`: nothing was sent again.
    repeats: Option<u32>,
    first_repeat: Option<Time>,
    /// The time stamp that the latest ACK echoes; 0: none.
    echoed: u32,
    /// The window of before; 0 in a reduction that goes on, and after an ECN echo.
    cwnd: i64,
}

const INITIAL_WINDOW: i64 = 10;

pub(super) struct Slow {
    pub(super) board: Board,
    pub(super) rack: Rack,
    prr: Prr,
    frto: FRto,
    pub(super) trips: Trips,
    /// RFC 9293 section 3.3.1: SND.UNA + SND.WND, once an ACK has told.
    edge: Option<u32>,
    tlp: Tlp,
    undo: Undo,
    pub(super) timer: Timer,
    pub(super) phase: Phase,
    /// RecoveryPoint (RFC 6675 section 2).
    point: u32,
    /// The window, in a reduction; else as the law has it.
    pub(super) cwnd: i64,
    /// RFC 5682 step 2 b.
    new_first: bool,
    sent: bool,
    last_sent: Option<Time>,
    /// Sent again, and D-SACKs, in all.
    retransmitted: u32,
    dsacks: u32,
    /// Time-outs since SND.UNA advanced.
    rtos: u32,
    /// The latest ACK tells of a loss.
    losses: bool,
    /// Nothing is out of order: Linux's open state.
    calm: bool,
    /// Segments of a whole burst, whether Linux's rule says how many, and of a piece of memory; of the burst in progress.
    burst: u32,
    chosen: bool,
    piece: u32,
    length: u32,
    left: u32,
    /// Bytes of a segment.
    mss: u32,
    linux: Linux,
}

impl Slow {
    pub(super) fn new(linux: Linux, config: &Config) -> Self {
        let (burst, piece) = bursts::at_first(config);
        Self {
            board: Board::new(),
            rack: Rack::new(&linux),
            prr: Prr::default(),
            frto: FRto::new(),
            trips: Trips::new(&config.rto),
            edge: None,
            tlp: Tlp::default(),
            undo: Undo::default(),
            timer: Timer::new(config.rto.minimum),
            phase: Phase::Open,
            point: 1,
            cwnd: 0,
            new_first: false,
            sent: false,
            last_sent: None,
            retransmitted: 0,
            dsacks: 0,
            rtos: 0,
            losses: false,
            calm: true,
            burst,
            chosen: config.reaction.bursts == Bursts::Linux,
            piece,
            length: 0,
            left: 0,
            mss: config.mss.into(),
            linux,
        }
    }

    fn moment<'a>(&'a self, now: Time, seen: &'a Seen) -> (Timer, Moment<'a>) {
        let (phase, probing) = (self.phase, self.tlp.end_seq.is_some());
        (self.timer, Moment { now, phase, board: &self.board, probing, seen, linux: &self.linux })
    }

    fn has_new(&self, limits: &Limits) -> bool {
        self.board.next < limits.end && self.board.next < self.edge(limits)
    }

    fn edge(&self, limits: &Limits) -> u32 {
        self.edge.unwrap_or(self.board.una + limits.window)
    }

    /// RFC 6675 section 5 (C): NextSeg() while cwnd - pipe >= 1. A probe (RFC 8985 section 7.3) goes whatever the window.
    pub(super) fn next(&mut self, now: Time, seen: &Seen, limits: &Limits) -> Option<u32> {
        if self.tlp.due {
            return self.probe(limits);
        }
        if self.cwnd <= i64::from(self.board.pipe()) {
            return None;
        }
        let lost = if self.new_first { None } else { self.board.next_lost() };
        if lost.is_some() {
            return lost;
        }
        (self.has_new(limits) && self.takes_part(now, seen, limits)).then_some(self.board.next)
    }

    /// RFC 8985 section 7.3: an unsent segment, else the highest sent so far.
    fn probe(&self, limits: &Limits) -> Option<u32> {
        if self.has_new(limits) {
            return Some(self.board.next);
        }
        let last = self.board.next - 1;
        (!self.board.segments[&last].sacked).then_some(last)
    }

    pub(super) fn send(&mut self, number: u32, now: Time, seen: &Seen) {
        let (new, idle) = (number == self.board.next, self.board.segments.is_empty());
        let probe = std::mem::take(&mut self.tlp.due);
        self.last_sent = Some(now);
        self.board.send(number, now, !probe || !self.linux.has(Departure::ProbeUncounted));
        self.retransmitted += u32::from(!new);
        if matches!(self.phase, Phase::Fast | Phase::Reduction) {
            self.prr.sent();
        }
        if probe {
            // RFC 8985 section 7.3: TLP.end_seq, TLP.is_retrans; the time-out, from now.
            (self.tlp.end_seq, self.tlp.is_retrans) = (Some(self.board.next), !new);
            self.timer.arm(Kind::Rto, now, now + seen.rto, &self.linux);
            self.sent = false;
            return;
        }
        self.sent = true;
        if !new {
            self.undo.repeats = Some(self.undo.repeats.unwrap_or(0) + 1);
            self.undo.first_repeat = self.undo.first_repeat.or(Some(now));
        }
        let restarts = !new
            && number == self.board.una
            && self.linux.has(Departure::RepeatRestarts)
            && !self.timer.is(Kind::Reordering);
        let (mut timer, at) = self.moment(now, seen);
        if restarts {
            timer.arm(Kind::Rto, now, now + seen.rto, &self.linux);
        } else if new && (idle || timer.is(Kind::Pto)) || timer.armed.is_none() {
            timer.restart(&at);
        }
        self.timer = timer;
    }

    /// RFC 2861 section 3.1, as Linux does it: before the first segment after an idle time-out, half for each further one.
    pub(super) fn restart(&mut self, now: Time, rto: Span) {
        let (Some(last), true) = (self.last_sent, self.board.segments.is_empty()) else { return };
        let (mut idle, least) = (now.since(last), self.cwnd.min(INITIAL_WINDOW));
        while idle > rto && self.cwnd > least {
            (idle, self.cwnd) = (idle - rto, (self.cwnd / 2).max(least));
        }
    }

    /// Nothing more goes now.
    pub(super) fn settle(&mut self, now: Time, seen: &Seen) {
        (self.length, self.left) = (0, 0);
        if std::mem::take(&mut self.sent) {
            let (mut timer, at) = self.moment(now, seen);
            timer.after_sending(&at);
            self.timer = timer;
        }
    }

    /// The timer has expired.
    pub(super) fn on_timer(&mut self, now: Time, before: &Seen, seen: &Seen) {
        let Some((kind, _)) = self.timer.armed else { return };
        self.cwnd = before.cwnd.into();
        match kind {
            Kind::Pto => (self.timer.armed, self.tlp.due) = (None, true),
            Kind::Reordering => self.on_reordering_timer(now, seen),
            Kind::Rto => self.on_rto(now, seen),
        }
    }

    fn on_reordering_timer(&mut self, now: Time, seen: &Seen) {
        let recovering = self.recovering();
        let (lost, _) = self.rack.detect(&mut self.board, recovering, now, seen);
        if !lost.is_empty() && self.phase != Phase::Fast {
            self.enter_fast(&Update::default());
            let delivered = u32::from(self.linux.has(Departure::TimerDelivers));
            let pipe = self.board.pipe();
            let timer = Delivery { delivered, inflight: pipe, ssthresh: seen.ssthresh, safe: false };
            let cwnd = self.prr.on_ack(&timer, &self.linux);
            self.cwnd = cwnd.unwrap_or(i64::from(pipe) + 1);
        }
        let (mut timer, at) = self.moment(now, seen);
        timer.restart(&at);
        self.timer = timer;
    }

    /// RFC 6298 (5.4) to (5.6), RFC 8985 section 6.3, RFC 5682 step 1. The window: what is in flight still, and one.
    fn on_rto(&mut self, now: Time, seen: &Seen) {
        self.rack.mark_on_rto(&mut self.board, now, seen, &self.linux);
        let again = self.rtos > 0;
        if self.phase == Phase::Open || self.board.una >= self.point || self.phase == Phase::Rto && !again {
            self.begin_undo();
        }
        self.trips.back_off();
        self.frto.on_rto(&self.board, self.recovering(), again, &self.linux);
        self.rtos += 1;
        (self.phase, self.tlp.end_seq, self.new_first, self.point) = (Phase::Rto, None, false, self.board.next);
        self.cwnd = i64::from(self.board.pipe()) + 1;
        self.timer.arm(Kind::Rto, now, now + seen.rto, &self.linux);
    }
}
