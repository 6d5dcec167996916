//! Between the ends of a transport over datagrams and the network. Nothing here is called for other traffic, but once for
//! each packet that no TCP takes.

use super::Simulation;
use crate::agenda::Component;
use crate::hosts::End;
use crate::net::Record;
use perhop_core::units::Time;

impl Simulation {
    /// A packet that no TCP takes has arrived at its host.
    #[inline(never)]
    pub(super) fn arrive_datagram(&mut self, now: Time, (slot, end): (usize, End), record: &Record) {
        let Some(complete) = self.hosts.hear_datagram(now, (slot, end), record) else { return };
        self.pump_peer(now, slot, end);
        if complete {
            self.complete(now, slot);
        }
    }

    /// A connection has been opened: either end may be the one that begins.
    pub(super) fn begin_peers(&mut self, now: Time, slot: usize) {
        self.pump_peer(now, slot, End::Sender);
        self.pump_peer(now, slot, End::Receiver);
    }

    /// A source has stopped: its connection may say so.
    #[cold]
    pub(super) fn stop_peers(&mut self, now: Time, source: usize) {
        if let Some(slot) = self.hosts.standing_pair(source) {
            self.pump_peer(now, slot, End::Sender);
        }
    }

    /// Sends what one end has to send now.
    pub(super) fn pump_peer(&mut self, now: Time, slot: usize, end: End) {
        while let Some(record) = self.hosts.next_datagram(now, slot, end) {
            self.send(now, slot, end, record);
        }
        if let Some(at) = self.hosts.arm_peer(now, slot, end) {
            self.agenda.add(at, Component::Timer(slot * 2 + end as usize));
        }
    }

    /// A timer that is not TCP's is due.
    #[inline(never)]
    pub(super) fn on_peer_timer(&mut self, now: Time, slot: usize, end: End) {
        if self.hosts.on_peer_timer(now, slot, end) {
            self.pump_peer(now, slot, end);
        }
    }
}
