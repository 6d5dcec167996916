//! Packets from link to link.

use super::Simulation;
use crate::agenda::Component;
use crate::net::link::Wakes;
use crate::net::{At, Onward, RecordId};
use perhop_core::port::Sent;
use perhop_core::units::Time;
use perhop_core::verdict::Reason;

impl Simulation {
    /// A packet reaches the end of a link.
    #[inline]
    pub(super) fn deliver(&mut self, now: Time, link: usize) {
        let (sent, next) = self.net.deliver(link);
        if let Some(at) = next {
            self.agenda.add(at, Component::Delivery(link));
        }
        if self.trace.is_some() || self.net.is_uneven(link) {
            return self.deliver_unevenly(now, link, &sent);
        }
        let to = self.net.beyond(now, At { link, id: sent.handle }, &mut self.recorder);
        self.go(now, sent.handle, to);
    }

    /// A packet reaches the end of a link whose wire may lose or delay it, or the run is traced.
    #[inline(never)]
    fn deliver_unevenly(&mut self, now: Time, link: usize, sent: &Sent<RecordId>) {
        let id = sent.handle;
        let to = self.net.onward(now, At { link, id }, &mut self.recorder);
        if self.trace.is_some() {
            self.trace_delivery(link, sent, to);
        }
        match to {
            Onward::Wire(Some(at)) => self.agenda.add(at, Component::Wire(link)),
            to => self.go(now, id, to),
        }
    }

    /// A packet arrives over a link on which each takes its own time.
    pub(super) fn leave_wire(&mut self, now: Time, link: usize) {
        let (id, next) = self.net.leave_wire(link);
        if let Some(at) = next {
            self.agenda.add(at, Component::Wire(link));
        }
        let to = self.net.beyond(now, At { link, id }, &mut self.recorder);
        if self.trace.is_some() {
            self.trace_late(link, id, to);
        }
        self.go(now, id, to);
    }

    /// A packet continues to a port or its host.
    #[inline(always)]
    pub(super) fn go(&mut self, now: Time, id: RecordId, to: Onward) {
        match to {
            Onward::Port(link) => self.forward(now, link, id),
            Onward::Host => self.arrive(now, id),
            Onward::Lost => self.drop(id, None),
            Onward::Wire(_) => {}
        }
    }

    /// A packet arrives at a port.
    #[inline]
    fn forward(&mut self, now: Time, link: usize, id: RecordId) {
        if self.trace.is_some() {
            self.trace_arrival(now, link, id);
        }
        let Self { net, hosts, recorder, .. } = self;
        match net.forward(now, At { link, id }, recorder, |flow| hosts.truth(flow)) {
            Err(reason) => self.drop(id, Some((link, reason))),
            Ok(wakes) if wakes.begin => self.begin(now, link),
            Ok(wakes) => self.wake_link(link, wakes),
        }
    }

    /// Packets that were dropped at the heads of queues.
    fn drop_evicted(&mut self, link: usize) {
        while let Some((id, reason)) = self.net.take_dropped() {
            self.drop(id, Some((link, reason)));
        }
    }

    #[inline]
    fn wake_link(&mut self, link: usize, wakes: Wakes) {
        if let Some(at) = wakes.delivery {
            self.agenda.add(at, Component::Delivery(link));
        }
        if let Some(at) = wakes.transmit_done {
            self.agenda.add(at, Component::TransmitDone(link));
        }
    }

    /// A link's next transmission begins.
    pub(super) fn begin(&mut self, now: Time, link: usize) {
        let wakes = self.net.begin(now, link);
        self.drop_evicted(link);
        self.wake_link(link, wakes);
    }

    pub(super) fn on_aqm_timer(&mut self, now: Time, link: usize) {
        if let Some(at) = self.net.on_aqm_timer(now, link) {
            self.agenda.add(at, Component::AqmTimer(link));
        }
    }

    /// A packet ends before its destination: at this link's port, or on a wire.
    #[cold]
    fn drop(&mut self, id: RecordId, at_port: Option<(usize, Reason)>) {
        match at_port {
            _ if self.trace.is_none() => {}
            Some((link, reason)) => self.trace_drop(link, id, reason),
            None => self.trace_gone(id),
        }
        let record = self.net.leave(id);
        self.hosts.lost(&record);
    }
}
