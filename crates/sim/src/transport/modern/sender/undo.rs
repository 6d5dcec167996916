//! What tells that an episode was for nothing, and the way back.
//!
//! Source: RFC 3522 section 3.2 (Eifel: time stamps), RFC 3708 section 2 (D-SACK), RFC 5682 (F-RTO) and Linux 6.12:
//! the former window comes back when D-SACKs have called each repeat needless, when what arrives was sent before
//! anything was repeated, or when F-RTO says so.

use super::{Event, Modern, News, State, Undo};
use crate::transport::congestion::CongestionControl;
use crate::transport::stamp;
use perhop_core::units::Time;

/// An ACK echoes a time stamp, and one from before a time.
pub(super) fn is_before(echo: u32, at: Time) -> bool {
    echo > 0 && echo < stamp(at)
}

impl Modern {
    /// What to go back to; nothing if the window shrinks already.
    pub(super) fn begin_undo(&mut self, saves: bool) {
        let (cwnd, ssthresh, again) = (self.window.cwnd, self.threshold(), self.board.again());
        self.episode.undo = Undo {
            marker: self.board.una(),
            repeats: (again > 0).then_some(again),
            cwnd: if saves { cwnd } else { 0.0 },
            ssthresh: if saves { ssthresh } else { 0.0 },
            ..self.episode.undo
        };
    }

    /// The threshold, or what has been reached: three quarters of the window, but in a reduction.
    pub(super) fn threshold(&self) -> f64 {
        let cwnd = self.window.cwnd as u32;
        match self.episode.state {
            State::Reduction | State::Recovery => self.window.ssthresh,
            _ => self.window.ssthresh.max(f64::from((cwnd >> 1) + (cwnd >> 2))),
        }
    }

    /// What arrives was not sent again: nothing has been, in this episode; or it echoes a time stamp from before that.
    fn is_delayed(&self) -> bool {
        let undo = &self.episode.undo;
        undo.first_repeat.is_none_or(|at| is_before(undo.echo, at))
    }

    /// Nothing of what was repeated was lost.
    pub(super) fn may_undo(&self) -> bool {
        self.episode.undo.marker > 0 && (self.episode.undo.repeats == Some(0) || self.is_delayed())
    }

    /// Back to the window of before.
    fn restore(&mut self, now: Time) {
        if !self.law.is_in_control() {
            self.window.cwnd = self.window.cwnd.max(self.episode.undo.cwnd);
        }
        self.window.ssthresh = self.window.ssthresh.max(self.episode.undo.ssthresh);
        self.episode.undo.marker = 0;
        self.rack.look_again();
        self.tell(Event::Undo, now);
    }

    /// A recovery is over.
    pub(super) fn recovered(&mut self, now: Time) {
        if self.may_undo() {
            self.restore(now);
        } else {
            self.rack.recovered();
        }
    }

    /// D-SACK has called each repeat needless.
    pub(super) fn undo_by_dsack(&mut self, now: Time) -> bool {
        let needless = self.episode.undo.marker > 0 && self.episode.undo.repeats == Some(0);
        if needless {
            self.rack.undone();
            self.restore(now);
        }
        needless
    }

    /// A hole was filled by what was late and not by a repeat: no loss after all. As long as repeats are on their way, only
    /// new segments go; whether that is so.
    pub(super) fn find_delayed(&mut self, now: Time, news: &News) -> bool {
        if self.episode.undo.marker == 0 || !self.is_delayed() {
            return false;
        }
        let (before, highest) = (self.board.una() - news.acked, self.board.highest_sacked());
        if before < highest {
            self.rack.reordered(highest - before);
        }
        if self.board.again() > 0 {
            self.episode.new_first = true;
            return true;
        }
        self.forget_repeats();
        self.board.find_all();
        self.restore(now);
        self.keep_open();
        false
    }

    pub(super) fn undo_time_out(&mut self, now: Time) {
        self.board.find_all();
        self.restore(now);
        (self.episode.in_a_row, self.episode.state) = (0, State::Open);
    }
}
