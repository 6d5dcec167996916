//! The network: links with their ports and wires, the packets on them, routes.

/// Packets that pass from link to link ahead of their time.
mod ahead;
/// Who passes which conditioners.
mod announce;
/// From a plan to links.
mod build;
/// One packet at the port of its host, segments on the wire.
mod burst;
/// Proof that no packet was lost unseen.
mod conservation;
/// Port, serialiser, wire.
pub mod link;
/// Numbers of flows' packets.
pub mod number;
/// Packets in the network.
mod pool;
/// What links counted.
mod report;
/// Static shortest paths.
mod route;
/// The line behind a port.
pub(crate) mod serialiser;
/// Changes and reports, at the clock's time.
mod timed;
/// Loss, jitter and reordering on a link.
pub mod wire;

use crate::plan::TapPoint;
use crate::record::Recorder;
use link::Wakes;
use perhop_core::conditioner::{Passage, SenderTruth};
use perhop_core::needs::Needs;
use perhop_core::packet::FlowId;
use perhop_core::port::Sent;
use perhop_core::port::edge::Mail;
use perhop_core::units::Time;
use perhop_core::verdict::Reason;

pub use ahead::Late;
pub(crate) use build::build_port;
pub use link::Link;
pub use pool::{Pool, Record, RecordId, Stamp};
pub use report::{NetTotals, PortTotals};
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
    /// Dropped at the heads of queues, not yet taken note of.
    dropped: Vec<(RecordId, Reason)>,
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
    /// It is on the wire for its own time; with the time when it arrives if it is the only one there.
    Wire(Option<Time>),
}

impl Net {
    /// Packets that left a link, since the start.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// A packet leaves its host: its place, and the first port of its way.
    #[inline(always)]
    pub fn enter(&mut self, mut record: Record) -> (RecordId, Onward) {
        let to = match self.hops[record.hop as usize] {
            HERE => Onward::Host,
            link => Onward::Port(link as usize),
        };
        record.hop += 1;
        (self.pool.insert(record), to)
    }

    /// A segment joins the burst that ends with another, before that enters a port.
    pub fn join(&mut self, last: RecordId, segment: RecordId) {
        self.pool.join(last, segment);
    }

    /// The segment behind another of its burst.
    pub fn next(&self, segment: RecordId) -> Option<RecordId> {
        self.pool.next(segment)
    }

    /// The segment behind another of its burst, which from now on does not follow it.
    pub fn part(&mut self, segment: RecordId) -> Option<RecordId> {
        self.pool.part(segment)
    }

    /// The packets on a link that are not on a wire for their own time, and when their transmissions began or will,
    /// [`Time::MAX`] if that is unknown.
    pub fn before_wire(&self, link: usize) -> impl Iterator<Item = (RecordId, Time)> {
        self.links[link].before_wire(&self.pool)
    }

    /// As [`Net::scatter`], of all bursts.
    pub fn scatter_all(&mut self) {
        let Self { links, pool, .. } = self;
        links.iter().flat_map(|link| link.port().handles()).for_each(|first| pool.scatter(first));
    }

    /// A burst ends in its host: each segment has its own bytes again, and what was done to the burst.
    pub fn scatter(&mut self, first: RecordId) {
        self.pool.scatter(first);
    }

    /// A packet leaves the network.
    #[inline(always)]
    pub fn leave(&mut self, id: RecordId) -> Record {
        self.pool.remove(id)
    }

    /// The packet that reaches the far end of a link, and when the next one does.
    pub fn deliver(&mut self, link: usize) -> (Sent<RecordId>, Option<Time>) {
        self.count_delivered(link, Link::deliver)
    }

    /// As [`Net::deliver`], of a [plain](Link::is_plain) link, from which a packet goes [straight on](Net::straight_on).
    #[inline(always)]
    pub fn deliver_plain(&mut self, link: usize) -> (Sent<RecordId>, Option<Time>) {
        self.count_delivered(link, Link::deliver_plain)
    }

    /// Counts what `deliver` takes from a link.
    #[inline(always)]
    fn count_delivered(
        &mut self,
        link: usize,
        deliver: impl FnOnce(&mut Link) -> (Sent<RecordId>, Option<Time>),
    ) -> (Sent<RecordId>, Option<Time>) {
        self.packet_hops += 1;
        let link = &mut self.links[link];
        let (sent, next) = deliver(link);
        link.count_delivered(&sent, &self.pool.get(sent.handle).packet);
        (sent, next)
    }

    /// Whether the timers of any port may move.
    pub fn moves_timers(&self) -> bool {
        self.links.iter().any(|link| link.port().moves_timers())
    }

    /// Whether anyone looks at what passes a link, or its wire does anything but delay.
    #[inline(always)]
    pub fn is_watched(&self, link: usize) -> bool {
        self.links[link].is_watched()
    }

    /// From now on [`Net::is_watched`].
    pub fn watch(&mut self, link: usize) {
        self.links[link].watch();
    }

    /// As [`Net::watch`], of every link.
    pub fn watch_all(&mut self) {
        self.links.iter_mut().for_each(Link::watch);
    }

    /// Where a packet goes after the far end of a link.
    pub fn onward(&mut self, now: Time, At { link, id }: At, recorder: &mut Recorder) -> Onward {
        let record = self.pool.get_mut(id);
        match self.links[link].passes(now, id, &record.packet) {
            wire::Passage::Through => {}
            wire::Passage::Lost => return Onward::Lost,
            wire::Passage::UnderWay(alone) => return Onward::Wire(alone),
        }
        self.beyond(now, At { link, id }, recorder)
    }

    /// The packet that arrives at the far end of a link on which each takes its own time, and when the next one does.
    pub fn leave_wire(&mut self, link: usize) -> (RecordId, Option<Time>) {
        self.links[link].leave_wire(&self.pool)
    }

    /// Whether packets take different times on some link.
    pub fn varies(&self) -> bool {
        self.links.iter().any(Link::varies)
    }

    /// Where a packet goes that has arrived at the far end of a link.
    pub fn beyond(&mut self, now: Time, At { link, id }: At, recorder: &mut Recorder) -> Onward {
        let record = self.pool.get_mut(id);
        if let Some(mate) = self.mates[link] {
            let flow = number::mate(record.packet.flow);
            self.links[mate as usize].port_mut().reverse(&Passage::of(now, flow), &mut record.packet);
        }
        recorder.tap(link, TapPoint::Output, || record.captured(now, link, TapPoint::Output));
        self.straight_on(id)
    }

    /// Where a packet's route leads from the far end of a link.
    #[inline(always)]
    pub fn straight_on(&mut self, id: RecordId) -> Onward {
        let record = self.pool.get_mut(id);
        match self.hops[record.hop as usize] {
            HERE => Onward::Host,
            next => {
                record.hop += 1;
                Onward::Port(next as usize)
            }
        }
    }

    /// A packet arrives at a port of a [plain](Link::is_plain) link; `None` of any other, where it is for [`Net::forward`]. When it
    /// reaches the other end, if no event waits for another.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, At { link, id }: At) -> Option<Result<Option<Time>, Reason>> {
        self.links[link].is_plain().then(|| self.pass_plain(now, At { link, id }))
    }

    /// As [`Net::pass`], where the link is known to be plain.
    ///
    /// # Errors
    /// Why it was dropped.
    #[inline(always)]
    pub fn pass_plain(&mut self, now: Time, At { link, id }: At) -> Result<Option<Time>, Reason> {
        self.links[link].pass(now, id, self.pool.get_mut(id))
    }

    /// A packet arrives at a port. `truth` says what its sender knows, for conditioners that ask.
    ///
    /// # Errors
    /// Why it was dropped.
    pub fn forward(
        &mut self,
        now: Time,
        At { link, id }: At,
        truth: impl FnOnce(FlowId) -> Option<SenderTruth>,
    ) -> Result<Wakes, Reason> {
        let (link, packet) = (&mut self.links[link], &self.pool.get(id).packet);
        let truth = if link.port().edge_needs().contains(Needs::TRUTH) { truth(packet.flow) } else { None };
        let at = Passage { truth: truth.as_ref(), ..Passage::of(now, packet.flow) };
        link.arrive(&at, id, &mut self.pool, &mut self.dropped)
    }

    /// A link's next transmission begins. Packets dropped instead are left to [`Net::take_dropped`].
    #[inline]
    pub fn begin(&mut self, now: Time, link: usize) -> Wakes {
        self.links[link].begin(now, &mut self.pool, &mut self.dropped)
    }

    /// Whether packets that waited were dropped: [`Net::begin`], then [`Net::take_dropped`].
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// A packet that was dropped although it waited, and why.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<(RecordId, Reason)> {
        self.dropped.pop()
    }

    /// The time that a link's AQMs asked for has come; when they next ask.
    pub fn on_aqm_timer(&mut self, now: Time, link: usize) -> Option<Time> {
        let port = self.links[link].port_mut();
        port.on_timer(now);
        port.poll_at()
    }

    /// When each link's AQMs first ask for the time.
    pub fn aqm_timers(&self) -> impl Iterator<Item = (usize, Time)> {
        self.links.iter().enumerate().filter_map(|(i, link)| Some((i, link.port().poll_at()?)))
    }

    /// A packet in the network.
    pub fn record(&self, id: RecordId) -> &Record {
        self.pool.get(id)
    }

    /// A link.
    #[inline]
    pub fn link(&self, link: usize) -> &Link {
        &self.links[link]
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// A link, for tests that tamper with it.
    #[cfg(test)]
    pub fn link_mut(&mut self, link: usize) -> &mut Link {
        &mut self.links[link]
    }
}
