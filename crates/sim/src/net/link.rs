//! A link: the port it leaves from, its serialiser, its wire.
//!
//! A FIFO link of fixed rate needs no event at the end of a transmission: a packet's departure is known when it arrives,
//! `max(now, busy_until) + size / rate`. Links whose conditioners or AQM act at departure, those whose rate changes during
//! the run, and those with a scheduler have that event, on themselves only. Both kinds give the same bytes.

use super::ahead::Late;
use super::burst::Beyond;
use super::serialiser::Serialiser;
use super::wire::{Passage as OnWire, Wire};
use super::{Pool, Record, RecordId};
use crate::record::Delays;
use perhop_core::accounting::Accounting;
use perhop_core::conditioner::Passage;
use perhop_core::count::Count;
use perhop_core::counted::Counted;
use perhop_core::packet::{Colour, Options, Packet};
use perhop_core::port::{Buffers, Fates, Leaving, Port, Sent, Transmission};
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
    /// Which bytes of a packet the rate counts.
    pub framing: Accounting,
    /// Propagation delay.
    pub delay: Span,
    /// What happens on the wire beyond the delay.
    pub uneven: Option<Box<Wire>>,
    /// Have the event at the end of a transmission even if nothing needs it.
    pub force_transmit_done: bool,
}

/// What the engine has to do for a packet on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It is queued, sent and delivered, nothing else.
    Plain,
    /// The same, and it may pass on to the next link ahead of its time.
    Leading,
    /// More.
    Full,
}

/// One direction of a link.
#[derive(Clone, Debug)]
// In this order: what every packet of a plain link asks for lies together, and takes as few lines of the cache as it can.
#[repr(C, align(64))]
pub struct Link {
    kind: Kind,
    /// Whether anyone looks at what passes it, or its wire does anything but delay.
    watched: bool,
    /// Whether it has an event at the end of each transmission.
    transmit_done: bool,
    /// Whether the hosts before it are told when a transmission begins.
    tells_hosts: bool,
    transmitting: bool,
    /// Bytes that the serialiser sends of each packet beyond its IP length.
    beyond_ip: u8,
    /// Whether its rate has changed.
    retuned: bool,
    /// Up to where the other end is, or a wire on which packets take different times begins.
    delay: Span,
    /// Arrived at the other end, by colour.
    delivered: [Count; Colour::ALL.len()],
    serialiser: Serialiser,
    port: Port<RecordId>,
    /// After the gate.
    passed: Counted<Passed>,
    /// Time from arrival to start of transmission, by queue; of a scheduler's queues only.
    waits: Box<[Delays]>,
    /// When the transmission ends that began last.
    ends: Time,
    /// For how long it has been sending when that ends. Only with an event at the end of each transmission.
    busy: Span,
    /// When it next looks whether a shaper lets something go.
    wake: Time,
    /// Sent and not yet at the other end. Without an event at the end of each transmission the port holds them.
    wire: VecDeque<Sent<RecordId>>,
    uneven: Option<Box<Wire>>,
    /// Lost behind it, and not yet told.
    late: VecDeque<Late>,
    /// What the port did not count; nothing but where hosts send bursts.
    beyond: Option<Box<Counted<Beyond>>>,
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
    beyond: &'a mut Option<Box<Counted<Beyond>>>,
}

impl Buffers<RecordId> for Held<'_> {
    fn packet(&mut self, id: RecordId) -> &mut Packet {
        &mut self.pool.get_mut(id).packet
    }

    fn options(&mut self, id: RecordId) -> Options {
        self.pool.get(id).options()
    }

    fn dropped(&mut self, id: RecordId, reason: Reason) {
        self.dropped.push((id, reason));
        if self.pool.next(id).is_some() {
            let (packet, more) = (&self.pool.get(id).packet, self.pool.beyond(id));
            self.beyond.get_or_insert_default().at(packet.class, packet.colour).dropped_at_head(reason, more);
        }
    }
}

impl Link {
    /// A link at rest.
    pub fn new(parts: Parts) -> Self {
        let Parts { port, rate, framing, delay, uneven, force_transmit_done } = parts;
        let queues = if port.is_scheduled() { port.rows().len() } else { 0 };
        let mut link = Self {
            serialiser: Serialiser::new(rate),
            wire: VecDeque::new(),
            delay: if uneven.as_ref().is_some_and(|wire| wire.varies()) { Span::ZERO } else { delay },
            kind: Kind::Full,
            watched: uneven.is_some(),
            uneven,
            late: VecDeque::new(),
            beyond: None,
            transmit_done: force_transmit_done || !port.is_plain_fifo(),
            tells_hosts: false,
            transmitting: false,
            beyond_ip: framing.overhead() as u8,
            retuned: false,
            ends: Time::ZERO,
            busy: Span::ZERO,
            wake: Time::MAX,
            delivered: Default::default(),
            passed: Counted::default(),
            waits: vec![Delays::default(); queues].into(),
            port,
        };
        link.find_plain();
        link
    }

    fn find_plain(&mut self) {
        let plain = !self.transmit_done && !self.watched && !self.port.has_conditioners();
        self.kind = if plain { Kind::Plain } else { Kind::Full };
    }

    /// From now on [`Link::leads`]; only a [plain](Link::is_plain) link does.
    pub fn lead(&mut self) {
        debug_assert!(self.kind == Kind::Plain, "{:?}", self.kind);
        self.kind = Kind::Leading;
    }

    /// From now on says when a transmission begins. Needs the event at the end of each: call before the first packet.
    pub fn tell_hosts(&mut self) {
        debug_assert!(self.port.handles().next().is_none(), "departures of waiting packets must not be known yet");
        (self.tells_hosts, self.transmit_done) = (true, true);
        self.find_plain();
    }

    /// From now on [`Link::is_watched`].
    pub fn watch(&mut self) {
        self.watched = true;
        self.find_plain();
    }

    /// Sends at another rate from the next transmission. Needs the event at the end of each.
    pub fn set_rate(&mut self, rate: BitRate) {
        assert!(self.transmit_done, "departures of waiting packets must not be known yet");
        self.retuned |= rate != self.serialiser.rate();
        self.serialiser.set_rate(rate);
    }

    /// For how long it has been sending until `now`, if its rate has changed: what it sent does not say that then.
    pub fn sending(&self, now: Time) -> Option<Span> {
        self.retuned.then(|| self.busy(now))
    }

    /// For how long it has been sending until `now`, if it has an event at the end of each transmission.
    pub fn busy(&self, now: Time) -> Span {
        self.busy - self.ends.since(now)
    }

    /// Whether nothing happens to a packet but that it is queued, sent and delivered: no conditioners, no event at the end of each
    /// transmission, no tap, no trace.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.kind != Kind::Full
    }

    /// Whether packets may pass from it to the next link ahead of their time.
    #[inline(always)]
    pub fn leads(&self) -> bool {
        self.kind == Kind::Leading
    }

    /// Whether a packet that reaches the other end came over a [plain](Link::is_plain) link that does not [lead](Link::leads).
    #[inline(always)]
    pub fn delivers_plainly(&self) -> bool {
        self.kind == Kind::Plain
    }

    /// When the first packet on a link without an event at the end of each transmission reaches the other end.
    pub fn delivers_at(&self) -> Option<Time> {
        self.port.sends_at().map(|ends| ends + self.delay)
    }

    /// Whether losses behind it are kept until their time.
    pub fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// Losses behind it that are kept until their time.
    pub(super) fn late_mut(&mut self) -> &mut VecDeque<Late> {
        &mut self.late
    }

    /// A packet comes to the port of a [plain](Link::is_plain) link. When it reaches the other end, if no event waits for another.
    ///
    /// # Errors
    /// Why it was dropped.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, id: RecordId, record: &mut Record) -> Result<Option<Time>, Reason> {
        let (wire, serialiser) = (record.bytes() + u32::from(self.beyond_ip), &mut self.serialiser);
        let sent = self.port.queue_ahead(now, &mut record.packet, id, |now| serialiser.send(now, wire))?;
        Ok(sent.map(|ends| ends + self.delay))
    }

    /// A packet comes to the port. What was waiting and has no room now is added to `dropped`.
    ///
    /// # Errors
    /// Why it was dropped.
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
        let (wire, serialiser) = (record.bytes() + u32::from(self.beyond_ip), &mut self.serialiser);
        let sent = self.port.arrive_ahead(at, &mut record.packet, id, |now| serialiser.send(now, wire))?;
        Ok(Wakes { delivery: sent.map(|ends| ends + self.delay), ..Wakes::default() })
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
        if pool.next(id).is_some() {
            return self.arrive_burst(&at, id, pool, dropped);
        }
        let fate = self.port.arrive(&at, &mut pool.get_mut(id).packet, id);
        let evicts = self.port.evicts();
        if evicts {
            self.port.evict(at.now, &mut Held { pool, dropped, beyond: &mut self.beyond });
        }
        match fate {
            Fate::Dropped(reason) => Err(reason),
            Fate::Queued | Fate::Marked => Ok(!self.transmitting || evicts),
        }
    }

    /// The transmission before has ended, or the link was idle: the next packet's begins. What the port drops instead is
    /// added to `dropped`.
    pub fn begin(&mut self, now: Time, pool: &mut Pool, dropped: &mut Vec<(RecordId, Reason)>) -> Wakes {
        if self.transmitting && now < self.ends {
            return Wakes::default(); // It was to look after a shaper that has let something go meanwhile.
        }
        self.transmitting = false;
        let mut held = Held { pool: &mut *pool, dropped, beyond: &mut self.beyond };
        let Some(leaving) = self.port.next(now, &mut held) else {
            return self.wait(now);
        };
        if pool.next(leaving.handle).is_some() {
            return self.begin_burst(now, &leaving, pool);
        }
        let sent = self.send(now, pool.get(leaving.handle));
        self.port.busy_until(&leaving, sent.ends);
        if let Some(waits) = self.waits.get_mut(leaving.queue) {
            waits.observe(sent.starts.since(leaving.arrived).ns());
        }
        let delivery = self.wire.is_empty().then_some(sent.ends + self.delay);
        self.wire.push_back(Sent { handle: leaving.handle, arrived: leaving.arrived, sent });
        (self.transmitting, self.ends) = (true, sent.ends);
        self.busy = self.busy + (sent.ends - sent.starts);
        let departure = self.tells_hosts.then_some(leaving.handle);
        Wakes { delivery, transmit_done: Some(sent.ends), departure, ..Wakes::default() }
    }

    /// The transmission of a packet that could begin now.
    #[inline]
    fn send(&mut self, now: Time, record: &Record) -> Transmission {
        self.serialiser.send(now, record.bytes() + u32::from(self.beyond_ip))
    }

    /// A burst comes to its host's port; whether to [`Link::begin`].
    ///
    /// # Errors
    /// Why it was dropped.
    fn arrive_burst(
        &mut self,
        at: &Passage<'_>,
        first: RecordId,
        pool: &mut Pool,
        dropped: &mut Vec<(RecordId, Reason)>,
    ) -> Result<bool, Reason> {
        let more = pool.beyond(first);
        pool.gather(first);
        let packet = &mut pool.get_mut(first).packet;
        let mut fate = Fate::Queued;
        if self.port.takes_apart(packet) {
            self.arrive_apart(at, first, pool, dropped);
        } else {
            fate = self.port.arrive(at, packet, first);
            let ecn = packet.ecn;
            self.beyond.get_or_insert_default().at(packet.class, packet.colour).arrive(fate, more);
            // What the burst is marked with from now on, it is marked with at its departure.
            pool.next(first)
                .filter(|_| fate.stays())
                .into_iter()
                .for_each(|second| pool.get_mut(second).packet.ecn = ecn);
        }
        let evicts = self.port.evicts();
        if evicts {
            self.port.evict(at.now, &mut Held { pool, dropped, beyond: &mut self.beyond });
        }
        match fate {
            Fate::Dropped(reason) => Err(reason),
            Fate::Queued | Fate::Marked => Ok(!self.transmitting || evicts || !dropped.is_empty()),
        }
    }

    /// The transmission of a burst begins: of one segment behind the other.
    fn begin_burst(&mut self, now: Time, leaving: &Leaving<RecordId>, pool: &mut Pool) -> Wakes {
        let (first, arrived) = (leaving.handle, leaving.arrived);
        let (packet, more) = (pool.get(first).packet, pool.beyond(first));
        if pool.next(first).is_some_and(|second| pool.get(second).packet.ecn != packet.ecn) {
            self.beyond.get_or_insert_default().at(packet.class, packet.colour).0.marked += more;
        }
        pool.scatter(first);
        let alone = self.wire.is_empty();
        for handle in pool.burst(first) {
            let sent = self.send(now, pool.get(handle));
            self.wire.push_back(Sent { handle, arrived, sent });
            self.ends = sent.ends;
            self.busy = self.busy + (sent.ends - sent.starts);
        }
        self.transmitting = true;
        self.port.busy_until(leaving, self.ends);
        if let Some(waits) = self.waits.get_mut(leaving.queue) {
            waits.observe(now.since(arrived).ns());
        }
        let delivery = if alone { self.wire.front().map(|sent| sent.sent.ends + self.delay) } else { None };
        Wakes { delivery, transmit_done: Some(self.ends), departure: Some(first), ..Wakes::default() }
    }

    /// The segments of a burst wait one by one.
    fn arrive_apart(
        &mut self,
        at: &Passage<'_>,
        first: RecordId,
        pool: &mut Pool,
        dropped: &mut Vec<(RecordId, Reason)>,
    ) {
        pool.scatter(first);
        let mut next = Some(first);
        while let Some(segment) = next {
            next = pool.part(segment);
            if let Fate::Dropped(reason) = self.port.arrive(at, &mut pool.get_mut(segment).packet, segment) {
                dropped.push((segment, reason));
            }
        }
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
    pub fn deliver(&mut self) -> (Sent<RecordId>, Option<Time>) {
        if !self.transmit_done {
            return self.deliver_plain();
        }
        let (first, next) = self.take_from_wire().expect("an event waited for it");
        (first, next.map(|ends| ends + self.delay))
    }

    /// As [`Link::deliver`], without an event at the end of each transmission.
    #[inline(always)]
    pub fn deliver_plain(&mut self) -> (Sent<RecordId>, Option<Time>) {
        let (first, next) = self.port.take_sent();
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
            self.passed.at(packet.class, packet.colour).waits.observe(wait);
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
            self.passed.at(packet.class, packet.colour).lost.add(packet.size);
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

    /// The fates of all packets at its gates, as the wire counts them.
    pub fn fates(&self) -> Counted<Fates> {
        let mut all = self.port.fates();
        for (of, beyond) in self.beyond.iter().flat_map(|it| it.iter()) {
            let sum = all.at(of.class() as u16, of.colour());
            *sum = sum.plus(&beyond.0);
        }
        all
    }

    /// Arrived at the other end, by colour.
    pub fn delivered(&self) -> &[Count; Colour::ALL.len()] {
        &self.delivered
    }

    /// After the gate.
    pub fn passed(&self) -> &Counted<Passed> {
        &self.passed
    }

    /// Time from arrival to start of transmission, by queue of the scheduler; nothing without one.
    pub fn waits(&self) -> &[Delays] {
        &self.waits
    }

    /// Times of waiting begin again. Nothing has to be allocated from now on for colours that conditioners give.
    pub fn clear_waits(&mut self) {
        self.port.reserve();
        self.beyond.iter_mut().for_each(|beyond| beyond.reserve_colours());
        self.passed.reserve_colours();
        self.passed.values_mut().for_each(|passed| passed.waits.clear());
        self.waits.iter_mut().for_each(Delays::clear);
    }

    /// What is on the link, waiting, sent or propagating.
    pub fn on_link(&self, pool: &Pool) -> Counted<Count> {
        let mut on_link = Counted::<Count>::default();
        for record in self.records(pool) {
            let packet = &pool.get(record).packet;
            on_link.at(packet.class, packet.colour).add(packet.size);
        }
        on_link
    }

    /// Every packet on the link, waiting, sent or propagating.
    pub fn records<'a>(&'a self, pool: &'a Pool) -> impl Iterator<Item = RecordId> + 'a {
        self.before_wire(pool).map(|held| held.0).chain(self.on_wire())
    }

    /// Those of them that are on a wire for their own time.
    pub fn on_wire(&self) -> impl Iterator<Item = RecordId> {
        self.uneven.iter().flat_map(|wire| wire.records())
    }

    /// The others, and when their transmissions began or will, [`Time::MAX`] if that is unknown.
    pub fn before_wire<'a>(&'a self, pool: &'a Pool) -> impl Iterator<Item = (RecordId, Time)> + 'a {
        let waiting = self.port.held().flat_map(|(first, starts)| pool.burst(first).map(move |it| (it, starts)));
        self.wire.iter().map(|sent| (sent.handle, sent.sent.starts)).chain(waiting)
    }
}

#[cfg(test)]
impl Link {
    /// For tests that tamper with a count.
    pub fn delivered_mut(&mut self) -> &mut [Count; Colour::ALL.len()] {
        &mut self.delivered
    }

    /// For tests that tamper with a count.
    pub fn passed_mut(&mut self) -> &mut Counted<Passed> {
        &mut self.passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A power of two finds the next link soonest: a multiplication for each event would be one more instruction.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_link_has_eight_lines_of_the_cache() {
        assert_eq!(size_of::<Link>(), 512);
    }
}
