//! The nodes, as the specification gives them.

use super::Offer;
use super::{Inner, Kind, Node, Numbers, Tree, UNMADE, Up};
use crate::aqm::Aqm as _;
use crate::count::Count;
use crate::needs::Needs;
use crate::port::queue::Queue;
use crate::port::shaper::Shaper;
use crate::rng::Rng;
use crate::sched::{AnyScheduler, Heads, Scheduler as _};

/// What is inside a node of a specification.
#[allow(clippy::large_enum_variant)]
pub(in crate::port) enum Inside<H> {
    Queue(Queue<H>),
    Scheduler(AnyScheduler, Rng),
}

impl<H: Copy> Tree<H> {
    /// Adds a node of the specification, without its children: a scheduler if given, else a queue, below a shaper if
    /// given. `parent` is the number of the one above in the specification.
    pub(in crate::port) fn add(&mut self, parent: Option<usize>, shaper: Option<Shaper>, inside: Inside<H>) {
        let mut up = parent.map(|spec| self.numbers[spec].node);
        let shaper = shaper.map(|shaper| {
            let takes = shaper.takes();
            let above = self.adopt(up);
            let number = self.link(above, takes, Kind::Shaper(Box::new(shaper), self.nodes.len() + 1));
            up = Some(number);
            number
        });
        let row = if let Inside::Queue(queue) = &inside { Some(queue.row()) } else { None };
        let node = match inside {
            Inside::Queue(queue) => {
                let up = self.adopt(up);
                self.add_leaf(up, queue)
            }
            Inside::Scheduler(scheduler, rng) => self.add_inner(up, scheduler, rng),
        };
        self.numbers.push(Numbers { up: parent, node, shaper, row });
    }

    /// Gives the scheduler whose number in the specification is `up` so many flows, each with such a queue as soon as a
    /// packet comes for it; in the specification they are one node.
    pub(in crate::port) fn add_flows(&mut self, up: usize, flows: usize, queue: Queue<H>) {
        let node = self.numbers[up].node;
        let of_flows = Some(self.flows.len());
        let inner = self.inner_mut(node);
        (inner.of_flows, inner.children) = (of_flows, vec![UNMADE; flows]);
        let row = queue.row();
        self.reserve_row(row);
        self.flows.push(queue);
        self.numbers.push(Numbers { up: Some(up), node: UNMADE, shaper: None, row: Some(row) });
    }

    /// The queue of a flow for which the first packet comes.
    #[cold]
    pub(super) fn make_flow(&mut self, node: usize, place: usize) -> usize {
        let Some(queue) = self.inner(node).of_flows.map(|flows| self.flows[flows].clone()) else { return UNMADE };
        let leaf = self.add_leaf(Some(Up { node, place }), queue);
        self.inner_mut(node).children[place] = leaf;
        leaf
    }

    fn reserve_row(&mut self, row: usize) {
        self.rows.resize(self.rows.len().max(row + 1), Vec::new());
    }

    fn add_leaf(&mut self, up: Option<Up>, queue: Queue<H>) -> usize {
        let needs = queue.gate().aqm().needs();
        let number = self.link(up, needs.contains(Needs::TAKING), Kind::Queue(self.queues.len()));
        let node = &mut self.nodes[number];
        (node.judges, node.evicts) = (needs.contains(Needs::DEPARTURES), queue.gate().makes_room());
        self.evicts |= node.evicts;
        self.reserve_row(queue.row());
        self.rows[queue.row()].push(self.queues.len());
        self.queues.push(queue);
        number
    }

    fn add_inner(&mut self, up: Option<usize>, scheduler: AnyScheduler, rng: Rng) -> usize {
        let needs = scheduler.needs();
        let (children, heads, stale, timed) = (vec![], Heads::new(scheduler.places()), vec![], vec![]);
        let (of_flows, all, [chosen, came], congested) = (None, Count::default(), [0; 2], 0);
        let inner =
            Inner { scheduler, needs, rng, children, heads, of_flows, stale, timed, all, chosen, came, congested };
        let up = self.adopt(up);
        let number = self.link(up, needs.contains(Needs::TAKING), Kind::Scheduler(Box::new(inner)));
        if needs.contains(Needs::LATER) {
            self.depends_on_time(number);
        }
        self.nodes[number].evicts = needs.contains(Needs::ROOM);
        self.evicts |= self.nodes[number].evicts;
        self.schedulers.push(number);
        number
    }

    /// Tells the node above of the next node.
    fn adopt(&mut self, up: Option<usize>) -> Option<Up> {
        let number = self.nodes.len();
        up.map(|node| Up { node, place: self.nodes[node].adopt(number) })
    }

    /// Appends a node.
    fn link(&mut self, up: Option<Up>, takes: bool, kind: Kind) -> usize {
        let number = self.nodes.len();
        let timed = matches!(kind, Kind::Shaper(..));
        // Nothing is above the root to look at what it offers.
        let takes = takes && up.is_some();
        let above = up.and_then(|up| self.evicting(up.node));
        let (judges, evicts, kept, opens, stale) = (false, false, None, None, false);
        self.nodes.push(Node { up, kind, takes, judges, evicts, above, kept, offer: Offer::Nothing, opens, stale });
        if timed {
            self.depends_on_time(number);
        }
        number
    }

    /// What a node offers may depend on the time, and so what those above it do.
    fn depends_on_time(&mut self, mut node: usize) {
        while let Some(up) = self.nodes[node].up {
            if let Kind::Scheduler(above) = &mut self.nodes[up.node].kind
                && !above.timed.contains(&up.place)
            {
                above.timed.push(up.place);
            }
            node = up.node;
        }
    }

    /// How many flows are the children of a scheduler, by its number in the specification; `None` if they are not flows.
    pub(in crate::port) fn flows(&self, spec: usize) -> Option<usize> {
        let Kind::Scheduler(inner) = &self.nodes.get(self.numbers.get(spec)?.node)?.kind else { return None };
        inner.needs.contains(Needs::FLOWS).then(|| inner.scheduler.places())
    }

    /// The children that a scheduler has and those that it needs, if these differ.
    pub(in crate::port) fn mismatch(&self) -> Option<(usize, usize)> {
        let both = |inner: &Inner| (inner.children.len(), inner.scheduler.places());
        self.inners().map(both).find(|(children, places)| children != places)
    }
}

impl<H> Node<H> {
    /// A new child; its place among the children.
    fn adopt(&mut self, child: usize) -> usize {
        let Kind::Scheduler(inner) = &mut self.kind else { return 0 };
        let place = inner.children.len();
        inner.children.push(child);
        place
    }
}
