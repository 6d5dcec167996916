//! What an application that stops has written by then, and its host still sends: Linux's send buffer.
//!
//! Source: the behaviour of Linux 6.12 (`tcp_sndbuf_expand`, `sk_stream_write_space`).
//!
//! ```text
//! limit = f max(cwnd, 10) m, at most 4 MiB; it never shrinks, and grows when what is out does not fill the window
//! f     = 2, of laws in control 3        m = the power of two from mss + 652 B up, and 256 B
//! held  = mss a segment, and 960 B a packet: a burst of what is out, a piece of what is not
//! ```
//! The application writes until `limit` is held, and again when a third of it is free.
//!
//! Deviation: it holds back nothing, so a sender whose buffer is smaller than its window sends as if it were not.
//!
//! Decision: docs/decisions/050-the-send-buffer-outlives-stop.md

/// Memory of a packet beside its data, bytes.
const OVERHEAD: u64 = 960;
/// What a segment is counted with when the limit is set, bytes: options, headers and their room; a packet's record.
const ROOM: (u64, u64) = (12 + 320 + 320, 256);
/// The least window of which it holds some, segments.
const LEAST: u64 = 10;
/// `net.ipv4.tcp_wmem`, the last.
const MOST: u64 = 4 << 20;

/// A socket's part of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SendBuffer {
    limit: u64,
    /// One past the last segment that is written.
    written: u32,
}

/// What a sender has out, segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    pub(super) una: u32,
    pub(super) next: u32,
    pub(super) cwnd: u32,
    /// All of the window is in flight.
    pub(super) full: bool,
    pub(super) factor: u64,
    pub(super) mss: u16,
    /// Segments of a burst and of a piece.
    pub(super) packets: [u32; 2],
}

impl SendBuffer {
    /// Nothing more can be sent now.
    pub(super) fn settle(&mut self, at: &Filling) {
        let whole = at.full && self.written >= at.una + at.cwnd;
        if !whole || self.limit == 0 {
            self.limit = self.limit.max(at.limit());
        }
        let sent = at.held(0, at.next - at.una);
        let unsent = at.held(1, self.written.saturating_sub(at.next));
        if 3 * (sent + unsent) <= 2 * self.limit {
            let room = self.limit.saturating_sub(sent) * u64::from(at.packets[1]);
            self.written = at.next + (room / (u64::from(at.mss) * u64::from(at.packets[1]) + OVERHEAD)) as u32;
        }
    }

    /// One past the last segment that is written, or was sent.
    pub(super) fn end(&self, next: u32) -> u32 {
        self.written.max(next)
    }
}

impl Filling {
    fn limit(&self) -> u64 {
        let segment = (u64::from(self.mss) + ROOM.0).next_power_of_two() + ROOM.1;
        (self.factor * u64::from(self.cwnd).max(LEAST) * segment).min(MOST)
    }

    fn held(&self, kind: usize, segments: u32) -> u64 {
        u64::from(segments) * u64::from(self.mss) + u64::from(segments.div_ceil(self.packets[kind])) * OVERHEAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1448 B are counted as 4096 + 256: 40 segments of window are 348,160 B. With 40 out, 20 bursts of 2, which hold
    /// 77,120 B, 181 more fit of 1448 B and 960 B for 22 of them.
    #[test]
    fn it_holds_some_windows_and_is_filled_when_a_third_is_free() {
        let at = Filling { una: 1, next: 41, cwnd: 40, full: false, factor: 2, mss: 1448, packets: [2, 22] };
        let mut buffer = SendBuffer::default();
        buffer.settle(&at);
        assert_eq!((buffer.limit, buffer.end(0)), (348_160, 41 + 181));
        // With 76 acknowledged 105 wait and all hold 233,960 B, with 78 are 103 and 231,064 B: two thirds are 232,106 B.
        for (acknowledged, end) in [(76, 222), (78, 300)] {
            let (una, next) = (1 + acknowledged, 41 + acknowledged);
            buffer.settle(&Filling { una, next, full: true, ..at });
            assert_eq!(buffer.end(0), end, "{acknowledged}");
        }
    }

    /// It does not grow with a window that is full, unless that is more than it holds; nor beyond 4 MiB, nor shrink.
    #[test]
    fn it_grows_when_the_window_is_not_full() {
        let at = Filling { una: 1, next: 11, cwnd: 10, full: true, factor: 3, mss: 1448, packets: [2, 22] };
        let mut buffer = SendBuffer::default();
        for (cwnd, full, limit) in
            [(10, true, 130_560), (20, true, 130_560), (20, false, 261_120), (4, false, 261_120), (5000, true, MOST)]
        {
            buffer.settle(&Filling { cwnd, full, ..at });
            assert_eq!(buffer.limit, limit, "{cwnd} {full}");
        }
        assert_eq!(SendBuffer::default().end(7), 7);
    }
}
