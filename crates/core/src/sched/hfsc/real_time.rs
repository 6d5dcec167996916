//! The real-time criterion: of the leaves whose eligible time has come, the one with the least deadline.
//!
//! Leaves with packets wait by their eligible times, and are eligible by their deadlines from then on; at equal times by
//! eligible time and turn. A deadline is that of the end of the first packet, so it waits for the packet's length.

use super::heap::Heap;
use super::moved::Moved;
use crate::count::Count;
use crate::sched::Head;

/// A leaf with a real-time curve.
#[derive(Clone, Debug)]
struct Leaf {
    /// The deadline curve.
    curve: Moved,
    /// Bytes sent by this criterion.
    served: u64,
    eligible: u64,
    turn: u64,
    deadline: u64,
    /// Of the packet that the deadline is of, 0 if that is unknown.
    bytes: u32,
    is_stale: bool,
}

/// All leaves, by their number among the children of the scheduler.
#[derive(Clone, Debug)]
pub(super) struct RealTime {
    leaves: Vec<Option<Leaf>>,
    /// By eligible time and turn.
    waiting: Heap<(u64, u64)>,
    /// By deadline, eligible time and turn.
    eligible: Heap<(u64, u64, u64)>,
    /// Whose first packet may have changed.
    stale: Vec<usize>,
    turns: u64,
}

impl RealTime {
    pub(super) fn new(curves: impl ExactSizeIterator<Item = Option<Moved>>) -> Self {
        let children = curves.len();
        let leaf = |curve| Leaf { curve, served: 0, eligible: 0, turn: 0, deadline: 0, bytes: 0, is_stale: false };
        Self {
            leaves: curves.map(|curve| curve.map(leaf)).collect(),
            waiting: Heap::new(children),
            eligible: Heap::new(children),
            stale: Vec::with_capacity(children),
            turns: 0,
        }
    }

    pub(super) fn is_used(&self) -> bool {
        self.leaves.iter().any(Option::is_some)
    }

    /// Packets begin to wait in a child.
    pub(super) fn begins(&mut self, child: usize, now: u64) {
        if let Some(leaf) = &mut self.leaves[child] {
            leaf.curve.lower(now, leaf.served);
            self.waits(child);
        }
    }

    /// A child waits until its next packet is eligible.
    fn waits(&mut self, child: usize) {
        let Some(leaf) = &mut self.leaves[child] else { return };
        self.turns += 1;
        (leaf.eligible, leaf.turn) = (leaf.curve.allows(leaf.served), self.turns);
        self.eligible.remove(child);
        self.waiting.set(child, (leaf.eligible, leaf.turn));
        self.changes(child);
    }

    /// The first packet of a child may be another.
    pub(super) fn changes(&mut self, child: usize) {
        if let Some(leaf) = &mut self.leaves[child]
            && !std::mem::replace(&mut leaf.is_stale, true)
        {
            self.stale.push(child);
        }
    }

    /// Nothing waits in a child any more.
    pub(super) fn ends(&mut self, child: usize) {
        self.waiting.remove(child);
        self.eligible.remove(child);
    }

    /// A packet of a child has gone, by this criterion or the other.
    pub(super) fn sent(&mut self, child: usize, bytes: u32, behind: Count, by_it: bool) {
        let Some(leaf) = &mut self.leaves[child] else { return };
        leaf.served += if by_it { u64::from(bytes) } else { 0 };
        match () {
            () if behind.packets == 0 => self.ends(child),
            () if by_it => self.waits(child),
            () => self.changes(child),
        }
    }

    /// The deadline of the first packet of a child.
    fn measure(&mut self, child: usize, head: Head) {
        let Some(leaf) = &mut self.leaves[child] else { return };
        leaf.bytes = head.bytes().unwrap_or(0);
        leaf.deadline = leaf.curve.reaches(leaf.served + u64::from(leaf.bytes));
        if self.eligible.holds(child) {
            self.eligible.set(child, (leaf.deadline, leaf.eligible, leaf.turn));
        }
    }

    /// The child that sends now.
    pub(super) fn pick(&mut self, now: u64, heads: &[Head]) -> Option<usize> {
        while let Some(child) = self.stale.pop() {
            self.leaves[child].iter_mut().for_each(|leaf| leaf.is_stale = false);
            self.measure(child, heads[child]);
        }
        while let Some(((at, turn), child)) = self.waiting.first().filter(|&((at, _), _)| at <= now) {
            self.waiting.remove(child);
            let deadline = self.leaves[child].as_ref().map_or(0, |leaf| leaf.deadline);
            self.eligible.set(child, (deadline, at, turn));
        }
        loop {
            let child = self.eligible.search(|child| heads[child].is_ready().then_some(child))?;
            // The length of a packet that is not a queue's own is known once it is looked at.
            if self.leaves[child].as_ref().map(|leaf| leaf.bytes) == heads[child].bytes() {
                return Some(child);
            }
            self.measure(child, heads[child]);
        }
    }

    /// When the next packet becomes eligible, after [`RealTime::pick`] found none.
    pub(super) fn opens(&self) -> Option<u64> {
        self.waiting.first().map(|((at, _), _)| at)
    }

    /// New curves at `now`, where one differs: `None` leaves it as it is.
    pub(super) fn retune(&mut self, now: u64, child: usize, curve: Moved) {
        let Some(leaf) = &mut self.leaves[child] else { return };
        leaf.curve = curve;
        leaf.curve.start(now, leaf.served);
        if self.waiting.holds(child) || self.eligible.holds(child) {
            self.waits(child);
        }
    }
}
