//! What the tree is asked and told besides packets: its needs, flows, timers, series, new parameters.

use super::{Inner, Kind, Part, Tree};
use crate::classify::FlowHeaders;
use crate::needs::Needs;
use crate::packet::FlowId;
use crate::params::ParamError;
use crate::port::Turn;
use crate::port::queues::EachList;
use crate::port::shaper::ShaperParams;
use crate::sched::{Scheduler as _, SchedulerParams, Socket};
use crate::scope::Scope;
use crate::units::Time;

impl<H: Copy> Tree<H> {
    /// What its schedulers need.
    pub(in crate::port) fn needs(&self) -> Needs {
        self.inners().fold(Needs::NOTHING, |all, inner| all | inner.needs)
    }

    pub(in crate::port) fn register(&mut self, flow: FlowId, headers: &FlowHeaders) {
        for i in 0..self.schedulers.len() {
            self.inner_mut(self.schedulers[i]).scheduler.register(Turn::new(flow), headers);
        }
    }

    pub(in crate::port) fn sends(&mut self, flow: FlowId, socket: Socket) {
        for i in 0..self.schedulers.len() {
            self.inner_mut(self.schedulers[i]).scheduler.sends(Turn::new(flow), socket);
        }
    }

    /// The lists by which its schedulers sort packets, and whether anything waits in a child of each.
    pub(in crate::port) fn lists(&mut self, each: &mut EachList<'_>) {
        let Self { nodes, queues, schedulers, .. } = self;
        for first in schedulers.iter().map(|node| node + 1) {
            // Children come after their parents.
            let (above, below) = nodes.split_at_mut(first);
            let Kind::Scheduler(inner) = &mut above[first - 1].kind else { continue };
            let Inner { scheduler, children, .. } = &mut **inner;
            let part = Part { nodes: below, first, queues };
            let waits = |child: usize| part.waiting(children[child]).packets > 0;
            scheduler.members().into_iter().for_each(|list| each(list, &waits));
        }
    }

    pub(in crate::port) fn poll_at(&self) -> Option<Time> {
        self.inners().filter_map(|inner| inner.scheduler.poll_at()).min()
    }

    pub(in crate::port) fn on_timer(&mut self, now: Time) {
        let Self { nodes, queues, schedulers, .. } = self;
        for first_below in schedulers.iter().map(|node| node + 1) {
            // Children come after their parents.
            let (above, below) = nodes.split_at_mut(first_below);
            let Kind::Scheduler(inner) = &mut above[first_below - 1].kind else { continue };
            if inner.scheduler.poll_at().is_some_and(|at| at <= now) {
                let leaf = |child: usize| below.get(inner.children[child] - first_below)?.queue();
                let oldest = |child| queues[leaf(child)?].first().map(|entry| entry.arrived);
                inner.scheduler.on_timer(Turn::new(now), &oldest);
            }
        }
    }

    /// Values for series: node of the specification, name, value.
    pub(in crate::port) fn gauges(&self, now: Time, each: &mut dyn FnMut(usize, &'static str, f64)) {
        for (spec, numbers) in self.numbers.iter().enumerate() {
            if let Some(Kind::Scheduler(inner)) = self.nodes.get(numbers.node).map(|node| &node.kind) {
                inner.scheduler.gauges(now, &mut |name, value| each(spec, name, value));
            }
            if let Some(Kind::Shaper(shaper, _)) = numbers.shaper.map(|shaper| &self.nodes[shaper].kind) {
                shaper.gauges(now, &mut |name, value| each(spec, name, value));
            }
        }
    }

    pub(in crate::port) fn retune_scheduler(
        &mut self,
        now: Time,
        spec: usize,
        params: &SchedulerParams,
        scope: &Scope,
    ) -> Result<(), ParamError> {
        let node = self.numbers.get(spec).ok_or_else(ParamError::other_kind)?.node;
        let Some(Kind::Scheduler(inner)) = self.nodes.get_mut(node).map(|node| &mut node.kind) else {
            return Err(ParamError::other_kind());
        };
        inner.scheduler.retune(now, params, scope)?;
        inner.needs = inner.scheduler.needs();
        self.touch(node);
        Ok(())
    }

    pub(in crate::port) fn retune_shaper(
        &mut self,
        now: Time,
        spec: usize,
        params: &ShaperParams,
        scope: &Scope,
    ) -> Result<(), ParamError> {
        let node = self.numbers.get(spec).and_then(|numbers| numbers.shaper).ok_or_else(ParamError::other_kind)?;
        let held = self.holds(now, node);
        let Kind::Shaper(shaper, _) = &mut self.nodes[node].kind else { return Err(ParamError::other_kind()) };
        shaper.retune(now, held, params, scope)?;
        self.touch(node);
        Ok(())
    }
}
