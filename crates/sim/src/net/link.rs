//! A link: the port it leaves from (conditioners, gate, queue), its serialiser, its wire.
//!
//! A FIFO link of fixed rate needs no event at the end of a transmission: a packet's departure is known
//! when it arrives, `max(now, busy_until) + size / rate`. Links whose conditioners or AQM act at
//! departure, those whose rate changes during the run, and those with a scheduler have that event, and only they. Both
//! kinds give the same bytes.

use super::classes::{Classes, Queue, Waiting};
use super::fifo::{Entry, Fifo};
use super::pool::{Pool, RecordId};
use crate::record::Delays;
use perhop_core::aqm::{Aqm as _, Backlog, Departure};
use perhop_core::conditioner::Passage;
use perhop_core::count::Count;
use perhop_core::edge::Edge;
use perhop_core::packet::Packet;
use perhop_core::queue::{Fates, Gate};
use perhop_core::units::{BitRate, NS_PER_S, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use perhop_core::{Rng, needs::Needs};

/// Sends bits at a constant rate; the remainder of each division is carried to the next packet.
#[derive(Clone, Debug)]
struct Serialiser {
    rate: u64,
    /// If it is a whole number, so that no division is needed; else 0.
    ns_per_byte: u64,
    remainder: u64,
    busy_until: Time,
}

impl Serialiser {
    fn new(rate: BitRate) -> Self {
        let rate = rate.bit_s();
        let exact = (8 * NS_PER_S).is_multiple_of(rate);
        let ns_per_byte = if exact { 8 * NS_PER_S / rate } else { 0 };
        Self { rate, ns_per_byte, remainder: 0, busy_until: Time::ZERO }
    }

    /// Transmissions that begin from now on use another rate; the current one ends when it would have.
    fn set_rate(&mut self, rate: BitRate) {
        let part = u128::from(self.remainder) * u128::from(rate.bit_s()) / u128::from(self.rate);
        let busy_until = self.busy_until;
        *self = Self { busy_until, ..Self::new(rate) };
        // The rest of a nanosecond still to be waited for, now in work at the new rate.
        self.remainder = if self.ns_per_byte > 0 { 0 } else { part as u64 };
    }

    /// Start and end of the transmission of `bytes` that could begin at `now`.
    #[inline]
    fn send(&mut self, now: Time, bytes: u32) -> (Time, Time) {
        // The previous transmission ends within the nanosecond `busy_until`: one that begins in it follows without a
        // gap.
        let start = if self.busy_until < now {
            self.remainder = 0;
            now
        } else {
            self.busy_until
        };
        let ns = if self.ns_per_byte > 0 {
            u64::from(bytes) * self.ns_per_byte
        } else {
            let work = u64::from(bytes) * 8 * NS_PER_S + self.remainder;
            self.remainder = work % self.rate;
            work / self.rate
        };
        self.busy_until = start + Span::from_ns(ns);
        (start, self.busy_until)
    }
}

/// A link's counts for one class and colour after the gate. The number delivered follows: queued, less lost, less those
/// on the link.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// Lost on the wire.
    pub lost: Count,
    /// Time from arrival at the port to start of transmission, of those that waited.
    pub waits: Delays,
}

/// What happens at the port before the gate, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// All arrivals.
    pub offered: Count,
    /// Dropped by a conditioner or its action, by colour.
    pub policed: [Count; 4],
}

/// Where packets wait. Nearly all links have one queue: its gate is not boxed, since every packet passes it.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Queues {
    /// In the ring, behind this gate.
    One(Gate),
    /// In queues of classes.
    Several(Box<Classes>),
}

impl Queues {
    /// All gates, in the scheduler's order.
    pub fn gates(&self) -> impl Iterator<Item = &Gate> {
        let (one, several) = match self {
            Self::One(gate) => (Some(gate), None),
            Self::Several(classes) => (None, Some(classes.queues.iter().map(|queue| &queue.gate))),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }

    /// The queues of a scheduler's classes; none without one.
    pub fn classes(&self) -> &[Queue] {
        match self {
            Self::One(_) => &[],
            Self::Several(classes) => &classes.queues,
        }
    }

    /// As [`Queues::classes`], to be changed.
    pub fn classes_mut(&mut self) -> &mut [Queue] {
        match self {
            Self::One(_) => &mut [],
            Self::Several(classes) => &mut classes.queues,
        }
    }

    /// The gate of queue `i`.
    pub fn gate_mut(&mut self, i: usize) -> &mut Gate {
        match self {
            Self::One(gate) => gate,
            Self::Several(classes) => &mut classes.queues[i].gate,
        }
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Conditioners at the port.
    pub edge: Edge,
    /// AQMs, limits, counts, and what waits for a scheduler.
    pub queues: Queues,
    /// What is on it.
    pub fifo: Fifo,
    /// Arrived at the other end, by colour.
    pub delivered: [Count; 4],
    /// By class and colour, after the gate.
    pub passed: Vec<[Passed; 4]>,
    /// By class, before the gate; empty counts where there is no conditioner.
    pub offered: Vec<Offered>,
    serialiser: Serialiser,
    delay: Span,
    /// Probability of a loss on the wire, and the stream that decides.
    pub wire_loss: Option<(f64, Rng)>,
    /// Whether it has an event at the end of each transmission.
    pub transmit_done: bool,
    transmitting: bool,
    /// Which hooks its conditioners need.
    pub edge_needs: Needs,
    aqm_needs: Needs,
}

/// What a link is made of.
pub struct Parts {
    /// Conditioners.
    pub edge: Edge,
    /// AQMs and limits.
    pub queues: Queues,
    /// Rate.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// Loss on the wire.
    pub wire_loss: Option<(f64, Rng)>,
    /// Number of classes.
    pub classes: usize,
    /// Have the event at the end of a transmission even if it is not needed.
    pub force_transmit_done: bool,
}

/// Events that an action on a link asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wakes {
    /// When its first packet reaches the other end, if no event waits for that yet.
    pub delivery: Option<Time>,
    /// When the transmission that has just begun ends.
    pub transmit_done: Option<Time>,
    /// The link has nothing to do except this packet: [`Link::begin`] it.
    pub begin: bool,
}

impl Link {
    /// A link at rest.
    pub fn new(parts: Parts) -> Self {
        let aqm_needs = parts.queues.gates().fold(Needs::NOTHING, |all, gate| all | gate.aqm().needs());
        let edge_needs = parts.edge.needs();
        let departures = edge_needs.contains(Needs::DEPARTURES) || aqm_needs.contains(Needs::DEPARTURES);
        let scheduled = matches!(parts.queues, Queues::Several(_));
        Self {
            edge: parts.edge,
            queues: parts.queues,
            fifo: Fifo::default(),
            delivered: Default::default(),
            passed: vec![Default::default(); parts.classes],
            offered: vec![Offered::default(); parts.classes],
            serialiser: Serialiser::new(parts.rate),
            delay: parts.delay,
            wire_loss: parts.wire_loss,
            transmit_done: departures || scheduled || parts.force_transmit_done,
            transmitting: false,
            edge_needs,
            aqm_needs,
        }
    }

    /// Sends at another rate from the next transmission. Needs the event at the end of each.
    pub fn set_rate(&mut self, rate: BitRate) {
        debug_assert!(self.transmit_done, "departures of waiting packets must not be known yet");
        self.serialiser.set_rate(rate);
    }

    /// What waits at `now`.
    pub fn backlog(&mut self, now: Time) -> Backlog {
        match &self.queues {
            Queues::Several(classes) => classes.backlog(now),
            Queues::One(_) => {
                if !self.transmit_done {
                    self.fifo.start_until(now);
                }
                backlog(&self.fifo, &self.serialiser, now)
            }
        }
    }

    /// What was counted at all gates together, by class and colour.
    pub fn fates(&self) -> Vec<[Fates; 4]> {
        let mut all = vec![[Fates::default(); 4]; self.passed.len()];
        for (class, colours) in self.queues.gates().flat_map(|gate| gate.fates().iter().enumerate()) {
            for (sum, fates) in all[class].iter_mut().zip(colours) {
                *sum = sum.plus(fates);
            }
        }
        all
    }

    /// A packet that has passed the conditioners arrives at the gate.
    #[inline]
    pub fn arrive(&mut self, now: Time, id: RecordId, pool: &mut Pool) -> Result<Wakes, Reason> {
        let gate = match &mut self.queues {
            Queues::One(gate) => gate,
            Queues::Several(classes) => {
                classes.arrive(now, id, pool)?;
                return Ok(Wakes { begin: !self.transmitting, ..Wakes::default() });
            }
        };
        if !self.transmit_done {
            self.fifo.start_until(now);
        }
        let backlog = backlog(&self.fifo, &self.serialiser, now);
        let record = pool.get_mut(id);
        record.arrived = now;
        if let Fate::Dropped(reason) = gate.arrive(now, backlog, &mut record.packet) {
            return Err(reason);
        }
        let (size, wire) = (record.packet.size, record.wire);
        if self.transmit_done {
            self.fifo.push(Entry { starts: Time::MAX, delivers: Time::MAX, record: id, size });
            return Ok(Wakes { begin: !self.transmitting, ..Wakes::default() });
        }
        let (starts, done) = self.serialiser.send(now, wire);
        let delivers = done + self.delay;
        let first = self.fifo.is_empty();
        self.fifo.push(Entry { starts, delivers, record: id, size });
        Ok(Wakes { delivery: first.then_some(delivers), ..Wakes::default() })
    }

    /// The current transmission has ended, or the link was idle: the next packet's begins.
    pub fn begin(&mut self, now: Time, pool: &Pool) -> Wakes {
        self.transmitting = false;
        let alone = self.fifo.next_delivery().is_none();
        if let Queues::Several(classes) = &mut self.queues {
            let Some(Waiting { record, size }) = classes.take() else { return Wakes::default() };
            self.fifo.push(Entry { starts: Time::MAX, delivers: Time::MAX, record, size });
        }
        let Some(entry) = self.fifo.first_waiting() else { return Wakes::default() };
        let record = pool.get(entry.record);
        let (starts, done) = self.serialiser.send(now, record.wire);
        let delivers = done + self.delay;
        (entry.starts, entry.delivers) = (starts, delivers);
        self.fifo.start_until(starts);
        if let Queues::Several(classes) = &mut self.queues {
            classes.sends(starts.since(record.arrived).ns(), done);
        }
        self.transmitting = true;
        Wakes { delivery: alone.then_some(delivers), transmit_done: Some(done), begin: false }
    }

    /// Asks conditioners and AQM about the first waiting packet; `Some` when it was dropped.
    pub fn departing(&mut self, now: Time, pool: &mut Pool) -> Option<(RecordId, Reason)> {
        let (id, behind) = self.first()?;
        let record = pool.get_mut(id);
        if self.edge_needs.contains(Needs::DEPARTURES) {
            self.edge.departing(&Passage::of(now, record.packet.flow), &mut record.packet);
        }
        if !self.aqm_needs.contains(Needs::DEPARTURES) {
            return None;
        }
        let at = Departure { now, arrived: record.arrived, backlog: behind };
        let gate = match &mut self.queues {
            Queues::One(gate) => gate,
            Queues::Several(classes) => &mut classes.chosen().gate,
        };
        let Fate::Dropped(reason) = gate.depart(&at, &mut record.packet) else { return None };
        match &mut self.queues {
            Queues::One(_) => self.fifo.discard_first_waiting(),
            Queues::Several(classes) => classes.discard(now, record.arrived),
        }
        Some((id, reason))
    }

    /// The packet that is sent next, and what its queue holds after it.
    fn first(&mut self) -> Option<(RecordId, Backlog)> {
        if let Queues::Several(classes) = &mut self.queues {
            return classes.first().map(|first| (first.record, classes.behind()));
        }
        let &mut Entry { record, size, .. } = self.fifo.first_waiting()?;
        let (packets, bytes) = (self.fifo.waiting() - 1, self.fifo.waiting_bytes() - u64::from(size));
        Some((record, Backlog { packets, bytes, ..Backlog::default() }))
    }

    /// When an AQM's timer is next due.
    pub fn poll_at(&self) -> Option<Time> {
        let wanting = self.queues.gates().map(Gate::aqm).filter(|aqm| aqm.needs().contains(Needs::TIMER));
        wanting.filter_map(|aqm| aqm.poll_at()).min()
    }

    /// An AQM's timer is due.
    pub fn on_timer(&mut self, now: Time) {
        let backlog = self.backlog(now);
        match &mut self.queues {
            Queues::One(gate) => gate.aqm_mut().on_timer(now, &backlog),
            Queues::Several(classes) => classes.on_timer(now),
        }
    }

    /// Whether any hook is called at the start of a transmission.
    pub fn has_departure_hooks(&self) -> bool {
        self.edge_needs.contains(Needs::DEPARTURES) || self.aqm_needs.contains(Needs::DEPARTURES)
    }

    /// Takes the packet that reaches the other end now, and says when the next one does.
    #[inline]
    pub fn deliver(&mut self, pool: &Pool) -> (RecordId, Option<Time>) {
        let entry = self.fifo.pop();
        let record = pool.get(entry.record);
        let packet = &record.packet;
        self.delivered[packet.colour.index()].add(packet.size);
        let wait = entry.starts.since(record.arrived).ns();
        if wait > 0 {
            self.passed[usize::from(packet.class)][packet.colour.index()].waits.observe(wait);
        }
        (entry.record, self.fifo.next_delivery())
    }

    /// What is on the link, waiting, sent or propagating, by class and colour.
    pub fn on_link(&self, pool: &Pool) -> Vec<[Count; 4]> {
        let mut on_link = vec![[Count::default(); 4]; self.passed.len()];
        for record in self.records() {
            let packet = &pool.get(record).packet;
            on_link[usize::from(packet.class)][packet.colour.index()].add(packet.size);
        }
        on_link
    }

    /// Every packet on the link, waiting, sent or propagating.
    pub fn records(&self) -> impl Iterator<Item = RecordId> {
        let waiting = self.queues.classes().iter().flat_map(Queue::waiting);
        self.fifo.iter().map(|entry| entry.record).chain(waiting.map(|w| w.record))
    }

    /// Whether the packet that has just reached the end of the wire was lost on it.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        let Some((probability, rng)) = &mut self.wire_loss else { return false };
        let lost = rng.uniform() < *probability;
        if lost {
            let delivered = &mut self.delivered[packet.colour.index()];
            *delivered = *delivered - Count { packets: 1, bytes: u64::from(packet.size) };
            self.passed[usize::from(packet.class)][packet.colour.index()].lost.add(packet.size);
        }
        lost
    }
}

/// The ring's waiting packets as an AQM sees them at `now`.
#[inline]
fn backlog(fifo: &Fifo, serialiser: &Serialiser, now: Time) -> Backlog {
    let idle = serialiser.busy_until <= now && fifo.waiting() == 0;
    Backlog {
        packets: fifo.waiting(),
        bytes: fifo.waiting_bytes(),
        idle_since: idle.then_some(serialiser.busy_until),
        ..Backlog::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million packets back to back at an awkward rate end on the exact nanosecond.
    #[test]
    fn no_rounding_accumulates() {
        let mut link = Serialiser::new(BitRate::bps(7_777_777));
        let mut bits = 0u128;
        for i in 0..1_000_000u32 {
            let bytes = 40 + i % 1461;
            link.send(Time::ZERO, bytes);
            bits += u128::from(bytes) * 8;
        }
        assert_eq!(u128::from(link.busy_until.ns()), bits * 1_000_000_000 / 7_777_777);
    }

    /// Back to back at one awkward rate after another: what a division left is kept over each change, cut to whole units
    /// of work, 1 / rate of a ns each. So the end is the exact one, but for the last division's part of a ns.
    #[test]
    fn a_change_of_rate_keeps_the_part_of_a_nanosecond() {
        let rates = [7_777_777, 3_333_331].repeat(5);
        let (mut link, mut exact) = (Serialiser::new(BitRate::bps(rates[0])), 0.0);
        for rate in rates {
            link.set_rate(BitRate::bps(rate));
            for bytes in (40..1500).step_by(7) {
                link.send(Time::ZERO, bytes);
                exact += f64::from(bytes) * 8e9 / rate as f64;
            }
        }
        let lost = exact - link.busy_until.ns() as f64;
        assert!((-1e-3..1.001).contains(&lost), "{lost} ns");
    }

    #[test]
    fn the_rate_in_force_already_changes_nothing() {
        for rate in [BitRate::bps(7_777_777), BitRate::mbps(5)] {
            let mut link = Serialiser::new(rate);
            link.send(Time::from_ns(10), 1001);
            let before = format!("{link:?}");
            link.set_rate(rate);
            assert_eq!(format!("{link:?}"), before);
        }
    }

    #[test]
    fn an_idle_link_starts_at_once() {
        let mut link = Serialiser::new(BitRate::mbps(5));
        assert_eq!(link.send(Time::ZERO, 1000), (Time::ZERO, Time::from_ns(1_600_000)));
        assert_eq!(link.send(Time::from_ns(10), 1000).0, Time::from_ns(1_600_000));
        assert_eq!(link.send(Time::from_ns(9_000_000), 1000).0, Time::from_ns(9_000_000));
    }

    /// An AQM that looks at departures is given the backlog after the packet: 3 packets of 500 B after the first, which
    /// with wq = 1 is FRED's average.
    #[test]
    fn a_departure_leaves_packets_and_bytes_behind() {
        use perhop_core::aqm::{Aqm as _, AqmParams, early::Weight, fred};
        use perhop_core::queue::Limit;
        use perhop_core::units::{Bytes, Length, Packets, Probability};
        let bytes = |n| Length::Bytes(Bytes::new(n));
        let params = fred::Params {
            min: bytes(50_000),
            max: bytes(90_000),
            max_p: Probability::new(0.1).unwrap(),
            minq: Packets::new(2),
            weight: Weight(1.0),
            mean_packet: Bytes::new(500),
            ecn: false,
        };
        let rate = BitRate::mbps(5);
        let scope = perhop_core::Scope { link_rate: Some(rate), ..perhop_core::Scope::default() };
        let aqm = AqmParams::Fred(params).build(&scope).unwrap();
        let mut link = Link::new(Parts {
            edge: Edge::new(Vec::new(), 0, 0).unwrap(),
            queues: Queues::One(Gate::new(aqm, Limit::Packets(100), Rng::stream(0, 0, "queue"))),
            rate,
            delay: Span::ZERO,
            wire_loss: None,
            classes: 1,
            force_transmit_done: false,
        });
        let mut pool = Pool::default();
        for _ in 0..4 {
            let packet = Packet { size: 500, ..Packet::default() };
            let id = pool.insert(crate::net::Record { packet, wire: 500, ..Default::default() });
            link.arrive(Time::ZERO, id, &mut pool).unwrap();
        }
        assert!(link.departing(Time::ZERO, &mut pool).is_none());
        let mut average = 0.0;
        link.queues.gate_mut(0).aqm().gauges(Time::ZERO, &mut |name, value| {
            average = if name == "avg_queue_bytes" { value } else { average };
        });
        assert_eq!(average, 1500.0);
    }
}
