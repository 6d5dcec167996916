//! Packets from link to link.

use super::Simulation;
use crate::agenda::Component;
use crate::net::link::Wakes;
use crate::net::{At, Onward, RecordId};
use crate::plan::TapPoint;
use perhop_core::port::Sent;
use perhop_core::units::Time;
use perhop_core::verdict::Reason;

impl Simulation {
    /// A packet reaches the end of a link.
    #[inline(always)]
    pub(super) fn deliver(&mut self, now: Time, link: usize) {
        if !self.net.link(link).delivers_plainly() {
            return self.deliver_otherwise(now, link);
        }
        let (Sent { handle: id, .. }, next) = self.net.deliver_plain(link);
        self.agenda.deliver_again(next, link);
        let to = self.net.straight_on(id);
        self.go(now, id, to);
    }

    #[inline(never)]
    fn deliver_otherwise(&mut self, now: Time, link: usize) {
        if self.net.link(link).leads() {
            self.deliver_in_time(now, link);
        } else {
            self.deliver_in_full(now, link);
        }
    }

    /// A packet reaches the end of a link that is not plain: at which someone may look, or whose wire may lose or delay it.
    fn deliver_in_full(&mut self, now: Time, link: usize) {
        let (sent, next) = self.net.deliver(link);
        self.agenda.deliver_again(next, link);
        let id = sent.handle;
        let to = self.net.onward(now, At { link, id }, &mut self.recorder);
        if self.trace.is_some() {
            self.trace_delivery(link, &sent, to);
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
            Onward::Lost => self.drop(now, id, None),
            Onward::Wire(_) => {}
        }
    }

    /// A packet arrives at a port.
    #[inline(always)]
    fn forward(&mut self, now: Time, link: usize, id: RecordId) {
        match self.net.pass(now, At { link, id }) {
            Some(Ok(None)) => {}
            Some(Ok(Some(at))) if self.net.link(link).leads() => self.lead(at, link),
            Some(Ok(Some(at))) => self.agenda.add(at, Component::Delivery(link)),
            Some(Err(reason)) => self.drop(now, id, Some((link, reason))),
            None => self.enter_port(now, link, id),
        }
    }

    /// A packet arrives at a port that does more than queue it, or at which someone looks.
    #[inline(never)]
    fn enter_port(&mut self, now: Time, link: usize, id: RecordId) {
        let watched = self.net.is_watched(link);
        if watched {
            let mut next = Some(id);
            while let Some(segment) = next {
                self.look_at_arrival(now, link, segment);
                next = self.net.next(segment);
            }
        }
        let Self { net, hosts, .. } = self;
        match net.forward(now, At { link, id }, |flow| hosts.truth(flow)) {
            Err(reason) => {
                self.drop(now, id, Some((link, reason)));
                if self.net.has_dropped() {
                    self.begin(now, link);
                }
            }
            Ok(wakes) if wakes.begin => self.begin(now, link),
            Ok(wakes) => self.wake_link(link, wakes),
        }
        if watched {
            self.follow_timers(link);
        }
    }

    fn look_at_arrival(&mut self, now: Time, link: usize, id: RecordId) {
        if self.trace.is_some() {
            self.trace_arrival(now, link, id);
        }
        let record = self.net.record(id);
        self.recorder.tap(link, TapPoint::Input, || record.captured(now, link, TapPoint::Input));
    }

    /// Packets that were dropped although they waited.
    fn drop_evicted(&mut self, now: Time, link: usize) {
        while let Some((id, reason)) = self.net.take_dropped() {
            self.drop(now, id, Some((link, reason)));
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
        self.drop_evicted(now, link);
        self.wake_link(link, wakes);
        let mut next = wakes.departure;
        while let Some(id) = next {
            let record = *self.net.record(id);
            self.depart(now, &record);
            next = self.net.part(id);
        }
        if self.net.is_watched(link) {
            self.follow_timers(link);
        }
    }

    /// The time that AQMs asked for has come, if they have not moved it.
    pub(super) fn on_aqm_timer(&mut self, now: Time, link: usize) {
        if let Some(counts) = self.timers.get_mut(link) {
            if *counts != now {
                return;
            }
            *counts = Time::MAX;
        }
        if let Some(at) = self.net.on_aqm_timer(now, link) {
            self.add_aqm_timer(at, link);
        }
    }

    pub(super) fn add_aqm_timer(&mut self, at: Time, link: usize) {
        self.timers.get_mut(link).into_iter().for_each(|counts| *counts = at);
        self.agenda.add(at, Component::AqmTimer(link));
    }

    /// Hooks at a port may have moved timers of its AQMs to an earlier time, and those of conditioners.
    #[inline(never)]
    pub(super) fn follow_timers(&mut self, link: usize) {
        let Some(counts) = self.timers.get(link) else { return };
        if let Some(at) = self.net.link(link).port().poll_at().filter(|at| at < counts) {
            self.add_aqm_timer(at.max(self.agenda.now()), link);
        }
        self.wake_clock();
    }

    /// A packet ends before its destination: at this link's port, with all segments if it is a burst, or on a wire.
    #[cold]
    pub(super) fn drop(&mut self, now: Time, id: RecordId, at_port: Option<(usize, Reason)>) {
        self.net.scatter(id);
        let mut next = Some(id);
        while let Some(segment) = next {
            next = self.net.part(segment);
            self.drop_one(now, segment, at_port);
        }
    }

    fn drop_one(&mut self, now: Time, id: RecordId, at_port: Option<(usize, Reason)>) {
        match at_port {
            _ if self.trace.is_none() => {}
            Some((link, reason)) => self.trace_drop(link, id, (now, reason)),
            None => self.trace_gone(id),
        }
        let record = self.net.leave(id);
        if at_port.is_some() {
            self.depart(now, &record);
        }
        self.hosts.lost(&record);
    }
}
