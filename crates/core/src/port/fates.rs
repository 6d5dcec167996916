//! What became of the packets at a queue.

use crate::count::Count;
use crate::verdict::Reason;

/// A queue's counts for one colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    /// All arrivals.
    pub arrived: Count,
    /// Those that were let in, marked ones included.
    pub queued: Count,
    /// Those marked CE.
    pub marked: Count,
    /// Those dropped, by [`Reason`].
    pub dropped: [Count; Reason::ALL.len()],
    /// Of those let in, dropped later: when their turn had come, or to make room. They are in `queued` and in `dropped`, so that no count ever
    /// falls: a packet may be let in before the end of the warm-up and dropped after it.
    pub dropped_at_head: Count,
}

impl Fates {
    /// Dropped for any reason.
    pub fn lost(&self) -> Count {
        self.dropped.iter().copied().sum()
    }

    /// With those of another queue.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            arrived: self.arrived + other.arrived,
            queued: self.queued + other.queued,
            marked: self.marked + other.marked,
            dropped: std::array::from_fn(|i| self.dropped[i] + other.dropped[i]),
            dropped_at_head: self.dropped_at_head + other.dropped_at_head,
        }
    }

    /// The counts since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            arrived: self.arrived - earlier.arrived,
            queued: self.queued - earlier.queued,
            marked: self.marked - earlier.marked,
            dropped: std::array::from_fn(|i| self.dropped[i] - earlier.dropped[i]),
            dropped_at_head: self.dropped_at_head - earlier.dropped_at_head,
        }
    }

    /// Every arrival was either let in or dropped.
    pub fn conserved(&self) -> bool {
        self.arrived + self.dropped_at_head == self.queued + self.lost()
    }
}
