//! The ends of flows: what sources and senders put into the network, what arrives at hosts, timers.

use super::{HERE, Simulation, Source};
use crate::agenda::Key;
use crate::hosts::Session;
use crate::hosts::flow::{self as host, Connection, End, Transit};
use crate::net::{Record, RecordId};
use crate::record::Transfer;
use crate::traffic::{Carrier, Offer, Request};
use crate::transport::{Receiver, RtoEstimator, Sender, Supply};
use perhop_core::packet::FlowId;
use perhop_core::units::{Span, Time};

/// How a connection is opened.
struct Opening {
    supply: Supply,
    transfer: Option<Transit>,
    /// It is the half that answers a request: the handshake was made, and has measured this.
    answers: Option<RtoEstimator>,
}

impl Opening {
    fn standing(supply: Supply) -> Self {
        Self { supply, transfer: None, answers: None }
    }

    fn transfer(transit: Transit) -> Self {
        Self { supply: Supply::Bytes(transit.bytes), transfer: Some(transit), answers: None }
    }
}

impl Simulation {
    /// A packet arrives at its host.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, id: RecordId) {
        let record = self.pool.remove(id);
        let FlowId(number) = record.packet.flow;
        let slot = (number / 2) as usize;
        self.flows[slot].in_network -= 1;
        if number.is_multiple_of(2) {
            self.arrive_data(now, slot, &record);
        } else {
            self.arrive_ack(now, slot, &record);
        }
        if !self.ending.is_empty() && self.flows[slot].in_network == 0 {
            self.recycle(slot);
        }
    }

    #[inline]
    fn arrive_data(&mut self, now: Time, slot: usize, record: &Record) {
        let flow = &mut self.flows[slot];
        let (delay, jitter) = flow.arrived(now, record);
        let arrivals = &mut self.arrivals[usize::from(record.packet.class)][record.packet.colour.index()];
        arrivals.delivered.add(record.wire);
        arrivals.delays.observe(delay.ns());
        if let Some(jitter) = jitter {
            arrivals.jitters.observe(jitter.ns());
        }
        let Some(tcp) = &mut flow.tcp else { return };
        let ack = tcp.receiver.on_segment(now, &host::received(record));
        if record.packet.payload > 0
            && let Some(transit) = &mut tcp.transfer
        {
            transit.first.get_or_insert(now);
        }
        if let Some(session) = &mut tcp.session {
            session.deliver(now, tcp.receiver.delivered_segments());
        }
        if tcp.transfer.is_some_and(|transit| tcp.receiver.delivered_bytes() >= transit.bytes) {
            self.complete(now, slot);
        }
        let flow = &self.flows[slot];
        if let Some(ack) = ack {
            let record = flow.ack(now, &ack);
            self.send(now, slot, End::Receiver, record);
        }
        self.arm(slot, End::Receiver);
    }

    #[inline]
    fn arrive_ack(&mut self, now: Time, slot: usize, record: &Record) {
        let flow = &mut self.flows[slot];
        flow.counts.acks[1].add(record.wire);
        let Some(tcp) = &mut flow.tcp else { return };
        tcp.sender.on_ack(now, host::acknowledged(record));
        self.answer(now, slot);
    }

    /// An ACK has come: its host sends at once, or is busy for a while, once for all that come meanwhile.
    #[inline]
    fn answer(&mut self, now: Time, slot: usize) {
        let flow = &mut self.flows[slot];
        let Some(overhead) = self.plan.traffic[usize::from(flow.table)].tcp.overhead else {
            return self.pump(now, slot);
        };
        let Some(tcp) = &mut flow.tcp else { return };
        if tcp.busy.is_none() {
            let wait = self.sources[flow.source as usize].rng.uniform() * overhead.ns() as f64;
            tcp.busy = Some(now + Span::from_ns(wait as u64));
        }
        self.arm(slot, End::Sender);
    }

    /// Sends what the sender may send now.
    #[inline]
    fn pump(&mut self, now: Time, slot: usize) {
        loop {
            let flow = &mut self.flows[slot];
            let Some(tcp) = &mut flow.tcp else { return };
            let Some(segment) = tcp.sender.next_segment(now) else { break };
            let record = flow.segment(now, &segment);
            self.send(now, slot, End::Sender, record);
        }
        self.arm(slot, End::Sender);
    }

    /// Puts a packet into the first port of its way.
    #[inline]
    fn send(&mut self, now: Time, slot: usize, end: End, mut record: Record) {
        let flow = &mut self.flows[slot];
        flow.in_network += 1;
        match end {
            End::Sender => flow.counts.sent.add(record.wire),
            End::Receiver => flow.counts.acks[0].add(record.wire),
        }
        record.packet.flow = FlowId(slot as u32 * 2 + end as u32);
        record.packet.size = record.wire + self.overhead;
        let first = self.hops[record.hop as usize];
        record.hop += 1;
        let id = self.pool.insert(record);
        if first == HERE { self.arrive(now, id) } else { self.forward(now, first as usize, id) }
    }

    /// Sees to it that an event waits for the timer of one end, at its time or before.
    #[inline]
    fn arm(&mut self, slot: usize, end: End) {
        let Some(tcp) = &mut self.flows[slot].tcp else { return };
        let at = match end {
            End::Sender => tcp.sender.timer_at().into_iter().chain(tcp.busy).min(),
            End::Receiver => tcp.receiver.timer_at(),
        };
        let armed = &mut tcp.armed[end as usize];
        if let Some(at) = at.filter(|at| at < armed) {
            *armed = at;
            self.timers.push(Key::new(at, slot * 2 + end as usize));
        }
    }

    pub(crate) fn on_timer(&mut self, now: Time, index: usize) {
        let slot = index / 2;
        let Some(tcp) = &mut self.flows[slot].tcp else { return };
        let end = if index.is_multiple_of(2) { End::Sender } else { End::Receiver };
        if tcp.armed[end as usize] != now {
            return;
        }
        tcp.armed[end as usize] = Time::MAX;
        match end {
            End::Sender => {
                let due = tcp.sender.timer_at().is_some_and(|at| at <= now);
                if due {
                    tcp.sender.on_timer(now);
                }
                if tcp.busy.is_some_and(|at| at > now) && !due {
                    return self.arm(slot, End::Sender);
                }
                tcp.busy = None;
                self.pump(now, slot);
            }
            End::Receiver => {
                let due = tcp.receiver.timer_at().is_some_and(|at| at <= now);
                if let Some(ack) = if due { tcp.receiver.on_timer(now) } else { None } {
                    let record = self.flows[slot].ack(now, &ack);
                    self.send(now, slot, End::Receiver, record);
                }
                self.arm(slot, End::Receiver);
            }
        }
    }

    pub(crate) fn wake_source(&mut self, now: Time, index: usize) {
        let source = &mut self.sources[index];
        if now >= source.stop {
            return self.close(index);
        }
        let step = source.traffic.wake(now, &mut source.rng);
        let (slot, table, stop) = (source.flow as usize, usize::from(source.table), source.stop);
        if let Some(next) = step.next {
            self.events.push(Key::new(next, self.numbering().source(index)));
        }
        match step.offer {
            Offer::Nothing => {}
            Offer::Datagram(wire) => {
                let record = self.flows[slot].datagram(now, wire);
                self.send(now, slot, End::Sender, record);
            }
            Offer::Endless => {
                if stop < Time::MAX {
                    self.events.push(Key::new(stop, self.numbering().source(index)));
                }
                self.open(now, slot, Opening::standing(Supply::Unlimited));
            }
            Offer::Segments(n) => self.supply(now, slot, (n, None)),
            Offer::Write { last } => self.supply(now, slot, (1, Some(last))),
            Offer::Transfer(bytes) => {
                self.open_transfers[table] += 1;
                let transit = Transit { bytes, opened: now, first: None, page: None, asks_for: None };
                self.transmit(now, (index, 0), Opening::transfer(transit));
            }
            Offer::Request(Request { server, bytes, object, page }) => {
                self.open_transfers[table] += 1;
                let way = self.plan.traffic[table].from.len() + server as usize;
                let transit = Transit { bytes, opened: now, first: None, page: Some(page), asks_for: Some(object) };
                self.transmit(now, (index, way), Opening::transfer(transit));
            }
        }
    }

    /// Opens a connection for a transfer of a source on one of its table's ways.
    fn transmit(&mut self, now: Time, (source, way): (usize, usize), opening: Opening) {
        match self.free_flow(source, way) {
            Some(slot) => self.open(now, slot, opening),
            None => self.refused += 1,
        }
    }

    /// A standing connection gets segments to send: a session's with whether they are its last.
    fn supply(&mut self, now: Time, slot: usize, (segments, session): (u32, Option<bool>)) {
        if self.flows[slot].tcp.is_none() {
            self.open(now, slot, Opening::standing(Supply::Offered));
        }
        if let Some(tcp) = &mut self.flows[slot].tcp {
            tcp.sender.offer(segments);
            if let Some(last) = session {
                tcp.session.get_or_insert_with(|| Box::new(Session::new(now))).write(now, last);
            }
        }
        self.pump(now, slot);
    }

    /// A source stops: its standing connection sends nothing new.
    fn close(&mut self, source: usize) {
        let source = &self.sources[source];
        if source.traffic.carrier() == Carrier::Connection
            && let Some(tcp) = &mut self.flows[source.flow as usize].tcp
        {
            tcp.sender.close();
        }
    }

    /// A flow for one more transfer of a source on one of its table's ways: one that was used and is free, or a new one;
    /// `None` when keys cannot name more.
    fn free_flow(&mut self, source: usize, way: usize) -> Option<usize> {
        let Source { table, flow, .. } = self.sources[source];
        let slot = match self.idle_flows[usize::from(table)][way].pop() {
            Some(slot) => slot as usize,
            None => {
                let own = self.flows.get(flow as usize).filter(|own| own.source as usize == source);
                if own.is_some_and(|own| own.tcp.is_none() && own.counts.sent.packets == 0) {
                    return Some(flow as usize);
                }
                self.add_flow(source as u32, way).ok()?
            }
        };
        self.flows[slot].source = source as u32;
        self.flows[slot].renew();
        self.announce(slot);
        if !self.timed_edges.is_empty() {
            self.wake_clock(); // for a conditioner that this flow is the first of
        }
        Some(slot)
    }

    /// Opens a connection on a flow.
    fn open(&mut self, now: Time, slot: usize, Opening { supply, transfer, answers }: Opening) {
        let mut config = self.plan.traffic[usize::from(self.flows[slot].table)].tcp;
        config.syn &= answers.is_none();
        // A tick of the sender's clock does not begin with the run: each connection has a phase of its own.
        let source = &mut self.sources[self.flows[slot].source as usize];
        let phase = source.rng.uniform() * config.rto.granularity.ns() as f64;
        let sender = Sender::new(&config, supply).expect("validated");
        let mut sender = match answers {
            Some(estimate) => sender.with_estimate(estimate),
            None => sender.with_clock_phase(Span::from_ns(phase as u64)),
        };
        let receiver = Receiver::new(&config).expect("validated");
        sender.start();
        self.flows[slot].tcp = Some(Connection {
            sender,
            receiver,
            armed: [Time::MAX; 2],
            busy: None,
            mss: config.mss,
            header: config.header,
            transfer,
            session: None,
        });
        self.pump(now, slot);
    }

    /// The last byte of a transfer or of a request has arrived.
    fn complete(&mut self, now: Time, slot: usize) {
        let flow = &mut self.flows[slot];
        let Some(tcp) = &mut flow.tcp else { return };
        let Some(transit) = tcp.transfer.take() else { return };
        let (table, source, way) = (flow.table, flow.source, flow.way);
        self.ending.push(slot as u32);
        if let Some(bytes) = transit.asks_for {
            let estimate = tcp.sender.estimate();
            let sender = usize::from(way) - self.plan.traffic[usize::from(table)].from.len();
            let object = Transit { bytes, asks_for: None, first: None, ..transit };
            let opening = Opening { answers: Some(estimate), ..Opening::transfer(object) };
            return self.transmit(now, (source as usize, sender), opening);
        }
        let Transit { bytes, opened, first, page, .. } = transit;
        self.transfers.push(Transfer {
            table,
            source: self.number_of(source),
            sender: way.into(),
            page,
            opened,
            first: first.unwrap_or(now),
            complete: now,
            bytes,
        });
        self.open_transfers[usize::from(table)] -= 1;
        let index = self.numbering().source(source as usize);
        let source = &mut self.sources[source as usize];
        if let Some(next) = source.traffic.on_complete(now, &mut source.rng) {
            self.events.push(Key::new(next, index));
        }
    }

    /// Gives a finished transfer's flow back once its sender knows that it is over and none of its packets is left.
    pub(crate) fn recycle(&mut self, slot: usize) {
        let Some(at) = self.ending.iter().position(|&s| s as usize == slot) else { return };
        let flow = &self.flows[slot];
        let over = flow.tcp.as_ref().is_some_and(|tcp| tcp.sender.finished());
        if over && flow.in_network == 0 {
            self.ending.swap_remove(at);
            let (table, way) = (usize::from(flow.table), usize::from(flow.way));
            let goodput = self.goodput_bytes(&self.flows[slot]);
            if let Some(tcp) = self.flows[slot].tcp.take() {
                self.retired[table].add(goodput, tcp.sender.counters());
            }
            self.idle_flows[table][way].push(slot as u32);
        }
    }
}
