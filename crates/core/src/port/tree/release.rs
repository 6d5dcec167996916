//! Outwards, second half: the packet that was offered leaves its queue and every node above.

use super::{Inner, Kind, Taken, Tree};
use crate::aqm::{Backlog, Departure};
use crate::count::Count;
use crate::needs::Needs;
use crate::port::{Buffers, Leaving, MOST_HEAD_DROPS, Turn};
use crate::sched::{Scheduler as _, Visit};
use crate::units::Time;
use crate::verdict::{Fate, Verdict};

impl<H: Copy> Tree<H> {
    /// The packet that a node offers leaves it; `None` if its AQM dropped it instead.
    pub(super) fn release(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Option<Taken<H>> {
        let taken = match self.nodes[node].kept {
            Some(taken) => {
                self.nodes[node].kept = None;
                if let Kind::Queue(queue) = self.nodes[node].kind {
                    self.take(queue, taken.size);
                }
                taken
            }
            None => self.pull(node, now, host)?,
        };
        self.touch(node);
        Some(taken)
    }

    /// Takes the packet that a node offers out of what is below it.
    pub(super) fn pull(&mut self, node: usize, now: Time, host: &mut impl Buffers<H>) -> Option<Taken<H>> {
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
                inner.scheduler.sent(Turn::new(now), place, taken.size, behind);
                Some(taken)
            }
        }
    }

    /// The packet at the head of a queue leaves it.
    fn take(&mut self, queue: usize, size: u32) {
        self.queues[queue].take();
        self.all = self.all - Count { packets: 1, bytes: size.into() };
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
        scheduler.on_departure(Turn::new(&visit), packet, rng)
    }

    /// Takes the packet at the head of a leaf's queue, of which a scheduler above has said `above`.
    fn pull_leaf(&mut self, now: Time, leaf: usize, above: Verdict, host: &mut impl Buffers<H>) -> Option<Taken<H>> {
        let Kind::Queue(queue) = self.nodes[leaf].kind else { return None };
        let first = self.queues[queue].first()?;
        if self.nodes[leaf].judges || above != Verdict::Pass {
            let may_drop = self.drops < MOST_HEAD_DROPS;
            let packet = host.packet(first.handle);
            if let Fate::Dropped(reason) = self.queues[queue].depart(now, packet, may_drop, above) {
                self.drops += 1;
                self.lost(now, leaf, first.size);
                host.dropped(first.handle, reason);
                return None;
            }
        }
        // What a queue keeps for its parent counts as waiting in it until it goes.
        if !self.nodes[leaf].takes {
            self.take(queue, first.size);
        }
        let leaving =
            Leaving { handle: first.handle, arrived: first.arrived, queue: self.queues[queue].row(), leaf: queue };
        Some(Taken { leaving, size: first.size })
    }
}
