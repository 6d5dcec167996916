//! What a plan says after an alteration, and which alterations lead from one plan to another.

use super::Plan;
use super::change::Alteration;
use super::error::PlanError;
use crate::traffic::{LARGEST_PACKET, TrafficScope};
use perhop_core::aqm::Aqm as _;
use perhop_core::conditioner::Conditioner as _;
use perhop_core::params::ParamError;
use perhop_core::port::Inside;
use perhop_core::units::{Bytes, Span, Time};

impl Plan {
    /// Updates the plan to an alteration, if what it describes can take it.
    ///
    /// # Errors
    /// The offending parameter: one that a running algorithm refuses, or that needs other hooks of its host than
    /// before. The plan is then unchanged.
    pub fn alter(&mut self, alteration: &Alteration) -> Result<(), ParamError> {
        match alteration {
            Alteration::Conditioner { link, name, params, scope } => {
                for spec in self.links[*link].edge.iter_mut().filter(|s| s.name == *name) {
                    let mut running = spec.params.build(&spec.scope)?;
                    let before = (running.needs(), running.reads());
                    running.retune(Time::ZERO, params, scope)?;
                    same_hooks(before == (running.needs(), running.reads()), params.name())?;
                    (spec.params, spec.scope) = (params.clone(), scope.clone());
                }
            }
            Alteration::Aqm { link, queue, params, scope } => {
                let queue = &mut self.links[*link].queues[*queue];
                let mut running = queue.aqm.build(&queue.scope)?;
                let before = (running.needs(), running.reads());
                running.retune(Time::ZERO, params, scope)?;
                same_hooks(before == (running.needs(), running.reads()), params.name())?;
                (queue.aqm, queue.scope) = (params.clone(), scope.clone());
            }
            Alteration::Scheduler { link, node, params } => {
                let node = &mut self.links[*link].nodes[*node];
                let old = node.scheduler().ok_or_else(ParamError::other_kind)?;
                old.build(&node.scope)?.retune(Time::ZERO, params, &node.scope)?;
                node.inside = Inside::Scheduler(params.clone());
            }
            Alteration::Shaper { link, node, params } => {
                let node = &mut self.links[*link].nodes[*node];
                node.shaper.as_ref().ok_or_else(ParamError::other_kind)?;
                params.build(&node.scope)?;
                node.shaper = Some(params.clone());
            }
            Alteration::Rate { link, rate } => {
                ParamError::above_zero("rate", *rate)?;
                self.links[*link].rate = *rate;
            }
            Alteration::Traffic { table, params } => {
                let scope = self.traffic_scope(*table);
                let offered = &mut self.traffic[*table];
                offered.model.build(&scope)?.retune(Time::ZERO, params, &scope)?;
                offered.model = params.clone();
            }
        }
        Ok(())
    }

    /// Whether the running algorithms will accept every change.
    ///
    /// # Errors
    /// Changes out of order, or the offending parameter.
    pub(crate) fn check_changes(&self) -> Result<(), PlanError> {
        if !self.changes.is_sorted_by_key(|change| change.at) {
            return Err(PlanError::Other("changes are not in order of time".into()));
        }
        let mut altered = self.clone();
        for change in &self.changes {
            let table = || format!("change at {}", Span::from_ns(change.at.ns()));
            let refused = |error| PlanError::Param(table(), Box::new(error));
            change.what.iter().try_for_each(|what| altered.alter(what)).map_err(refused)?;
        }
        Ok(())
    }

    /// What has to be altered to reach `after`: a plan of the same network, traffic and algorithms.
    pub fn alterations(&self, after: &Self) -> Vec<Alteration> {
        let mut what = Vec::new();
        for (link, (old, new)) in self.links.iter().zip(&after.links).enumerate() {
            if old.rate != new.rate {
                what.push(Alteration::Rate { link, rate: new.rate });
            }
            for (queue, (old, new)) in old.queues.iter().zip(&new.queues).enumerate() {
                if (&old.aqm, &old.scope) != (&new.aqm, &new.scope) {
                    what.push(Alteration::Aqm { link, queue, params: new.aqm.clone(), scope: new.scope.clone() });
                }
            }
            for (node, (old, new)) in old.nodes.iter().zip(&new.nodes).enumerate() {
                if let Some(params) = new.scheduler().filter(|new| old.scheduler() != Some(*new)) {
                    what.push(Alteration::Scheduler { link, node, params: params.clone() });
                }
                if let Some(params) = new.shaper.as_ref().filter(|new| old.shaper.as_ref() != Some(*new)) {
                    what.push(Alteration::Shaper { link, node, params: params.clone() });
                }
            }
            let stages = old.edge.iter().zip(&new.edge);
            let differing = stages.filter(|(old, new)| (&old.params, &old.scope) != (&new.params, &new.scope));
            what.extend(differing.map(|(_, new)| Alteration::Conditioner {
                link,
                name: new.name.clone(),
                params: new.params.clone(),
                scope: new.scope.clone(),
            }));
        }
        for (table, (old, new)) in self.traffic.iter().zip(&after.traffic).enumerate() {
            if old.model != new.model {
                what.push(Alteration::Traffic { table, params: new.model.clone() });
            }
        }
        what
    }

    /// Surroundings of the sources of a `[traffic]` table.
    pub(crate) fn traffic_scope(&self, table: usize) -> TrafficScope {
        let offered = &self.traffic[table];
        let (segment, senders) = (Bytes::new(offered.tcp.mss.into()), offered.from.len() as u32);
        TrafficScope { largest: LARGEST_PACKET, segment, senders, source: 0, sources: offered.flows }
    }

    /// Whether a link's rate ever changes: only the end of each transmission then determines when the next one ends.
    pub(crate) fn has_timed_rate(&self, index: usize) -> bool {
        let all = self.changes.iter().flat_map(|change| &change.what);
        all.into_iter().any(|what| matches!(what, Alteration::Rate { link, .. } if *link == index))
    }
}

/// A host wires the hooks of an algorithm once, when it builds it.
fn same_hooks(same: bool, name: &str) -> Result<(), ParamError> {
    if same {
        return Ok(());
    }
    let message = format!("the change would alter which packets or labels `{name}` looks at");
    Err(ParamError::new("", "E202", message)
        .help("the packets and labels of a conditioner are fixed when the run begins"))
}
