//! Rows of packets at ports, if they are asked for. Nothing here is called otherwise.

use super::Simulation;
use crate::net::{Onward, RecordId, number};
use crate::record::{Came, EventSink, Events, FlowOf, Went};
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::Sent;
use perhop_core::units::Time;
use perhop_core::verdict::Reason;

/// What is traced of a simulation.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    events: Events,
    /// Flows by their place in the hosts' table.
    flows: Vec<FlowOf>,
    /// Flows of each `[traffic]` table so far.
    numbers: Vec<u32>,
}

impl Simulation {
    /// Hands a row for each packet at each port to `sink`, from now on: before the simulation runs.
    pub fn record_events(&mut self, sink: EventSink) {
        let numbers = vec![0; self.plan.traffic.len()];
        self.trace = Some(Box::new(Trace { events: Events::new(sink), flows: Vec::new(), numbers }));
    }

    /// A packet comes to a link's port.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_arrival(&mut self, now: Time, link: usize, id: RecordId) {
        let Self { trace: Some(trace), net, hosts, .. } = self else { return };
        let packet = &net.record(id).packet;
        let flow = trace.flow(packet.flow, |slot| hosts.table_of(slot));
        let found = net.link(link).port().backlog(now);
        trace.events.came(id, Came { now, packet, flow, found });
    }

    /// A packet is dropped at a link's port.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_drop(&mut self, link: usize, id: RecordId, reason: Reason) {
        self.trace_end(id, |packet| Went { link, packet, left: None, dropped: Some(reason) });
        self.trace_gone(id);
    }

    /// A packet reaches the end of a link, or is lost there, or goes on over it for its own time.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_delivery(&mut self, link: usize, sent: &Sent<RecordId>, to: Onward) {
        if matches!(to, Onward::Wire(_)) {
            let left = sent.sent.starts;
            return self.trace.iter_mut().for_each(|trace| trace.events.under_way(sent.handle, left));
        }
        let (left, dropped) = (Some(sent.sent.starts), (to == Onward::Lost).then_some(Reason::Wire));
        self.trace_end(sent.handle, |packet| Went { link, packet, left, dropped });
        if to == Onward::Host {
            self.trace_gone(sent.handle);
        }
    }

    /// A packet that went on reaches the end of the link.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_late(&mut self, link: usize, id: RecordId, to: Onward) {
        let left = self.trace.as_ref().and_then(|trace| trace.events.left(id));
        self.trace_end(id, |packet| Went { link, packet, left, dropped: None });
        if to == Onward::Host {
            self.trace_gone(id);
        }
    }

    fn trace_end<'a>(&'a mut self, id: RecordId, went: impl FnOnce((&'a Packet, u32)) -> Went<'a>) {
        let Self { trace: Some(trace), net, .. } = self else { return };
        let record = net.record(id);
        trace.events.went(id, went((&record.packet, record.wire)));
    }

    /// A packet leaves the network.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_gone(&mut self, id: RecordId) {
        self.trace.iter_mut().for_each(|trace| trace.events.gone(id));
    }

    /// The run is over: what is on the links is neither sent nor dropped.
    pub(super) fn end_trace(&mut self) {
        let Self { trace: Some(trace), net, .. } = self else { return };
        for link in 0..net.links() {
            for id in net.link(link).records() {
                let record = net.record(id);
                trace.events.waits(id, link, (&record.packet, record.wire));
            }
        }
        trace.events.flush();
    }
}

impl Trace {
    /// The flow of a packet: its number is that of its place among the flows of its table.
    fn flow(&mut self, flow: FlowId, table_of: impl Fn(usize) -> u16) -> FlowOf {
        let slot = number::flow(flow);
        for next in self.flows.len()..=slot {
            let table = table_of(next);
            let number = &mut self.numbers[usize::from(table)];
            self.flows.push(FlowOf { table, number: *number });
            *number += 1;
        }
        self.flows[slot]
    }
}
