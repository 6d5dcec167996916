//! A simulation in a user's hands: it is stepped, looked at, altered and copied between two events.
//!
//! Looking changes nothing, so a run that was only looked at has the results of one that was not (a test). What is asked
//! for has no times of packets: those are counted in distributions, whose difference cannot be taken.
//!
//! Decision: docs/decisions/121-a-session-is-the-engine-itself.md

use super::Simulation;
use crate::hosts::HostTotals;
use crate::net::PortTotals;
use crate::plan::Change;
use crate::record::{FlowSample, Outcome, Sample};
use perhop_core::units::Time;

/// When a port was last asked for its counters, and what they were; by default nothing, at the start.
#[derive(Clone, Debug, Default)]
pub struct PortAsked {
    at: Time,
    totals: PortTotals,
}

/// The same of the flows.
#[derive(Clone, Debug, Default)]
pub struct FlowsAsked {
    at: Time,
    totals: HostTotals,
}

impl Simulation {
    /// The time it has reached.
    pub fn now(&self) -> Time {
        self.agenda.now()
    }

    /// The same simulation again, which continues alike.
    ///
    /// # Errors
    /// The first `[traffic]` table whose transport cannot be copied.
    pub fn copy(&self) -> Result<Self, usize> {
        Ok(Self {
            hosts: self.hosts.copy()?,
            plan: self.plan.clone(),
            agenda: self.agenda.clone(),
            net: self.net.clone(),
            recorder: self.recorder.clone(),
            warm: self.warm.clone(),
            timers: self.timers.clone(),
            trace: self.trace.clone(),
            ..*self
        })
    }

    /// Has these changes made, from this time on, in place of those that were still to come. It has [paused](Self::pause_at), and
    /// every link whose rate they change has an event at the end of each transmission.
    pub fn alter(&mut self, changes: Vec<Change>) {
        (self.plan.changes, self.changes_made) = (changes, 0);
        self.wake_clock();
    }

    /// What a link's port counted since it was last asked: rows of ports without waits.
    pub fn port_since(&self, link: usize, asked: &mut PortAsked) -> Outcome {
        let now = self.agenda.now();
        let totals = self.net.port_totals(now, link);
        let ports = self.net.port_rows(now, link, &asked.totals);
        let measured = now - asked.at;
        *asked = PortAsked { at: now, totals };
        Outcome { measured, ports, ..Outcome::default() }
    }

    /// What the long-lived flows counted since they were last asked: rows without delays.
    pub fn flows_since(&self, asked: &mut FlowsAsked) -> Outcome {
        let (now, totals) = (self.agenda.now(), self.hosts.totals());
        let flows = self.hosts.flow_counts(&totals, &asked.totals);
        let measured = now - asked.at;
        *asked = FlowsAsked { at: now, totals };
        Outcome { measured, flows, ..Outcome::default() }
    }

    /// What a sample sees of a link's port now.
    pub fn port_gauges(&self, link: usize) -> Vec<Sample> {
        let mut seen = Vec::new();
        self.net.sample_port(self.agenda.now(), link, &mut |sample| seen.push(sample));
        seen
    }

    /// What a sample sees of the long-lived flows now.
    pub fn flow_gauges(&self) -> Vec<FlowSample> {
        self.hosts.samples(self.agenda.now()).collect()
    }

    /// The outcome, once the end of the plan is reached; what is left until then runs first.
    pub fn end(mut self) -> Outcome {
        self.run_until(Time::MAX);
        self.finish()
    }
}
