//! The queues of a port: one, or a tree of them.

use super::queue::Queue;
use super::tree::Tree;
use crate::aqm::Backlog;
use crate::aqm::members::Members;
use crate::count::Count;
use crate::units::Time;

/// What is done with every list, and is told whether anything waits in a child of its scheduler.
pub(super) type EachList<'a> = dyn FnMut(&mut Members, &dyn Fn(usize) -> bool) + 'a;

/// Nearly all ports have one queue: it is not boxed, since every packet passes it.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub(super) enum Queues<H> {
    One(Queue<H>),
    Several(Box<Tree<H>>),
}

impl<H: Copy> Queues<H> {
    /// In the order of the specification, but those of flows in that of their first packets.
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

    /// Those of each row of the specification.
    pub(super) fn rows(&self) -> Vec<Vec<&Queue<H>>> {
        match self {
            Self::One(queue) => vec![vec![queue]],
            Self::Several(tree) => (0..tree.rows()).map(|row| tree.row(row)).collect(),
        }
    }

    /// The lists by which AQMs and schedulers sort packets, and whether anything waits in a child of a scheduler.
    pub(super) fn lists(&mut self, each: &mut EachList<'_>) {
        self.all_mut().iter_mut().filter_map(|queue| queue.gate.members()).for_each(|list| each(list, &|_| false));
        if let Self::Several(tree) = self {
            tree.lists(each);
        }
    }

    /// The total of all queues, as a series shows it.
    pub(super) fn backlog(&self, now: Time) -> Backlog {
        match self {
            Self::One(queue) => queue.backlog(now),
            Self::Several(tree) => {
                let Count { packets, bytes } = tree.all();
                Backlog { packets: packets as u32, bytes, ..Backlog::default() }
            }
        }
    }
}
