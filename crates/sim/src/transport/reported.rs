//! What a receiver reports beside the next number expected: what it holds out of order, and what has arrived twice.
//!
//! Source: RFC 2018 section 4 (the first block has the segment that caused the ACK, then those reported last), RFC 2883
//! sections 4.1.1, 4.1.2 and 4.2.2 (a duplicate goes first, and the block that it lies
//! in second), Linux 6.12 (remembers four blocks).
//!
//! - A segment out of order joins the blocks that it touches; the result is the first block.
//! - A fifth block pushes out the one that was reported longest ago. It is not built again from what is held: a segment
//!   that arrives in it, or beside it, begins a new block.
//! - Blocks that the next number expected has passed are gone.
//!
//! Deviations: a duplicate that lies too far below what is expected for [`Block`] is acknowledged and not reported.

use super::AckInfo;
use super::sacks::{Block, Sacks};

/// Blocks that are remembered.
const REMEMBERED: usize = 4;

/// Blocks that every ACK has room for, as Linux counts on.
const EXPECTED: usize = 2;

/// The numbers from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    start: u32,
    end: u32,
}

impl Run {
    /// Overlaps or adjoins.
    fn touches(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    fn join(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// The blocks of one receiver; none touches another.
#[derive(Clone, Debug, Default)]
pub(super) struct Reported {
    /// The one reported last first.
    runs: [Run; REMEMBERED],
    count: usize,
    /// Arrived again since the last ACK.
    again: Option<u32>,
    /// An ACK to send before the next one.
    pub(super) before: Option<AckInfo>,
}

impl Reported {
    /// A segment beyond the next one expected has arrived, now or before.
    #[inline(never)]
    pub(super) fn arrived(&mut self, number: u32) {
        let mut first = Run { start: number, end: number + 1 };
        let mut kept = 0;
        for i in 0..self.count {
            let run = self.runs[i];
            if run.touches(first) {
                first = first.join(run);
            } else {
                self.runs[kept] = run;
                kept += 1;
            }
        }
        let kept = kept.min(REMEMBERED - 1);
        self.runs.copy_within(0..kept, 1);
        self.runs[0] = first;
        self.count = kept + 1;
    }

    /// Whether a segment belongs to none of the first blocks, and there are so many.
    pub(super) fn crowds(&self, number: u32) -> bool {
        let own = Run { start: number, end: number + 1 };
        self.runs[..self.count].iter().position(|run| run.touches(own)).unwrap_or(self.count) >= EXPECTED
    }

    /// A segment that is there already has arrived.
    pub(super) fn duplicate(&mut self, number: u32) {
        self.again = Some(number);
    }

    /// Everything below `next` has arrived.
    #[inline(never)]
    pub(super) fn pass(&mut self, next: u32) {
        let mut kept = 0;
        for i in 0..self.count {
            if self.runs[i].start > next {
                self.runs[kept] = self.runs[i];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// The blocks of an ACK that expects `next`; a duplicate is reported once.
    #[inline(never)]
    pub(super) fn take(&mut self, next: u32) -> Sacks {
        if self.count == 0 && self.again.is_none() {
            return Sacks::default();
        }
        let again = self.again.take().map(|number| Run { start: number, end: number + 1 });
        let runs = again.into_iter().chain(self.runs[..self.count].iter().copied());
        Sacks::new(runs.filter_map(|run| Block::new(run.start..run.end, next)))
    }
}
