//! The receive buffer of Linux, which grows with what arrives: as long as it does, every segment is acknowledged.
//!
//! Source: the behaviour of Linux 6.12 (`tcp_input.c`, `tcp.h`), after W. Feng et al., "Dynamic Right-Sizing", 2003.
//!
//! ```text
//! segment of n bytes:   room = min(clamp, w(buffer - what is held)) - threshold
//!                       room > 0: threshold = threshold + min(room, 2 n), and this segment is acknowledged at once
//! read by the application, once a round trip:   b = bytes read since, less those that have come and are still unread
//!   b > before:         need = 2 b + 16 n;   need = need + 2 need (b - before) / before
//!                       buffer = max(buffer, min(s(need), 6 MiB)),   clamp = w(buffer);   before = b
//! w(space) = space * ratio / 256, s(window) = window * 256 / ratio;   ratio = 256 n / (n + 960 B)
//! ```
//! The first of these round trips begins with the first read.
//!
//! A round trip is measured by the time stamps that segments echo, in whole ms: a shorter sample counts at once, a longer one by an
//! eighth. The time in which all that was offered arrives is at least a round trip, and counts if it is shorter.
//!
//! | symbol    | field       | unit | at first                       | Linux               |
//! |-----------|-------------|------|--------------------------------|---------------------|
//! | buffer    | `buffer`    | B    | 128 KiB                        | `sk_rcvbuf`         |
//! | clamp     | `clamp`     | B    | w(buffer)                      | `window_clamp`      |
//! | threshold | `threshold` | B    | half the buffer less a segment | `rcv_ssthresh`      |
//! | before    | `before`    | B    | 10 segments                    | `rcvq_space.space`  |
//!
//! An ACK offers the threshold, or what is free if that is less; nothing if less than a segment or a sixteenth of the clamp is free.
//! What was offered once is not taken back (RFC 9293 section 3.8.6). The first window is 65,535 B.
//!
//! Deviations: the application reads at once; the first measure begins with the first read, in Linux when the connection opens; the
//! echoes of short segments are measured too, in Linux only those of full ones.

use super::held::Occupancy;
use super::tick;
use perhop_core::units::{Span, Time};

/// `net.ipv4.tcp_rmem`: the default, and the most.
const DEFAULT: u64 = 131_072;
const MOST: u64 = 6 << 20;
/// What the kernel needs for a segment beside its data, where the data are in pages: bytes.
const OVERHEAD: u64 = 960;
/// Segments that a new connection is taken to send in a round trip.
const FIRST_SEGMENTS: u64 = 10;
/// Segments that are added to what is needed.
const CUSHION: u64 = 16;
/// The window that is offered first, bytes.
pub(in crate::transport) const FIRST_WINDOW: u32 = 65_535;
/// The unit of the window in a segment, bytes: its scale is 6.
const SCALE: u64 = 64;
/// Below this, bytes, a segment says nothing of the space.
const SMALL: u64 = 128;

/// A connection's.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    mss: u64,
    /// Of the space that is data, in 1/256.
    ratio: u64,
    buffer: u64,
    clamp: u64,
    threshold: u64,
    before: u64,
    /// Bytes read, and when, at the beginning of this round trip.
    read: u64,
    since: Option<Time>,
    /// Round trip in us / 8; 0: unknown.
    round_trip8: u64,
    /// The time stamp that was seen last.
    stamp: u32,
    /// When a window was offered, and how many bytes in order are all of it.
    trip: Option<(Time, u64)>,
    /// Bytes that unread segments take.
    taken: u64,
    /// What was offered last, and where it ends, in bytes of full segments.
    window: u64,
    edge: u64,
}

impl Buffer {
    pub(super) fn new(mss: u16) -> Self {
        let mss = u64::from(mss);
        let ratio = (mss * 256 / (mss + OVERHEAD)).max(1);
        let (clamp, threshold) = (DEFAULT * ratio / 256, (DEFAULT / 2).saturating_sub(mss));
        let before = FIRST_SEGMENTS * mss;
        Self {
            mss,
            ratio,
            buffer: DEFAULT,
            clamp,
            threshold,
            before,
            read: 0,
            since: None,
            round_trip8: 0,
            stamp: 0,
            trip: None,
            taken: 0,
            window: FIRST_WINDOW.into(),
            edge: FIRST_WINDOW.into(),
        }
    }

    /// A segment echoes the time stamp of an ACK.
    pub(super) fn echoed(&mut self, now: Time, stamp: u32) {
        if stamp == self.stamp || stamp == 0 {
            return;
        }
        self.stamp = stamp;
        let sample = u64::from(tick::stamp(now) - stamp) * 1000;
        if sample == 0 {
            return;
        }
        let shorter = self.round_trip8 == 0 || sample * 8 < self.round_trip8;
        self.round_trip8 = if shorter { sample * 8 } else { self.round_trip8 - self.round_trip8 / 8 + sample };
    }

    /// A segment of `bytes` has come, in order or not; what was held before and is after. Whether there is to be more room. A
    /// segment that begins a piece of memory out of order is looked at before it takes space.
    pub(super) fn grows(&mut self, bytes: u16, (before, after): (Occupancy, Occupancy), in_order: bool) -> bool {
        let one = Occupancy { segments: 1, pieces: 1 };
        self.taken = match in_order {
            true => self.memory(before) + self.memory(one),
            false if before.pieces < after.pieces => self.memory(before),
            false => self.memory(after),
        };
        let space = self.space();
        let room = space.min(self.clamp).saturating_sub(self.threshold);
        let grows = room > 0 && u64::from(bytes) >= SMALL;
        if grows {
            self.threshold += room.min(2 * self.mss);
        }
        if !in_order {
            self.taken = self.memory(after);
        }
        grows
    }

    /// The application has read all but this.
    pub(super) fn keeps(&mut self, held: Occupancy) {
        self.taken = self.memory(held);
    }

    fn memory(&self, kept: Occupancy) -> u64 {
        u64::from(kept.segments) * self.mss + u64::from(kept.pieces) * OVERHEAD
    }

    fn space(&self) -> u64 {
        self.buffer.saturating_sub(self.taken) * self.ratio / 256
    }

    /// Less than half of it is left.
    pub(super) fn is_short(&self) -> bool {
        self.space() < self.clamp / 2
    }

    /// Bytes that could be offered, whatever was before.
    fn room(&self) -> u64 {
        let mut space = self.space();
        if self.is_short() {
            space -= space % SCALE;
            if space < self.mss.max(self.clamp / 16) {
                return 0;
            }
        }
        self.threshold.min(space).next_multiple_of(SCALE)
    }

    /// Whether as much can be offered as was last, from a later number on.
    pub(super) fn moves_on(&self) -> bool {
        self.room() >= self.window
    }

    /// Segments from `next` on that an ACK offers room for.
    pub(super) fn offers(&mut self, next: u32) -> u32 {
        let (next, room) = (u64::from(next.saturating_sub(1)) * self.mss, self.room());
        let left = self.edge.saturating_sub(next);
        self.window = if room < left { left.next_multiple_of(SCALE) } else { room };
        self.edge = next + self.window;
        self.offered()
    }

    /// Whole segments.
    pub(super) fn offered(&self) -> u32 {
        (self.window / self.mss) as u32
    }

    /// By time stamps, or by what was offered; 0 without any.
    pub(super) fn round_trip(&self) -> Span {
        Span::from_ns(self.round_trip8 * 125)
    }

    /// `bytes` have come in order since the beginning: once more than was offered before, a round trip at most has passed.
    pub(super) fn received(&mut self, now: Time, bytes: u64) {
        if let Some((since, enough)) = self.trip {
            if bytes < enough {
                return;
            }
            let sample = (now.ns() / 1000 - since.ns() / 1000).max(1) * 8;
            if self.round_trip8 == 0 || sample < self.round_trip8 {
                self.round_trip8 = sample;
            }
        }
        self.trip = Some((now, bytes + self.window));
    }

    /// The application has read `bytes` since the beginning, up to and with the first piece
    /// of memory that is new; of `all` that have come.
    pub(super) fn read(&mut self, now: Time, bytes: u64, all: u64) {
        let since = *self.since.get_or_insert(now);
        if self.round_trip8 == 0 || now.ns() / 1000 - since.ns() / 1000 < self.round_trip8 / 8 {
            return;
        }
        let got = (bytes - self.read).saturating_sub(all - bytes);
        if got > self.before {
            self.enlarge(got);
            self.before = got;
        }
        (self.read, self.since) = (bytes, Some(now));
    }

    fn enlarge(&mut self, got: u64) {
        let need = 2 * got + CUSHION * self.mss;
        let need = need + 2 * (need * (got - self.before) / self.before);
        let buffer = (need * 256 / self.ratio).min(MOST);
        if buffer > self.buffer {
            (self.buffer, self.clamp) = (buffer, buffer * self.ratio / 256);
        }
    }
}
