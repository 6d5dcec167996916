//! From a plan to links at rest.

use super::link::{Link, Parts};
use super::wire::Wire;
use super::{Net, Pool};
use crate::plan::{Plan, PlanError};
use perhop_core::needs::Needs;
use perhop_core::port::edge::Mail;
use perhop_core::port::{Port, PortError};
use std::collections::HashMap;

impl Net {
    /// The links that `plan` describes, nothing on them; with an event at the end of each transmission on all of them, if
    /// asked.
    ///
    /// # Errors
    /// Parameters that their algorithm refuses.
    pub fn new(plan: &Plan, transmit_done: bool) -> Result<Self, PlanError> {
        let mut links = Vec::with_capacity(plan.links.len());
        for i in 0..plan.links.len() {
            links.push(build_link(plan, i, transmit_done)?);
        }
        let mates = mates(plan, &links);
        let looked_at = |links: &[Link], i: usize| mates[i].is_some() || links[i].port().moves_timers();
        (0..links.len()).for_each(|i| {
            if looked_at(&links, i) {
                links[i].watch()
            }
        });
        let timed = |&i: &usize| links[i].port().edge_needs().contains(Needs::TIMER);
        Ok(Self {
            mates,
            timed_edges: (0..links.len()).filter(timed).map(|i| i as u32).collect(),
            pool: Pool::default(),
            hops: Vec::new(),
            mail: Mail::default(),
            packet_hops: 0,
            dropped: Vec::new(),
            links,
        })
    }
}

/// For each link, the opposite one if its conditioners look at return traffic.
fn mates(plan: &Plan, links: &[Link]) -> Vec<Option<u32>> {
    let mut mates = vec![None; links.len()];
    let mut first = HashMap::with_capacity(links.len());
    plan.links.iter().enumerate().for_each(|(i, link)| _ = first.entry((link.from, link.to)).or_insert(i));
    for i in (0..links.len()).filter(|&i| links[i].port().edge_needs().contains(Needs::REVERSE)) {
        let link = &plan.links[i];
        if let Some(&back) = first.get(&(link.to, link.from)) {
            mates[back] = Some(i as u32);
        }
    }
    mates
}

fn build_link(plan: &Plan, index: usize, transmit_done: bool) -> Result<Link, PlanError> {
    let link = &plan.links[index];
    Ok(Link::new(Parts {
        port: build_port(plan, index)?,
        rate: link.rate,
        framing: link.framing,
        delay: link.delay,
        uneven: Wire::new(plan, index),
        force_transmit_done: transmit_done || plan.has_timed_rate(index),
    }))
}

/// The port that a link leaves from, empty.
pub(crate) fn build_port<H: Copy>(plan: &Plan, link: usize) -> Result<Port<H>, PlanError> {
    plan.port(link).build().map_err(|error| refused(&plan.links[link].name, error))
}

fn refused(link: &str, error: PortError) -> PlanError {
    match error {
        PortError::Conditioner(name, error) => PlanError::Param(format!("[conditioner.{name}]"), error),
        PortError::Queue(error) => PlanError::Param(format!("queue of {link}"), error),
        PortError::Queues { queues: 0, .. } => PlanError::Other(format!("{link} has no queue")),
        PortError::Queues { queues, classes } => {
            PlanError::Other(format!("{link}: {queues} queues for {classes} classes"))
        }
    }
}
