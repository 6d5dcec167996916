//! From a simulation to its outcome: what was counted since the end of the warm-up.

use super::Simulation;
use crate::hosts::HostTotals;
use crate::net::NetTotals;
use crate::record::{Delivered, Faults, Outcome, PortRows, Quantiles, Recorded, Work};
use perhop_core::aqm::Backlog;
use perhop_core::fault;
use perhop_core::units::{Span, Time};

/// All counters at one time.
#[derive(Clone, Debug)]
pub(super) struct Totals {
    net: NetTotals,
    hosts: HostTotals,
    arrivals: Delivered,
}

/// What happened within a part of the simulated time.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its start.
    pub from: Time,
    /// Its end.
    pub to: Time,
    /// What was counted; transfers, series and captured packets are not.
    pub outcome: Outcome,
    /// One-way delays of each class, all its colours together.
    pub delays: Vec<Option<Quantiles>>,
    /// What waited at the port of each link at its end.
    pub backlogs: Vec<Backlog>,
}

impl Simulation {
    fn totals(&self) -> Totals {
        Totals {
            net: self.net.totals(self.agenda.now()),
            hosts: self.hosts.totals().of_begun(),
            arrivals: self.hosts.delivered(),
        }
    }

    /// The warm-up is over.
    pub(super) fn end_warmup(&mut self) {
        self.begin_count(Time::ZERO + self.plan.warmup);
    }

    /// What was counted so far is subtracted at the end, histograms begin again.
    fn begin_count(&mut self, now: Time) {
        self.warm = Some(self.totals());
        self.hosts.clear_delays();
        self.net.clear_waits(now);
    }

    /// Runs to the end, calling `each` after every hundredth of the simulated time; `None` when that asks to stop. An algorithm
    /// that cannot go on ends it early.
    pub fn run(mut self, mut each: impl FnMut(Time) -> bool) -> Option<Outcome> {
        let end = Time::ZERO + self.plan.duration;
        let step = Span::from_ns((self.plan.duration.ns() / 100).max(1));
        let mut until = Time::ZERO;
        self.look_ahead(end); // between the parts only the time is read
        fault::take(); // what a run before this one on this thread left is not ours
        self.act_until(until);
        while until < end && !fault::is_raised() {
            if !each(until) {
                return None;
            }
            until = end.min(until + step);
            self.act_until(until);
        }
        Some(self.finish())
    }

    /// Runs to the end in parts of `every`, the last of which may be shorter. `each` gets what was counted within each of them,
    /// the warm-up among them, and stops the run with `false`. An algorithm that cannot go on ends it early; its fault stays for
    /// the caller.
    pub fn run_in_parts(mut self, every: Span, mut each: impl FnMut(Part) -> bool) {
        let (mut from, end) = (Time::ZERO, Time::ZERO + self.plan.duration);
        self.begin_count(from);
        fault::take(); // as above
        while from < end {
            let to = end.min(from + every);
            self.run_until(to);
            if fault::is_raised() || !each(self.part(from, to)) {
                return;
            }
            self.begin_count(to);
            from = to;
        }
    }

    fn part(&self, from: Time, to: Time) -> Part {
        let base = self.warm.as_ref().expect("a count has begun");
        let counted = self.counted(base, (from, to), &vec![0; self.plan.traffic.len()]);
        let backlogs = (0..self.net.links()).map(|link| self.net.link(link).port().backlog(to)).collect();
        let arrivals = self.hosts.arrivals();
        let delays = (0..self.plan.classes.len()).map(|class| arrivals.delay_of(class)).collect();
        Part { from, to, delays, outcome: Outcome { measured: to - from, ..counted }, backlogs }
    }

    /// What was counted of flows and ports since a time and its totals.
    fn counted(&self, base: &Totals, (since, now): (Time, Time), completed: &[u32]) -> Outcome {
        let Self { net, hosts, .. } = self;
        let end = hosts.totals();
        Outcome {
            flows: hosts.flow_rows(&end, &base.hosts),
            tables: hosts.table_rows(&end, &base.hosts, completed),
            arrivals: hosts.arrivals().rows(&base.arrivals, self.plan.probes.delays),
            ports: net.rows(now, &base.net),
            sessions: hosts.session_rows(since),
            ..Outcome::default()
        }
    }

    /// The outcome, of a simulation that has reached its end.
    pub(super) fn finish(mut self) -> Outcome {
        let ef = self.end_trace();
        let base = self.warm.take().unwrap_or_else(|| self.totals());
        let faults = Faults { refused: self.hosts.refused(), breaches: self.breaches(), algorithm: fault::take() };
        let Recorded { transfers, completed, series, captured } = std::mem::take(&mut self.recorder).finish();
        let (plan, end) = (&self.plan, Time::ZERO + self.plan.duration);
        let counted = self.counted(&base, (Time::ZERO + plan.warmup, end), &completed);
        let counters = if plan.probes.counters { self.net.counters(end) } else { Vec::new() };
        Outcome {
            measured: plan.duration - plan.warmup,
            ports: PortRows { ef, counters, ..counted.ports },
            transfers,
            series,
            captured,
            headers: self.hosts.all_headers(plan, &self.net),
            work: Work { packet_hops: self.net.packet_hops(), events: self.agenda.done() },
            faults,
            ..counted
        }
    }
}
