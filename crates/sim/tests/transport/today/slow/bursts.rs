//! Segmentation offload, as Linux has it: a burst is sent when it is as large as it may become, or when waiting would not help.

use super::{Limits, Slow};
use crate::today::{Phase, Seen};
use perhop_core::units::{Span, Time};

impl Slow {
    /// Whether a new segment may go now; if it is the first of a burst, how many may go with it.
    pub(super) fn takes_part(&mut self, now: Time, seen: &Seen, limits: &Limits) -> bool {
        if self.left == 0 {
            let cwnd = self.cwnd as u32;
            let room = (cwnd - self.board.pipe()).min(self.board.una + limits.window - self.board.next);
            if self.waits(now, seen, limits, room) {
                return false;
            }
            self.left = room.min(self.burst).min((cwnd / 2).max(1));
        }
        self.left -= 1;
        true
    }

    fn waits(&self, now: Time, seen: &Seen, limits: &Limits, room: u32) -> bool {
        let ms = Span::from_ms(1);
        let whole = room >= self.burst;
        let third = room >= (self.cwnd as u32).min(limits.window) / 3;
        let all = self.board.next + room >= limits.end;
        let recovers = matches!(self.phase, Phase::Fast | Phase::Rto);
        let paused = self.last_sent.is_some_and(|last| last + ms < now);
        let Some(first) = self.board.segments.get(&self.board.una) else { return false };
        let srtt = seen.srtt.unwrap_or_default();
        let ack_far = first.xmit_ts + srtt > now + ms.min(srtt / 2);
        !(self.burst == 1 || whole || third || all || recovers || paused || ack_far)
    }
}
