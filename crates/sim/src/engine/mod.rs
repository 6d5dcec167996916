//! The engine: events in the order of (time, component), packets from hop to hop.

/// Links that packets pass ahead of their time.
mod ahead;
/// From a plan to a simulation at time zero.
mod assemble;
/// The engine's own clock: warm-up, samples, changes, reports.
mod clock;
/// Proof that no packet was lost unseen.
mod conservation;
/// Transports over datagrams.
mod datagrams;
/// Between hosts and the network.
mod endpoints;
/// From a simulation to its outcome.
mod finish;
/// A simulation that is stepped, looked at, altered and copied from outside.
mod hand;
/// Between links.
mod packets;
/// Small plans for tests.
#[cfg(test)]
mod small;
/// Rows of packets at ports.
mod trace;

use crate::agenda::{Agenda, Component};
use crate::hosts::Hosts;
use crate::net::Net;
use crate::plan::Plan;
use crate::record::Recorder;
use finish::Totals;
use perhop_core::units::Time;

pub use crate::agenda::{MAX_DURATION, most_components};
pub use crate::plan::PlanError;
pub use assemble::EngineOptions;
pub use finish::Part;
pub use hand::{FlowsAsked, PortAsked};

/// One replication, running: its owners are the agenda (time and events), the network (links and packets on them), the
/// hosts (flows and sources) and the recorder (what is kept for the outcome).
#[derive(Debug)]
pub struct Simulation {
    plan: Plan,
    agenda: Agenda,
    net: Net,
    hosts: Hosts,
    recorder: Recorder,
    /// Counters at the end of the warm-up.
    warm: Option<Totals>,
    next_sample: Time,
    changes_made: usize,
    /// When it is next looked at from outside.
    stop: Time,
    /// Until then no sample, change or end of the warm-up looks at links.
    unseen_until: Time,
    /// Which event of each link's timers counts, where timers move; else nothing.
    timers: Vec<Time>,
    /// Packets at ports, if they are asked for.
    trace: Option<Box<trace::Trace>>,
}

impl Simulation {
    /// Runs until `until` or the end of the plan, whichever is first; `true` when the plan's end is reached.
    pub fn run_until(&mut self, until: Time) -> bool {
        let end = Time::ZERO + self.plan.duration;
        let stop = until.min(end);
        self.look_ahead(stop);
        self.act_until(stop);
        stop == end
    }

    /// Runs until a [`Change`](crate::plan::Change) of this time would be made, at most to the end of the plan.
    pub fn pause_at(&mut self, at: Time) {
        if at >= Time::ZERO + self.plan.duration {
            self.run_until(at);
            return;
        }
        self.look_ahead(at);
        self.agenda.add(at, Component::Pause);
        self.act_until(at);
    }

    /// All events until `stop`, or a pause there.
    fn act_until(&mut self, stop: Time) {
        while let Some((now, component)) = self.agenda.next(stop) {
            match component {
                Component::Delivery(link) => self.deliver(now, link),
                Component::TransmitDone(link) => self.begin(now, link),
                Component::Timer(end) => self.on_timer(now, end),
                Component::Source(source) => self.wake_source(now, source),
                Component::Pause => break,
                Component::AqmTimer(link) => self.on_aqm_timer(now, link),
                Component::Clock => self.on_clock(now),
                Component::Wire(link) => self.leave_wire(now, link),
            }
        }
        self.agenda.rest_until(stop);
    }
}
