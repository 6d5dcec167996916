//! Timed changes: new parameters for what is running, at a time stated beforehand.
//!
//! A change is applied by the engine's own clock: at equal times after all else but TCP's timers. What is under way
//! goes on as it began: a packet in transmission ends when it would have ended, and a source's next wake-up stays as
//! scheduled; what follows is by the new parameters. Algorithms keep their state (`retune`).

use crate::engine::{LARGEST_PACKET, Simulation};
use crate::link::Queues;
use crate::plan::Plan;
use crate::traffic::{TrafficParams, TrafficScope};
use perhop_core::aqm::{Aqm as _, AqmParams};
use perhop_core::conditioner::{Conditioner as _, ConditionerParams};
use perhop_core::params::ParamError;
use perhop_core::sched::SchedulerParams;
use perhop_core::scope::Scope;
use perhop_core::units::{BitRate, Bytes, Time};

/// What changes at one time.
#[derive(Clone, Debug)]
pub struct Change {
    /// When; after the start of the run.
    pub at: Time,
    /// In any order.
    pub what: Vec<Alteration>,
}

/// One thing that changes. New parameters are given whole, as the plan has them.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Alteration {
    /// Of a conditioner at a port.
    Conditioner {
        /// Index of the link.
        link: usize,
        /// The stage's name.
        name: String,
        /// Of the same kind.
        params: ConditionerParams,
        /// Its surroundings from then on.
        scope: Scope,
    },
    /// Of a queue's AQM.
    Aqm {
        /// Index of the link.
        link: usize,
        /// Index of the queue; 0 without scheduler.
        queue: usize,
        /// Of the same AQM.
        params: AqmParams,
        /// Its surroundings from then on.
        scope: Scope,
    },
    /// Of a link's scheduler.
    Scheduler {
        /// Index of the link.
        link: usize,
        /// Of the same scheduler, for the same classes.
        params: SchedulerParams,
    },
    /// Of a link: its rate.
    Rate {
        /// Index of the link.
        link: usize,
        /// The rate of what is sent from then on.
        rate: BitRate,
    },
    /// Of a traffic: all its sources.
    Traffic {
        /// Index of its `[traffic]` table.
        table: usize,
        /// Of the same model.
        params: TrafficParams,
    },
}

impl Plan {
    /// Makes the plan say what holds after an alteration, if what it describes can take it.
    ///
    /// # Errors
    /// The parameter at fault: what a running algorithm refuses, or asks its host for other hooks than before. The plan
    /// is then as it was.
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
            Alteration::Scheduler { link, params } => {
                let link = &mut self.links[*link];
                let scope = &link.queues[0].scope;
                let old = link.scheduler.as_ref().ok_or_else(ParamError::other_kind)?;
                old.build(scope)?.retune(Time::ZERO, params, scope)?;
                link.scheduler = Some(params.clone());
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

    /// What has to be altered for `after` to hold: a plan of the same network, traffic and algorithms.
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
            if let Some(params) = new.scheduler.clone().filter(|new| old.scheduler.as_ref() != Some(new)) {
                what.push(Alteration::Scheduler { link, params });
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
        TrafficScope { largest: LARGEST_PACKET, segment, senders }
    }

    /// Whether a link's rate ever changes: only the end of each transmission then tells when the next one ends.
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
    let message = format!("`{name}` would look at other packets or labels than when it began");
    Err(ParamError::new("", "E202", message).help("what it looks at and reads is settled when the run begins"))
}

impl Simulation {
    /// When the next change is due.
    pub(crate) fn next_change(&self) -> Time {
        self.plan.changes.get(self.changes_made).map_or(Time::MAX, |change| change.at)
    }

    /// Makes every change that is due.
    pub(crate) fn make_changes(&mut self, now: Time) {
        while self.next_change() <= now {
            let change = self.plan.changes[self.changes_made].clone();
            change.what.iter().for_each(|what| self.make_change(now, what));
            self.changes_made += 1;
        }
    }

    fn make_change(&mut self, now: Time, alteration: &Alteration) {
        let taken = match alteration {
            Alteration::Conditioner { link, name, params, scope } => {
                self.links[*link].edge.retune(now, name, (params, scope))
            }
            Alteration::Aqm { link, queue, params, scope } => {
                self.links[*link].queues.gate_mut(*queue).aqm_mut().retune(now, params, scope)
            }
            Alteration::Scheduler { link, params } => {
                let scope = &self.plan.links[*link].queues[0].scope;
                match &mut self.links[*link].queues {
                    Queues::One(_) => Err(ParamError::other_kind()),
                    Queues::Several(classes) => classes.scheduler.retune(now, params, scope),
                }
            }
            Alteration::Rate { link, rate } => {
                self.links[*link].set_rate(*rate);
                Ok(())
            }
            Alteration::Traffic { table, params } => {
                let scope = self.plan.traffic_scope(*table);
                let mut sources = self.sources.iter_mut().filter(|s| usize::from(s.table) == *table);
                sources.try_for_each(|source| source.traffic.retune(now, params, &scope))
            }
        };
        taken.expect("the plan took it");
    }
}
