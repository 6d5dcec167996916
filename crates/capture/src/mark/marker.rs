//! One packet after the other through the edge.

use perhop_core::classify::FlowHeaders;
use perhop_core::conditioner::Passage;
use perhop_core::dscp::Dscp;
use perhop_core::estimate::Timestamps;
use perhop_core::needs::Needs;
use perhop_core::packet::{Ecn, FlowId, Packet, flags};
use perhop_core::port::Port;
use perhop_core::port::edge::{Action, Edge, Per, StageCounts, arrived};
use perhop_core::units::Time;
use perhop_core::verdict::{self, Reason};
use perhop_sim::replay::{Line, Replay};

use super::bursts::Bursts;
use super::clock::Clock;
use super::demand::Demand;
use super::error::MarkError;
use super::handshake::Handshakes;
use super::idle::Idle;
use super::labels::Labels;
use super::ledger::Ledger;
use super::marking::{Behind, Marking, RoundTripsOf};
use super::queueing::Queueing;
use super::rates::{Rates, Taken};
use super::records::{DROPPED, Outcome};
use super::round_trips::{Aggregate, RoundTrips, Segment, Shared};
use super::steps::Steps;
use super::twice::{Twice, is_due};
use crate::export::TCP_FLAGS;
use crate::file::Record;
use crate::flows::{FlowKey, FlowTable};
use crate::headers::{IpHeaders, TcpView, locate};
use crate::link::LinkType;
use crate::pump::Fate;
use crate::rewrite::{set_ce, set_dscp};

/// Bytes of an Ethernet header without VLAN tags.
const ETHERNET_HEADER: u32 = 14;

const TCP_SYN: u8 = 0x02;

/// What is known about a flow's connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// No packet yet.
    #[default]
    Unknown,
    /// Nothing since its last SYN.
    Opening,
    /// Other packets came.
    Open,
}

/// An edge at work on a capture.
pub(crate) struct Marker {
    /// Conditioners and queue; without a queue what passes leaves at once.
    pub(crate) replay: Replay,
    /// What the queue did, if there is one.
    pub(crate) queueing: Option<Queueing>,
    pub(crate) marking: Marking,
    pub(crate) flows: FlowTable,
    pub(crate) clock: Clock,
    pub(crate) ledger: Ledger,
    /// By conditioner.
    pub(crate) demands: Vec<Demand>,
    pub(crate) rates: Rates,
    /// Looked for if asked for.
    pub(crate) bursts: Option<Bursts>,
    pub(crate) labels: Labels,
    twice: Twice,
    steps: Steps,
    needs: Needs,
    /// Watched if a match asks for round-trip times.
    pub(crate) handshakes: Option<Handshakes>,
    pub(crate) round_trips: Option<RoundTrips>,
    /// If flows expire.
    idle: Option<Idle>,
    /// Whether packets may go from one conditioner that gives colours to the next.
    chained: bool,
    /// Packets seen.
    packets: u64,
    phases: Vec<Phase>,
}

impl Marker {
    pub(crate) fn new(marking: Marking) -> Result<Self, MarkError> {
        let replay = port(&marking)?;
        let needs = replay.port().edge_needs();
        let demands: Vec<Demand> = marking.stages.iter().map(Demand::new).collect();
        Ok(Self {
            needs,
            queueing: marking.queue.as_ref().map(|_| Queueing::default()),
            handshakes: needs.contains(Needs::RTT).then(Handshakes::default),
            round_trips: match marking.round_trips {
                RoundTripsOf::Nothing => None,
                of => Some(RoundTrips::new(of == RoundTripsOf::Samples)),
            },
            idle: marking.flow_timeout.map(Idle::new),
            chained: marking.stages.iter().flat_map(|stage| stage.actions).any(Action::goes_on),
            packets: 0,
            replay,
            flows: FlowTable::new(),
            clock: Clock::new(marking.origin),
            ledger: Ledger::default(),
            rates: Rates::new(demands.iter().zip(marking.stages.iter().map(|stage| stage.per))),
            demands,
            bursts: marking.bursts.then(Bursts::new),
            labels: Labels::new(marking.flow_label.clone()),
            phases: Vec::new(),
            twice: Twice::default(),
            steps: Steps::default(),
            marking,
        })
    }

    /// Packets that were compared with others, and were copies.
    pub(crate) const fn copies(&self) -> &Twice {
        &self.twice
    }

    /// Meters a packet, writes its new code point and label into its bytes, says whether it stays.
    pub(crate) fn visit(&mut self, record: Record<'_>) -> Fate {
        self.packets += 1;
        let now = record.time_ns.map(|stamp| self.clock.at(stamp));
        match (&locate(record.link, record.data, record.original), now) {
            (Ok(headers), Some(now)) => {
                let once = self.marking.once;
                let is_copy = (once || is_due(self.packets)) && self.twice.is_copy(now, record.data, headers);
                return if is_copy && once { Fate::Drop } else { self.meter(now, record, headers) };
            }
            (Ok(_), None) => self.ledger.untimed += 1,
            (Err(reason), _) => *self.ledger.unread.entry(*reason).or_insert(0) += 1,
        }
        Fate::Keep
    }

    fn meter(&mut self, now: Time, record: Record<'_>, headers: &IpHeaders) -> Fate {
        self.ledger.ip_length(headers.lengths.l3);
        let flow = FlowId(self.flows.id(headers));
        self.ledger.codes.add(flow, headers.dscp << 2 | headers.ecn);
        self.steps.see(now, self.clock.lag());
        let mut packet = Packet { flow, size: self.size(record.link, headers), ..view(headers) };
        self.expire(now, flow);
        self.labels.read(headers, &mut packet);
        if let Some(tcp) = headers.tcp {
            self.watch(now, flow, tcp);
        }
        self.replay.advance(now, &mut |trip| self.queueing.iter_mut().for_each(|it| it.add(trip)));
        let (came, forward) = (packet, self.is_forward(headers));
        let fate = match forward {
            true => self.forward(now, headers, &mut packet),
            false => self.reverse(now, headers, &mut packet),
        };
        if let Some(tcp) = headers.tcp {
            self.measure(now, &came, forward, tcp);
        }
        if fate == Fate::Keep {
            write_back(record.data, headers, &packet);
            self.labels.write(record.data, headers, &packet);
        }
        fate
    }

    /// Flows that have expired, where they may.
    pub(crate) fn expired(&self) -> Option<u64> {
        self.idle.as_ref().map(|it| it.expired)
    }

    /// Forgets the flows that have expired when a packet of `flow` comes.
    fn expire(&mut self, now: Time, flow: FlowId) {
        while let Some(expired) = self.idle.as_mut().and_then(|it| it.expire(now)) {
            self.forget(expired);
        }
        self.idle.iter_mut().for_each(|it| it.see(now, flow));
    }

    /// A flow that returns after this is a new one to everything but the counts.
    fn forget(&mut self, flow: FlowId) {
        let own = self.marking.stages.iter().enumerate().filter(|(_, stage)| stage.per == Per::Flow);
        for (place, _) in own {
            if let Some(instance) = self.replay.port().edge().instance(place, flow) {
                self.demands[place].forget(instance);
            }
        }
        self.replay.port_mut().forget(flow);
        self.rates.forget(flow);
        self.handshakes.iter_mut().for_each(|it| it.forget(flow));
        self.phases.get_mut(flow.0 as usize).into_iter().for_each(|it| *it = Phase::Unknown);
    }

    /// What meters count: the IP length and the overhead; where that holds a link header, VLAN tags are part of it.
    fn size(&self, link: LinkType, headers: &IpHeaders) -> u32 {
        let framed = self.marking.overhead > 0 && link == LinkType::ETHERNET;
        let tags = if framed { headers.ip_offset as u32 - ETHERNET_HEADER } else { 0 };
        headers.lengths.l3.saturating_add(self.marking.overhead + tags)
    }

    fn is_forward(&self, headers: &IpHeaders) -> bool {
        let inside = |address| self.marking.inside.iter().any(|prefix| prefix.0.contains(address));
        self.marking.inside.is_empty() || inside(&headers.source) && !inside(&headers.destination)
    }

    fn forward(&mut self, now: Time, headers: &IpHeaders, packet: &mut Packet) -> Fate {
        self.announce(packet.flow, headers.tcp);
        let before = *packet;
        let colouring = self.replay.port().edge().colouring(packet);
        if let Some(bursts) = &mut self.bursts {
            bursts.add(now, packet.flow, packet.size);
        }
        if let Some((place, instance)) = colouring {
            self.demands[place].add(instance, now, packet.size);
        }
        let at = Passage { stamps: stamps(headers), ..Passage::of(now, packet.flow) };
        let met = self.met();
        let fate = self.pass(&at, headers.lengths.l3, packet);
        self.demand_next(&met, colouring.map(|it| it.0), &before, now);
        self.ledger.forward(&before, packet, colouring.is_some(), fate);
        let outcome = if fate == Fate::Drop { DROPPED } else { packet.colour.index() };
        let outcome = Outcome { now, flow: before.flow, size: before.size, outcome, reverse: false };
        let (stages, flows) = (&self.marking.stages, &self.flows);
        let shared = |place: usize| shared(stages[place].per, flows, before.flow);
        self.rates.add(&outcome, colouring.map(|(place, instance)| Taken { place, instance }), shared);
        fate
    }

    /// How many packets each conditioner has met; nothing where only the first that matches meets one.
    fn met(&self) -> Vec<u64> {
        let total = |it: StageCounts<'_>| arrived(it.counts).iter().map(|count| count.packets).sum();
        if self.chained { self.replay.port().edge().counts().map(total).collect() } else { Vec::new() }
    }

    /// Counts a packet at the conditioners behind the `first`, to which actions sent it on.
    fn demand_next(&mut self, met: &[u64], first: Option<usize>, packet: &Packet, now: Time) {
        let after = self.met();
        for place in (0..after.len()).filter(|&place| Some(place) != first && after[place] > met[place]) {
            if let Some(instance) = self.replay.port().edge().instance(place, packet.flow) {
                self.demands[place].add(instance, now, packet.size);
            }
        }
    }

    /// Through the conditioners, and into the queue if there is one. What leaves at once is seen as it leaves, what waits as
    /// it came into the queue, and only conditioners drop: the queue has its own report.
    fn pass(&mut self, at: &Passage<'_>, wire: u32, packet: &mut Packet) -> Fate {
        if self.queueing.is_none() {
            let passed = self.replay.port_mut().pass(at, packet);
            return if passed == Err(Reason::Policer) { Fate::Drop } else { Fate::Keep };
        }
        let number = self.replay.arrivals();
        let (mut after, queueing) = (None, &mut self.queueing);
        let fate = self.replay.arrive(at, packet, wire, &mut |trip| {
            if trip.number == number {
                after = Some(trip.packet);
            }
            queueing.iter_mut().for_each(|it| it.add(trip));
        });
        *packet = after.unwrap_or(*packet);
        if fate == verdict::Fate::Dropped(Reason::Policer) { Fate::Drop } else { Fate::Keep }
    }

    /// Empties the queue after the last packet.
    pub(crate) fn finish(&mut self) {
        let queueing = &mut self.queueing;
        self.replay.finish(&mut |trip| queueing.iter_mut().for_each(|it| it.add(trip)));
    }

    fn reverse(&mut self, now: Time, headers: &IpHeaders, packet: &mut Packet) -> Fate {
        self.ledger.reverse.add(packet.size);
        let outcome = packet.colour.index();
        self.rates.add(&Outcome { now, flow: packet.flow, size: packet.size, outcome, reverse: true }, None, |_| {
            Shared::Everything
        });
        if self.needs.contains(Needs::REVERSE) {
            let mate = FlowId(self.flows.mate(packet.flow.0));
            self.idle.iter_mut().for_each(|it| it.see(now, mate));
            // a capture may begin in the middle of a connection, with return traffic
            if self.phase(mate) == Phase::Unknown {
                self.register(mate);
                self.phases[mate.0 as usize] = Phase::Open;
            }
            self.replay.port_mut().reverse(&Passage { stamps: stamps(headers), ..Passage::of(now, mate) }, packet);
        }
        Fate::Keep
    }

    /// Round-trip times and windows, from a packet as it arrived.
    fn measure(&mut self, now: Time, packet: &Packet, forward: bool, tcp: TcpView) {
        if self.round_trips.is_none() {
            return;
        }
        let mate = FlowId(self.flows.mate(packet.flow.0));
        let aggregate = if forward { self.aggregate(packet) } else { None };
        let segment = Segment { number: self.packets, now, packet, stamps: tcp.timestamps, mate };
        let steps = &self.steps;
        self.round_trips.iter_mut().for_each(|it| it.see(&segment, aggregate, steps));
    }

    /// The aggregate of a forward packet: of the conditioner that colours it, or of the policy that has none.
    fn aggregate(&self, packet: &Packet) -> Option<Aggregate> {
        if self.replay.port().edge().is_empty() {
            return Some(Aggregate { place: None, shared: shared(Per::Pair, &self.flows, packet.flow) });
        }
        let (place, _) = self.replay.port().edge().colouring(packet)?;
        Some(Aggregate { place: Some(place), shared: shared(self.marking.stages[place].per, &self.flows, packet.flow) })
    }

    /// Registers a flow with the edge before its first packet; also when a SYN after other segments opens another connection
    /// on the same ports, as conditioners start afresh with each in the simulator. A SYN after a SYN is the same one again.
    fn announce(&mut self, flow: FlowId, tcp: Option<TcpView>) {
        let syn = tcp.is_some_and(|tcp| tcp.flags & TCP_SYN != 0);
        let before = self.phase(flow);
        if before == Phase::Unknown || (syn && before == Phase::Open) {
            self.register(flow);
        }
        self.phases[flow.0 as usize] = if syn { Phase::Opening } else { Phase::Open };
    }

    fn phase(&mut self, flow: FlowId) -> Phase {
        let slot = flow.0 as usize;
        if self.phases.len() <= slot {
            self.phases.resize(slot + 1, Phase::Unknown);
        }
        self.phases[slot]
    }

    fn register(&mut self, flow: FlowId) {
        let headers = self.headers_of(flow);
        self.replay.port_mut().register(flow, &headers);
    }

    /// What classifiers know about a flow so far.
    fn headers_of(&self, flow: FlowId) -> FlowHeaders {
        let key = self.flows.key(flow.0).expect("the table has numbered it");
        FlowHeaders { rtt: self.handshakes.as_ref().and_then(|it| it.rtt(flow)), ..flow_headers(&key) }
    }

    /// If round-trip times matter: reclassifies a connection's flows when its own becomes known.
    fn watch(&mut self, now: Time, flow: FlowId, tcp: TcpView) {
        let Some(handshakes) = &mut self.handshakes else { return };
        let flows = [flow, FlowId(self.flows.mate(flow.0))];
        if !handshakes.observe(now, flows, tcp) {
            return;
        }
        if handshakes.rtt(flow).is_some_and(|rtt| self.steps.spoil(now, rtt)) {
            return flows.into_iter().for_each(|flow| handshakes.forget(flow));
        }
        for flow in flows {
            if self.phase(flow) != Phase::Unknown {
                let headers = self.headers_of(flow);
                self.replay.port_mut().reclassify(flow, &headers);
            }
        }
    }
}

/// The conditioners, and the queue on its line, if there is one.
fn port(marking: &Marking) -> Result<Replay, MarkError> {
    if let Some(Behind { name, plan }) = &marking.queue {
        return Replay::of_link(plan, 0)
            .map_err(|error| MarkError::Queue { name: name.clone(), error: error.to_string() });
    }
    let edge = Edge::new(marking.stages.clone(), marking.seed, 0).map_err(|fault| {
        let (name, error) = *fault;
        MarkError::Conditioner { name, error: error.to_string() }
    })?;
    Ok(Replay::new(Port::of_edge(edge), Line::Infinite))
}

/// What shares the instance that takes packets of a flow, by flow, pair or class.
fn shared(per: Per, flows: &FlowTable, flow: FlowId) -> Shared {
    let key = || flows.key(flow.0).expect("the table has numbered it");
    match per {
        Per::Aggregate => Shared::Everything,
        Per::Flow => Shared::Flow(flow),
        Per::Pair => Shared::Pair(key().source, key().destination),
        Per::Class => Shared::Class(key().protocol, key().ports.map_or(0, |ports| ports.destination)),
    }
}

fn stamps(headers: &IpHeaders) -> Option<Timestamps> {
    headers.tcp.and_then(|tcp| tcp.timestamps)
}

fn write_back(data: &mut [u8], headers: &IpHeaders, packet: &Packet) {
    set_dscp(data, headers, packet.dscp.get()).expect("a Dscp is below 64");
    if packet.ecn == Ecn::Ce {
        set_ce(data, headers);
    }
}

fn flow_headers(key: &FlowKey) -> FlowHeaders {
    FlowHeaders {
        protocol: key.protocol,
        source: key.source,
        destination: key.destination,
        source_port: key.ports.map_or(0, |ports| ports.source),
        destination_port: key.ports.map_or(0, |ports| ports.destination),
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    }
}

/// The packet as algorithms see it, without flow and size. An AF code point is its colour.
fn view(headers: &IpHeaders) -> Packet {
    let dscp = Dscp::new(headers.dscp).expect("six bits");
    let packet = Packet { dscp, colour: dscp.colour(), ecn: Ecn::from_bits(headers.ecn), ..Packet::default() };
    match headers.tcp {
        Some(tcp) => of_tcp(&tcp, packet),
        None => Packet { payload: payload(datagram(headers)), ..packet },
    }
}

/// SYN and FIN take a sequence number each, in addition to the payload.
fn of_tcp(tcp: &TcpView, packet: Packet) -> Packet {
    let flags = TCP_FLAGS.iter().filter(|(_, bit)| tcp.flags & bit != 0).fold(0, |all, (flag, _)| all | flag);
    let controls = (flags & (flags::SYN | flags::FIN)).count_ones();
    let seq_end = tcp.seq.wrapping_add(tcp.payload).wrapping_add(controls);
    Packet { seq_end, ack: tcp.ack, payload: payload(tcp.payload), flags, ..packet }
}

/// Bytes after a UDP header; for other protocols all that IP carries.
fn datagram(headers: &IpHeaders) -> u32 {
    const UDP: u8 = 17;
    const UDP_LITE: u8 = 136;
    let header = if matches!(headers.protocol, UDP | UDP_LITE) && headers.ports.is_some() { 8 } else { 0 };
    headers.lengths.l4.saturating_sub(header)
}

/// Segments of more than 65 535 bytes exist only in captures before segmentation; their payload counts as that many.
fn payload(bytes: u32) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{Exporter, SimulatedPacket};
    use crate::file::Capture;
    use perhop_core::units::Time;
    use proptest::prelude::*;

    /// What an algorithm sees of `packet` after it went through a capture.
    fn through_a_capture(wire: u32, packet: &Packet, protocol: u8) -> Packet {
        let headers = FlowHeaders {
            protocol,
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            source_port: 1,
            destination_port: 2,
            traffic: String::new(),
            class: String::new(),
            rtt: None,
        };
        let mut exporter = Exporter::new(Vec::new()).unwrap();
        exporter.write(&SimulatedPacket::new(Time::ZERO, wire, packet, &headers).unwrap()).unwrap();
        let file = exporter.into_inner();
        let mut capture = Capture::new(&file[..]).unwrap();
        capture.next_chunk().unwrap();
        let mut chunk = capture.next_chunk().unwrap().unwrap();
        let record = chunk.record().unwrap();
        view(&locate(record.link, record.data, record.original).unwrap())
    }

    fn any_packet() -> impl Strategy<Value = Packet> {
        let flags = (0u8..32).prop_map(|bits| bits & !flags::LABELLED);
        (0u8..64, 0u8..4, any::<u32>(), any::<u32>(), flags, 0u16..9_000).prop_map(
            |(dscp, ecn, seq_end, ack, flags, payload)| {
                let dscp = Dscp::new(dscp).unwrap();
                let ecn = Ecn::from_bits(ecn);
                Packet { dscp, colour: dscp.colour(), ecn, seq_end, ack, flags, payload, ..Packet::default() }
            },
        )
    }

    proptest! {
        /// A simulated packet looks the same to an algorithm when it is read from a capture.
        #[test]
        fn a_segment_keeps_its_looks(packet in any_packet()) {
            prop_assert_eq!(through_a_capture(40 + u32::from(packet.payload), &packet, 6), packet);
        }

        #[test]
        fn a_datagram_keeps_its_looks(packet in any_packet()) {
            let datagram = Packet { seq_end: 0, ack: 0, flags: 0, ..packet };
            prop_assert_eq!(through_a_capture(28 + u32::from(packet.payload), &datagram, 17), datagram);
        }
    }

    /// An IPv4 header of some protocol, alone.
    fn headers(protocol: u8, ports: bool) -> ([u8; 28], IpHeaders) {
        let mut data = [0; 28];
        (data[0], data[1], data[3], data[9]) = (0x45, 0b10, 128, protocol);
        let found = locate(LinkType::RAW, &data[..if ports { 28 } else { 20 }], 128).unwrap();
        (data, found)
    }

    #[test]
    fn payloads_of_what_is_not_tcp() {
        let length = |protocol, ports| view(&headers(protocol, ports).1).payload;
        assert_eq!([length(17, true), length(136, true), length(33, true), length(1, true)], [100, 100, 108, 108]);
        assert_eq!(length(17, false), 108, "a UDP header that was not captured, as in a later fragment");
    }

    #[test]
    fn a_mark_is_written_as_ce() {
        let (mut data, found) = headers(17, true);
        let mut packet = Packet { dscp: Dscp::new(46).unwrap(), ..view(&found) };
        write_back(&mut data, &found, &packet);
        assert_eq!(data[1], 46 << 2 | 0b10);
        packet.ecn = Ecn::Ce;
        write_back(&mut data, &found, &packet);
        assert_eq!(data[1], 46 << 2 | 0b11);
    }
}
