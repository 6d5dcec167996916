//! Rows of packets at ports and aggregates held against their rates, if they are asked for. Nothing here is called
//! otherwise.

use super::Simulation;
use crate::net::{Onward, RecordId, number};
use crate::plan::Plan;
use crate::record::{Came, EfRow, EfWatch, EventSink, Events, FlowOf, Went};
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::Sent;
use perhop_core::units::Time;
use perhop_core::verdict::Reason;

/// What is traced of a simulation.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    events: Option<Events>,
    ef: Vec<EfWatch>,
    /// Flows by their place in the hosts' table.
    flows: Vec<FlowOf>,
    /// Flows of each `[traffic]` table so far.
    numbers: Vec<u32>,
}

impl Simulation {
    /// Hands a row for each packet at each port to `sink`, from now on: before the simulation runs.
    pub fn record_events(&mut self, sink: EventSink) {
        self.net.watch_all();
        let trace = self.trace.get_or_insert_with(|| Box::new(Trace::new(&self.plan)));
        trace.events = Some(Events::new(sink));
    }

    /// A packet comes to a link's port.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_arrival(&mut self, now: Time, link: usize, id: RecordId) {
        let Self { trace: Some(trace), net, hosts, .. } = self else { return };
        trace.at(link).for_each(|ef| ef.came(now, id));
        let packet = &net.record(id).packet;
        let flow = trace.flow(packet.flow, |slot| hosts.table_of(slot));
        let found = net.link(link).port().backlog(now);
        if let Some(events) = &mut trace.events {
            events.came(id, Came { now, packet, flow, found });
        }
    }

    /// A packet is dropped at a link's port.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_drop(&mut self, link: usize, id: RecordId, dropped: (Time, Reason)) {
        let Self { trace: Some(trace), net, .. } = self else { return };
        trace.at(link).for_each(|ef| ef.dropped(id, &net.record(id).packet));
        self.trace_end(id, |packet| Went { link, packet, left: None, dropped: Some(dropped) });
        self.trace_gone(id);
    }

    /// A packet reaches the end of a link, or is lost there, or goes on over it for its own time.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_delivery(&mut self, link: usize, sent: &Sent<RecordId>, to: Onward) {
        let Self { trace: Some(trace), net, .. } = self else { return };
        let packet = &net.record(sent.handle).packet;
        trace.at(link).for_each(|ef| ef.left(sent.handle, packet, sent.sent.ends));
        if matches!(to, Onward::Wire(_)) {
            let left = sent.sent.starts;
            return trace.events.iter_mut().for_each(|events| events.under_way(sent.handle, left));
        }
        let lost = (to == Onward::Lost).then_some((sent.sent.ends, Reason::Wire));
        let (left, dropped) = (Some(sent.sent.starts), lost);
        self.trace_end(sent.handle, |packet| Went { link, packet, left, dropped });
        if to == Onward::Host {
            self.trace_gone(sent.handle);
        }
    }

    /// A packet that went on reaches the end of the link.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_late(&mut self, link: usize, id: RecordId, to: Onward) {
        let left = self.trace.as_ref().and_then(|trace| trace.events.as_ref()?.left(id));
        self.trace_end(id, |packet| Went { link, packet, left, dropped: None });
        if to == Onward::Host {
            self.trace_gone(id);
        }
    }

    fn trace_end<'a>(&'a mut self, id: RecordId, went: impl FnOnce((&'a Packet, u32)) -> Went<'a>) {
        let Self { trace: Some(trace), net, .. } = self else { return };
        let (record, Some(events)) = (net.record(id), &mut trace.events) else { return };
        events.went(id, went((&record.packet, record.bytes())));
    }

    /// A packet leaves the network.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_gone(&mut self, id: RecordId) {
        self.trace.iter_mut().filter_map(|trace| trace.events.as_mut()).for_each(|events| events.gone(id));
    }

    /// The run is over: what is on the links is neither sent nor dropped. What the checks found.
    pub(super) fn end_trace(&mut self) -> Vec<EfRow> {
        self.end_events();
        self.trace.take().map_or_else(Vec::new, |trace| trace.ef.into_iter().map(EfWatch::finish).collect())
    }

    fn end_events(&mut self) {
        let end = Time::ZERO + self.plan.duration;
        let Self { trace: Some(trace), net, .. } = self else { return };
        let Some(events) = &mut trace.events else { return };
        net.scatter_all();
        for link in 0..net.links() {
            let begun = |(id, starts)| (id, Some(starts).filter(|&starts| starts <= end));
            let under_way: Vec<_> = net.link(link).on_wire().map(|id| (id, events.left(id))).collect();
            for (id, left) in net.before_wire(link).map(begun).chain(under_way) {
                let record = net.record(id);
                events.stays(id, Went { link, packet: (&record.packet, record.bytes()), left, dropped: None });
            }
        }
        events.flush();
    }
}

impl Trace {
    /// What the plan asks for.
    pub(super) fn new(plan: &Plan) -> Self {
        let ef = plan.probes.ef.iter().map(|check| EfWatch::new(check, Time::ZERO + plan.warmup)).collect();
        Self { events: None, ef, flows: Vec::new(), numbers: vec![0; plan.traffic.len()] }
    }

    /// The checks at a link's port.
    fn at(&mut self, link: usize) -> impl Iterator<Item = &mut EfWatch> {
        self.ef.iter_mut().filter(move |ef| ef.is_at(link))
    }

    /// The flow of a packet: its number is that of its place among the flows of its table.
    fn flow(&mut self, flow: FlowId, table_of: impl Fn(usize) -> u32) -> FlowOf {
        let slot = number::flow(flow);
        for next in self.flows.len()..=slot {
            let table = table_of(next);
            let number = &mut self.numbers[table as usize];
            self.flows.push(FlowOf { table, number: *number });
            *number += 1;
        }
        self.flows[slot]
    }
}
