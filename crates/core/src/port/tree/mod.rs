//! The tree of a port's queues: queues at its leaves, schedulers and shapers above them.
//!
//! Every node *offers*: a packet of a given size, nothing before a given time, or nothing at all. A scheduler chooses among
//! the offers of its children, a shaper delays that of its child. What a node offers is computed again only after something
//! below it has changed or its time has come. A shaper looks at what its child offers, a scheduler at what the chosen child
//! does. A node that *takes* (many of Linux's queues do) has the packet that is looked at taken out and kept until it is
//! sent, so that nothing that comes later goes first; any other chooses when the packet is sent.
//!
//! Decision: docs/decisions/063-queues-are-a-tree-of-offers.md

mod branches;
mod build;
mod counters;
mod offers;
mod release;
mod shaped;
mod tend;
mod way_in;

pub use branches::Branch;
pub(super) use build::Inside;

use super::Leaving;
use super::queue::Queue;
use super::shaper::Shaper;
use crate::count::Count;
use crate::needs::Needs;
use crate::rng::Rng;
use crate::sched::{AnyScheduler, Head, Heads};
use crate::units::Time;

/// What a node has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offer {
    Nothing,
    Later(Time),
    Ready(u32),
}

impl Offer {
    fn is_due(self, now: Time) -> bool {
        matches!(self, Self::Later(at) if at <= now)
    }

    fn head(self) -> Head {
        match self {
            Self::Nothing => Head::Nothing,
            Self::Later(_) => Head::Held,
            Self::Ready(bytes) => Head::Bytes(bytes),
        }
    }
}

/// A flow that has no queue yet.
const UNMADE: usize = usize::MAX;

/// What a node offers that has not been looked at: always due.
const UNKNOWN: Offer = Offer::Later(Time::ZERO);

/// A packet that has left its queue.
#[derive(Clone, Copy, Debug)]
struct Taken<H> {
    leaving: Leaving<H>,
    size: u32,
}

/// The node above, and which child of it this one is.
#[derive(Clone, Copy, Debug)]
struct Up {
    node: usize,
    place: usize,
}

#[derive(Clone, Debug)]
struct Node<H> {
    up: Option<Up>,
    kind: Kind,
    takes: bool,
    /// A queue whose AQM looks at departures.
    judges: bool,
    /// A scheduler that may ask for room, or a queue that may hold more than its limit until the packet at the head goes.
    evicts: bool,
    /// The nearest node above that evicts.
    above: Option<usize>,
    kept: Option<Taken<H>>,
    offer: Offer,
    /// When something below it opens that may go before what it offers.
    opens: Option<Time>,
    stale: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Queue(usize),
    Shaper(Box<Shaper>, usize),
    Scheduler(Box<Inner>),
}

/// A scheduler and what it knows of its children.
#[derive(Clone, Debug)]
struct Inner {
    scheduler: AnyScheduler,
    needs: Needs,
    rng: Rng,
    /// Their nodes; [`UNMADE`] for a flow that no packet has come for.
    children: Vec<usize>,
    heads: Heads,
    /// If its children are flows: the place, among the tree's, of the queue that each has.
    of_flows: Option<usize>,
    /// Children whose offers are to be computed again.
    stale: Vec<usize>,
    /// Children whose offers may depend on the time.
    timed: Vec<usize>,
    all: Count,
    chosen: usize,
    /// The child that the last packet came to.
    came: usize,
    /// How often a packet that came cost its own child one.
    congested: u64,
}

/// The nodes of a specification in the tree.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    /// The number above.
    up: Option<usize>,
    /// [`UNMADE`] for flows, each of which has its own.
    node: usize,
    shaper: Option<usize>,
    /// The row of the specification that it is, if it is a queue.
    row: Option<usize>,
}

/// Queues and what decides which of them sends.
#[derive(Clone, Debug)]
pub(super) struct Tree<H> {
    /// The root is the first.
    nodes: Vec<Node<H>>,
    queues: Vec<Queue<H>>,
    /// The queues of each row of the specification.
    rows: Vec<Vec<usize>>,
    /// What the flows of schedulers have, each made when its first packet comes.
    flows: Vec<Queue<H>>,
    schedulers: Vec<usize>,
    /// What waits in all queues.
    all: Count,
    /// The leaf that a packet has come to last.
    last: usize,
    /// Whether any node evicts.
    evicts: bool,
    numbers: Vec<Numbers>,
    /// Dropped at heads since the last packet left.
    drops: u32,
    /// How often the line found nothing although something waited.
    held_back: u64,
}

impl<H: Copy> Tree<H> {
    /// No queues yet.
    pub(super) fn new() -> Self {
        Self {
            nodes: vec![],
            queues: vec![],
            rows: vec![],
            flows: vec![],
            schedulers: vec![],
            all: Count::default(),
            last: 0,
            evicts: false,
            numbers: vec![],
            drops: 0,
            held_back: 0,
        }
    }

    pub(super) fn queues(&self) -> &[Queue<H>] {
        &self.queues
    }

    pub(super) fn queues_mut(&mut self) -> &mut [Queue<H>] {
        &mut self.queues
    }

    /// Packets that have left their queue and not the port.
    pub(super) fn kept(&self) -> impl Iterator<Item = H> {
        let above = self.nodes.iter().filter(|node| !matches!(node.kind, Kind::Queue(_)));
        above.filter_map(|node| Some(node.kept?.leaving.handle))
    }

    /// What waits in all queues.
    pub(super) fn all(&self) -> Count {
        self.all
    }

    /// Its queues that are row `row` of the specification.
    pub(super) fn row(&self, row: usize) -> Vec<&Queue<H>> {
        self.rows[row].iter().map(|&queue| &self.queues[queue]).collect()
    }

    /// How many rows the specification has.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    fn inners(&self) -> impl Iterator<Item = &Inner> {
        self.schedulers.iter().map(|&node| self.inner(node))
    }

    /// Something has changed at a node: what it offers, and whoever is above it, is computed again. One that has not been
    /// computed since the last change may be below others that have, so this goes up to the root.
    fn touch(&mut self, mut node: usize) {
        loop {
            let known = std::mem::replace(&mut self.nodes[node].stale, true);
            let Some(up) = self.nodes[node].up else { return };
            if let (Kind::Scheduler(inner), false) = (&mut self.nodes[up.node].kind, known) {
                inner.stale.push(up.place);
            }
            node = up.node;
        }
    }

    /// As [`Tree::backlog_of`], in packets and bytes.
    #[inline]
    fn waiting(&self, node: usize) -> Count {
        Part { nodes: &self.nodes, first: 0, queues: &self.queues }.waiting(node)
    }

    fn inner(&self, node: usize) -> &Inner {
        let Kind::Scheduler(inner) = &self.nodes[node].kind else { unreachable!("a scheduler") };
        inner
    }

    fn inner_mut(&mut self, node: usize) -> &mut Inner {
        let Kind::Scheduler(inner) = &mut self.nodes[node].kind else { unreachable!("a scheduler") };
        inner
    }

    fn child(&self, node: usize, place: usize) -> usize {
        self.inner(node).children[place]
    }
}

/// The nodes from one on.
struct Part<'a, H> {
    nodes: &'a [Node<H>],
    first: usize,
    queues: &'a [Queue<H>],
}

impl<H: Copy> Part<'_, H> {
    /// What waits in a node, in packets and bytes.
    #[inline]
    fn waiting(&self, mut node: usize) -> Count {
        let mut kept = Count::default();
        loop {
            let it = &self.nodes[node - self.first];
            match &it.kind {
                // What a queue keeps for its parent still waits in it.
                Kind::Queue(queue) => return kept + self.queues[*queue].waiting(),
                Kind::Scheduler(inner) => return kept + it.handed_out() + inner.all,
                Kind::Shaper(_, child) => (kept, node) = (kept + it.handed_out(), *child),
            }
        }
    }
}

impl<H> Node<H> {
    /// What it keeps for its parent.
    fn handed_out(&self) -> Count {
        self.kept.as_ref().map_or(Count::default(), |taken| Count { packets: 1, bytes: taken.size.into() })
    }

    /// Its queue, if it is a leaf.
    fn queue(&self) -> Option<usize> {
        if let Kind::Queue(queue) = self.kind { Some(queue) } else { None }
    }
}
