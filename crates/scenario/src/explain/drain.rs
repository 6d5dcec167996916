//! How long full queues take to empty: each neck on a packet's way out, the link included, sends what waits before it at its
//! rate, and the slowest counts.

use crate::resolve::arriving::Arriving;
use crate::resolve::reaching;
use crate::resolve::topology::Direction;
use crate::scenario::Scenario;
use perhop_core::framing::{Frame, Framing};
use perhop_core::port::{Branch, Inside, Limit, NodeSpec};
use perhop_core::units::{BitRate, SignedBytes};
use perhop_sim::plan::{self, Plan};
use std::collections::BTreeSet;

/// What all packets of some queues pass at a rate: a shaper, a class of HTB, CAKE, the link.
struct Neck {
    rate: BitRate,
    frame: Frame,
    /// The queues whose packets pass it.
    queues: Vec<usize>,
}

/// A port's necks.
pub(super) struct Drain<'a> {
    /// Its link.
    pub(super) link: &'a plan::Link,
    necks: Vec<Neck>,
    /// How the link counts packets.
    serialised: Framing,
}

impl<'a> Drain<'a> {
    /// Of a link.
    pub(super) fn of(plan: &'a Plan, index: usize) -> Self {
        let link = &plan.links[index];
        let overhead = Some(SignedBytes::new(plan.accounting.to(link.framing).more()));
        let serialised = Framing { overhead, ..Framing::default() };
        let mut drain = Self { link, necks: Vec::new(), serialised };
        drain.add(link.rate, serialised, &(0..link.queues.len()).collect::<Vec<_>>());
        if let Ok(port) = plan.port(index).build::<()>() {
            port.branches().iter().for_each(|branch| drain.branch(branch));
        }
        drain
    }

    fn add(&mut self, rate: BitRate, framing: Framing, queues: &[usize]) {
        let scope = queues.first().map(|&queue| &self.link.queues[queue].scope);
        if let Some(frame) = scope.and_then(|scope| framing.build(scope).ok()) {
            self.necks.push(Neck { rate, frame, queues: queues.to_vec() });
        }
    }

    /// The scheduler's class that a branch is, its shaper, its scheduler's own rate.
    fn branch(&mut self, branch: &Branch) {
        let above = branch.above.and_then(|node| self.link.nodes[node].scheduler());
        if let (Some(rate), Some(scheduler)) = (branch.bound, above) {
            self.add(rate, scheduler.framing(), &branch.queues);
        }
        let Some(node) = branch.node.map(|node| &self.link.nodes[node]) else { return };
        if let Some(shaper) = &node.shaper {
            self.add(shaper.rate, shaper.framing, &branch.queues);
        }
        if let Some((scheduler, rate)) = node.scheduler().and_then(|it| Some((it, it.rate()?))) {
            self.add(rate, scheduler.framing(), &branch.queues);
        }
    }

    /// How long a full queue takes to empty while nothing else waits, or at the share that it is told; `None` if it has no
    /// limit.
    pub(super) fn alone(&self, queue: usize) -> Option<f64> {
        let scope = &self.link.queues[queue].scope;
        let told = scope.link_rate.zip(self.serialised.build(scope).ok());
        let told = told.map(|(rate, frame)| Neck { rate, frame, queues: vec![queue] });
        let necks = self.necks.iter().filter(|neck| neck.queues.contains(&queue));
        necks.chain(&told).filter_map(|neck| self.through(neck, queue)).reduce(f64::max)
    }

    /// How long until the last packet of one of these has gone, if all queues of the port are full.
    fn all_full(&self, queues: &[usize]) -> f64 {
        let necks = self.necks.iter().filter(|neck| queues.iter().any(|queue| neck.queues.contains(queue)));
        let time = |neck: &Neck| neck.queues.iter().filter_map(|&queue| self.through(neck, queue)).sum();
        necks.map(time).fold(0.0, f64::max)
    }

    /// How long a neck takes for all that a queue holds.
    fn through(&self, neck: &Neck, queue: usize) -> Option<f64> {
        let (largest, held) = (self.largest(queue), self.held(queue)?);
        let counted = if largest == 0 { 1.0 } else { f64::from(neck.frame.bytes(largest)) / f64::from(largest) };
        Some(held * counted * 8.0 / neck.rate.bit_s() as f64)
    }

    /// Bytes of a full queue as `accounting` counts them, of the largest packets that come there.
    fn held(&self, queue: usize) -> Option<f64> {
        let bytes = |limit: Limit| match limit {
            Limit::Packets(u32::MAX) => None,
            Limit::Packets(n) => Some(f64::from(n) * f64::from(self.largest(queue))),
            Limit::Bytes(n) => Some(n as f64),
        };
        let room = self.above(queue).and_then(|node| Some(node.scheduler()?.room())).unwrap_or_default();
        room.into_iter().chain([self.link.queues[queue].limit]).filter_map(bytes).reduce(f64::min)
    }

    fn largest(&self, queue: usize) -> u32 {
        u32::try_from(self.link.queues[queue].scope.largest_packet.get()).unwrap_or(u32::MAX)
    }

    /// The node right above a queue.
    fn above(&self, queue: usize) -> Option<&NodeSpec> {
        let node = self.link.nodes.iter().find(|node| matches!(node.inside, Inside::Queue(own) if own == queue))?;
        node.parent.map(|up| &self.link.nodes[up])
    }
}

/// The ports of a scenario: their necks, and which traffic comes to which of their queues.
pub(super) struct Ports<'a> {
    scenario: &'a Scenario,
    /// By link.
    pub(super) drains: Vec<Drain<'a>>,
    /// By link and queue: traffic, and whether it is its ACKs.
    comes: Vec<Vec<BTreeSet<(usize, bool)>>>,
}

impl<'a> Ports<'a> {
    /// All of them.
    pub(super) fn of(scenario: &'a Scenario) -> Self {
        let built = &scenario.built;
        let drains = (0..built.plan.links.len()).map(|link| Drain::of(&built.plan, link)).collect();
        let comes = |(direction, arriving): (&Direction, &Vec<Arriving>)| {
            let nodes = reaching::at_nodes(direction, arriving);
            let queues = reaching::at_queues(direction, &nodes, arriving);
            queues.iter().map(|queue| queue.iter().map(|it| (it.traffic, it.acks)).collect()).collect()
        };
        let comes = built.topology.links.iter().zip(&built.arrivals.queues).map(comes).collect();
        Self { scenario, drains, comes }
    }

    /// A traffic's round trip if all queues on it are full, s.
    pub(super) fn loop_rtt(&self, index: usize) -> f64 {
        let flow = &self.scenario.built.traffic[index];
        let ways = [(&flow.forward, false), (&flow.backward, true)];
        let links = ways.into_iter().flat_map(|(way, acks)| way.iter().map(move |&link| (link as usize, acks)));
        links.map(|(link, acks)| self.passes(link, (index, acks))).sum()
    }

    /// How long a link takes for its full queues, and then for the last packet.
    fn passes(&self, link: usize, whose: (usize, bool)) -> f64 {
        let queues = self.comes[link].iter().enumerate().filter(|(_, comes)| comes.contains(&whose));
        let queues: Vec<_> = queues.map(|(queue, _)| queue).collect();
        self.scenario.built.plan.links[link].delay.seconds() + self.drains[link].all_full(&queues)
    }
}
