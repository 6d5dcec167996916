//! From a plan to links at rest.

use super::classes::Classes;
use super::link::{Link, Parts, Queues};
use super::{Net, Pool};
use crate::plan::{self, Plan, PlanError};
use perhop_core::Rng;
use perhop_core::edge::{Edge, Mail};
use perhop_core::needs::Needs;
use perhop_core::queue::Gate;
use perhop_core::sched::Scheduler as _;

impl Net {
    /// The links that `plan` describes, nothing on them; with an event at the end of each transmission on all of them, if
    /// asked.
    ///
    /// # Errors
    /// Parameters that their algorithm refuses.
    pub fn new(plan: &Plan, transmit_done: bool) -> Result<Self, PlanError> {
        let links = (0..plan.links.len()).map(|i| build_link(plan, i, transmit_done)).collect::<Result<Vec<_>, _>>()?;
        let timed = |&i: &usize| links[i].edge_needs.contains(Needs::TIMER);
        Ok(Self {
            mates: mates(plan, &links),
            timed_edges: (0..links.len()).filter(timed).map(|i| i as u32).collect(),
            pool: Pool::default(),
            hops: Vec::new(),
            mail: Mail::default(),
            packet_hops: 0,
            links,
        })
    }
}

/// For each link, the opposite one if its conditioners look at return traffic.
fn mates(plan: &Plan, links: &[Link]) -> Vec<Option<u32>> {
    let mut mates = vec![None; links.len()];
    for i in (0..links.len()).filter(|&i| links[i].edge_needs.contains(Needs::REVERSE)) {
        let link = &plan.links[i];
        if let Some(back) = plan.links.iter().position(|l| l.from == link.to && l.to == link.from) {
            mates[back] = Some(i as u32);
        }
    }
    mates
}

fn build_link(plan: &Plan, index: usize, transmit_done: bool) -> Result<Link, PlanError> {
    let link = &plan.links[index];
    let stream = |what: &str| Rng::stream(plan.seed, plan.replication, &format!("{what}.{}", link.name));
    let edge = Edge::new(link.edge.clone(), plan.seed, plan.replication).map_err(|fault| {
        let (name, error) = *fault;
        PlanError::Param(format!("[conditioner.{name}]"), Box::new(error))
    })?;
    let loss = link.loss.get();
    Ok(Link::new(Parts {
        edge,
        queues: build_queues(plan, link)?,
        rate: link.rate,
        delay: link.delay,
        wire_loss: (loss > 0.0).then(|| (loss, stream("wire"))),
        classes: plan.classes.len(),
        force_transmit_done: transmit_done || plan.has_timed_rate(index),
    }))
}

fn build_queues(plan: &Plan, link: &plan::Link) -> Result<Queues, PlanError> {
    let refused = |error| PlanError::Param(format!("queue of {}", link.name), Box::new(error));
    let gate = |(i, queue): (usize, &plan::Queue)| {
        let aqm = queue.aqm.build(&queue.scope).map_err(refused)?;
        let rng = Rng::stream(plan.seed, plan.replication, &queue_stream(&link.name, i));
        Ok(Gate::new(aqm, queue.limit, rng).with_classes(plan.classes.len()))
    };
    let mut gates = link.queues.iter().enumerate().map(gate).collect::<Result<Vec<_>, _>>()?;
    let nothing = || PlanError::Other(format!("{} has no queue", link.name));
    let first = link.queues.first().ok_or_else(nothing)?;
    let Some(params) = &link.scheduler else { return gates.pop().map(Queues::One).ok_or_else(nothing) };
    let scheduler = params.build(&first.scope).map_err(refused)?;
    let (queues, classes) = (gates.len(), scheduler.members().places());
    if queues != classes {
        return Err(PlanError::Other(format!("{}: {queues} queues for {classes} classes", link.name)));
    }
    Ok(Queues::Several(Box::new(Classes::new(scheduler, gates))))
}

/// The random stream of a link's queue. The first has the one it would have without a scheduler, so that both kinds
/// draw the same.
fn queue_stream(link: &str, i: usize) -> String {
    if i == 0 { format!("queue.{link}") } else { format!("queue.{link}.{}", i + 1) }
}
