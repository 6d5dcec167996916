//! Segmentation offload, as Linux has it: a burst is sent when it is as large as it may become, or when waiting would not help.

use super::{Limits, Slow};
use crate::transport::today::{Phase, Seen};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{Bursts, Config};

/// Bytes of data of the largest burst: of 64 KiB all headers and a byte are taken off.
const MOST: u64 = 65_536 - 320 - 1;

/// Segments of a burst before the first ACK, and of a piece of memory: half of the first window.
pub(super) fn at_first(config: &Config) -> (u32, u32) {
    let mss = u32::from(config.mss);
    match config.reaction.bursts {
        Bursts::Of(burst) => (burst, burst),
        Bursts::Linux => (MOST as u32 / mss, 65_535 / 2 / mss),
    }
}

impl Slow {
    /// Linux's choice: what is sent in 1/1024 s at 1.2 times the window a round trip, twice in the first half of slow start; on
    /// a short path more, up to all: half as much for each 512 us of the least round trip.
    pub(super) fn choose(&mut self, seen: &Seen) {
        if !self.chosen {
            return;
        }
        let segments = u64::from(seen.cwnd.max(self.board.next - self.board.una));
        let percent = if seen.cwnd < seen.ssthresh / 2 { 200 } else { 120 };
        let us_8 = self.trips.srtt8().max(1);
        let a_second = percent * segments * u64::from(self.mss) * 8_000_000 / 100 / us_8;
        let halvings = self.trips.least().map_or(u64::MAX, |least| least.ns() / 512_000);
        let near = if halvings < 32 { MOST >> halvings } else { 0 };
        self.burst = 2.max((a_second / 1024 + near).min(MOST) / u64::from(self.mss)) as u32;
    }

    /// Whether a new segment may go now; if it is the first of a burst, how many may go with it.
    pub(super) fn takes_part(&mut self, now: Time, seen: &Seen, limits: &Limits) -> bool {
        if self.left == 0 {
            let cwnd = self.cwnd as u32;
            let room = (cwnd - self.board.pipe()).min(self.edge(limits) - self.board.next);
            if self.waits(now, seen, limits, room) {
                return false;
            }
            self.length = room.min(self.burst).min((cwnd / 2).max(1));
            self.left = self.length;
        }
        self.left -= 1;
        true
    }

    /// PSH: in the last of several that go together, and in the last of the piece with which more than half of the first window,
    /// 65,535 bytes, has been written since the last; whenever it is sent.
    pub(in crate::transport::today) fn asks(&self, number: u32) -> bool {
        let (mut written, mut asked, mut asks) = (0, 0, false);
        while written < number {
            written += self.piece;
            asks = (written - asked) * self.mss > 65_535 / 2;
            asked = if asks { written } else { asked };
        }
        let last = number == self.board.next && self.length > 1 && self.left == 0;
        written == number && asks || last
    }

    fn waits(&self, now: Time, seen: &Seen, limits: &Limits, room: u32) -> bool {
        let ms = Span::from_ms(1);
        // The application's data are kept in pieces, from the first segment on.
        let piece = (self.board.next..self.board.next + room).any(|number| number % self.piece == 0);
        let whole = piece || room >= self.burst;
        let third = 3 * room >= (self.cwnd as u32).min(self.edge(limits) - self.board.una);
        let all = self.board.next + room >= limits.end;
        let recovers = matches!(self.phase, Phase::Fast | Phase::Rto);
        let paused = self.last_sent.is_some_and(|last| last + ms < now);
        let Some(first) = self.board.segments.get(&self.board.una) else { return false };
        let srtt = seen.srtt.unwrap_or_default();
        let ack_far = first.xmit_ts + srtt > now + ms.min(srtt / 2);
        !(self.burst == 1 || whole || third || all || recovers || paused || ack_far)
    }
}
