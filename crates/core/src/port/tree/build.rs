//! The nodes, as the specification gives them.

use super::Offer;
use super::{Inner, Kind, Node, Numbers, Tree, Up};
use crate::aqm::Aqm as _;
use crate::count::Count;
use crate::needs::Needs;
use crate::port::queue::Queue;
use crate::port::shaper::Shaper;
use crate::rng::Rng;
use crate::sched::{AnyScheduler, Head, Scheduler as _};

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
            let number = self.link(up, takes, Kind::Shaper(Box::new(shaper), self.nodes.len() + 1));
            up = Some(number);
            number
        });
        let node = match inside {
            Inside::Queue(queue) => self.leaf(up, queue),
            Inside::Scheduler(scheduler, rng) => self.inner(up, scheduler, rng),
        };
        self.numbers.push(Numbers { up: parent, node, shaper });
    }

    /// Adds as many queues, one for each flow of the scheduler whose number in the specification is `up`; in the
    /// specification they are one node.
    pub(in crate::port) fn add_flows(&mut self, up: usize, flows: usize, queue: &Queue<H>) {
        let numbers = Numbers { up: Some(up), node: self.nodes.len(), shaper: None };
        (0..flows).for_each(|_| _ = self.leaf(Some(self.numbers[up].node), queue.clone()));
        self.numbers.push(numbers);
    }

    fn leaf(&mut self, up: Option<usize>, queue: Queue<H>) -> usize {
        let takes = queue.gate().aqm().needs().contains(Needs::TAKING);
        let number = self.link(up, takes, Kind::Queue(self.queues.len()));
        self.nodes[number].judges = queue.gate().aqm().needs().contains(Needs::DEPARTURES);
        if queue.gate().makes_room() {
            self.crowded.push(self.queues.len());
        }
        self.queues.push(queue);
        self.leaves.push(number);
        number
    }

    fn inner(&mut self, up: Option<usize>, scheduler: AnyScheduler, rng: Rng) -> usize {
        let needs = scheduler.needs();
        let (children, heads, stale, timed) = (vec![], vec![], vec![], vec![]);
        let (all, [chosen, came], congested) = (Count::default(), [0; 2], 0);
        let inner = Inner { scheduler, needs, rng, children, heads, stale, timed, all, chosen, came, congested };
        let number = self.link(up, needs.contains(Needs::TAKING), Kind::Scheduler(Box::new(inner)));
        if needs.contains(Needs::LATER) {
            self.depends_on_time(number);
        }
        if needs.contains(Needs::ROOM) {
            self.evicting.push(number);
        }
        number
    }

    /// Appends a node and tells the one above.
    fn link(&mut self, up: Option<usize>, takes: bool, kind: Kind) -> usize {
        let number = self.nodes.len();
        let up = up.map(|node| Up { node, place: self.nodes[node].adopt(number) });
        let timed = matches!(kind, Kind::Shaper(..));
        // Nothing is above the root to look at what it offers.
        let takes = takes && up.is_some();
        let (judges, kept, opens, stale) = (false, None, None, false);
        self.nodes.push(Node { up, kind, takes, judges, kept, offer: Offer::Nothing, opens, stale });
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
        let Kind::Scheduler(inner) = &self.nodes[self.numbers.get(spec)?.node].kind else { return None };
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
        inner.heads.push(Head::Nothing);
        place
    }
}
