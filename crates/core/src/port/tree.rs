//! The tree of a port's queues: queues at its leaves, schedulers and shapers above them.
//!
//! Every node *offers*: a packet of a given size, nothing before a given time, or nothing at all. A scheduler chooses among
//! the offers of its children, a shaper delays that of its child. What a node offers is computed again only after something
//! below it has changed or its time has come. A shaper looks at what its child offers, a scheduler at what the chosen child
//! does. A node that *takes* (many of Linux's queues do) has the packet that is looked at taken out and kept until it is
//! sent, so that nothing that comes later goes first; any other chooses when the packet is sent.

use super::queue::Queue;
use super::shaper::{Shaper, ShaperParams};
use super::{Buffers, Leaving, MOST_HEAD_DROPS};
use crate::aqm::{Backlog, Departure};
use crate::classify::FlowHeaders;
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::{FlowId, Packet};
use crate::params::ParamError;
use crate::rng::Rng;
use crate::sched::{AnyScheduler, Eviction, Head, Pick, Scheduler as _, SchedulerParams, Visit};
use crate::scope::Scope;
use crate::units::Time;
use crate::verdict::{Fate, Reason, Side, Verdict};

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

/// What a node offers that has not been looked at: always due.
const UNKNOWN: Offer = Offer::Later(Time::ZERO);

fn earlier(at: Time, other: Option<Time>) -> Time {
    other.map_or(at, |other| other.min(at))
}

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
    children: Vec<usize>,
    heads: Vec<Head>,
    /// Children whose offers are to be computed again.
    stale: Vec<usize>,
    /// Children whose offers may depend on the time.
    timed: Vec<usize>,
    all: Count,
    chosen: usize,
}

/// The nodes of a specification in the tree.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    node: usize,
    shaper: Option<usize>,
}

/// Queues and what decides which of them sends.
#[derive(Clone, Debug)]
pub(super) struct Tree<H> {
    /// The root is the first.
    nodes: Vec<Node<H>>,
    queues: Vec<Queue<H>>,
    /// The node of each queue.
    leaves: Vec<usize>,
    numbers: Vec<Numbers>,
    /// Nodes whose schedulers may ask for room.
    evicting: Vec<usize>,
    /// Queues that may hold more than their limit, until the packet at the head goes.
    overfull: Vec<usize>,
    /// Dropped at heads since the last packet left.
    drops: u32,
}

impl<H: Copy> Tree<H> {
    /// No queues yet.
    pub(super) fn new() -> Self {
        Self {
            nodes: vec![],
            queues: vec![],
            leaves: vec![],
            numbers: vec![],
            evicting: vec![],
            overfull: vec![],
            drops: 0,
        }
    }

    /// Adds a node of the specification, without its children: a scheduler if given, else a queue, below a shaper if
    /// given. `up` is the number of its parent in the specification.
    pub(super) fn add(&mut self, up: Option<usize>, shaper: Option<Shaper>, inside: Inside<H>) {
        let mut up = up.map(|spec| self.numbers[spec].node);
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
        self.numbers.push(Numbers { node, shaper });
    }

    /// Adds as many queues, one for each flow of the scheduler whose number in the specification is `up`; in the
    /// specification they are one node.
    pub(super) fn add_flows(&mut self, up: usize, flows: usize, queue: &Queue<H>) {
        let numbers = Numbers { node: self.nodes.len(), shaper: None };
        (0..flows).for_each(|_| _ = self.leaf(Some(self.numbers[up].node), queue.clone()));
        self.numbers.push(numbers);
    }

    fn leaf(&mut self, up: Option<usize>, queue: Queue<H>) -> usize {
        let takes = queue.gate().takes();
        let number = self.link(up, takes, Kind::Queue(self.queues.len()));
        if queue.gate().drops_at_head() {
            self.overfull.push(self.queues.len());
        }
        self.queues.push(queue);
        self.leaves.push(number);
        number
    }

    fn inner(&mut self, up: Option<usize>, scheduler: AnyScheduler, rng: Rng) -> usize {
        let (takes, needs, evicts) = (scheduler.takes(), scheduler.needs(), scheduler.evicts());
        let (children, heads, stale, timed) = (vec![], vec![], vec![], vec![]);
        let inner = Inner { scheduler, needs, rng, children, heads, stale, timed, all: Count::default(), chosen: 0 };
        let number = self.link(up, takes, Kind::Scheduler(Box::new(inner)));
        if evicts {
            self.evicting.push(number);
        }
        number
    }

    /// Appends a node and tells the one above.
    fn link(&mut self, up: Option<usize>, takes: bool, kind: Kind) -> usize {
        let number = self.nodes.len();
        let timed = !matches!(kind, Kind::Queue(_));
        let up = up.map(|node| Up { node, place: self.nodes[node].adopt(number, timed) });
        // Nothing is above the root to look at what it offers.
        let takes = takes && up.is_some();
        self.nodes.push(Node { up, kind, takes, kept: None, offer: Offer::Nothing, opens: None, stale: false });
        number
    }

    /// How many flows are the children of a scheduler, by its number in the specification; `None` if they are not flows.
    pub(super) fn flows(&self, spec: usize) -> Option<usize> {
        let Kind::Scheduler(inner) = &self.nodes[self.numbers.get(spec)?.node].kind else { return None };
        inner.scheduler.has_flows().then(|| inner.scheduler.places())
    }

    /// The children that a scheduler has and those that it needs, if these differ.
    pub(super) fn mismatch(&self) -> Option<(usize, usize)> {
        let both = |inner: &Inner| (inner.children.len(), inner.scheduler.places());
        self.inners().map(both).find(|(children, places)| children != places)
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

    fn inners(&self) -> impl Iterator<Item = &Inner> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            Kind::Scheduler(inner) => Some(&**inner),
            _ => None,
        })
    }

    fn inners_mut(&mut self) -> impl Iterator<Item = &mut Inner> {
        self.nodes.iter_mut().filter_map(|node| match &mut node.kind {
            Kind::Scheduler(inner) => Some(&mut **inner),
            _ => None,
        })
    }

    /// What its schedulers need.
    pub(super) fn needs(&self) -> Needs {
        self.inners().fold(Needs::NOTHING, |all, inner| all | inner.needs)
    }

    pub(super) fn register(&mut self, flow: FlowId, headers: &FlowHeaders) {
        self.inners_mut().for_each(|inner| inner.scheduler.register(flow, headers));
    }

    pub(super) fn poll_at(&self) -> Option<Time> {
        self.inners().filter_map(|inner| inner.scheduler.poll_at()).min()
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        let Self { nodes, queues, .. } = self;
        let leaf = |node: &Node<H>| match node.kind {
            Kind::Queue(queue) => queues[queue].first().map(|entry| entry.arrived),
            _ => None,
        };
        let oldest: Vec<_> = nodes.iter().map(leaf).collect();
        for node in nodes {
            let Kind::Scheduler(inner) = &mut node.kind else { continue };
            if inner.scheduler.poll_at().is_some_and(|at| at <= now) {
                let children = &inner.children;
                inner.scheduler.on_timer(now, &|child| oldest[children[child]]);
            }
        }
    }

    /// Values for series: node of the specification, name, value.
    pub(super) fn gauges(&self, now: Time, each: &mut dyn FnMut(usize, &'static str, f64)) {
        for (spec, numbers) in self.numbers.iter().enumerate() {
            if let Kind::Scheduler(inner) = &self.nodes[numbers.node].kind {
                inner.scheduler.gauges(now, &mut |name, value| each(spec, name, value));
            }
            if let Some(Kind::Shaper(shaper, _)) = numbers.shaper.map(|shaper| &self.nodes[shaper].kind) {
                shaper.gauges(now, &mut |name, value| each(spec, name, value));
            }
        }
    }

    pub(super) fn retune_scheduler(
        &mut self,
        now: Time,
        spec: usize,
        params: &SchedulerParams,
        scope: &Scope,
    ) -> Result<(), ParamError> {
        let node = self.numbers.get(spec).ok_or_else(ParamError::other_kind)?.node;
        let Kind::Scheduler(inner) = &mut self.nodes[node].kind else { return Err(ParamError::other_kind()) };
        inner.scheduler.retune(now, params, scope)?;
        self.touch(node);
        Ok(())
    }

    pub(super) fn retune_shaper(
        &mut self,
        now: Time,
        spec: usize,
        params: &ShaperParams,
        scope: &Scope,
    ) -> Result<(), ParamError> {
        let node = self.numbers.get(spec).and_then(|numbers| numbers.shaper).ok_or_else(ParamError::other_kind)?;
        let Kind::Shaper(shaper, _) = &mut self.nodes[node].kind else { return Err(ParamError::other_kind()) };
        shaper.retune(now, params, scope)?;
        self.touch(node);
        Ok(())
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

    /// A packet arrives.
    pub(super) fn arrive(&mut self, now: Time, packet: &mut Packet, handle: H) -> Fate {
        let (leaf, above) = self.descend(now, packet);
        let Kind::Queue(queue) = self.nodes[leaf].kind else { unreachable!("queues are the leaves") };
        let fate = self.queues[queue].arrive(now, packet, handle, above);
        if fate.stays() {
            let mut node = leaf;
            while let Some(up) = self.nodes[node].up {
                if let Kind::Scheduler(inner) = &mut self.nodes[up.node].kind {
                    inner.all.add(packet.size);
                    inner.scheduler.queued(now, up.place, packet.size);
                }
                node = up.node;
            }
            self.touch(leaf);
        }
        fate
    }

    /// The queue that a packet goes to, by its node, and what those above it say to it.
    fn descend(&mut self, now: Time, packet: &mut Packet) -> (usize, Verdict) {
        let (mut node, mut above) = (0, Verdict::Pass);
        loop {
            let next = match &mut self.nodes[node].kind {
                Kind::Queue(_) => return (node, above),
                Kind::Shaper(shaper, child) => {
                    if !shaper.admits(packet.size) {
                        above = Verdict::Drop(Reason::Policer);
                    }
                    *child
                }
                Kind::Scheduler(inner) => {
                    let place = inner.scheduler.place(packet);
                    let child = inner.children[place];
                    if inner.needs.contains(Needs::ARRIVALS) && above == Verdict::Pass {
                        above = self.judge_arrival(now, node, place, packet);
                    }
                    child
                }
            };
            node = next;
        }
    }

    fn judge_arrival(&mut self, now: Time, node: usize, child: usize, packet: &mut Packet) -> Verdict {
        let Kind::Scheduler(inner) = &self.nodes[node].kind else { return Verdict::Pass };
        let backlog = Backlog { ecn: packet.ecn.capable(), ..self.backlog_of(inner.children[child], now) };
        let Kind::Scheduler(inner) = &mut self.nodes[node].kind else { return Verdict::Pass };
        let visit = Visit { child, at: Departure { now, arrived: now, backlog }, all: inner.all };
        let Inner { scheduler, rng, .. } = &mut **inner;
        scheduler.on_arrival(&visit, packet, rng)
    }

    /// What waits at a node and below it.
    fn backlog_of(&self, node: usize, now: Time) -> Backlog {
        if let Kind::Queue(queue) = self.nodes[node].kind {
            return self.queues[queue].backlog(now);
        }
        let count = self.waiting(node);
        Backlog { packets: count.packets as u32, bytes: count.bytes, ..Backlog::default() }
    }

    /// As [`Tree::backlog_of`], in packets and bytes.
    fn waiting(&self, node: usize) -> Count {
        let it = &self.nodes[node];
        let mut count = match &it.kind {
            Kind::Queue(queue) => return self.queues[*queue].waiting(),
            Kind::Shaper(_, child) => self.waiting(*child),
            Kind::Scheduler(inner) => inner.all,
        };
        it.kept.iter().for_each(|taken| count.add(taken.size));
        count
    }

    /// Whether something may have to go to make room for what has arrived.
    pub(super) fn evicts(&self) -> bool {
        !self.evicting.is_empty() || !self.overfull.is_empty()
    }

    /// Drops what exceeds the limits, now that a packet has arrived.
    pub(super) fn evict(&mut self, now: Time, host: &mut impl Buffers<H>) {
        for i in 0..self.evicting.len() {
            let node = self.evicting[i];
            while let Some(eviction) = self.eviction(node) {
                self.evict_child(now, node, eviction, host);
            }
        }
        for i in 0..self.overfull.len() {
            let queue = self.overfull[i];
            while self.queues[queue].is_overfull() {
                self.drop_one(now, self.leaves[queue], Side::Head, host);
            }
        }
    }

    /// What a scheduler wants to go. What it has handed out counts as long as it has not been sent.
    fn eviction(&mut self, node: usize) -> Option<Eviction> {
        let all = self.waiting(node);
        let Kind::Scheduler(inner) = &mut self.nodes[node].kind else { return None };
        inner.scheduler.evict(all)
    }

    fn evict_child(&mut self, now: Time, node: usize, eviction: Eviction, host: &mut impl Buffers<H>) {
        let Kind::Scheduler(inner) = &self.nodes[node].kind else { return };
        let (leaf, mut gone) = (inner.children[eviction.child], 0);
        for _ in 0..eviction.packets.max(1) {
            gone += u64::from(self.drop_one(now, leaf, eviction.side, host));
            if gone >= eviction.bytes {
                break;
            }
        }
    }

    /// Drops the packet at the head or the tail of a leaf's queue because it is full; its bytes.
    fn drop_one(&mut self, now: Time, leaf: usize, side: Side, host: &mut impl Buffers<H>) -> u32 {
        let Kind::Queue(queue) = self.nodes[leaf].kind else { unreachable!("flows are queues") };
        let queue = &mut self.queues[queue];
        let gone = if side == Side::Head { queue.first() } else { queue.last() };
        let Some(gone) = gone else { return u32::MAX };
        if side == Side::Head || queue.waiting().packets == 1 {
            // What the queue keeps for its parent is still its first packet.
            self.nodes[leaf].kept = None;
        }
        queue.evict(now, host.packet(gone.handle), side);
        self.lost(now, leaf, gone.size);
        host.dropped(gone.handle, Reason::Overflow);
        gone.size
    }

    /// A packet that waited in a leaf's queue was dropped.
    fn lost(&mut self, now: Time, leaf: usize, size: u32) {
        let mut node = leaf;
        while let Some(up) = self.nodes[node].up {
            let behind = self.waiting(node);
            if let Kind::Scheduler(inner) = &mut self.nodes[up.node].kind {
                inner.all = inner.all - Count { packets: 1, bytes: size.into() };
                inner.scheduler.dropped(now, up.place, size, behind);
            }
            node = up.node;
        }
        self.touch(leaf);
    }

    /// The packet that is sent next; `None` if none may go now.
    pub(super) fn next(&mut self, now: Time, host: &mut impl Buffers<H>) -> Option<Leaving<H>> {
        self.drops = 0;
        while let Offer::Ready(_) = self.offer(0, now, host) {
            if let Some(taken) = self.release(0, now, host) {
                return Some(taken.leaving);
            }
        }
        None
    }

    /// When something may go that waits for a shaper, after [`Tree::next`] found nothing.
    pub(super) fn opens_at(&self) -> Option<Time> {
        match self.nodes[0].offer {
            Offer::Later(at) => Some(at),
            _ => None,
        }
    }

    /// What a node would send, without taking it.
    fn offer(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Offer {
        let it = &mut self.nodes[node];
        if let Some(taken) = &it.kept {
            it.stale = false;
            return Offer::Ready(taken.size);
        }
        if !it.stale && !it.offer.is_due(now) && it.opens.is_none_or(|at| at > now) {
            return it.offer;
        }
        let (offer, opens) = self.inside(node, now, host);
        let it = &mut self.nodes[node];
        (it.stale, it.offer, it.opens) = (false, offer, opens);
        offer
    }

    /// What a scheduler has to know of a child that it may not choose: of a queue its first packet; of others, and of
    /// queues that take what is looked at, what is known, or only whether anything waits there.
    fn glance(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Offer {
        let it = &self.nodes[node];
        let known = it.kept.is_some() || matches!(it.kind, Kind::Queue(_)) && !it.takes;
        if known || !it.stale && !it.offer.is_due(now) && it.opens.is_none_or(|at| at > now) {
            return self.offer(node, now, host);
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
            Kind::Queue(queue) => match self.queues[*queue].first() {
                Some(first) => (Offer::Ready(first.size), None),
                None => (Offer::Nothing, None),
            },
            Kind::Shaper(_, child) => {
                let child = *child;
                let below = self.look(child, now, host);
                let opens = self.opens_below(child);
                let (Offer::Ready(bytes), Kind::Shaper(shaper, _)) = (below, &self.nodes[node].kind) else {
                    return (below, opens);
                };
                match shaper.opens(now, bytes) {
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
            let opens = self.refresh(node, now, host);
            let inner = self.inner_mut(node);
            let place = match inner.scheduler.pick(now, &inner.heads) {
                Pick::Child(place) => place,
                Pick::Later(at) => return (Offer::Later(earlier(at, opens)), None),
                Pick::Nothing => return (opens.map_or(Offer::Nothing, Offer::Later), None),
            };
            let (head, child) = (inner.heads[place], inner.children[place]);
            let offer = self.look(child, now, host);
            let inner = self.inner_mut(node);
            inner.chosen = place;
            if inner.stale.is_empty() && offer.head() == head {
                return (offer, opens);
            }
            inner.heads[place] = offer.head();
        }
    }

    /// Computes the offers of those children again that have changed; when the first opens that a shaper holds back.
    fn refresh(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Option<Time> {
        while let Some(place) = self.inner_mut(node).stale.pop() {
            let head = self.glance(self.child(node, place), now, host).head();
            self.inner_mut(node).heads[place] = head;
        }
        let mut opens = None::<Time>;
        for i in 0..self.inner_mut(node).timed.len() {
            let place = self.inner_mut(node).timed[i];
            let child = self.child(node, place);
            let offer = self.glance(child, now, host);
            self.inner_mut(node).heads[place] = offer.head();
            let later = if let Offer::Later(at) = offer { Some(at) } else { self.opens_below(child) };
            opens = later.map(|at| earlier(at, opens)).or(opens);
        }
        opens
    }

    fn inner_mut(&mut self, node: usize) -> &mut Inner {
        let Kind::Scheduler(inner) = &mut self.nodes[node].kind else { unreachable!("a scheduler") };
        inner
    }

    fn child(&self, node: usize, place: usize) -> usize {
        let Kind::Scheduler(inner) = &self.nodes[node].kind else { unreachable!("a scheduler") };
        inner.children[place]
    }

    /// The packet that a node offers leaves it; `None` if its AQM dropped it instead.
    fn release(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Option<Taken<H>> {
        let taken = match self.nodes[node].kept.take() {
            Some(taken) => {
                if let Kind::Queue(queue) = self.nodes[node].kind {
                    self.queues[queue].take();
                }
                taken
            }
            None => self.pull(node, now, host)?,
        };
        self.touch(node);
        Some(taken)
    }

    /// Takes the packet that a node offers out of what is below it.
    fn pull(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Option<Taken<H>> {
        match &mut self.nodes[node].kind {
            Kind::Queue(_) => self.pull_leaf(now, node, Verdict::Pass, host),
            Kind::Shaper(_, child) => {
                let child = *child;
                let taken = self.release(child, now, host)?;
                if let Kind::Shaper(shaper, _) = &mut self.nodes[node].kind {
                    shaper.spend(now, taken.size);
                }
                Some(taken)
            }
            Kind::Scheduler(inner) => {
                let (place, judges) = (inner.chosen, inner.needs.contains(Needs::DEPARTURES));
                let child = inner.children[place];
                let taken = match self.nodes[child].kind {
                    Kind::Queue(queue) if judges && self.nodes[child].kept.is_none() => {
                        let above = self.judge_departure(now, node, queue, host);
                        let taken = self.pull_leaf(now, child, above, host)?;
                        self.touch(child);
                        taken
                    }
                    _ => self.release(child, now, host)?,
                };
                let behind = self.waiting(child);
                let inner = self.inner_mut(node);
                inner.all = inner.all - Count { packets: 1, bytes: taken.size.into() };
                inner.scheduler.sent(now, place, taken.size, behind);
                Some(taken)
            }
        }
    }

    /// What a scheduler that judges says to the packet at the head of the chosen child.
    fn judge_departure(&mut self, now: Time, node: usize, queue: usize, host: &mut impl Buffers<H>) -> Verdict {
        let Some(first) = self.queues[queue].first() else { return Verdict::Pass };
        let backlog = self.queues[queue].without_first(now);
        let Inner { scheduler, rng, all, chosen, .. } = self.inner_mut(node);
        let packet = host.packet(first.handle);
        let backlog = Backlog { ecn: packet.ecn.capable(), ..backlog };
        let all = *all - Count { packets: 1, bytes: first.size.into() };
        let visit = Visit { child: *chosen, at: Departure { now, arrived: first.arrived, backlog }, all };
        scheduler.on_departure(&visit, packet, rng)
    }

    /// Takes the packet at the head of a leaf's queue, of which a scheduler above has said `above`.
    fn pull_leaf(&mut self, now: Time, leaf: usize, above: Verdict, host: &mut impl Buffers<H>) -> Option<Taken<H>> {
        let Kind::Queue(queue) = self.nodes[leaf].kind else { return None };
        let first = self.queues[queue].first()?;
        let packet = host.packet(first.handle);
        let may_drop = self.drops < MOST_HEAD_DROPS;
        if let Fate::Dropped(reason) = self.queues[queue].depart(now, packet, may_drop, above) {
            self.drops += 1;
            self.lost(now, leaf, first.size);
            host.dropped(first.handle, reason);
            return None;
        }
        // What a queue keeps for its parent counts as waiting in it until it goes.
        if !self.nodes[leaf].takes {
            self.queues[queue].take();
        }
        let leaving =
            Leaving { handle: first.handle, arrived: first.arrived, queue: self.queues[queue].row(), leaf: queue };
        Some(Taken { leaving, size: first.size })
    }
}

/// What is inside a node of a specification.
#[allow(clippy::large_enum_variant)]
pub(super) enum Inside<H> {
    Queue(Queue<H>),
    Scheduler(AnyScheduler, Rng),
}

impl<H> Node<H> {
    /// A new child; its place among the children.
    fn adopt(&mut self, child: usize, timed: bool) -> usize {
        let Kind::Scheduler(inner) = &mut self.kind else { return 0 };
        let place = inner.children.len();
        inner.children.push(child);
        inner.heads.push(Head::Nothing);
        if timed {
            inner.timed.push(place);
        }
        place
    }
}
