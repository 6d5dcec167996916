//! A port: a packet's path through conditioners, ECN, gate, queue and scheduler, written once for every host.
//!
//! ```text
//! arrive:  conditioners -> ECN -> gate (AQM, limit) -> queue
//! next:    shapers, schedulers -> gate (AQM again) -> conditioners once more -> the packet leaves
//! ```
//!
//! A port holds handles `H`: a record in a pool, a buffer's number, a place in a list. The packets stay with the host
//! ([`Buffers`]), and so does the line. A packet's fate is decided and counted here, so hosts cannot differ.
//!
//! Decision: docs/decisions/029-the-port-is-in-the-core.md

mod change;
mod conservation;
mod counters;
pub mod edge;
pub(crate) mod fates;
mod gate;
mod queue;
mod queues;
mod ring;
mod shaper;
mod spec;
mod tree;
pub(crate) mod turn;

pub use crate::verdict::Side;
pub use fates::Fates;
pub use gate::{Gate, Limit};
pub use queue::Queue;
pub use shaper::{LetGo, Shaper, ShaperParams};
pub use spec::{Inside, NodeSpec, PortError, PortSpec, QueueSpec};
pub use tree::Branch;
pub use turn::Turn;

use crate::aqm::{AnyAqm, Aqm as _, Backlog};
use crate::classify::FlowHeaders;
use crate::conditioner::Passage;
use crate::count::Count;
use crate::counted::Counted;
use crate::counter::Part;
use crate::needs::Needs;
use crate::packet::{Ecn, FlowId, Options, Packet};
use crate::sched::Socket;
use crate::units::Time;
use crate::verdict::{Fate, Reason, Verdict};
use edge::{Edge, Letter, Mail};
use queues::Queues;

/// Most packets that one call of [`Port::next`] drops at the head: a bound on the work between two transmissions. The
/// packet behind them leaves even if its AQM would drop it, and is counted in [`Gate::spared`].
pub const MOST_HEAD_DROPS: u32 = 256;

/// Where a host keeps the packets of its handles.
pub trait Buffers<H> {
    /// The packet of a handle.
    fn packet(&mut self, handle: H) -> &mut Packet;

    /// What its TCP options say. A host that does not know says that there are others, which a queue must not lose.
    fn options(&mut self, _handle: H) -> Options {
        Options { others: true, ..Options::default() }
    }

    /// The packet was dropped when its turn had come. The port no longer has its handle.
    fn dropped(&mut self, handle: H, reason: Reason);
}

/// A host with one packet in hand, which leaves as soon as it arrives: a capture.
impl Buffers<()> for Packet {
    fn packet(&mut self, (): ()) -> &mut Packet {
        self
    }

    fn dropped(&mut self, (): (), _reason: Reason) {}
}

/// A packet whose transmission begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving<H> {
    /// The packet.
    pub handle: H,
    /// When it arrived at the port.
    pub arrived: Time,
    /// Index of its queue in the port's specification; 0 if there is one.
    pub queue: usize,
    /// Index of its queue among all of the port, [`Port::queues`]: each flow of a scheduler has one.
    pub leaf: usize,
}

/// A transmission on a line whose future is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Its first bit.
    pub starts: Time,
    /// Its last bit.
    pub ends: Time,
}

impl Transmission {
    /// Its time is not known.
    pub(crate) const NEVER: Self = Self { starts: Time::MAX, ends: Time::MAX };
}

/// A packet that has been sent on a line whose future is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent<H> {
    /// The packet.
    pub handle: H,
    /// When it arrived at the port.
    pub arrived: Time,
    /// When it was sent.
    pub sent: Transmission,
}

/// What happens at the port before the gate, by class and colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Arrivals of this colour.
    pub offered: Count,
    /// Dropped by a conditioner or its action, of this colour by then.
    pub policed: Count,
}

/// Conditioners, queues and what they count.
#[derive(Clone, Debug)]
// In this order: what every packet asks for lies together.
#[repr(C)]
pub struct Port<H> {
    queues: Queues<H>,
    edge: Edge,
    /// Nothing where there is no conditioner.
    offered: Counted<Offered>,
    edge_needs: Needs,
    /// Of its AQMs and schedulers, and of the lists by which they sort packets.
    aqm_needs: Needs,
    evicts: bool,
}

impl<H: Copy> Port<H> {
    fn new(edge: Edge, mut queues: Queues<H>) -> Self {
        let mut of_lists = Needs::NOTHING;
        queues.lists(&mut |list, _| of_lists = of_lists | list.needs());
        let of_aqms = queues.all().iter().fold(Needs::NOTHING, |all, queue| all | queue.gate().aqm().needs());
        let (aqm_needs, evicts) = match &queues {
            Queues::One(queue) => (of_aqms, queue.gate().makes_room()),
            Queues::Several(tree) => (of_aqms | tree.needs(), tree.evicts()),
        };
        let (edge_needs, offered, aqm_needs) = (edge.needs(), Counted::default(), aqm_needs | of_lists);
        Self { edge, queues, offered, edge_needs, aqm_needs, evicts }
    }

    /// A port without conditioners before one queue, for tests of its AQM.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_gate(gate: Gate) -> Self {
        Self::new(Edge::default(), Queues::One(Queue::new(gate)))
    }

    /// A port of conditioners whose queue drops nothing.
    pub fn of_edge(edge: Edge) -> Self {
        Self::new(edge, Queues::One(Queue::new(Gate::open())))
    }

    /// A packet arrives: through the conditioners and the gate into its queue. If the port [evicts](Port::evicts),
    /// packets beyond its limit have to go now: [`Port::evict`].
    #[inline]
    pub fn arrive(&mut self, at: &Passage<'_>, packet: &mut Packet, handle: H) -> Fate {
        if let Err(reason) = self.condition(at, packet) {
            return Fate::Dropped(reason);
        }
        match &mut self.queues {
            Queues::One(queue) => queue.arrive(at.now, packet, handle),
            Queues::Several(tree) => tree.arrive(at.now, packet, handle),
        }
    }

    /// Whether anything at it, a scheduler, a shaper or an AQM, treats a burst otherwise than its segments: then its host
    /// hands it over as one packet of all their bytes. A conditioner meets segments.
    pub fn keeps_bursts(&self) -> bool {
        let queues = self.queues.all();
        let judges = self.is_scheduled() || self.evicts || !matches!(queues[0].gate().aqm(), AnyAqm::DropTail(_));
        judges && self.edge.is_empty()
    }

    /// Whether the segments of a burst are to arrive one by one all the same: a queue on its way asks for that
    /// ([`Needs::SEGMENTS`]), or a shaper's bucket cannot hold it.
    pub fn takes_apart(&mut self, burst: &Packet) -> bool {
        match &mut self.queues {
            Queues::One(_) => false,
            Queues::Several(tree) => tree.takes_apart(burst),
        }
    }

    /// A packet passes the conditioners alone, hooks at departure included: as through a port whose queue drops nothing
    /// and whose line takes no time, for a host that has neither.
    ///
    /// # Errors
    /// Why a conditioner drops it.
    #[inline]
    pub fn pass(&mut self, at: &Passage<'_>, packet: &mut Packet) -> Result<(), Reason> {
        self.condition(at, packet)?;
        if self.edge_needs.contains(Needs::DEPARTURES) {
            self.edge.departing(&Passage::of(at.now, packet.flow), packet);
        }
        Ok(())
    }

    /// As [`Port::arrive`], where `line` says at once when the packet will be sent: only for a port of
    /// [one queue without hooks at departure](Port::is_plain_fifo). Such packets leave by [`Port::take_sent`].
    ///
    /// # Errors
    /// Why it was dropped.
    #[inline]
    pub fn arrive_ahead(
        &mut self,
        at: &Passage<'_>,
        packet: &mut Packet,
        handle: H,
        line: impl FnOnce(Time) -> Transmission,
    ) -> Result<Option<Time>, Reason> {
        self.condition(at, packet)?;
        self.queue_ahead(at.now, packet, handle, line)
    }

    /// As [`Port::arrive_ahead`], past the conditioners. When the packet will have been sent, if no other is before it that has
    /// not been taken.
    ///
    /// # Errors
    /// Why it was dropped.
    // Called for nearly every packet, from one place.
    #[inline(always)]
    pub fn queue_ahead(
        &mut self,
        now: Time,
        packet: &mut Packet,
        handle: H,
        line: impl FnOnce(Time) -> Transmission,
    ) -> Result<Option<Time>, Reason> {
        let Queues::One(queue) = &mut self.queues else { unreachable!("a scheduler decides when a packet leaves") };
        queue.arrive_ahead(now, packet, handle, line)
    }

    /// Whether it has conditioners.
    pub fn has_conditioners(&self) -> bool {
        !self.edge.is_empty()
    }

    /// Whether an arrival may cost packets that wait already their place.
    #[inline]
    pub fn evicts(&self) -> bool {
        self.evicts
    }

    /// Drops what exceeds the limits since a packet has arrived; it goes back to `host`.
    #[inline]
    pub fn evict(&mut self, now: Time, host: &mut impl Buffers<H>) {
        match &mut self.queues {
            Queues::One(queue) => queue.make_room(now, host),
            Queues::Several(tree) => tree.evict(now, host),
        }
    }

    /// Whether a packet's departure is known when it arrives: one queue that drops what arrives, and no hooks at
    /// departure.
    pub fn is_plain_fifo(&self) -> bool {
        matches!(self.queues, Queues::One(_))
            && !self.evicts
            && !(self.edge_needs | self.aqm_needs).contains(Needs::DEPARTURES)
    }

    /// Whether it asks for the time, see [`Port::on_timer`].
    pub fn has_timers(&self) -> bool {
        self.aqm_needs.contains(Needs::TIMER)
    }

    /// Whether the time of a timer may be another one after each hook.
    pub fn moves_timers(&self) -> bool {
        (self.edge_needs | self.aqm_needs).contains(Needs::MOVES)
    }

    /// Conditioners and their ECN marks.
    #[inline(always)]
    fn condition(&mut self, at: &Passage<'_>, packet: &mut Packet) -> Result<(), Reason> {
        if self.edge.is_empty() { Ok(()) } else { self.conditioned(*at, packet) }
    }

    #[inline(never)]
    fn conditioned(&mut self, at: Passage<'_>, packet: &mut Packet) -> Result<(), Reason> {
        self.offered.at(packet.class, packet.colour).offered.add(packet.size);
        let kept = obey(self.edge.forward(&at, packet), packet);
        if self.aqm_needs.contains(Needs::PASSED) {
            let passed = self.edge.passed();
            self.queues.lists(&mut |list, _| list.tell(passed));
        }
        if kept.is_err() {
            self.offered.at(packet.class, packet.colour).policed.add(packet.size);
        }
        kept
    }

    /// The line is free at `now`: the packet that is sent next. Those that their AQM drops instead go back to `host`,
    /// at most [`MOST_HEAD_DROPS`] of them. If there is none, [`Port::opens_at`] says when a shaper lets one go.
    pub fn next(&mut self, now: Time, host: &mut impl Buffers<H>) -> Option<Leaving<H>> {
        let leaving = match &mut self.queues {
            Queues::One(queue) => queue.next(now, self.aqm_needs, host),
            Queues::Several(tree) => tree.next(now, host),
        }?;
        if self.edge_needs.contains(Needs::DEPARTURES) {
            let packet = host.packet(leaving.handle);
            self.edge.departing(&Passage::of(now, packet.flow), packet);
        }
        Some(leaving)
    }

    /// When to ask [`Port::next`] again, which has just found nothing although something waits, if nothing arrives before.
    pub fn opens_at(&self) -> Option<Time> {
        match &self.queues {
            Queues::One(_) => None,
            Queues::Several(tree) => tree.opens_at(),
        }
    }

    /// The packet that left last is in transmission until `ends`.
    pub fn busy_until(&mut self, leaving: &Leaving<H>, ends: Time) {
        self.queues.all_mut()[leaving.leaf].busy_until(ends);
    }

    /// On a line whose future is known: takes the first packet, and says when the one behind it will have been sent.
    ///
    /// # Panics
    /// If there is none: the host's mistake.
    #[inline(always)]
    pub fn take_sent(&mut self) -> (Sent<H>, Option<Time>) {
        let Queues::One(queue) = &mut self.queues else { unreachable!("a scheduler decides when a packet leaves") };
        queue.take_sent()
    }

    /// On a line whose future is known: when the first packet that has not been taken will have been sent.
    pub fn sends_at(&self) -> Option<Time> {
        match &self.queues {
            Queues::One(queue) => queue.sends_at(),
            Queues::Several(_) => None,
        }
    }

    /// Shows the conditioners a packet that arrived over the mate link.
    #[inline]
    pub fn reverse(&mut self, at: &Passage<'_>, packet: &mut Packet) {
        self.edge.reverse(at, packet);
    }

    /// Whether anything at it may ask who a flow is.
    pub fn knows_flows(&self) -> bool {
        !self.edge.is_empty() || matches!(self.queues, Queues::Several(_)) || self.aqm_needs.contains(Needs::HEADERS)
    }

    /// Announces a flow before its first packet, and again when its number is given to another.
    pub fn register(&mut self, flow: FlowId, headers: &FlowHeaders) {
        self.edge.register(flow, headers);
        if let Queues::Several(tree) = &mut self.queues {
            tree.register(flow, headers);
        }
        self.sort(flow, headers);
    }

    /// Announces the socket of its own host that a flow leaves.
    pub fn sends(&mut self, flow: FlowId, socket: Socket) {
        if let Queues::Several(tree) = &mut self.queues {
            tree.sends(flow, socket);
        }
    }

    /// Another connection begins on the ports of an announced flow, see [`Edge::reopen`].
    pub fn reopen(&mut self, flow: FlowId, headers: &FlowHeaders) {
        self.edge.reopen(flow, headers);
        self.sort(flow, headers);
    }

    /// More is now known about an announced flow, see [`Edge::reclassify`].
    pub fn reclassify(&mut self, flow: FlowId, headers: &FlowHeaders) {
        self.edge.reclassify(flow, headers);
        self.sort(flow, headers);
    }

    /// Tells those that sort packets by a `match` of a flow.
    fn sort(&mut self, flow: FlowId, headers: &FlowHeaders) {
        if self.aqm_needs.contains(Needs::HEADERS) {
            self.queues.lists(&mut |list, waits| list.register(flow, headers, waits));
        }
    }

    /// Conditioners and lists of classes forget a flow, as one that has ended; before its next packet it is announced again.
    pub fn forget(&mut self, flow: FlowId) {
        self.edge.forget(flow);
        if self.aqm_needs.contains(Needs::HEADERS) {
            self.queues.lists(&mut |list, _| list.forget(flow));
        }
    }

    /// As [`Port::forget`], and instances that only this flow still had are free: [`Edge::expire`].
    pub fn expire(&mut self, flow: FlowId, headers: &FlowHeaders) {
        self.edge.expire(flow, headers);
        if self.aqm_needs.contains(Needs::HEADERS) {
            self.queues.lists(&mut |list, _| list.forget(flow));
        }
    }

    /// When an AQM or a scheduler next needs [`Port::on_timer`].
    // Hosts ask before every packet; few ports have timers.
    #[inline]
    pub fn poll_at(&self) -> Option<Time> {
        if self.has_timers() { self.first_timer() } else { None }
    }

    fn first_timer(&self) -> Option<Time> {
        let of_aqms = self.queues.all().iter().filter_map(|queue| queue.gate().aqm().poll_at());
        match &self.queues {
            Queues::One(_) => of_aqms.min(),
            Queues::Several(tree) => of_aqms.chain(tree.poll_at()).min(),
        }
    }

    /// Calls the AQMs and schedulers whose timers are due.
    pub fn on_timer(&mut self, now: Time) {
        self.queues.all_mut().iter_mut().for_each(|queue| queue.on_timer(now));
        if let Queues::Several(tree) = &mut self.queues {
            tree.on_timer(now);
        }
    }

    /// When a conditioner next publishes.
    pub fn publishes_at(&self) -> Option<Time> {
        self.edge.poll_at()
    }

    /// Conditioners publish what is due; `number` identifies this port among those that share `mail`.
    pub fn publish(&mut self, now: Time, number: u32, mail: &mut Mail) {
        self.edge.on_timer(now, number, mail);
    }

    /// A report arrives that a conditioner here or elsewhere published.
    pub fn hear(&mut self, now: Time, number: u32, letter: &Letter) {
        self.edge.on_report(now, number, letter);
    }

    /// All publishing and hearing up to `now`, in order: for a host with this port alone.
    pub fn catch_up(&mut self, now: Time, mail: &mut Mail) {
        self.edge.catch_up(now, mail);
    }

    /// Values of its shapers and schedulers for series: node of the specification, name, value.
    pub fn gauges(&self, now: Time, each: &mut dyn FnMut(usize, &'static str, f64)) {
        if let Queues::Several(tree) = &self.queues {
            tree.gauges(now, each);
        }
    }

    /// The conditioners, for their counts and gauges.
    pub fn edge(&self) -> &Edge {
        &self.edge
    }

    /// Which hooks its conditioners need.
    #[inline]
    pub fn edge_needs(&self) -> Needs {
        self.edge_needs
    }

    /// Whether anything at it asks for the round-trip times of flows.
    pub fn asks_round_trips(&self) -> bool {
        (self.edge_needs | self.aqm_needs).contains(Needs::RTT)
    }

    /// Its queues, in the order of the specification; each flow of a scheduler has one from its first packet on.
    pub fn queues(&self) -> &[Queue<H>] {
        self.queues.all()
    }

    /// Its queues as the specification counts them: the flows of a scheduler are one.
    pub fn rows(&self) -> Vec<Vec<&Queue<H>>> {
        self.queues.rows()
    }

    /// The nodes of its tree, each before those below it; none without a tree.
    pub fn branches(&self) -> Vec<Branch> {
        if let Queues::Several(tree) = &self.queues { tree.branches() } else { Vec::new() }
    }

    /// Whether [`Port::branches`] have nothing to say that [`Port::rows`] do not: no tree, or one scheduler without classes
    /// below classes over queues without shapers.
    pub fn is_flat(&self) -> bool {
        if let Queues::Several(tree) = &self.queues { tree.is_flat() } else { true }
    }

    /// What each shaper did since [`Port::begin_count`], by its node in the specification.
    pub fn let_go(&self, now: Time) -> Vec<(usize, LetGo)> {
        if let Queues::Several(tree) = &self.queues { tree.let_go(now).collect() } else { Vec::new() }
    }

    /// What `tc -s` shows of each node of the specification since the start: node, whose counter, name, value. A port of one queue
    /// is node 0.
    pub fn counters(&self, now: Time, each: &mut dyn FnMut(usize, Part, &'static str, f64)) {
        match &self.queues {
            Queues::One(queue) => {
                counters::of_queue(queue, now, &queue.below(now, Count::default()), &mut |name, value| {
                    each(0, Part::Whole, name, value);
                })
            }
            Queues::Several(tree) => tree.counters(now, each),
        }
        self.edge.counters(&mut |stage, name, value| each(0, Part::Policer(stage), name, value));
    }

    /// Counts what shapers do from now on.
    pub fn begin_count(&mut self, now: Time) {
        if let Queues::Several(tree) = &mut self.queues {
            tree.begin_count(now);
        }
    }

    /// Whether schedulers or shapers decide when they send.
    pub fn is_scheduled(&self) -> bool {
        matches!(self.queues, Queues::Several(_))
    }

    /// The total backlog of all queues at `now`.
    pub fn backlog(&self, now: Time) -> Backlog {
        self.queues.backlog(now)
    }

    /// What reached the conditioners and what they dropped; nothing without conditioners.
    pub fn offered(&self) -> &Counted<Offered> {
        &self.offered
    }

    /// The total counts of all gates.
    pub fn fates(&self) -> Counted<Fates> {
        let mut all = Counted::<Fates>::default();
        for (of, fates) in self.queues().iter().flat_map(|queue| queue.gate().fates().iter()) {
            let sum = all.at(of.class() as u16, of.colour());
            *sum = sum.plus(fates);
        }
        all
    }

    /// Makes room for what it may count from now on: the other colours of the classes that came, which conditioners may
    /// give their packets.
    pub fn reserve(&mut self) {
        self.offered.reserve_colours();
        self.queues.all_mut().iter_mut().for_each(Queue::reserve);
    }

    /// Every packet the port holds. On a line whose future is known, also what is sent and not yet taken.
    pub fn handles(&self) -> impl Iterator<Item = H> {
        self.held().map(|held| held.0)
    }

    /// As [`Port::handles`], with the time at which each one's transmission begins, [`Time::MAX`] if that is unknown.
    pub fn held(&self) -> impl Iterator<Item = (H, Time)> {
        let kept = match &self.queues {
            Queues::One(_) => None,
            Queues::Several(tree) => Some(tree.kept()),
        };
        self.queues().iter().flat_map(Queue::held).chain(kept.into_iter().flatten().map(|handle| (handle, Time::MAX)))
    }
}

/// What a conditioner's verdict does to a packet: a mark is a drop for what is not ECN-capable (RFC 3168 section 5).
#[inline]
fn obey(verdict: Verdict, packet: &mut Packet) -> Result<(), Reason> {
    match verdict {
        Verdict::Pass => Ok(()),
        Verdict::Mark if packet.ecn.capable() => {
            packet.ecn = Ecn::Ce;
            Ok(())
        }
        Verdict::Mark => Err(Reason::Policer),
        Verdict::Drop(reason) => Err(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_a_drop_for_packets_without_ecn() {
        let fate = |verdict, ecn| {
            let mut packet = Packet { ecn, ..Packet::default() };
            (obey(verdict, &mut packet), packet.ecn)
        };
        assert_eq!(fate(Verdict::Mark, Ecn::Ect0), (Ok(()), Ecn::Ce));
        assert_eq!(fate(Verdict::Mark, Ecn::NotEct), (Err(Reason::Policer), Ecn::NotEct));
        assert_eq!(fate(Verdict::Pass, Ecn::Ect1), (Ok(()), Ecn::Ect1));
        assert_eq!(fate(Verdict::Drop(Reason::Policer), Ecn::Ect0).0, Err(Reason::Policer));
    }
}
