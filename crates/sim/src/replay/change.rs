//! Another port from now on: packets that wait stay, and what is still there keeps its state.

use super::{Replay, Trip};
use crate::plan::Plan;
use perhop_core::classify::FlowHeaders;
use perhop_core::packet::FlowId;
use perhop_core::params::ParamError;
use perhop_core::port::{Inside, NodeSpec, QueueSpec};
use perhop_core::units::Time;
use perhop_core::verdict::Fate;

/// What a change did not keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Conditioners that begin afresh, and those that have ended.
    pub conditioners: Vec<String>,
    /// Whether the queues begin afresh; packets that waited are in them, or were dropped by them.
    pub queues: bool,
}

/// What a replay becomes.
#[derive(Debug)]
pub struct Change<'a> {
    /// One whose port has met no packet.
    pub fresh: Replay,
    /// The plans of whose first links the old one and the fresh one are, if they have queues.
    pub plans: [Option<&'a Plan>; 2],
    /// All flows that are known.
    pub flows: &'a [(FlowId, FlowHeaders)],
}

impl Replay {
    /// Changes at `now`: conditioners that are still there keep their state, and so do queues that are alike in both plans.
    /// `each` gets the trips of packets for which there is no room any longer.
    pub fn change(&mut self, now: Time, change: Change<'_>, each: &mut impl FnMut(&Trip)) -> Changed {
        let Change { mut fresh, plans, flows } = change;
        let conditioners = self.port.change_conditioners(now, &mut fresh.port);
        flows.iter().for_each(|(flow, headers)| self.port.reclassify(*flow, headers));
        let kept = match plans {
            [None, None] => true,
            [Some(before), Some(plan)] => is_alike(before, plan) && self.retune(now, plan).is_ok(),
            _ => false,
        };
        if let [Some(_), Some(plan)] = plans
            && let Some(line) = &mut self.line
        {
            line.set_rate(plan.links[0].rate);
        } else {
            self.line = fresh.line.take();
        }
        if !kept {
            self.port.exchange_queues(&mut fresh.port);
            flows.iter().for_each(|(flow, headers)| self.port.introduce(*flow, headers));
            self.take_over(now, &fresh, each);
        }
        Changed { conditioners, queues: !kept }
    }

    /// Other parameters for queues, schedulers and shapers that are otherwise as they were.
    fn retune(&mut self, now: Time, plan: &Plan) -> Result<(), ParamError> {
        let link = &plan.links[0];
        for (i, queue) in link.queues.iter().enumerate() {
            self.port.retune_aqm(now, i, &queue.aqm, &queue.scope)?;
        }
        for (i, node) in link.nodes.iter().enumerate() {
            if let Some(params) = node.scheduler() {
                self.port.retune_scheduler(now, i, params, &node.scope)?;
            }
            if let Some(params) = &node.shaper {
                self.port.retune_shaper(now, i, params, &node.scope)?;
            }
        }
        Ok(())
    }

    /// The packets that wait in the port of `old` come to the queues, in the order in which they arrived.
    fn take_over(&mut self, now: Time, old: &Self, each: &mut impl FnMut(&Trip)) {
        let mut waiting: Vec<_> = old.port.handles().collect();
        waiting.sort_unstable_by_key(|place| self.held.places[*place as usize].number);
        for place in waiting {
            let mut packet = self.held.places[place as usize].packet;
            let fate = self.port.requeue(now, &mut packet, place);
            self.held.places[place as usize].packet = packet;
            if self.port.evicts() {
                self.port.evict(now, &mut self.held);
                self.report_dropped(now, each);
            }
            if let Fate::Dropped(reason) = fate {
                each(&self.held.leave(place).dropped(now, reason));
            }
        }
        if self.free_at <= now {
            self.begin(now, each);
        }
    }
}

/// Whether all but parameters of algorithms is the same.
fn is_alike(before: &Plan, plan: &Plan) -> bool {
    let [before, after] = [before, plan].map(|plan| &plan.links[0]);
    let queue = |it: &QueueSpec| (it.aqm.name(), it.limit, it.drop);
    let node = |it: &NodeSpec| {
        let queue = if let Inside::Queue(number) = it.inside { Some(number) } else { None };
        (it.parent, queue, it.scheduler().map(|it| it.name()), it.shaper.is_some())
    };
    before.queues.iter().map(queue).eq(after.queues.iter().map(queue))
        && before.nodes.iter().map(node).eq(after.nodes.iter().map(node))
}
