//! RFC 5682 section 3.1: F-RTO with SACK.

use super::board::{Board, Update};
use super::{Departure, Linux};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Conventional recovery.
    None,
    Two,
    Three,
}

/// What an ACK means for the time-out before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Wait,
    /// Step 2 b: new segments go first.
    SendNew,
    Conventional,
    Spurious,
}

#[derive(Clone, Debug)]
pub(super) struct FRto {
    step: Step,
    /// RecoveryPoint: one past the highest number sent.
    pub(super) point: u32,
}

impl FRto {
    pub(super) fn new() -> Self {
        Self { step: Step::None, point: 0 }
    }

    /// Step 1: with a recovery in progress, of which SND.UNA is still a part, conventional.
    pub(super) fn on_rto(&mut self, board: &Board, recovering: bool, again: bool, linux: &Linux) {
        let afresh = again && linux.has(Departure::EachTimeOut);
        self.step = if recovering && !afresh { Step::None } else { Step::Two };
        self.point = board.next;
    }

    /// Steps 2 and 3.
    pub(super) fn on_ack(&mut self, board: &Board, news: &Update, has_new: bool, linux: &Linux) -> Verdict {
        let (step, advances, covers) = (self.step, news.acked > 0, board.una >= self.point);
        // Sent before the time-out, and not again since.
        let original = news.newly.iter().any(|it| !it.retransmitted && it.number < self.point);
        if step == Step::None {
            return Verdict::Conventional;
        }
        if original && (linux.has(Departure::AnyOriginal) || step == Step::Three) {
            self.step = Step::None;
            return Verdict::Spurious;
        }
        if step == Step::Three {
            // 3 a: it tells of what was sent after the time-out, or again. 3 b needs an original, above.
            if advances && !news.newly.iter().any(|it| it.number >= self.point) && linux.has(Departure::AnyOriginal) {
                return Verdict::Wait;
            }
            self.step = Step::None;
            return Verdict::Conventional;
        }
        if !advances {
            return Verdict::Wait;
        }
        if covers {
            self.step = Step::None;
            return Verdict::Conventional;
        }
        self.point = board.next;
        self.step = if has_new { Step::Three } else { Step::None };
        if has_new { Verdict::SendNew } else { Verdict::Conventional }
    }
}
