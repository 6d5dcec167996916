//! The queues of a port: one, or a tree of them.

use super::queue::Queue;
use super::tree::Tree;
use crate::aqm::Backlog;
use crate::aqm::members::Members;
use crate::units::Time;

/// Nearly all ports have one queue: it is not boxed, since every packet passes it.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub(super) enum Queues<H> {
    One(Queue<H>),
    Several(Box<Tree<H>>),
}

impl<H: Copy> Queues<H> {
    /// In the order of the specification.
    #[inline]
    pub(super) fn all(&self) -> &[Queue<H>] {
        match self {
            Self::One(queue) => std::slice::from_ref(queue),
            Self::Several(tree) => tree.queues(),
        }
    }

    #[inline]
    pub(super) fn all_mut(&mut self) -> &mut [Queue<H>] {
        match self {
            Self::One(queue) => std::slice::from_mut(queue),
            Self::Several(tree) => tree.queues_mut(),
        }
    }

    /// The lists by which AQMs and schedulers sort packets.
    pub(super) fn lists(&mut self, each: &mut dyn FnMut(&mut Members)) {
        self.all_mut().iter_mut().filter_map(|queue| queue.gate.members()).for_each(&mut *each);
        if let Self::Several(tree) = self {
            tree.lists(each);
        }
    }

    /// The total of all queues, as a series shows it.
    pub(super) fn backlog(&self, now: Time) -> Backlog {
        let Self::Several(_) = self else { return self.all()[0].backlog(now) };
        let all = self.all().iter().map(|queue| queue.backlog(now));
        all.fold(Backlog::default(), |sum, queue| Backlog {
            packets: sum.packets + queue.packets,
            bytes: sum.bytes + queue.bytes,
            ..sum
        })
    }
}
