//! A link: the port it leaves from, its serialiser, its wire.
//!
//! A FIFO link of fixed rate needs no event at the end of a transmission: a packet's departure is known when it arrives,
//! `max(now, busy_until) + size / rate`. Links whose conditioners or AQM act at departure, those whose rate changes during
//! the run, and those with a scheduler have that event, on themselves only. Both kinds give the same bytes.

use super::serialiser::Serialiser;
use super::wire::{Passage as OnWire, Wire};
use super::{Pool, RecordId};
use crate::record::Delays;
use perhop_core::conditioner::Passage;
use perhop_core::count::Count;
use perhop_core::packet::{Colour, Packet};
use perhop_core::port::{Buffers, Port, Sent};
use perhop_core::units::{BitRate, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use std::collections::VecDeque;

/// What a link counted of one class and colour after the gate. What was delivered of them follows: queued, less dropped at
/// the head, lost, and on the link.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// Lost on the wire.
    pub lost: Count,
    /// Time from arrival at the port to start of transmission, of those that waited.
    pub waits: Delays,
}

/// What a link is made of.
#[derive(Debug)]
pub struct Parts {
    /// Conditioners and queues.
    pub port: Port<RecordId>,
    /// Rate.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// What happens on the wire beyond the delay.
    pub uneven: Option<Box<Wire>>,
    /// Have the event at the end of a transmission even if nothing needs it.
    pub force_transmit_done: bool,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    port: Port<RecordId>,
    serialiser: Serialiser,
    /// Sent and not yet at the other end. Without an event at the end of each transmission the port holds them.
    wire: VecDeque<Sent<RecordId>>,
    /// Up to where the other end is, or a wire on which packets take different times begins.
    delay: Span,
    uneven: Option<Box<Wire>>,
    /// Whether anyone looks at what passes it, or its wire does anything but delay.
    watched: bool,
    /// Whether it has an event at the end of each transmission.
    transmit_done: bool,
    /// Whether the hosts before it are told when a transmission begins.
    tells_hosts: bool,
    transmitting: bool,
    /// When the transmission ends that began last.
    ends: Time,
    /// When it next looks whether a shaper lets something go.
    wake: Time,
    /// Arrived at the other end, by colour.
    delivered: [Count; Colour::ALL.len()],
    /// By class and colour, after the gate.
    passed: Vec<[Passed; Colour::ALL.len()]>,
    /// Time from arrival to start of transmission, by queue; of a scheduler's queues only.
    waits: Vec<Delays>,
}

/// Events that an action on a link asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wakes {
    /// When its first packet reaches the other end, if no event waits for that yet.
    pub delivery: Option<Time>,
    /// When the transmission that has just begun ends, or a shaper may let the next begin.
    pub transmit_done: Option<Time>,
    /// The link is not transmitting, or packets that were waiting may have been dropped: [`Link::begin`].
    pub begin: bool,
    /// This packet's transmission has begun, and its host wants to know.
    pub departure: Option<RecordId>,
}

/// The port's view of the records; takes note of what it drops at the head.
struct Held<'a> {
    pool: &'a mut Pool,
    dropped: &'a mut Vec<(RecordId, Reason)>,
}

impl Buffers<RecordId> for Held<'_> {
    fn packet(&mut self, id: RecordId) -> &mut Packet {
        &mut self.pool.get_mut(id).packet
    }

    fn dropped(&mut self, id: RecordId, reason: Reason) {
        self.dropped.push((id, reason));
    }
}

impl Link {
    /// A link at rest.
    pub fn new(parts: Parts) -> Self {
        let Parts { port, rate, delay, uneven, force_transmit_done } = parts;
        let queues = if port.is_scheduled() { port.rows().count() } else { 0 };
        Self {
            serialiser: Serialiser::new(rate),
            wire: VecDeque::new(),
            delay: if uneven.as_ref().is_some_and(|wire| wire.varies()) { Span::ZERO } else { delay },
            watched: uneven.is_some(),
            uneven,
            transmit_done: force_transmit_done || !port.is_plain_fifo(),
            tells_hosts: false,
            transmitting: false,
            ends: Time::ZERO,
            wake: Time::MAX,
            delivered: Default::default(),
            passed: vec![Default::default(); port.offered().len()],
            waits: vec![Delays::default(); queues],
            port,
        }
    }

    /// From now on says when a transmission begins. Needs the event at the end of each: call before the first packet.
    pub fn tell_hosts(&mut self) {
        debug_assert!(self.records().next().is_none(), "departures of waiting packets must not be known yet");
        (self.tells_hosts, self.transmit_done) = (true, true);
    }

    /// From now on [`Link::is_watched`].
    pub fn watch(&mut self) {
        self.watched = true;
    }

    /// Sends at another rate from the next transmission. Needs the event at the end of each.
    pub fn set_rate(&mut self, rate: BitRate) {
        debug_assert!(self.transmit_done, "departures of waiting packets must not be known yet");
        self.serialiser.set_rate(rate);
    }

    /// A packet comes to the port. What was waiting and has no room now is added to `dropped`.
    ///
    /// # Errors
    /// Why it was dropped.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        at: &Passage<'_>,
        id: RecordId,
        pool: &mut Pool,
        dropped: &mut Vec<(RecordId, Reason)>,
    ) -> Result<Wakes, Reason> {
        if self.transmit_done {
            let begin = self.arrive_in_turn(*at, id, pool, dropped)?;
            return Ok(Wakes { begin, ..Wakes::default() });
        }
        let record = pool.get_mut(id);
        let (wire, serialiser) = (record.bytes(), &mut self.serialiser);
        let alone = self.port.sent_at().is_none();
        let mut delivers = Time::ZERO;
        let fate = self.port.arrive_ahead(at, &mut record.packet, id, |now| {
            let sent = serialiser.send(now, wire);
            delivers = sent.ends + self.delay;
            sent
        });
        match fate {
            Fate::Dropped(reason) => Err(reason),
            _ => Ok(Wakes { delivery: alone.then_some(delivers), ..Wakes::default() }),
        }
    }

    /// As [`Link::arrive`], with an event at the end of each transmission; whether to [`Link::begin`].
    #[inline(never)]
    fn arrive_in_turn(
        &mut self,
        at: Passage<'_>,
        id: RecordId,
        pool: &mut Pool,
        dropped: &mut Vec<(RecordId, Reason)>,
    ) -> Result<bool, Reason> {
        if let Fate::Dropped(reason) = self.port.arrive(&at, &mut pool.get_mut(id).packet, id) {
            return Err(reason);
        }
        let evicts = self.port.evicts();
        if evicts {
            self.port.evict(at.now, &mut Held { pool, dropped });
        }
        Ok(!self.transmitting || evicts)
    }

    /// The transmission before has ended, or the link was idle: the next packet's begins. What the port drops instead is
    /// added to `dropped`.
    pub fn begin(&mut self, now: Time, pool: &mut Pool, dropped: &mut Vec<(RecordId, Reason)>) -> Wakes {
        if self.transmitting && now < self.ends {
            return Wakes::default(); // It was to look after a shaper that has let something go meanwhile.
        }
        self.transmitting = false;
        let Some(leaving) = self.port.next(now, &mut Held { pool: &mut *pool, dropped }) else {
            return self.wait(now);
        };
        let sent = self.serialiser.send(now, pool.get(leaving.handle).bytes());
        self.port.busy_until(&leaving, sent.ends);
        if let Some(waits) = self.waits.get_mut(leaving.queue) {
            waits.observe(sent.starts.since(leaving.arrived).ns());
        }
        let delivery = self.wire.is_empty().then_some(sent.ends + self.delay);
        self.wire.push_back(Sent { handle: leaving.handle, arrived: leaving.arrived, sent });
        (self.transmitting, self.ends) = (true, sent.ends);
        let departure = self.tells_hosts.then_some(leaving.handle);
        Wakes { delivery, transmit_done: Some(sent.ends), departure, ..Wakes::default() }
    }

    /// Nothing may go now: looks again when a shaper lets something go, unless it does so earlier.
    fn wait(&mut self, now: Time) -> Wakes {
        let Some(at) = self.port.opens_at() else { return Wakes::default() };
        let at = at.max(now + Span::from_ns(1));
        if now < self.wake && self.wake <= at {
            return Wakes::default();
        }
        self.wake = at;
        Wakes { transmit_done: Some(at), ..Wakes::default() }
    }

    /// Takes the packet that reaches the other end now, and says when the next one does.
    #[inline(always)]
    pub fn deliver(&mut self) -> (Sent<RecordId>, Option<Time>) {
        let taken = if self.transmit_done { self.take_from_wire() } else { self.port.take_sent() };
        let (first, next) = taken.expect("an event waited for it");
        (first, next.map(|ends| ends + self.delay))
    }

    /// The first packet on the wire behind a port that knows of none that it has sent, and when the one behind it was sent.
    fn take_from_wire(&mut self) -> Option<(Sent<RecordId>, Option<Time>)> {
        let first = self.wire.pop_front()?;
        Some((first, self.wire.front().map(|next| next.sent.ends)))
    }

    /// Counts a packet that reaches the other end.
    #[inline(always)]
    pub fn count_delivered(&mut self, first: &Sent<RecordId>, packet: &Packet) {
        self.delivered[packet.colour.index()].add(packet.size);
        let wait = first.sent.starts.since(first.arrived).ns();
        if wait > 0 {
            self.passed[usize::from(packet.class)][packet.colour.index()].waits.observe(wait);
        }
    }

    /// Whether anyone looks at what passes it, or its wire does anything but delay.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.watched
    }

    /// What becomes of the packet that was just delivered: a wire may lose it, or let it arrive later.
    #[inline]
    pub fn passes(&mut self, now: Time, id: RecordId, packet: &Packet) -> OnWire {
        if self.uneven.is_none() { OnWire::Through } else { self.goes_on(now, id, packet) }
    }

    #[cold]
    #[inline(never)]
    fn goes_on(&mut self, now: Time, id: RecordId, packet: &Packet) -> OnWire {
        let Some(wire) = &mut self.uneven else { return OnWire::Through };
        let becomes = wire.enter(now, id);
        if becomes != OnWire::Through {
            let delivered = &mut self.delivered[packet.colour.index()];
            *delivered = *delivered - Count { packets: 1, bytes: u64::from(packet.size) };
        }
        if becomes == OnWire::Lost {
            self.passed[usize::from(packet.class)][packet.colour.index()].lost.add(packet.size);
        }
        becomes
    }

    /// Takes the packet that was on a wire for its own time, and says when the next one arrives.
    pub fn leave_wire(&mut self, pool: &Pool) -> (RecordId, Option<Time>) {
        let (id, next) = self.uneven.as_mut().expect("only such links have this event").leave();
        let packet = &pool.get(id).packet;
        self.delivered[packet.colour.index()].add(packet.size);
        (id, next)
    }

    /// Whether packets take different times on the wire: the link has another event.
    pub fn varies(&self) -> bool {
        self.uneven.as_ref().is_some_and(|wire| wire.varies())
    }

    /// The port.
    #[inline]
    pub fn port(&self) -> &Port<RecordId> {
        &self.port
    }

    /// The port, for what comes back over the mate link, timers, and new parameters.
    #[inline]
    pub fn port_mut(&mut self) -> &mut Port<RecordId> {
        &mut self.port
    }

    /// Arrived at the other end, by colour.
    pub fn delivered(&self) -> &[Count; Colour::ALL.len()] {
        &self.delivered
    }

    /// By class and colour, after the gate.
    pub fn passed(&self) -> &[[Passed; Colour::ALL.len()]] {
        &self.passed
    }

    /// Time from arrival to start of transmission, by queue of the scheduler; nothing without one.
    pub fn waits(&self) -> &[Delays] {
        &self.waits
    }

    /// Times of waiting begin again.
    pub fn clear_waits(&mut self) {
        self.passed.iter_mut().flatten().for_each(|passed| passed.waits.clear());
        self.waits.iter_mut().for_each(Delays::clear);
    }

    /// What is on the link, waiting, sent or propagating, by class and colour.
    pub fn on_link(&self, pool: &Pool) -> Vec<[Count; Colour::ALL.len()]> {
        let mut on_link = vec![[Count::default(); Colour::ALL.len()]; self.passed.len()];
        for record in self.records() {
            let packet = &pool.get(record).packet;
            on_link[usize::from(packet.class)][packet.colour.index()].add(packet.size);
        }
        on_link
    }

    /// Every packet on the link, waiting, sent or propagating.
    pub fn records(&self) -> impl Iterator<Item = RecordId> {
        self.before_wire().chain(self.uneven.iter().flat_map(|wire| wire.records()))
    }

    /// Those of them that are not on a wire for their own time.
    fn before_wire(&self) -> impl Iterator<Item = RecordId> {
        self.wire.iter().map(|sent| sent.handle).chain(self.port.handles())
    }
}

#[cfg(test)]
impl Link {
    /// For tests that tamper with a count.
    pub fn delivered_mut(&mut self) -> &mut [Count; Colour::ALL.len()] {
        &mut self.delivered
    }

    /// For tests that tamper with a count.
    pub fn passed_mut(&mut self) -> &mut [[Passed; Colour::ALL.len()]] {
        &mut self.passed
    }
}
