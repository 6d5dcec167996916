//! One packet after the other through the edge.

use perhop_core::accounting::Accounting;
use perhop_core::needs::Needs;
use perhop_core::packet::{Ecn, FlowId, Packet};
use perhop_core::port::Port;
use perhop_core::port::edge::Per;
use perhop_core::units::Time;
use perhop_core::verdict::{Fate, Reason};
use perhop_sim::plan::Link;
use perhop_sim::replay::{Replay, Trip};

use crate::arriving::{Arriving, Direction};
use crate::connections::Connections;
use crate::flows::FlowTable;
use crate::handshake::Handshakes;
use crate::headers::IpHeaders;
use crate::idle::Idle;
use crate::labels::Labels;
use crate::link::LinkType;
use crate::observer::{Observer, Passed, Taken};
use crate::policy::{Behind, Policy, PolicyError};
use crate::rewrite::{set_ce, set_dscp};
use crate::steps::Steps;
use crate::view::view;

/// Bytes of an Ethernet header without VLAN tags.
const ETHERNET_HEADER: u32 = 14;

/// What counts of a packet: where that holds a link header, VLAN tags are part of it.
#[inline]
fn size(it: &Arriving<'_>, accounting: Accounting) -> u32 {
    let framed = accounting != Accounting::L3 && it.link == LinkType::ETHERNET;
    let tags = if framed { it.headers.ip_offset as u32 - ETHERNET_HEADER } else { 0 };
    it.headers.lengths.l3.saturating_add(accounting.overhead() + tags)
}

/// An edge at work.
#[derive(Debug)]
pub struct Host {
    /// Conditioners and queue; without a queue what passes leaves at once.
    pub(crate) replay: Replay,
    pub(crate) queued: bool,
    /// The queue, if there is one.
    pub(crate) behind: Option<Behind>,
    /// By conditioner, what shares an instance.
    pub(crate) per: Vec<Per>,
    /// See [`Policy::accounting`].
    pub(crate) accounting: Accounting,
    pub(crate) known: Connections,
    /// If flows expire.
    pub(crate) idle: Option<Idle>,
    /// Whether a forgotten flow's number is given to another.
    pub(crate) reuses: bool,
    /// See [`Policy::framing`].
    pub(crate) framing: Accounting,
    pub(crate) labels: Labels,
    pub(crate) steps: Steps,
}

impl Host {
    /// At rest: buckets are full, no flow is known.
    ///
    /// # Errors
    /// Parameters that their algorithm refuses.
    pub fn new(mut policy: Policy) -> Result<Self, PolicyError> {
        let behind = policy.queue.clone();
        let per = policy.stages.iter().map(|stage| stage.per).collect();
        let (most, accounting, framing) = (policy.most_flows, policy.accounting, policy.framing());
        let idle = policy.flow_timeout.map(|timeout| Idle::new(timeout, most.unwrap_or(u32::MAX)));
        let (labels, reuses) = (Labels::new(policy.flow_label.take()), idle.is_some() && most.is_some());
        let replay = policy.port()?;
        let known = Connections::new(replay.port().asks_round_trips());
        let known = if reuses { known.keeping_buckets() } else { known };
        let (steps, queued) = (Steps::default(), behind.is_some());
        Ok(Self { replay, queued, behind, per, accounting, known, idle, reuses, framing, labels, steps })
    }

    /// A packet arrives: how it leaves or goes into the queue; `None`: a conditioner or an action drops it. `observer` sees
    /// that, and before it the flows that have expired and the packets that have left the queue by now.
    #[inline]
    pub fn arrive(&mut self, it: &Arriving<'_>, observer: &mut impl Observer) -> Option<Packet> {
        let flow = FlowId(self.known.flows.id(it.headers));
        self.steps.see(it.at);
        let mut packet = Packet { flow, size: size(it, self.accounting), ..view(it.headers) };
        self.expire(it, flow, observer);
        self.labels.read(it.headers, &mut packet);
        if let Some(mate) = self.known.watch(it, flow, &self.steps, self.replay.port_mut()) {
            self.idle.iter_mut().filter(|_| self.reuses).for_each(|idle| idle.see(it.at.now, mate));
        }
        self.replay.advance(it.at.now, &mut |trip| observer.trip(trip));
        let came = packet;
        let (mut stays, mut taken) = (true, None);
        match it.direction {
            Direction::Forward => {
                taken = self.taken(it, &packet);
                stays = self.pass(it, &mut packet, observer);
            }
            Direction::Reverse => self.reverse(it, &mut packet),
        }
        let left = stays.then_some(packet);
        let Self { replay, per, known, steps, .. } = self;
        let edge = replay.port().edge();
        let passed = Passed { arrived: it, came: &came, left: left.as_ref(), taken, edge, per, steps };
        observer.passed(&passed, &mut known.flows);
        left
    }

    /// Writes code point, mark and label of a packet that leaves into its bytes, in which `headers` were found.
    #[inline]
    pub fn rewrite(&mut self, data: &mut [u8], headers: &IpHeaders, packet: &Packet) {
        set_dscp(data, headers, packet.dscp.get()).expect("a Dscp is below 64");
        if packet.ecn == Ecn::Ce {
            set_ce(data, headers);
        }
        self.labels.write(data, headers, packet);
    }

    /// All that happens at the queue until `now`, if nothing arrives.
    pub fn advance(&mut self, now: Time, observer: &mut impl Observer) {
        self.replay.advance(now, &mut |trip| observer.trip(trip));
    }

    /// When something happens next at the queue if nothing arrives.
    pub fn next_at(&self) -> Option<Time> {
        self.replay.next_at()
    }

    /// Forward packets that went through the conditioners: the number of the next one's [`Trip`](perhop_sim::replay::Trip).
    pub fn arrivals(&self) -> u64 {
        self.replay.arrivals()
    }

    /// Where the forward packet that came last waits, see [`Trip`](perhop_sim::replay::Trip): the number of its buffer.
    pub fn latest_place(&self) -> u32 {
        self.replay.latest_place()
    }

    /// The packets that wait, as they would leave if nothing came any more.
    pub fn waiting(&self) -> Vec<Trip> {
        let mut trips = Vec::new();
        self.replay.clone().finish(&mut |trip| trips.push(*trip));
        trips
    }

    /// Its flows by number.
    pub fn flows(&self) -> &FlowTable {
        &self.known.flows
    }

    /// Empties the queue after the last packet.
    pub fn finish(&mut self, observer: &mut impl Observer) {
        self.replay.finish(&mut |trip| observer.trip(trip));
    }

    /// Forgets the flows that have expired when a packet of `flow` comes.
    #[inline(always)]
    fn expire(&mut self, it: &Arriving<'_>, flow: FlowId, observer: &mut impl Observer) {
        let Some(idle) = &mut self.idle else { return };
        while let Some(expired) = idle.expire(it.at.now) {
            observer.forget(expired, self.replay.port().edge());
            match self.reuses {
                true => self.replay.port_mut().expire(expired, &self.known.headers_of(expired)),
                false => self.replay.port_mut().forget(expired),
            }
            self.known.forget(expired);
            if self.reuses && expired != flow {
                self.known.flows.release(expired.0);
            }
        }
        idle.see(it.at.now, flow);
    }

    /// What will colour a forward packet, whose flow the conditioners learn of here.
    #[inline(always)]
    fn taken(&mut self, it: &Arriving<'_>, packet: &Packet) -> Option<Taken> {
        self.known.announce(packet.flow, it.headers.tcp, self.replay.port_mut());
        let colouring = self.replay.port().edge().colouring(packet);
        colouring.map(|(place, instance)| Taken { place, instance })
    }

    /// Through the conditioners, and into the queue if there is one: whether the conditioners keep it. What leaves at once is
    /// seen as it leaves, what waits as it came into the queue.
    #[inline(always)]
    fn pass(&mut self, it: &Arriving<'_>, packet: &mut Packet, observer: &mut impl Observer) -> bool {
        let at = it.passage(packet.flow);
        if !self.queued {
            return self.replay.port_mut().pass(&at, packet).is_ok();
        }
        let (number, mut after) = (self.replay.arrivals(), None);
        let wire = size(it, self.framing);
        let fate = self.replay.arrive(&at, packet, wire, &mut |trip| {
            if trip.number == number {
                after = Some(trip.packet);
            }
            observer.trip(trip);
        });
        *packet = after.unwrap_or(*packet);
        fate != Fate::Dropped(Reason::Policer)
    }

    fn reverse(&mut self, it: &Arriving<'_>, packet: &mut Packet) {
        if self.replay.port().edge_needs().contains(Needs::REVERSE) {
            let mate = FlowId(self.known.flows.mate(packet.flow.0));
            self.idle.iter_mut().for_each(|idle| idle.see(it.at.now, mate));
            self.known.meet(mate, self.replay.port_mut());
            self.replay.port_mut().reverse(&it.passage(mate), packet);
        }
    }

    /// The line behind the queue, if there is one.
    pub fn line(&self) -> Option<&Link> {
        self.behind.as_ref().map(|behind| &behind.plan.links[0])
    }

    /// Conditioners and queue, for what they count.
    pub fn port(&self) -> &Port<u32> {
        self.replay.port()
    }

    /// Labels that were read and written.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Round-trip times from handshakes; `None` if no match asks for them.
    pub fn handshakes(&self) -> Option<&Handshakes> {
        self.known.handshakes.as_ref()
    }

    /// How often a flow has expired, where they may.
    pub fn expired(&self) -> Option<u64> {
        self.idle.as_ref().map(Idle::expired)
    }

    /// Its flows by number, when it is no longer needed.
    pub fn into_flows(self) -> FlowTable {
        self.known.flows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::locate;
    use perhop_core::dscp::Dscp;

    #[test]
    fn a_mark_is_written_as_ce() {
        let mut data = [0; 28];
        (data[0], data[1], data[3], data[9]) = (0x45, 0b10, 128, 17);
        let found = locate(LinkType::RAW, &data, 128).unwrap();
        let mut host = Host::new(Policy::default()).unwrap();
        let mut packet = Packet { dscp: Dscp::new(46).unwrap(), ..view(&found) };
        host.rewrite(&mut data, &found, &packet);
        assert_eq!(data[1], 46 << 2 | 0b10);
        packet.ecn = Ecn::Ce;
        host.rewrite(&mut data, &found, &packet);
        assert_eq!(data[1], 46 << 2 | 0b11);
    }
}
