//! Segmentation offload: how many new segments leave back to back, and what they wait for.
//!
//! Source: the behaviour of Linux 6.12 (`tcp_output.c`). New segments go as soon as the windows leave room for
//!
//! - what is left of a whole burst (data are kept in pieces of that size), or a third
//!   of the window, or all that there is to send;
//! - anything at all, in recovery and after a time-out, when nothing is outstanding, when nothing was sent for 1 ms, or when no
//!   ACK is due within 1 ms and half a round trip: what waits does so for an ACK that is about to come.
//!
//! A burst is at most half the window. Lost segments do not wait.
//!
//! Deviations from Linux, which makes bursts of what it would send in 1 ms, at least 2 segments (`net.ipv4.tcp_min_tso_segs`):
//! `burst-segments` is that least number. A burst is packets one behind the other, and each meets a policer by itself, as on a
//! wire; within a host Linux keeps it as one packet of up to 64 KiB, and a policer there passes or drops all of it. The receiver
//! acknowledges each packet as if it had come alone.

use super::{Modern, SYN, State};
use perhop_core::units::{Span, Time};

/// A pause after which new segments do not wait, and the most that they wait for an ACK.
const RECENT: Span = Span::from_ms(1);
/// The part of the window for which they do not wait for more.
const PARTS: u32 = 3;

/// The burst in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// Segments of a whole one.
    most: u32,
    /// Segments that it has, and those of it that may follow.
    length: u32,
    left: u32,
    /// Lost segments that leave as one packet: the next of them, and how many are left.
    again: (u32, u32),
    /// New segments wait for an ACK.
    waits: bool,
    /// Since the last ACK, offer or timer.
    waited: bool,
}

impl Burst {
    pub(super) fn new(most: u32) -> Self {
        Self { most, ..Self::default() }
    }

    /// A segment of the burst has gone and the next may follow.
    #[inline]
    pub(super) fn goes_on(&self) -> bool {
        self.left > 0
    }

    /// Segments of it.
    #[inline]
    pub(super) fn length(&self) -> u32 {
        self.length.max(1)
    }

    /// The segment that goes is not the first of its burst.
    #[inline]
    pub(super) fn joins(&self) -> bool {
        self.left + 1 < self.length
    }

    /// Whether this lost segment is of the packet of the one that has just gone.
    #[inline]
    pub(super) fn goes_on_again(&mut self, number: u32) -> bool {
        let (next, left) = self.again;
        let joins = number == next && left > 0;
        self.again = if joins { (next + 1, left - 1) } else { (0, 0) };
        joins
    }

    /// The segment that goes is the last of several.
    #[inline]
    pub(super) fn ends(&self) -> bool {
        self.length > 1 && self.left == 0
    }

    /// Something has happened: what waits may go.
    #[inline]
    pub(super) fn look_again(&mut self) {
        self.waited = false;
    }

    /// Nothing more goes now; whether for lack of room for a burst.
    #[inline]
    pub(super) fn end(&mut self) -> bool {
        (self.length, self.left, self.again) = (0, 0, (0, 0));
        std::mem::take(&mut self.waits)
    }
}

impl Modern {
    /// Whether the next new segment waits for a burst. One that begins may go on.
    #[inline]
    pub(super) fn waits_for_burst(&mut self, now: Time) -> bool {
        if self.flow.burst.most <= 1 {
            return false;
        }
        if self.flow.burst.left > 0 {
            self.flow.burst.left -= 1;
            return false;
        }
        if self.flow.burst.waited {
            return true;
        }
        let (cwnd, next) = (self.window.cwnd as u32, self.board.next());
        let open = self.edge() - next;
        let room = (cwnd - self.board.in_flight()).min(open);
        self.flow.burst.waits = self.defers(now, room);
        self.flow.burst.waited = self.flow.burst.waits;
        if !self.flow.burst.waits {
            self.flow.burst.length = room.min(self.flow.burst.most).min((cwnd / 2).max(1));
            self.flow.burst.left = self.flow.burst.length - 1;
        }
        self.flow.burst.waits
    }

    /// Of the segments that were sent with a lost one, and follow it: those that are lost too and leave with it.
    pub(super) fn lost_together(&mut self, number: u32) -> u32 {
        let most = self.flow.burst.most.min(self.window.cwnd as u32 - self.board.in_flight());
        let at = self.board.get(number).at;
        let ends = number.saturating_add(most).min(self.board.next());
        let lost = |it: &u32| self.board.get(*it).at == at && self.board.is_to_repeat(*it);
        let segments = 1 + (number + 1..ends).take_while(lost).count() as u32;
        self.flow.burst.again = (number + 1, segments - 1);
        segments
    }

    /// Segments that the piece of memory to be sent next still has.
    fn of_piece(&self) -> u32 {
        let most = self.flow.burst.most;
        most - self.board.next().saturating_sub(SYN + 1) % most
    }

    fn defers(&self, now: Time, room: u32) -> bool {
        let window = (self.window.cwnd as u32).min(self.edge() - self.board.una());
        let enough = room >= self.of_piece() || room * PARTS >= window || room >= self.data.end - self.board.next();
        if enough || self.episode.state >= State::Recovery || self.board.outstanding() == 0 {
            return false;
        }
        let srtt = self.rtt.srtt().unwrap_or_default();
        let (due, soon) = (self.board.get(self.board.una()).at + srtt, RECENT.min(srtt / 2));
        now <= self.clock.last_sent + RECENT && due <= now + soon
    }
}
