//! What goes on beside the packets: signals, the log, those who watch.

use super::log::Log;
use super::metrics::Metrics;
use super::policy;
use super::rates::Snapshot;
use super::signals::Signals;
use super::trace::Trace;
use super::watch::Watch;
use crate::request::Forward;
use crate::terminal::show::complain;
use perhop_core::fault;
use perhop_live::{AfPacket, Forwarder, Order, Samples, monotonic_ns, run};
use perhop_scenario::Diagnostic;

/// All of it.
pub(super) struct Work<'a> {
    args: &'a Forward,
    names: [&'a str; 2],
    signals: Signals,
    log: Log<'a>,
    metrics: Option<Metrics>,
    watch: Option<Watch>,
    trace: Option<Trace>,
    /// Since the beginning.
    trips: [Samples; 2],
    /// Interfaces that went away.
    gone: Vec<&'a str>,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        args: &'a Forward,
        names: [&'a str; 2],
        signals: Signals,
        metrics: Option<Metrics>,
        trace: Option<Trace>,
    ) -> Self {
        let (log, watch) = (Log::new(names), args.seen.watch.then(Watch::default));
        Self { args, names, signals, log, metrics, watch, trace, trips: Default::default(), gone: Vec::new() }
    }

    /// Until a signal ends it, or an interface goes away: which did.
    pub(super) fn go(mut self, forwarder: &mut Forwarder<AfPacket>) -> Vec<&'a str> {
        if self.metrics.is_some() || self.watch.is_some() {
            forwarder.measure(self.args.most_flows);
        }
        run(forwarder, &mut |forwarder, now| self.order(forwarder, now));
        self.trace.into_iter().for_each(|trace| trace.end(forwarder, monotonic_ns()));
        self.gone
    }

    fn order(&mut self, forwarder: &mut Forwarder<AfPacket>, now: u64) -> Order {
        if self.signals.has_ended() {
            return Order::End;
        }
        if self.signals.reloads() {
            self.reload(forwarder, now);
        }
        if self.log.is_due(now) {
            self.look(forwarder, now);
        }
        if self.gone.is_empty() { Order::GoOn } else { Order::End }
    }

    /// The policy is read again; a run that is recorded ends where another policy begins.
    fn reload(&mut self, forwarder: &mut Forwarder<AfPacket>, now: u64) {
        let Some(read) = policy::again(self.args) else { return };
        self.trace.take().into_iter().for_each(|trace| trace.end(forwarder, now));
        policy::reload(self.args, &read, forwarder, now);
        self.trace = Trace::begin(self.args, self.names, &read, forwarder).unwrap_or_else(|failure| {
            complain!("{failure}\nnothing is recorded any longer");
            None
        });
    }

    /// Once a second.
    fn look(&mut self, forwarder: &mut Forwarder<AfPacket>, now: u64) {
        let gone = self.names.into_iter().zip(forwarder.sides()).filter(|(_, side)| side.is_gone());
        self.gone = gone.map(|(name, _)| name).collect();
        let counts = forwarder.counts();
        self.log.look(&counts);
        if let Some(fault) = fault::take() {
            // To end would stop all traffic.
            let what = format!("{fault}\nwhat it should decide passes; mend the policy, and SIGHUP reads it again");
            complain!("{}", Diagnostic::error("E901", what, ""));
        }
        if self.metrics.is_none() && self.watch.is_none() {
            return;
        }
        let recent = forwarder.round_trips().unwrap_or_default();
        self.trips = [0, 1].map(|way| self.trips[way].plus(&recent[way]));
        let shown = Snapshot { trips: self.trips, ..Snapshot::of(now, forwarder, counts) };
        self.metrics.iter().for_each(|it| it.show(self.names, &shown));
        self.watch.iter_mut().for_each(|it| it.show(forwarder, &shown, &recent));
    }
}
