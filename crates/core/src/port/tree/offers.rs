//! Outwards, first half: what each node offers, from the queues to the root.
//!
//! Decision: docs/decisions/067-looking-takes-a-packet.md

use super::{Kind, Node, Offer, Tree, UNKNOWN};
use crate::needs::Needs;
use crate::port::{Buffers, Leaving, Turn};
use crate::sched::{Head, Pick, Scheduler as _};
use crate::units::Time;

fn earlier(at: Time, other: Option<Time>) -> Time {
    other.map_or(at, |other| other.min(at))
}

impl<H: Copy> Tree<H> {
    /// The packet that is sent next; `None` if none may go now.
    pub(in crate::port) fn next(&mut self, now: Time, host: &mut impl Buffers<H>) -> Option<Leaving<H>> {
        self.drops = 0;
        while let Offer::Ready(_) = self.offer(0, now, host) {
            if let Some(taken) = self.release(0, now, host) {
                return Some(taken.leaving);
            }
        }
        self.held_back += u64::from(self.opens_at().is_some());
        None
    }

    /// When something may go that waits for a shaper, after [`Tree::next`] found nothing.
    pub(in crate::port) fn opens_at(&self) -> Option<Time> {
        match self.nodes[0].offer {
            Offer::Later(at) => Some(at),
            _ => None,
        }
    }

    /// What a node would send, without taking it.
    #[inline]
    pub(super) fn offer(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Offer {
        match self.known(node, now) {
            Some(offer) => offer,
            None => self.renewed(node, now, host),
        }
    }

    /// What a node is known to offer: what it keeps, or what it offered if nothing has changed and no time has come.
    #[inline]
    fn known(&mut self, node: usize, now: Time) -> Option<Offer> {
        let it = &mut self.nodes[node];
        if let Some(taken) = &it.kept {
            it.stale = false;
            return Some(Offer::Ready(taken.size));
        }
        let holds = !it.stale && !it.offer.is_due(now) && it.opens.is_none_or(|at| at > now);
        holds.then_some(it.offer)
    }

    /// What a node offers is computed again.
    fn renewed(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Offer {
        let (offer, opens) = self.inside(node, now, host);
        let it = &mut self.nodes[node];
        (it.stale, it.offer, it.opens) = (false, offer, opens);
        offer
    }

    /// A queue offers its first packet, and nothing opens below it.
    #[inline]
    fn of_queue(&mut self, node: usize, queue: usize) -> Offer {
        let offer = self.queues[queue].first().map_or(Offer::Nothing, |first| Offer::Ready(first.size));
        let it = &mut self.nodes[node];
        (it.stale, it.offer) = (false, offer);
        offer
    }

    /// What a scheduler has to know of a child that it may not choose: of a queue its first packet; of others, and of
    /// queues that take what is looked at, what is known, or only whether anything waits there.
    #[inline]
    fn glance(&mut self, node: usize, now: Time) -> Offer {
        if let Some(offer) = self.known(node, now) {
            return offer;
        }
        if let Node { kind: Kind::Queue(queue), takes: false, .. } = self.nodes[node] {
            return self.of_queue(node, queue);
        }
        let waits = self.waiting(node).packets > 0;
        let it = &mut self.nodes[node];
        (it.stale, it.offer, it.opens) = (false, UNKNOWN, None);
        if waits { Offer::Ready(0) } else { Offer::Nothing }
    }

    /// The node above looks at what a node would send: one that takes has taken it out then.
    fn look(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Offer {
        loop {
            let offer = self.offer(node, now, host);
            let it = &self.nodes[node];
            if !it.takes || it.kept.is_some() || !matches!(offer, Offer::Ready(_)) {
                return offer;
            }
            self.nodes[node].kept = self.pull(node, now, host);
        }
    }

    /// What is inside a node offers, and when something there opens that may go before it.
    fn inside(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> (Offer, Option<Time>) {
        match &self.nodes[node].kind {
            &Kind::Queue(queue) => (self.of_queue(node, queue), None),
            Kind::Shaper(_, child) => {
                let child = *child;
                let below = self.look(child, now, host);
                let opens = self.opens_below(child);
                let (Offer::Ready(bytes), Kind::Shaper(shaper, _)) = (below, &mut self.nodes[node].kind) else {
                    return (below, opens);
                };
                match shaper.is_asked(now, bytes) {
                    at if at <= now => (below, opens),
                    at => (Offer::Later(earlier(at, opens)), None),
                }
            }
            Kind::Scheduler(_) => self.choose(node, now, host),
        }
    }

    /// When something below a node opens that may go before what it offers; never before what it keeps.
    fn opens_below(&self, node: usize) -> Option<Time> {
        let it = &self.nodes[node];
        it.opens.filter(|_| it.kept.is_none())
    }

    /// A scheduler chooses among what its children offer, and looks at what it has chosen.
    fn choose(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> (Offer, Option<Time>) {
        loop {
            let opens = self.refresh(node, now);
            let inner = self.inner_mut(node);
            let place = match inner.scheduler.pick(Turn::new(now), &inner.heads) {
                Pick::Child(place) => place,
                Pick::Later(at) => return (Offer::Later(earlier(at, opens)), None),
                Pick::Nothing => return (opens.map_or(Offer::Nothing, Offer::Later), None),
            };
            let (head, child) = (inner.heads[place], inner.children[place]);
            let offer = self.look(child, now, host);
            let below = self.opens_below(child);
            let inner = self.inner_mut(node);
            inner.chosen = place;
            inner.heads.set(place, offer.head());
            let same = offer.head() == head
                || !inner.needs.contains(Needs::LENGTHS) && head.is_ready() && offer.head().is_ready();
            if inner.stale.is_empty() && same {
                return (offer, below.map(|at| earlier(at, opens)).or(opens));
            }
        }
    }

    /// Computes the offers of those children again that have changed; when the first opens that a shaper holds back.
    fn refresh(&mut self, node: usize, now: Time) -> Option<Time> {
        while let Some(place) = self.inner_mut(node).stale.pop() {
            let head = self.glance(self.child(node, place), now).head();
            self.inner_mut(node).heads.set(place, head);
        }
        let mut opens = None::<Time>;
        for i in 0..self.inner_mut(node).timed.len() {
            let place = self.inner(node).timed[i];
            if self.inner(node).heads[place] == Head::Nothing {
                continue;
            }
            let child = self.child(node, place);
            let offer = self.glance(child, now);
            self.inner_mut(node).heads.set(place, offer.head());
            let later = if let Offer::Later(at) = offer { Some(at) } else { self.opens_below(child) };
            opens = later.map(|at| earlier(at, opens)).or(opens);
        }
        opens
    }
}
