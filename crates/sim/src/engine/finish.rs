//! From a simulation to its outcome: what was counted since the end of the warm-up.

use super::Simulation;
use crate::hosts::HostTotals;
use crate::net::NetTotals;
use crate::record::{Delivered, Faults, Outcome, PortRows, Recorded, Work};
use perhop_core::units::{Span, Time};

/// All counters at one time.
#[derive(Clone, Debug)]
pub(super) struct Totals {
    net: NetTotals,
    hosts: HostTotals,
    arrivals: Delivered,
}

impl Simulation {
    fn totals(&self) -> Totals {
        Totals { net: self.net.totals(), hosts: self.hosts.totals().of_begun(), arrivals: self.hosts.delivered() }
    }

    /// The warm-up is over: what was counted so far is subtracted at the end, histograms begin again.
    pub(super) fn end_warmup(&mut self) {
        self.warm = Some(self.totals());
        self.hosts.clear_delays();
        self.net.clear_waits(Time::ZERO + self.plan.warmup);
    }

    /// Runs to the end, calling `each` after every hundredth of the simulated time; `None` when that asks to stop.
    pub fn run(mut self, mut each: impl FnMut(Time) -> bool) -> Option<Outcome> {
        let end = Time::ZERO + self.plan.duration;
        let step = Span::from_ns((self.plan.duration.ns() / 100).max(1));
        let mut until = Time::ZERO;
        self.look_ahead(end); // between the parts only the time is looked at
        self.act_until(until);
        while until < end {
            if !each(until) {
                return None;
            }
            until = end.min(until + step);
            self.act_until(until);
        }
        Some(self.finish())
    }

    fn finish(mut self) -> Outcome {
        let ef = self.end_trace();
        let since = Time::ZERO + self.plan.warmup;
        let base = self.warm.take().unwrap_or_else(|| self.totals());
        let faults = Faults { refused: self.hosts.refused(), breaches: self.breaches() };
        let Self { plan, agenda, net, hosts, recorder, .. } = self;
        let arrivals = hosts.arrivals().rows(&base.arrivals);
        let Recorded { transfers, completed, series, captured } = recorder.finish();
        let end = hosts.totals();
        let tables = hosts.table_rows(&end, &base.hosts, &completed);
        Outcome {
            measured: plan.duration - plan.warmup,
            flows: hosts.flow_rows(&end, &base.hosts),
            tables,
            arrivals,
            ports: PortRows { ef, ..net.rows(Time::ZERO + plan.duration, &base.net) },
            transfers,
            sessions: hosts.session_rows(since),
            series,
            captured,
            headers: hosts.all_headers(&plan, &net),
            work: Work { packet_hops: net.packet_hops(), events: agenda.done() },
            faults,
        }
    }
}
