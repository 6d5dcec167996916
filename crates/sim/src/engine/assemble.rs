//! From a plan to a simulation at time zero: its owners, then the first events.

use super::Simulation;
use super::trace::Trace;
use crate::agenda::{Agenda, Component, most_components};
use crate::hosts::Hosts;
use crate::net::Net;
use crate::plan::{Plan, PlanError, Protocols};
use crate::record::Recorder;
use perhop_core::units::{Span, Time};

/// How the engine works; results do not depend on it (a test).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// Every link has an event at the end of each transmission.
    pub transmit_done: bool,
}

impl Simulation {
    /// The replication that `plan` describes, at time zero.
    ///
    /// # Errors
    /// A plan that no validated scenario makes.
    pub fn new(plan: Plan, options: EngineOptions) -> Result<Self, PlanError> {
        Self::with_protocols(plan, options, &|_| None)
    }

    /// As [`Simulation::new`], with transports over datagrams for some of its traffic.
    ///
    /// # Errors
    /// A plan that no validated scenario makes, or traffic that such a transport does not carry.
    pub fn with_protocols(mut plan: Plan, options: EngineOptions, protocols: Protocols<'_>) -> Result<Self, PlanError> {
        let mut net = Net::new(&plan, options.transmit_done)?;
        plan.check_changes()?;
        let hosts = Hosts::new(&plan, protocols, &mut net)?;
        let agenda = Agenda::new(plan.links.len(), hosts.sources(), plan.duration).with_wires(net.varies());
        let most = most_components(plan.duration);
        if agenda.components() as u64 > most {
            return Err(PlanError::Other(format!("more than {most} links and sources")));
        }
        let recorder = Recorder::new(&plan);
        let (next_sample, changes_made) = (Time::ZERO, 0);
        let trace = (!plan.probes.ef.is_empty()).then(|| Box::new(Trace::new(&plan)));
        plan.probes.taps.iter().for_each(|tap| net.watch(tap.link));
        if trace.is_some() {
            net.watch_all();
        }
        plan.forget_ports();
        let mut it = Self { plan, agenda, net, hosts, recorder, warm: None, next_sample, changes_made, trace };
        it.start();
        Ok(it)
    }

    /// Adds the first events.
    fn start(&mut self) {
        for (source, at) in self.hosts.first_wakes(&self.plan).into_iter().enumerate() {
            self.agenda.add(at, Component::Source(source));
        }
        for (link, at) in self.net.aqm_timers() {
            self.agenda.add(at, Component::AqmTimer(link));
        }
        if self.plan.warmup == Span::ZERO {
            self.end_warmup();
        }
        self.wake_clock();
    }
}
