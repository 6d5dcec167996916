//! The network: links with their ports and wires, the packets on them, routes.

/// Who passes which conditioners.
mod announce;
/// From a plan to links.
mod build;
/// The queues of a link with a scheduler.
pub mod classes;
/// Proof that no packet was lost unseen.
mod conservation;
/// What waits, is sent and propagates on a link.
mod fifo;
/// Port, queue, serialiser, wire.
pub mod link;
/// Numbers of flows' packets.
pub mod number;
/// Packets in the network.
mod pool;
/// What links counted.
mod report;
/// Static shortest paths.
mod route;
/// Changes and reports, at the clock's time.
mod timed;

use crate::plan::TapPoint;
use crate::record::Recorder;
use link::Wakes;
use perhop_core::conditioner::{Passage, SenderTruth};
use perhop_core::edge::Mail;
use perhop_core::needs::Needs;
use perhop_core::packet::{Ecn, FlowId};
use perhop_core::units::Time;
use perhop_core::verdict::{Reason, Verdict};

pub use link::{Link, Queues};
pub use pool::{Pool, Record, RecordId};
pub use report::NetTotals;
pub use route::{Router, Way};

/// In the table of hops: the packet has arrived.
const HERE: u32 = u32::MAX;

/// The network.
#[derive(Clone, Debug)]
pub struct Net {
    links: Vec<Link>,
    pool: Pool,
    /// Routes one after the other, each a list of links with [`HERE`] at its end.
    hops: Vec<u32>,
    /// Link whose conditioners look at what a link delivers.
    mates: Vec<Option<u32>>,
    /// Links whose conditioners have timers.
    timed_edges: Vec<u32>,
    mail: Mail,
    packet_hops: u64,
}

/// A packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Index of the link.
    pub link: usize,
    /// The packet.
    pub id: RecordId,
}

/// Where a packet goes from the end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onward {
    /// To its host.
    Host,
    /// To the port of this link.
    Port(usize),
    /// Nowhere: it was lost on the wire.
    Lost,
}

/// A packet that has reached the end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The packet.
    pub id: RecordId,
    /// Where it goes.
    pub to: Onward,
    /// When the next one reaches the end of the link.
    pub next: Option<Time>,
}

impl Net {
    /// Packets that left a link, since the start.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// A packet leaves its host: its place, and the first port of its way.
    #[inline]
    pub fn enter(&mut self, mut record: Record) -> (RecordId, Onward) {
        let to = self.next_hop(record.hop);
        record.hop += 1;
        (self.pool.insert(record), to)
    }

    /// A packet leaves the network.
    #[inline]
    pub fn leave(&mut self, id: RecordId) -> Record {
        self.pool.remove(id)
    }

    #[inline]
    fn next_hop(&self, hop: u32) -> Onward {
        match self.hops[hop as usize] {
            HERE => Onward::Host,
            link => Onward::Port(link as usize),
        }
    }

    /// A packet reaches the end of a link.
    #[inline]
    pub fn deliver(&mut self, now: Time, link: usize, recorder: &mut Recorder) -> Delivered {
        self.packet_hops += 1;
        let (id, next) = self.links[link].deliver(&self.pool);
        let record = self.pool.get_mut(id);
        if self.links[link].wire_loss.is_some() && self.links[link].loses(&record.packet) {
            return Delivered { id, to: Onward::Lost, next };
        }
        if let Some(mate) = self.mates[link] {
            let flow = number::mate(record.packet.flow);
            self.links[mate as usize].edge.reverse(&Passage::of(now, flow), &mut record.packet);
        }
        recorder.tap(link, TapPoint::Output, || record.captured(now, link, TapPoint::Output));
        let hop = record.hop;
        record.hop += 1;
        Delivered { id, to: self.next_hop(hop), next }
    }

    /// A packet arrives at a port. `truth` says what its sender knows, for conditioners that ask.
    ///
    /// # Errors
    /// Why it was dropped.
    #[inline]
    pub fn forward(
        &mut self,
        now: Time,
        At { link, id }: At,
        recorder: &mut Recorder,
        truth: impl FnOnce(FlowId) -> Option<SenderTruth>,
    ) -> Result<Wakes, Reason> {
        let port = &mut self.links[link];
        let record = self.pool.get_mut(id);
        recorder.tap(link, TapPoint::Input, || record.captured(now, link, TapPoint::Input));
        if !port.edge.is_empty() {
            let truth = if port.edge_needs.contains(Needs::TRUTH) { truth(record.packet.flow) } else { None };
            let class = usize::from(record.packet.class);
            port.offered[class].offered.add(record.packet.size);
            let at = Passage { truth: truth.as_ref(), ..Passage::of(now, record.packet.flow) };
            let verdict = port.edge.forward(&at, &mut record.packet);
            let ce = verdict == Verdict::Mark && record.packet.ecn.capable();
            if ce {
                record.packet.ecn = Ecn::Ce;
            } else if verdict != Verdict::Pass {
                port.offered[class].policed[record.packet.colour.index()].add(record.packet.size);
                return Err(Reason::Policer);
            }
        }
        port.arrive(now, id, &mut self.pool)
    }

    /// A packet that is dropped when a link's next transmission should begin; call until `None`, then
    /// [`Net::begin`].
    #[inline]
    pub fn departing(&mut self, now: Time, link: usize) -> Option<RecordId> {
        let link = &mut self.links[link];
        if !link.has_departure_hooks() {
            return None;
        }
        link.departing(now, &mut self.pool).map(|(id, _reason)| id)
    }

    /// A link's next transmission begins.
    #[inline]
    pub fn begin(&mut self, now: Time, link: usize) -> Wakes {
        self.links[link].begin(now, &self.pool)
    }

    /// The time that a link's AQMs asked for has come; when they next ask.
    pub fn on_aqm_timer(&mut self, now: Time, link: usize) -> Option<Time> {
        self.links[link].on_timer(now);
        self.links[link].poll_at()
    }

    /// When each link's AQMs first ask for the time.
    pub fn aqm_timers(&self) -> impl Iterator<Item = (usize, Time)> {
        self.links.iter().enumerate().filter_map(|(i, link)| Some((i, link.poll_at()?)))
    }

    /// A link, for tests that tamper with it.
    #[cfg(test)]
    pub fn link_mut(&mut self, link: usize) -> &mut Link {
        &mut self.links[link]
    }
}
