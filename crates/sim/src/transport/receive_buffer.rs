//! The receive buffer of Linux, which grows with what arrives: as long as it does, every segment is acknowledged.
//!
//! Source: the behaviour of Linux 6.12 (`tcp_input.c`, `tcp.h`), after W. Feng et al., "Dynamic Right-Sizing", 2003.
//!
//! ```text
//! segment of n bytes:   room = min(clamp, w(buffer - what is held)) - threshold
//!                       room > 0: threshold = threshold + min(room, 2 n), and this segment is acknowledged at once
//! read by the application, once a round trip:   b = bytes read since
//!   b > before:         need = 2 b + 16 n;   need = need + 2 need (b - before) / before
//!                       buffer = max(buffer, min(s(need), 6 MiB)),   clamp = w(buffer);   before = b
//! w(space) = space * ratio / 256, s(window) = window * 256 / ratio;   ratio = 256 n / (n + 960 B)
//! ```
//! The round trip is that of time stamps, in whole ms: a shorter one counts at once, a longer one by an eighth.
//!
//! | symbol    | field       | unit | at first                       | Linux               |
//! |-----------|-------------|------|--------------------------------|---------------------|
//! | buffer    | `buffer`    | B    | 128 KiB                        | `sk_rcvbuf`         |
//! | clamp     | `clamp`     | B    | w(buffer)                      | `window_clamp`      |
//! | threshold | `threshold` | B    | half the buffer less a segment | `rcv_ssthresh`      |
//! | before    | `before`    | B    | 10 segments                    | `rcvq_space.space`  |
//!
//! Deviations: the advertised window is that of the file, and not the threshold; the application reads at once.

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
    stamp: Time,
}

impl Buffer {
    pub(super) fn new(mss: u16) -> Self {
        let mss = u64::from(mss);
        let ratio = (mss * 256 / (mss + OVERHEAD)).max(1);
        let (clamp, threshold) = (DEFAULT * ratio / 256, (DEFAULT / 2).saturating_sub(mss));
        let before = FIRST_SEGMENTS * mss;
        let (read, since, round_trip8, stamp) = (0, None, 0, Time::ZERO);
        Self { mss, ratio, buffer: DEFAULT, clamp, threshold, before, read, since, round_trip8, stamp }
    }

    /// A segment echoes the time stamp of an ACK that was sent at `stamp`.
    pub(super) fn echoed(&mut self, now: Time, stamp: Time) {
        let ms = |time: Time| time.ns() / 1_000_000;
        if stamp == self.stamp || stamp == Time::ZERO {
            return;
        }
        self.stamp = stamp;
        let sample = (ms(now) - ms(stamp)) * 1000;
        if sample == 0 {
            return;
        }
        let shorter = self.round_trip8 == 0 || sample * 8 < self.round_trip8;
        self.round_trip8 = if shorter { sample * 8 } else { self.round_trip8 - self.round_trip8 / 8 + sample };
    }

    /// A segment of `bytes` has come, in order or not, while `held` others waited for one that is missing. Whether there is to
    /// be more room. Segments out of order are kept as one; the first of them is looked at before it takes space.
    pub(super) fn grows(&mut self, bytes: u16, held: u32, in_order: bool) -> bool {
        let pieces = 1 + u64::from(in_order && held > 0);
        let taken = match (in_order, held) {
            (false, 0) => 0,
            _ => (u64::from(held) + 1) * self.mss + pieces * OVERHEAD,
        };
        let space = self.buffer.saturating_sub(taken) * self.ratio / 256;
        let room = space.min(self.clamp).saturating_sub(self.threshold);
        let grows = room > 0 && u64::from(bytes) >= SMALL;
        if grows {
            self.threshold += room.min(2 * self.mss);
        }
        grows
    }

    /// Of time stamps; 0 without any.
    pub(super) fn round_trip(&self) -> Span {
        Span::from_us(self.round_trip8 / 8)
    }

    /// The application has read `bytes` since the beginning.
    pub(super) fn read(&mut self, now: Time, bytes: u64) {
        let since = *self.since.get_or_insert(now);
        if self.round_trip8 == 0 || now.since(since) < self.round_trip() {
            return;
        }
        let got = bytes - self.read;
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
