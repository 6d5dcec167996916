//! What happens to ports at the engine's clock: timed changes, conditioners' timers, and the reports between the edges
//! of the network.

use super::Net;
use crate::plan::{Alteration, Plan};
use perhop_core::params::ParamError;
use perhop_core::units::Time;

impl Net {
    /// Whether conditioners ask for the time: then a new flow may bring one with an earlier report.
    pub fn has_timed_edges(&self) -> bool {
        !self.timed_edges.is_empty()
    }

    /// When a conditioner publishes or a report arrives next.
    pub fn next_report(&self) -> Time {
        let timers = self.timed_edges.iter().filter_map(|&i| self.links[i as usize].port().publishes_at());
        timers.chain(self.mail.next_at()).min().unwrap_or(Time::MAX)
    }

    /// Publishes the reports that are due, delivers those that have arrived.
    pub fn exchange(&mut self, now: Time) {
        for &i in &self.timed_edges {
            self.links[i as usize].port_mut().publish(now, i, &mut self.mail);
        }
        while let Some(letter) = self.mail.take_due(now) {
            for &i in &self.timed_edges {
                self.links[i as usize].port_mut().hear(now, i, &letter);
            }
        }
    }

    /// Makes an alteration of a link, its queues or conditioners; those of traffic are not its business.
    ///
    /// # Errors
    /// The offending parameter.
    pub fn alter(&mut self, now: Time, alteration: &Alteration, plan: &Plan) -> Result<(), ParamError> {
        match alteration {
            Alteration::Conditioner { link, name, params, scope } => {
                self.links[*link].port_mut().retune_conditioner(now, name, params, scope)
            }
            Alteration::Aqm { link, queue, params, scope } => {
                self.links[*link].port_mut().retune_aqm(now, *queue, params, scope)
            }
            Alteration::Scheduler { link, node, params } => {
                let scope = &plan.links[*link].nodes[*node].scope;
                self.links[*link].port_mut().retune_scheduler(now, *node, params, scope)
            }
            Alteration::Shaper { link, node, params } => {
                let scope = &plan.links[*link].nodes[*node].scope;
                self.links[*link].port_mut().retune_shaper(now, *node, params, scope)
            }
            Alteration::Rate { link, rate } => {
                self.links[*link].set_rate(*rate);
                Ok(())
            }
            Alteration::Traffic { .. } => Ok(()),
        }
    }
}
