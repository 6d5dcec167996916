//! The one timer: retransmission, probe, reordering.
//!
//! Source: RFC 8985 sections 7, 7.1, 7.2, 7.3 and 7.4.2 (tail loss probe).

use super::{Event, Modern, SYN, State, TIMER_FLOOR, Timer};
use crate::transport::congestion::CongestionControl;
use crate::transport::tick;
use perhop_core::units::{Span, Time};

impl Modern {
    pub(super) fn arm(&mut self, now: Time, timer: Timer, after: Span) {
        (self.clock.timer, self.clock.deadline) = (timer, tick::expiry(now, after));
    }

    /// The time-out counts from when the first segment was sent last.
    pub(super) fn arm_retransmission(&mut self, now: Time) {
        if self.board.outstanding() == 0 {
            (self.clock.timer, self.clock.deadline) = (Timer::Off, Time::MAX);
            return;
        }
        let mut after = self.rtt.rto();
        if matches!(self.clock.timer, Timer::Probe | Timer::Reordering) {
            after = self.left(now);
        }
        self.arm(now, Timer::Retransmission, after + self.flow.pace.delay(now));
    }

    /// Until the time-out of the first segment.
    pub(super) fn left(&self, now: Time) -> Span {
        let due = self.board.get(self.board.una()).at + self.rtt.rto();
        if due > now { due.since(now) } else { Span::from_us(1) }
    }

    /// A probe two round trips from now, unless the time-out comes first.
    pub(super) fn arm_probe(&mut self, now: Time, advanced: bool) -> bool {
        let out = self.board.outstanding();
        let calm = matches!(self.episode.state, State::Open | State::Reduction);
        if out == 0 || !calm || self.tail.probe.is_some() || self.board.una() == SYN {
            return false;
        }
        let wait = match self.rtt.srtt() {
            Some(srtt) => srtt * 2 + if out == 1 { self.rtt.minimum() } else { TIMER_FLOOR },
            None => Span::from_s(1),
        };
        let bound = if advanced { self.rtt.rto() } else { self.left(now) };
        self.arm(now, Timer::Probe, wait.min(bound) + self.flow.pace.delay(now));
        true
    }

    /// When to call [`crate::transport::Sender::on_timer`].
    pub(in crate::transport) fn timer_at(&self) -> Option<Time> {
        let waits = self.flow.pace.wake().into_iter().chain(self.flow.queue.wake());
        let due = waits.fold(self.clock.deadline, Time::min);
        (due != Time::MAX).then_some(due)
    }

    /// When what the law's pace has held may go.
    #[inline]
    pub(in crate::transport) fn pause_ends(&self) -> Option<Time> {
        self.flow.pace.wake()
    }

    /// See [`crate::transport::Sender::only_pauses`].
    pub(in crate::transport) fn only_pauses(&self, now: Time) -> bool {
        now < self.clock.deadline
    }

    /// The timer may have expired; harmless when early.
    pub(in crate::transport) fn on_timer(&mut self, now: Time) {
        self.flow.pace.forget();
        if self.flow.queue.wake().is_some() {
            self.flow.queue.forget();
            self.flow.burst.look_again();
        }
        if now < self.clock.deadline {
            return;
        }
        self.flow.burst.look_again();
        let timer = std::mem::replace(&mut self.clock.timer, Timer::Off);
        self.clock.deadline = Time::MAX;
        if self.board.outstanding() == 0 {
            return;
        }
        match timer {
            Timer::Off => {}
            Timer::Probe => self.tail.probe_due = true,
            Timer::Reordering => self.on_reordering_timer(now),
            Timer::Retransmission => self.time_out(now),
        }
    }

    fn on_reordering_timer(&mut self, now: Time) {
        let before = self.board.in_flight();
        let conditions = self.conditions(now);
        _ = self.rack.detect(&mut self.board, &conditions);
        if self.board.in_flight() != before && self.episode.state != State::Recovery {
            self.enter_recovery(now);
            if !self.law.is_in_control() {
                self.reduce(1, false);
            }
        }
        let after = self.left(now) + self.flow.pace.delay(now);
        self.arm(now, Timer::Retransmission, after);
    }

    fn time_out(&mut self, now: Time) {
        self.flow.counters.timeouts += 1;
        let (state, again) = (self.episode.state, self.episode.in_a_row > 0);
        self.rack.time_out(&mut self.board, now);
        self.show_losses(now);
        if state <= State::Disorder || self.episode.high <= self.board.una() || state == State::Loss && !again {
            self.begin_undo(true);
            let signal = self.signal(now, 0, None);
            let mut window = self.window;
            self.law.on_timeout(&signal, &mut window);
            self.window.ssthresh = window.ssthresh;
            self.flow.counters.cuts += 1;
        } else if state != State::Loss && !self.law.is_in_control() {
            let signal = self.signal(now, 0, None);
            let mut cut_already = self.window;
            self.law.on_timeout(&signal, &mut cut_already);
        }
        self.window.cwnd = f64::from(self.board.in_flight() + 1);
        self.episode.opened_late |= self.board.una() == SYN;
        (self.episode.state, self.episode.high, self.tail.probe, self.episode.new_first) =
            (State::Loss, self.board.next(), None, false);
        self.episode.frto = (state < State::Recovery || again) && self.board.una() > SYN;
        self.episode.in_a_row += 1;
        self.rtt.back_off();
        self.arm(now, Timer::Retransmission, self.rtt.rto());
        self.flow.pace.exempt();
        self.tell(Event::TimeOut, now);
    }

    pub(super) fn rearm(&mut self, now: Time) {
        if self.board.outstanding() == 0 {
            (self.clock.timer, self.clock.deadline) = (Timer::Off, Time::MAX);
        } else {
            self.arm(now, Timer::Retransmission, self.rtt.rto() + self.flow.pace.delay(now));
        }
    }
}
