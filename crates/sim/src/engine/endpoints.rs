//! Between hosts and the network: what arrives, what is sent, and who is woken when.

use super::Simulation;
use crate::agenda::Component;
use crate::hosts::{Completed, Due, End, Opening, Supplied, TransferStart, Woken};
use crate::net::{Onward, Record, RecordId, number};
use crate::traffic::Offer;
use crate::transport::{AckInfo, Supply};
use perhop_core::units::Time;

/// A burst that is being put together: its first segment, its last so far, and the port they go to.
type Burst = Option<(RecordId, RecordId, Onward)>;

impl Simulation {
    /// A packet arrives at its host.
    #[inline]
    pub(super) fn arrive(&mut self, now: Time, id: RecordId) {
        let record = self.net.leave(id);
        let slot = number::flow(record.packet.flow);
        if number::is_out(record.packet.flow) {
            self.arrive_data(now, slot, &record);
        } else {
            self.arrive_ack(now, slot, &record);
        }
        self.hosts.release(slot);
    }

    #[inline]
    fn arrive_data(&mut self, now: Time, slot: usize, record: &Record) {
        let Some(heard) = self.hosts.hear(now, record) else {
            return self.arrive_datagram(now, (slot, End::Receiver), record);
        };
        if heard.complete {
            self.complete(now, slot);
        }
        if heard.earlier {
            self.acknowledge_before(now, slot);
        }
        self.acknowledge(now, slot, heard.ack);
    }

    /// Sends the ACK that goes before the one of the segment that has just arrived.
    #[cold]
    fn acknowledge_before(&mut self, now: Time, slot: usize) {
        let ack = self.hosts.take_earlier(slot);
        self.acknowledge(now, slot, ack);
    }

    #[inline(always)]
    fn acknowledge(&mut self, now: Time, slot: usize, ack: Option<AckInfo>) {
        if let Some(ack) = ack {
            let record = self.hosts.ack(now, slot, &ack);
            self.send(now, slot, End::Receiver, record);
        }
        self.arm(slot, End::Receiver);
    }

    #[inline]
    fn arrive_ack(&mut self, now: Time, slot: usize, record: &Record) {
        if self.hosts.goes_first(now, slot) {
            self.pump(now, slot);
        }
        match self.hosts.hear_ack(now, record) {
            Some(true) => self.pump(now, slot),
            Some(false) => self.arm(slot, End::Sender),
            None => self.arrive_datagram(now, (slot, End::Sender), record),
        }
    }

    /// Sends what the sender may send now.
    #[inline]
    fn pump(&mut self, now: Time, slot: usize) {
        if self.hosts.sends_bursts(slot) {
            return self.pump_bursts(now, slot);
        }
        while let Some(record) = self.hosts.next_packet(now, slot) {
            self.send(now, slot, End::Sender, record);
        }
        self.arm(slot, End::Sender);
    }

    /// The same, where the port may take a burst for one packet.
    #[inline(never)]
    fn pump_bursts(&mut self, now: Time, slot: usize) {
        let mut burst = None;
        while let Some((record, more)) = self.hosts.next_of_burst(now, slot) {
            self.send_segment(now, slot, (record, more), &mut burst);
        }
        self.send_burst(now, &mut burst);
        self.arm(slot, End::Sender);
    }

    /// A segment joins its burst, which goes unless `more` are to follow and the port takes it for one packet.
    fn send_segment(&mut self, now: Time, slot: usize, (mut record, more): (Record, bool), burst: &mut Burst) {
        self.hosts.leave(slot, End::Sender, &mut record);
        let (id, to) = self.net.enter(record);
        if let Some((_, last, _)) = *burst {
            self.net.join(last, id);
        }
        *burst = Some((burst.map_or(id, |it| it.0), id, to));
        if !more || !matches!(to, Onward::Port(link) if self.net.link(link).port().keeps_bursts()) {
            self.send_burst(now, burst);
        }
    }

    fn send_burst(&mut self, now: Time, burst: &mut Burst) {
        if let Some((first, _, to)) = burst.take() {
            self.go(now, first, to);
        }
    }

    /// Puts a packet into the first port of its route.
    #[inline]
    pub(super) fn send(&mut self, now: Time, slot: usize, end: End, mut record: Record) {
        self.hosts.leave(slot, end, &mut record);
        let (id, to) = self.net.enter(record);
        self.go(now, id, to);
    }

    /// A packet is no longer in a port's queue.
    #[inline]
    pub(super) fn depart(&mut self, now: Time, record: &Record) {
        if let Some(slot) = self.hosts.depart(now, record) {
            self.arm(slot, End::Sender);
        }
    }

    /// Makes sure that an event is pending for the timer of one end, at its time or before.
    #[inline(always)]
    fn arm(&mut self, slot: usize, end: End) {
        if let Some(at) = self.hosts.arm(slot, end) {
            self.agenda.add(at, Component::Timer(slot * 2 + end as usize));
        }
    }

    pub(super) fn on_timer(&mut self, now: Time, index: usize) {
        let slot = index / 2;
        let end = if index.is_multiple_of(2) { End::Sender } else { End::Receiver };
        match self.hosts.on_timer(now, slot, end) {
            Due::Nothing => self.on_peer_timer(now, slot, end),
            Due::Early => self.arm(slot, end),
            Due::Pump => self.pump(now, slot),
            Due::Ack(ack) => self.acknowledge(now, slot, ack),
        }
    }

    pub(super) fn wake_source(&mut self, now: Time, source: usize) {
        match self.hosts.wake(now, source) {
            Some(woken) => self.take_offer(now, source, woken),
            None => self.wake_otherwise(now, source),
        }
    }

    /// A source is woken that stops, or whose datagrams leave together.
    #[inline(never)]
    fn wake_otherwise(&mut self, now: Time, source: usize) {
        match self.hosts.wake_otherwise(now, source) {
            Some(woken) => self.take_offer(now, source, woken),
            None => self.stop_peers(now, source),
        }
    }

    #[inline(always)]
    fn take_offer(&mut self, now: Time, source: usize, Woken { flow, stop, gathers }: Woken) {
        let step = self.hosts.step(now, source);
        if let Some(next) = step.next {
            self.agenda.add(next, Component::Source(source));
        }
        match step.offer {
            Offer::Nothing => {}
            Offer::Datagram(wire) if gathers => {
                let segments = self.hosts.gather(source);
                self.send_datagrams(now, flow, (wire, segments));
            }
            Offer::Datagram(wire) => {
                let record = self.hosts.datagram(now, flow, wire);
                self.send(now, flow, End::Sender, record);
            }
            Offer::Replayed { wire, dscp, ecn } => {
                let record = self.hosts.replayed(now, flow, (wire, dscp, ecn));
                self.send(now, flow, End::Sender, record);
            }
            Offer::Endless => {
                self.open(now, flow, Opening::standing(Supply::Unlimited));
                if stop < Time::MAX {
                    self.agenda.add(stop, Component::Source(source));
                    self.hosts.will_stop(flow);
                }
            }
            Offer::Segments(segments) => self.supply(now, flow, Supplied { segments, session: None }),
            Offer::Write { last } => self.supply(now, flow, Supplied { segments: 1, session: Some(last) }),
            Offer::Transfer(bytes) => {
                let (asked, opening) = self.hosts.begin_transfer(now, source, bytes);
                self.transmit(now, asked, opening);
            }
            Offer::Request(request) => {
                let (asked, opening) = self.hosts.begin_request(now, source, request);
                self.transmit(now, asked, opening);
            }
        }
    }

    /// Sends so many datagrams as one burst.
    #[inline(never)]
    fn send_datagrams(&mut self, now: Time, flow: usize, (wire, segments): (u32, u32)) {
        let mut burst = None;
        for left in (0..segments).rev() {
            let record = self.hosts.datagram(now, flow, wire);
            self.send_segment(now, flow, (record, left > 0), &mut burst);
        }
    }

    /// A standing connection gets segments to send; the first ones open it.
    fn supply(&mut self, now: Time, flow: usize, supplied: Supplied) {
        if !self.hosts.is_open(flow) {
            self.open(now, flow, Opening::standing(Supply::Offered));
        }
        self.hosts.supply(now, flow, supplied);
        self.pump(now, flow);
    }

    /// Opens a connection for a transfer of a source on one of its table's routes.
    fn transmit(&mut self, now: Time, asked: TransferStart, opening: Opening) {
        let Some(place) = self.hosts.place(asked, &self.plan, &mut self.net) else { return };
        if place.announced && self.net.has_timed_edges() {
            self.wake_clock(); // for a conditioner that this flow is the first of
        }
        self.open(now, place.slot, opening);
    }

    /// Opens a connection on a flow.
    fn open(&mut self, now: Time, slot: usize, opening: Opening) {
        self.hosts.open(now, slot, opening);
        match self.hosts.is_open(slot) {
            true => self.pump(now, slot),
            false => self.begin_peers(now, slot),
        }
    }

    /// The last byte of a transfer or of a request has arrived.
    pub(super) fn complete(&mut self, now: Time, slot: usize) {
        match self.hosts.complete(now, slot) {
            None => {}
            Some(Completed::Request(asked, opening)) => self.transmit(now, asked, opening),
            Some(Completed::Transfer { transfer, source, next }) => {
                self.recorder.complete(transfer);
                if let Some(next) = next {
                    self.agenda.add(next, Component::Source(source));
                }
            }
        }
    }
}
