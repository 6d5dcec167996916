//! What is recorded of the packets that pass: a row each, as a simulated port has them, and counts that become the
//! results of a run.
//!
//! Link 0 leads from A to B, behind conditioners and queue. Link 1 leads back, where nothing waits. Frames without an IP
//! header are in no row.

mod flows;
mod hops;

use perhop_core::count::Count;
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::edge::StageCounts;
use perhop_core::units::{Span, Time};
use perhop_core::verdict::{Fate, Reason};
use perhop_edge::{Direction, FlowTable, Host, Passed};
use perhop_sim::record::{ConditionerRow, EventSink, Outcome, PortEvent, PortFate, PortRows, Work};
use perhop_sim::replay::Trip;

use crate::trace::flows::Flows;
pub use crate::trace::flows::TRAFFIC;
use crate::trace::hops::Hops;

/// Rows that are handed on together.
const BATCH: usize = 8192;

/// A packet that came, before it is known what becomes of it.
#[derive(Clone, Copy, Debug, Default)]
struct Coming {
    /// Its number among those of the run.
    number: u64,
    /// Its link: 0 or 1.
    link: u32,
    /// The row of its flow.
    flow: u32,
    came: Time,
    /// As it came.
    packet: Packet,
    /// IP length.
    wire: u32,
}

/// How a packet went.
#[derive(Clone, Copy, Debug)]
struct Went {
    fate: PortFate,
    left: Option<Time>,
    dropped: Option<Time>,
    found: Count,
    /// As it left or was dropped.
    packet: Packet,
}

/// A run that is recorded.
#[derive(Debug)]
pub struct Trace {
    sink: EventSink,
    batch: Vec<PortEvent>,
    /// Time zero of the run, in the forwarder's time.
    begun: Time,
    /// The packet that came last.
    coming: Coming,
    /// Those in the queue, by their places.
    waiting: Vec<Coming>,
    packets: u64,
    flows: Flows,
    hops: [Hops; 2],
    /// What the conditioners had counted when it began.
    before: Vec<ConditionerRow>,
}

impl Trace {
    /// Of what comes from `begun` on; rows go to `sink`.
    pub(crate) fn new(sink: EventSink, begun: Time, host: &Host) -> Self {
        Self {
            sink,
            batch: Vec::with_capacity(BATCH),
            begun,
            coming: Coming::default(),
            waiting: Vec::new(),
            packets: 0,
            flows: Flows::default(),
            hops: Default::default(),
            before: conditioners(host),
        }
    }

    /// Packets that wait already come to the run at its beginning.
    pub(crate) fn adopt(&mut self, waiting: &[Trip], flows: &FlowTable) {
        for trip in waiting {
            let protocol = flows.key(trip.packet.flow.0).map_or(0, |key| key.protocol);
            let flow = self.flows.of(trip.packet.flow, None, || flows::table(protocol));
            self.coming = self.another(0, flow, (self.begun, &trip.packet), trip.packet.size);
            self.flows.row(flow).counts.sent.add(trip.packet.size);
            self.keep(trip.place);
        }
    }

    fn another(&mut self, link: u32, flow: u32, (now, packet): (Time, &Packet), wire: u32) -> Coming {
        self.packets += 1;
        Coming { number: self.packets - 1, link, flow, came: self.since(now), packet: *packet, wire }
    }

    /// A time of the forwarder as one of the run.
    fn since(&self, at: Time) -> Time {
        Time::ZERO + Span::from_ns(at.ns().saturating_sub(self.begun.ns()))
    }

    /// A packet has been through the conditioners.
    pub(crate) fn passed(&mut self, it: &Passed<'_>, flows: &FlowTable) {
        let headers = it.arrived.headers;
        let mate = flows.known_mate(it.came.flow.0).map(FlowId);
        let flow = self.flows.of(it.came.flow, mate, || flows::table(headers.protocol));
        let link = u32::from(it.arrived.direction == Direction::Reverse);
        self.coming = self.another(link, flow, (it.arrived.at.now, it.came), headers.lengths.l3);
        let counts = &mut self.flows.row(flow).counts;
        match link {
            0 => counts.sent.add(it.came.size),
            _ => counts.acks[0].add(it.came.size),
        }
    }

    /// The packet that came last waits at this place.
    pub(crate) fn keep(&mut self, place: u32) {
        let slot = place as usize;
        if self.waiting.len() <= slot {
            self.waiting.resize(slot + 1, Coming::default());
        }
        self.waiting[slot] = self.coming;
    }

    /// The packet that came last leaves at once as `packet`; `taken`: by the interface.
    pub(crate) fn left(&mut self, packet: &Packet, taken: bool) {
        let at = self.coming.came;
        let (fate, dropped) = sent(PortFate::Sent, at, taken);
        let went = Went { fate, left: Some(at), dropped, found: Count::default(), packet: *packet };
        self.end(self.coming, went);
    }

    /// A conditioner drops the packet that came last.
    pub(crate) fn policed(&mut self) {
        let Coming { came, packet, .. } = self.coming;
        let fate = PortFate::Dropped(Reason::Policer);
        self.end(self.coming, Went { fate, left: None, dropped: Some(came), found: Count::default(), packet });
    }

    /// A packet's way through the queue is over; it is the one that came `last`, or one that waited. `taken`: by the
    /// interface, if it left.
    pub(crate) fn trip(&mut self, trip: &Trip, last: bool, taken: bool) {
        let coming = if last { self.coming } else { self.waiting[trip.place as usize] };
        let at = self.since(trip.at);
        let (fate, left, dropped) = match trip.fate {
            Fate::Dropped(reason) => (PortFate::Dropped(reason), None, Some(at)),
            fate => {
                let (fate, dropped) =
                    sent(if fate == Fate::Marked { PortFate::Marked } else { PortFate::Sent }, at, taken);
                (fate, Some(at), dropped)
            }
        };
        if matches!(trip.fate, Fate::Dropped(reason) if !last && reason != Reason::Policer) {
            self.hops[0].at_head(trip.packet.colour, trip.packet.size);
        }
        self.end(coming, Went { fate, left, dropped, found: trip.found, packet: trip.packet });
    }

    fn end(&mut self, coming: Coming, went: Went) {
        let wait = went.left.map(|left| left.ns().saturating_sub(coming.came.ns()));
        self.hops[coming.link as usize].add(&went.packet, went.fate, wait);
        self.flows.end(coming.flow, coming.link, &went.packet, went.fate);
        self.push(coming, went);
    }

    fn push(&mut self, coming: Coming, went: Went) {
        let Went { fate, left, dropped, found, packet } = went;
        let back = FlowId(coming.link);
        self.batch.push(PortEvent {
            number: coming.number,
            link: coming.link,
            flow: self.flows.name(coming.flow),
            came: coming.came,
            left,
            dropped,
            fate,
            found_packets: found.packets as u32,
            found_bytes: found.bytes,
            colour_in: coming.packet.colour,
            packet: Packet { flow: back, ..packet },
            wire: coming.wire,
        });
        if self.batch.len() == BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.sink.take(&self.batch);
        self.batch.clear();
    }

    /// A flow's number is given to another.
    pub(crate) fn forget(&mut self, flow: FlowId) {
        self.flows.forget(flow);
    }

    /// The run ends at `now`: its results. `waiting` are the packets in the queue.
    pub(crate) fn finish(mut self, now: Time, waiting: &[Trip], host: &Host) -> Outcome {
        for trip in waiting {
            let coming = self.waiting[trip.place as usize];
            let (fate, packet) = (PortFate::Waiting, trip.packet);
            self.hops[0].arrived(&packet);
            self.push(coming, Went { fate, left: None, dropped: None, found: trip.found, packet });
        }
        self.flush();
        let measured = Span::from_ns(now.ns() - self.begun.ns());
        let [there, back] = &self.hops;
        let hops = there.rows(0).chain(back.rows(1)).collect();
        let conditioners = since(conditioners(host), &self.before);
        let (tables, flows) = self.flows.rows();
        let ports = PortRows { hops, conditioners, ..PortRows::default() };
        let arrivals = there.arrivals().collect();
        let work = Work { packet_hops: self.packets, events: 0 };
        Outcome { measured, flows, tables, arrivals, ports, work, ..Outcome::default() }
    }
}

/// What became of a packet that left the port at `at`.
fn sent(fate: PortFate, at: Time, taken: bool) -> (PortFate, Option<Time>) {
    if taken { (fate, None) } else { (PortFate::Dropped(Reason::Wire), Some(at)) }
}

/// What the conditioners have counted.
fn conditioners(host: &Host) -> Vec<ConditionerRow> {
    let row = |it: StageCounts<'_>| ConditionerRow { link: 0, name: it.name.to_owned(), counts: *it.counts };
    host.port().edge().counts().map(row).collect()
}

/// The same less what they had counted before.
fn since(now: Vec<ConditionerRow>, before: &[ConditionerRow]) -> Vec<ConditionerRow> {
    let less = |mut row: ConditionerRow| {
        if let Some(then) = before.iter().find(|it| it.name == row.name) {
            for (now, then) in row.counts.iter_mut().flatten().zip(then.counts.iter().flatten()) {
                *now = *now - *then;
            }
        }
        row
    };
    now.into_iter().map(less).collect()
}
