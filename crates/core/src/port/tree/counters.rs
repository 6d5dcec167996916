//! What `tc -s` shows of the nodes of a tree.

use super::{Inner, Kind, Tree, UNMADE};
use crate::counter::{Below, Part, Seen};
use crate::port::counters::of_queue;
use crate::sched::Scheduler as _;
use crate::units::Time;

/// Whose counter, name, value.
type Each<'a> = dyn FnMut(Part, &'static str, f64) + 'a;

impl<H: Copy> Tree<H> {
    /// Of every node of the specification. Flows are no queueing disciplines: their scheduler tells of them.
    pub(in crate::port) fn counters(&self, now: Time, each: &mut dyn FnMut(usize, Part, &'static str, f64)) {
        for (spec, numbers) in self.numbers.iter().enumerate() {
            let mut each = |part, name, value| each(spec, part, name, value);
            if let Some(shaper) = numbers.shaper {
                self.whole(now, shaper, &mut |name, value| each(Part::Shaper, name, value));
            }
            match self.nodes.get(numbers.node).map(|node| &node.kind) {
                Some(Kind::Queue(queue)) => {
                    let below = self.below(now, numbers.node);
                    of_queue(&self.queues[*queue], now, &below, &mut |name, value| each(Part::Whole, name, value));
                }
                Some(Kind::Scheduler(inner)) => self.of_scheduler(now, numbers.node, inner, &mut each),
                Some(Kind::Shaper(..)) | None => {}
            }
        }
    }

    fn of_scheduler(&self, now: Time, node: usize, inner: &Inner, each: &mut Each<'_>) {
        self.whole(now, node, &mut |name, value| each(Part::Whole, name, value));
        self.seen(now, node, inner, |seen| inner.scheduler.counters(seen, each));
    }

    /// Of a node that is no queue: what is dropped on the way to the queues below it counts too.
    fn whole(&self, now: Time, node: usize, each: &mut crate::counter::Each<'_>) {
        let below = self.below(now, node);
        below.show(below.sent(), below.fates.lost().packets, each);
    }

    /// What a scheduler is told.
    fn seen<T>(&self, now: Time, node: usize, inner: &Inner, tell: impl FnOnce(&Seen<'_>) -> T) -> T {
        let child = |place: usize| match inner.children[place] {
            UNMADE => Below::default(),
            node => self.below(now, node),
        };
        tell(&Seen { now, held_back: self.held_back(node), child: &child })
    }

    /// How often the line found nothing although something waited, at the node that it asks.
    fn held_back(&self, node: usize) -> Option<u64> {
        (node == 0).then_some(self.held_back)
    }

    fn below(&self, now: Time, node: usize) -> Below {
        let it = &self.nodes[node];
        let kept = it.handed_out();
        let inside = match &it.kind {
            Kind::Queue(queue) => return self.queues[*queue].below(now, kept),
            Kind::Shaper(_, child) => Below { overlimits: self.held_back(node), ..self.below(now, *child) },
            Kind::Scheduler(inner) => {
                let below = self.seen(now, node, inner, |seen| seen.children(0..inner.children.len()));
                let overlimits = self.seen(now, node, inner, |seen| inner.scheduler.overlimits(seen));
                Below { refused: below.refused + inner.congested, overlimits, ..below }
            }
        };
        Below { waiting: self.waiting(node), kept, ..inside }
    }
}
