//! Segmentation offload: how many new segments leave back to back, and what they wait for.
//!
//! Source: the behaviour of Linux 6.12 (`tcp_output.c`). New segments go as soon as the windows leave room for
//!
//! - a whole burst, or a third of the window, or all that there is to send;
//! - anything at all, in recovery and after a time-out, when nothing is outstanding, when nothing was sent for 1 ms, or when no ACK is
//!   due within 1 ms and half a round trip: what waits does so for an ACK that is about to come.
//!
//! A burst is at most half the window. Lost segments do not wait.
//!
//! Deviations from Linux, which makes bursts of what it would send in 1 ms, at least 2 segments: `burst-segments` is the size aimed at. A burst is
//! packets one behind the other, and each meets a policer by itself; in Linux it is one packet of up to 64 KiB as far as the
//! interface, and a policer there passes or drops all of it. The receiver acknowledges each packet as if it had come alone.

use super::{Modern, State};
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
    /// Segments of it that may follow.
    left: u32,
    /// New segments wait for an ACK.
    waits: bool,
}

impl Burst {
    pub(super) fn new(most: u32) -> Self {
        Self { most, left: 0, waits: false }
    }

    /// A segment of the burst has gone and the next may follow.
    #[inline]
    pub(super) fn goes_on(&self) -> bool {
        self.left > 0
    }

    /// Nothing more goes now; whether for lack of room for a burst.
    #[inline]
    pub(super) fn end(&mut self) -> bool {
        self.left = 0;
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
        let (cwnd, next) = (self.window.cwnd as u32, self.board.next());
        let open = self.board.una().saturating_add(self.data.advertised) - next;
        let room = (cwnd - self.board.in_flight()).min(open);
        self.flow.burst.waits = self.defers(now, room);
        if !self.flow.burst.waits {
            self.flow.burst.left = room.min(self.flow.burst.most).min((cwnd / 2).max(1)) - 1;
        }
        self.flow.burst.waits
    }

    fn defers(&self, now: Time, room: u32) -> bool {
        let window = (self.window.cwnd as u32).min(self.data.advertised);
        let enough =
            room >= self.flow.burst.most || room >= window / PARTS || room >= self.data.end - self.board.next();
        if enough || self.episode.state >= State::Recovery || self.board.outstanding() == 0 {
            return false;
        }
        let srtt = self.rtt.srtt().unwrap_or_default();
        let (due, soon) = (self.board.get(self.board.una()).at + srtt, RECENT.min(srtt / 2));
        now <= self.clock.last_sent + RECENT && due <= now + soon
    }
}
