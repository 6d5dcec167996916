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
        net.find_leaders();
        plan.forget_ports();
        let (warm, stop, unseen_until) = (None, Time::ZERO, Time::ZERO);
        let timers = if net.moves_timers() { vec![Time::MAX; plan.links.len()] } else { Vec::new() };
        let mut it = Self {
            plan,
            agenda,
            net,
            hosts,
            recorder,
            warm,
            next_sample,
            changes_made,
            stop,
            unseen_until,
            timers,
            trace,
        };
        it.start();
        Ok(it)
    }

    /// Adds the first events.
    fn start(&mut self) {
        for (source, at) in self.hosts.first_wakes(&self.plan).into_iter().enumerate() {
            self.agenda.add(at, Component::Source(source));
        }
        for (link, at) in self.net.aqm_timers().collect::<Vec<_>>() {
            self.add_aqm_timer(at, link);
        }
        if self.plan.warmup == Span::ZERO {
            self.end_warmup();
        }
        self.wake_clock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::small::{link, node, offered, plan};
    use crate::hosts::bytes_of_flow;
    use crate::net::{Link, Way};
    use crate::plan::{self, Node, Offered};
    use crate::record::Retired;
    use crate::traffic::{TrafficParams, ftp};

    /// Bytes of the names of a flow, its two hosts, and its four links.
    const NAMES: [usize; 3] = [6, 2 * 6, 4 * 8];

    /// Flows by way of node 0, each over its own four links.
    fn star(flows: usize) -> Plan {
        let own = |flow: usize| [[1 + 2 * flow, 0], [0, 1 + 2 * flow], [0, 2 + 2 * flow], [2 + 2 * flow, 0]];
        let links = (0..flows).flat_map(own).map(|ends| link("l-123456", ends)).collect::<Vec<_>>();
        let bulk = |flow: usize| offered("f-1234", [1 + 2 * flow, 2 + 2 * flow], TrafficParams::Ftp(ftp::Params {}));
        plan(vec![node("n-1234"); 2 * flows + 1], links.into_iter().collect(), (0..flows).map(bulk).collect())
    }

    /// A flow with its four links takes what is kept of each of them, and little else: nothing that was needed to assemble them.
    #[test]
    fn nothing_is_kept_of_a_flow_but_its_parts() {
        let taken = |flows| {
            let mut kept = None;
            let taken = allocation_counter::measure(|| {
                kept = Some(Simulation::new(star(flows), EngineOptions::default()).unwrap());
            });
            taken.bytes_current as usize
        };
        let flows = 512;
        let each = (taken(2 * flows) - taken(flows)) / flows;
        let links = 4 * (size_of::<Link>() + size_of::<plan::Link>());
        let flow = bytes_of_flow() + size_of::<Offered>() + size_of::<usize>() + 2 * size_of::<Node>();
        // Its routes: two lists of two links, each with its end.
        let routes = 2 * size_of::<Way>() + 6 * size_of::<u32>();
        let parts = links + flow + routes + size_of::<Retired>() + NAMES.iter().sum::<usize>();
        // By link: its mate, its taps, its counts at the end of the warm-up; by component: its key. Four words a link hold that.
        let lists = 4 * 4 * size_of::<usize>();
        assert!((parts..=parts + lists).contains(&each), "{each} bytes, of which {parts} for the parts");
    }
}
