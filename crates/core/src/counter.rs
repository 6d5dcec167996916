//! Counters as `tc -s` shows them, by the names and in the units of its JSON (`tc -s -j`).
//!
//! Every queueing discipline and class has what is in [`Below`]; what else an algorithm counts it says itself
//! ([`crate::aqm::Aqm::counters`], [`crate::sched::Scheduler::counters`]). Counters begin with the run and never restart.
//!
//! Decision: docs/decisions/117-counters-in-tcs-words.md

use crate::count::Count;
use crate::port::fates::Fates;
use crate::units::Time;
use crate::verdict::Reason;
use std::ops::Range;

/// Whose counter it is, at a node of a port's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The token bucket above it.
    Shaper,
    /// The queueing discipline.
    Whole,
    /// A class of it, counted from 0 as the file lists them.
    Class(usize),
    /// A tin of it, counted from 0.
    Tin(usize),
    /// A token bucket among the port's conditioners, which is none of its nodes, counted from 0 among all conditioners.
    Policer(usize),
}

/// A counter: name and value.
pub type Each<'a> = dyn FnMut(&'static str, f64) + 'a;

/// What passed a node of a port's tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// Fates at the gates of its queues.
    pub fates: Fates,
    /// What waits, with what is taken out of it and kept.
    pub waiting: Count,
    /// Of this, what the node itself has handed out to one above that keeps it.
    pub kept: Count,
    /// Arrivals for which a packet of the same queue had to go: those that Linux's parents hear of at once.
    pub refused: u64,
    /// Its `overlimits`; `None` where they are not known.
    pub overlimits: Option<u64>,
}

impl Below {
    /// What has left for the node above, or the line.
    pub fn left(&self) -> Count {
        self.fates.queued - self.fates.dropped_at_head - self.waiting
    }

    /// What it has handed out. Linux counts a packet that its parent keeps as sent and as waiting.
    pub fn sent(&self) -> Count {
        self.left() + self.kept
    }

    /// Dropped in its queues, not on the way to them.
    pub fn dropped(&self) -> u64 {
        self.fates.lost().packets - self.fates.dropped[Reason::Policer as usize].packets
    }

    /// Of these, for this reason.
    pub fn dropped_for(&self, reason: Reason) -> u64 {
        self.fates.dropped[reason as usize].packets
    }

    /// With those of another node.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            fates: self.fates.plus(&other.fates),
            waiting: self.waiting + other.waiting,
            kept: self.kept + other.kept,
            refused: self.refused + other.refused,
            overlimits: None,
        }
    }

    /// What every queueing discipline and class shows.
    pub fn show(&self, sent: Count, drops: u64, each: &mut Each<'_>) {
        each("bytes", sent.bytes as f64);
        each("packets", sent.packets as f64);
        each("drops", drops as f64);
        self.overlimits.into_iter().for_each(|times| each("overlimits", times as f64));
        each("backlog", self.waiting.bytes as f64);
        each("qlen", self.waiting.packets as f64);
    }
}

/// What a scheduler is told for its counters.
pub struct Seen<'a> {
    /// Now.
    pub now: Time,
    /// How often nothing went although something waited, where it is asked by the line; `None` below another node.
    pub held_back: Option<u64>,
    /// What passed a child.
    pub child: &'a dyn Fn(usize) -> Below,
}

impl Seen<'_> {
    /// What passed some children.
    pub fn children(&self, all: Range<usize>) -> Below {
        all.fold(Below::default(), |sum, child| sum.plus(&(self.child)(child)))
    }

    /// Classes that show what their children do.
    pub fn classes(&self, places: usize, each: &mut dyn FnMut(Part, &'static str, f64)) {
        for place in 0..places {
            let child = (self.child)(place);
            child.show(child.sent(), child.dropped(), &mut |name, value| each(Part::Class(place), name, value));
        }
    }
}
