//! Inwards: from the root to a queue, and what has to make room there.

use super::{Inner, Kind, Tree, UNMADE};
use crate::aqm::{Backlog, Departure};
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::port::{Buffers, Turn};
use crate::sched::{Eviction, Scheduler as _, Visit};
use crate::units::Time;
use crate::verdict::{Fate, Reason, Side, Verdict};

impl<H: Copy> Tree<H> {
    /// A packet arrives.
    pub(in crate::port) fn arrive(&mut self, now: Time, packet: &mut Packet, handle: H) -> Fate {
        let (leaf, above) = self.descend(now, packet);
        self.last = leaf;
        let Kind::Queue(queue) = self.nodes[leaf].kind else { unreachable!("queues are the leaves") };
        let fate = self.queues[queue].arrive_below(now, packet, handle, above);
        if fate.stays() {
            self.all.add(packet.size);
            let mut node = leaf;
            while let Some(up) = self.nodes[node].up {
                if let Kind::Scheduler(inner) = &mut self.nodes[up.node].kind {
                    inner.all.add(packet.size);
                    inner.scheduler.queued(Turn::new(now), up.place, packet.size);
                } else {
                    self.comes_below(now, node, up.node);
                }
                node = up.node;
            }
            self.touch_behind(leaf);
        } else if !self.evicts() {
            // Linux's line asks after an arrival, whatever became of it; a host, of one that is dropped, only where others may go.
            self.held_back += u64::from(self.opens_at().is_some_and(|at| at > now));
        }
        fate
    }

    /// A packet has come to a leaf: behind another one it changes nothing that shapers right above offer.
    fn touch_behind(&mut self, leaf: usize) {
        let (mut node, behind) = (leaf, self.waiting(leaf).packets > 1);
        while behind && !self.nodes[node].stale {
            let Some(up) = self.nodes[node].up else { return };
            if !matches!(&self.nodes[up.node].kind, Kind::Shaper(shaper, _) if shaper.minds_only_the_first()) {
                break;
            }
            node = up.node;
        }
        self.touch(node);
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
                    let place = inner.scheduler.place(Turn::new(packet));
                    inner.came = place;
                    let mut child = inner.children[place];
                    let judges = inner.needs.contains(Needs::ARRIVALS) && above == Verdict::Pass;
                    if child == UNMADE {
                        child = self.make_flow(node, place);
                    }
                    if judges {
                        above = self.judge_arrival(now, node, place, packet);
                    }
                    child
                }
            };
            node = next;
        }
    }

    /// Whether something on the way of a burst wants its segments one by one.
    pub(in crate::port) fn takes_apart(&mut self, burst: &Packet) -> bool {
        let mut node = 0;
        loop {
            node = match &mut self.nodes[node].kind {
                Kind::Queue(_) => return false,
                Kind::Shaper(shaper, _) if !shaper.admits(burst.size) => return true,
                Kind::Shaper(_, child) => *child,
                Kind::Scheduler(inner) if inner.needs.contains(Needs::SEGMENTS) => return true,
                Kind::Scheduler(inner) if inner.needs.contains(Needs::FLOWS) => return false,
                Kind::Scheduler(inner) => inner.children[inner.scheduler.place(Turn::new(burst))],
            };
        }
    }

    fn judge_arrival(&mut self, now: Time, node: usize, child: usize, packet: &mut Packet) -> Verdict {
        let Kind::Scheduler(inner) = &self.nodes[node].kind else { return Verdict::Pass };
        let backlog = Backlog { ecn: packet.ecn.capable(), ..self.backlog_of(inner.children[child], now) };
        let all = self.waiting(node);
        let Kind::Scheduler(inner) = &mut self.nodes[node].kind else { return Verdict::Pass };
        let visit = Visit { child, at: Departure { now, arrived: now, backlog }, all };
        let Inner { scheduler, rng, .. } = &mut **inner;
        scheduler.on_arrival(Turn::new(&visit), packet, rng)
    }

    /// What waits at a node and below it.
    fn backlog_of(&self, node: usize, now: Time) -> Backlog {
        if let Kind::Queue(queue) = self.nodes[node].kind {
            return self.queues[queue].backlog(now);
        }
        let count = self.waiting(node);
        Backlog { packets: count.packets as u32, bytes: count.bytes, ..Backlog::default() }
    }

    /// Whether something may have to go to make room for what has arrived.
    pub(in crate::port) fn evicts(&self) -> bool {
        self.evicts
    }

    /// Drops what exceeds the limits, now that a packet has arrived: at the nodes that it has passed.
    #[inline]
    pub(in crate::port) fn evict(&mut self, now: Time, host: &mut impl Buffers<H>) {
        if let Some(first) = self.evicting(self.last) {
            self.evict_from(now, first, host);
        }
    }

    /// The node itself if it evicts, else the nearest above that does.
    pub(super) fn evicting(&self, node: usize) -> Option<usize> {
        if self.nodes[node].evicts { Some(node) } else { self.nodes[node].above }
    }

    /// What is above a node has to be asked first.
    fn evict_from(&mut self, now: Time, node: usize, host: &mut impl Buffers<H>) {
        if let Some(above) = self.nodes[node].above {
            self.evict_from(now, above, host);
        }
        match self.nodes[node].kind {
            Kind::Queue(queue) => {
                while let Some(surplus) = self.queues[queue].surplus() {
                    self.drop_at(now, node, surplus, host);
                }
            }
            _ => {
                self.filter_acks(now, node, host);
                let Some(first) = self.eviction(node) else { return };
                let (mut next, mut congested) = (Some(first), false);
                while let Some(eviction) = next {
                    congested |= eviction.child == self.inner(node).came;
                    self.evict_child(now, node, eviction, host);
                    next = self.eviction(node);
                }
                self.inner_mut(node).congested += u64::from(congested);
            }
        }
    }

    /// Drops the ACK that the last packet has made redundant, if a scheduler looks for one.
    fn filter_acks(&mut self, now: Time, node: usize, host: &mut impl Buffers<H>) {
        let Kind::Scheduler(inner) = &mut self.nodes[node].kind else { return };
        let Some((child, filter)) = inner.scheduler.filters() else { return };
        let leaf = inner.children[child];
        let Kind::Queue(queue) = self.nodes[leaf].kind else { unreachable!("flows are queues") };
        let Some(last) = self.queues[queue].last() else { return };
        let newest = (*host.packet(last.handle), host.options(last.handle));
        let waiting = self.queues[queue].waiting_handles();
        let waiting = waiting.map(|handle| (*host.packet(handle), host.options(handle)));
        if let Some(place) = filter.redundant(waiting, &newest) {
            self.drop_at(now, leaf, (place as u32, Reason::Filtered), host);
        }
    }

    /// What a scheduler wants to go. What it has handed out counts as long as it has not been sent.
    fn eviction(&mut self, node: usize) -> Option<Eviction> {
        let it = &mut self.nodes[node];
        let kept = it.handed_out();
        let Kind::Scheduler(inner) = &mut it.kind else { return None };
        let all = inner.all + kept;
        inner.scheduler.evict(Turn::new(all))
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
        let last = (self.waiting(leaf).packets as u32).saturating_sub(1);
        let place = if side == Side::Head { 0 } else { last };
        self.drop_at(now, leaf, (place, Reason::Overflow), host)
    }

    /// Drops the packet at this place of a leaf's queue, for this reason; its bytes.
    fn drop_at(&mut self, now: Time, leaf: usize, (place, reason): (u32, Reason), host: &mut impl Buffers<H>) -> u32 {
        let Kind::Queue(queue) = self.nodes[leaf].kind else { unreachable!("flows are queues") };
        let queue = &mut self.queues[queue];
        let Some(gone) = queue.nth(place) else { return u32::MAX };
        if place == 0 {
            // What the queue keeps for its parent is still its first packet.
            self.nodes[leaf].kept = None;
        }
        queue.evict(now, host.packet(gone.handle), place, reason);
        self.lost(now, leaf, gone.size);
        host.dropped(gone.handle, reason);
        gone.size
    }

    /// A packet that waited in a leaf's queue was dropped.
    pub(super) fn lost(&mut self, now: Time, leaf: usize, size: u32) {
        self.all = self.all - Count { packets: 1, bytes: size.into() };
        let mut node = leaf;
        while let Some(up) = self.nodes[node].up {
            let behind = self.waiting(node);
            if let Kind::Scheduler(inner) = &mut self.nodes[up.node].kind {
                inner.all = inner.all - Count { packets: 1, bytes: size.into() };
                inner.scheduler.dropped(Turn::new(now), up.place, size, behind);
            }
            node = up.node;
        }
        self.touch(leaf);
    }
}
