//! Segmentation offload: how many new segments leave back to back, and what they wait for.
//!
//! Source: the behaviour of Linux 6.12 (`tcp_output.c`). New segments go as soon as the windows leave room for
//!
//! - a whole burst, what is left of the piece in which data are kept, or a third
//!   of the window, or all that there is to send;
//! - anything at all, in recovery and after a time-out, when nothing is outstanding, when nothing was sent for 1 ms, or when no
//!   ACK is due within 1 ms and half a round trip: what waits does so for an ACK that is about to come.
//!
//! A burst is at most half the window. Lost segments do not wait.
//!
//! ```text
//! burst = max((rate * 2^-10 s + 65215 B * 2^-floor(R / 512 us)) / mss, least), at most 65215 B; by the latest ACK
//! least = 2, below 1.2 Mbit/s of laws that pace 1
//! piece = half of the first window, 22 segments of 1448 B
//! ```
//! with the rate of small queues (`host_queue.rs`) and the least round trip R. Interfaces that take no bursts (`tso off gso
//! off`) do not alter it: what leaves them is taken apart there. Of `burst-segments = n` both are n, as with `tcp_min_tso_segs`
//! and an interface's `gso_max_segs` of n; with 1 each segment goes by itself.
//!
//! In the port of its host a burst is one packet (`net/burst.rs`); behind it each segment is a packet.
//!
//! Deviations from Linux: the receiver acknowledges each packet as if it had come alone. Pieces do not grow with the window
//! that the receiver offers.
//!
//! Decision: docs/decisions/048-bursts-of-segmentation-offload.md

use super::{Modern, SYN, State};
use crate::transport::Bursts;
use crate::transport::config::LARGEST_BURST;
use crate::transport::receive_buffer::FIRST_WINDOW;
use perhop_core::units::{Span, Time};

/// A pause after which new segments do not wait, and the most that they wait for an ACK.
const RECENT: Span = Span::from_ms(1);
/// The part of the window for which they do not wait for more.
const PARTS: u32 = 3;

/// Bytes a second below which a law that paces has bursts of one segment.
const SLOW: u64 = 150_000;
/// The round trip that halves what a short path adds, us.
const HALVES: u64 = 512;

/// The burst in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// Segments of a whole one, and of a piece of memory.
    most: u32,
    piece: u32,
    /// Data bytes of a segment, if Linux's rule says how many; else 0.
    mss: u16,
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
    pub(super) fn new(bursts: Bursts, mss: u16) -> Self {
        let most = bursts.most(mss);
        match bursts {
            Bursts::Of(_) => Self { most, piece: most, ..Self::default() },
            Bursts::Linux => Self { most, piece: (FIRST_WINDOW / 2 / u32::from(mss)).max(1), mss, ..Self::default() },
        }
    }

    /// Segments of a piece of memory.
    pub(super) fn piece(&self) -> u32 {
        self.piece.max(1)
    }

    /// Segments of a packet that has been sent, and of one that has not.
    pub(super) fn packets(&self) -> [u32; 2] {
        [self.most.max(1), self.piece()]
    }

    /// Whether Linux's rule says how many.
    #[inline]
    pub(super) fn is_linux(&self) -> bool {
        self.mss > 0
    }

    /// An ACK has come: bytes a second, whether the law paces, the least round trip.
    #[inline]
    pub(super) fn learn(&mut self, rate: u64, paces: bool, least: Option<Span>) {
        if self.mss > 0 {
            let short = least.map_or(u64::BITS, |rtt| (rtt.ns() / 1000 / HALVES).min(63) as u32);
            let bytes = ((rate >> 10) + LARGEST_BURST.checked_shr(short).unwrap_or(0)).min(LARGEST_BURST);
            let fewest = if paces && rate < SLOW { 1 } else { 2 };
            self.most = ((bytes / u64::from(self.mss)) as u32).max(fewest);
        }
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

    /// Whether the next segment, lost or new, is to follow the one that has just gone.
    #[inline]
    pub(super) fn has_more(&self, again: bool) -> bool {
        if again { self.again.1 > 0 } else { self.left > 0 }
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
        let piece = self.flow.burst.piece;
        piece - self.board.next().saturating_sub(SYN + 1) % piece
    }

    fn defers(&self, now: Time, room: u32) -> bool {
        let window = (self.window.cwnd as u32).min(self.edge() - self.board.una());
        let whole = self.flow.burst.most.min(self.of_piece());
        let enough = room >= whole || room * PARTS >= window || room >= self.data.end - self.board.next();
        if enough || self.episode.state >= State::Recovery || self.board.outstanding() == 0 {
            return false;
        }
        let srtt = self.rtt.srtt().unwrap_or_default();
        let (due, soon) = (self.board.get(self.board.una()).at + srtt, RECENT.min(srtt / 2));
        now <= self.clock.last_sent.max(self.flow.pace.next()) + RECENT && due <= now + soon
    }
}
