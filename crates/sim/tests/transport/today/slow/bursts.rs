//! Segmentation offload, as Linux has it: a burst is sent when it is as large as it may become, or when waiting would not help.

use super::{Limits, Slow};
use crate::today::{Phase, Seen};
use perhop_core::units::{Span, Time};

impl Slow {
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
    pub(in crate::today) fn asks(&self, number: u32) -> bool {
        let (mut written, mut asked, mut asks) = (0, 0, false);
        while written < number {
            written += self.burst;
            asks = (written - asked) * self.mss > 65_535 / 2;
            asked = if asks { written } else { asked };
        }
        let last = number == self.board.next && self.length > 1 && self.left == 0;
        written == number && asks || last
    }

    fn waits(&self, now: Time, seen: &Seen, limits: &Limits, room: u32) -> bool {
        let ms = Span::from_ms(1);
        // The application's data are kept in pieces of a burst, from the first segment on.
        let whole = (self.board.next..self.board.next + room).any(|number| number % self.burst == 0);
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
