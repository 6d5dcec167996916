//! Timed changes, as they are made while it runs.
//!
//! A change is applied by the engine's own clock: at equal times after all else but TCP's timers. What is under way
//! goes on as it began: a packet in transmission ends when it would have ended, and a source's next wake-up stays as
//! scheduled; what follows is by the new parameters. Algorithms keep their state (`retune`).

use super::Simulation;
use crate::net::Queues;
use crate::plan::Alteration;
use perhop_core::params::ParamError;
use perhop_core::units::Time;

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
