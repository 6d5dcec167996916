//! Round-trip times and windows of TCP flows: the instruments of perhop-core's edge, applied to every
//! segment.
//!
//! Each direction of a connection is a separate flow, measured from the edge to the receiver of its data
//! and back. What is measured is the traffic as it came, including what a policy drops.

use std::collections::BTreeMap;

use perhop_core::estimate::rtt::{Evidence, GAIN_OF_ALL, GAIN_OF_ONE};
use perhop_core::estimate::{MicroFlows, RoundTrip, Timestamps};
use perhop_core::packet::{FlowId, Packet, flags};
use perhop_core::port::edge::Per;
use perhop_core::units::{Span, Time};

use crate::arriving::Direction;
use crate::flows::FlowTable;
use crate::idle::EXPIRY;
use crate::observer::{Observer, Passed};
use crate::shared::Shared;
use crate::steps::Steps;

/// What shares an aggregate, with a policy's conditioner or without a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Aggregate {
    /// The conditioner's place in the policy.
    pub place: Option<usize>,
    /// What its packets have in common.
    pub shared: Shared,
}

/// Sums over a flow or an aggregate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// The samples, as a sender smooths them.
    pub trip: RoundTrip,
    /// With data, SYN or FIN.
    pub segments: u64,
    /// Those of them that hold nothing beyond the highest number seen.
    pub repeats: u64,
    /// Of the sender, as far as they can be recognised from outside.
    pub timeouts: u64,
    /// Samples from sequence numbers.
    pub from_numbers: u64,
    /// Those from TCP timestamps.
    pub from_timestamps: u64,
    /// Those that are void since the clock stepped back, and are in no other number.
    pub voided: u64,
    /// The samples together.
    pub sum_ns: u128,
    /// The longest of them.
    pub longest: Span,
    /// The largest window of a flow.
    pub most: u32,
}

/// What a segment added.
#[derive(Clone, Copy, Debug)]
struct Added {
    window: u32,
    repeats: u32,
    timeouts: u32,
}

impl Measured {
    fn pass(&mut self, it: Added) {
        self.segments += 1;
        self.repeats += u64::from(it.repeats);
        self.timeouts += u64::from(it.timeouts);
        self.most = self.most.max(it.window);
    }

    fn sample(&mut self, rtt: Span, evidence: Evidence, gain: f64) {
        self.trip.sample(rtt, gain);
        match evidence {
            Evidence::Numbers => self.from_numbers += 1,
            Evidence::Stamps => self.from_timestamps += 1,
        }
        self.sum_ns += u128::from(rtt.ns());
        self.longest = self.longest.max(rtt);
    }
}

/// One flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowTrips {
    /// What was measured from its data.
    pub measured: Measured,
    /// Its window when its last segment passed.
    pub window: u32,
    /// Return traffic was seen.
    pub answered: bool,
    /// As its last segment passed.
    pub aggregate: Option<Aggregate>,
    /// Nothing since its last SYN.
    opening: bool,
}

/// One sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Number of the packet that closed it.
    pub packet: u64,
    /// When.
    pub at: Time,
    /// The flow whose data it is about.
    pub flow: FlowId,
    /// The round-trip time.
    pub rtt: Span,
    /// From numbers, or from timestamps.
    pub evidence: Evidence,
}

/// A segment in its place.
#[derive(Clone, Copy, Debug)]
struct Segment<'a> {
    /// See [`Sample::packet`].
    number: u64,
    now: Time,
    packet: &'a Packet,
    stamps: Option<Timestamps>,
    /// The return flow.
    mate: FlowId,
}

/// All flows.
#[derive(Debug)]
pub struct RoundTrips {
    instruments: MicroFlows,
    /// By number.
    pub flows: Vec<FlowTrips>,
    /// By what shares them.
    pub aggregates: BTreeMap<Aggregate, Measured>,
    /// Every sample, if they are asked for.
    pub samples: Option<Vec<Sample>>,
}

impl RoundTrips {
    /// None yet; `listed`: each sample is kept.
    pub fn new(listed: bool) -> Self {
        Self {
            instruments: MicroFlows::new(u32::MAX, EXPIRY),
            flows: Vec::new(),
            aggregates: BTreeMap::new(),
            samples: listed.then(Vec::new),
        }
    }

    fn flow(&mut self, flow: FlowId) -> &mut FlowTrips {
        let slot = flow.0 as usize;
        if self.flows.len() <= slot {
            self.flows.resize(slot + 1, FlowTrips::default());
        }
        &mut self.flows[slot]
    }

    /// As return traffic of the other direction.
    fn answer(&mut self, it: &Segment<'_>, steps: &Steps) {
        let sample = self.instruments.on_reverse(it.now, it.mate, it.packet, it.stamps);
        let flow = self.flow(it.mate);
        flow.answered |= it.packet.flags & flags::ACK != 0;
        let Some((rtt, evidence)) = sample else { return };
        if steps.spoil(it.now, rtt) {
            flow.measured.voided += 1;
            let of_aggregate = flow.aggregate.map(|it| self.aggregates.entry(it).or_default());
            return of_aggregate.into_iter().for_each(|it| it.voided += 1);
        }
        flow.measured.sample(rtt, evidence, GAIN_OF_ONE);
        if let Some(aggregate) = flow.aggregate {
            self.aggregates.entry(aggregate).or_default().sample(rtt, evidence, GAIN_OF_ALL);
        }
        let listed = Sample { packet: it.number, at: it.now, flow: it.mate, rtt, evidence };
        self.samples.iter_mut().for_each(|samples| samples.push(listed));
    }

    /// As a segment of its direction. A SYN after other segments opens another connection on the same ports.
    fn pass(&mut self, it: &Segment<'_>, aggregate: Option<Aggregate>) {
        let id = it.packet.flow;
        let syn = it.packet.flags & flags::SYN != 0;
        let opening = std::mem::replace(&mut self.flow(id).opening, syn);
        if syn && !opening {
            self.instruments.forget(id);
        }
        let counts = |instruments: &MicroFlows| {
            instruments.get(it.now, id).map_or((0, 0), |it| (it.window().repeats(), it.window().timeouts()))
        };
        let before = counts(&self.instruments);
        let Some(window) = self.instruments.on_forward(it.now, it.packet, it.stamps).map(|it| it.window().segments())
        else {
            return;
        };
        let after = counts(&self.instruments);
        let added = Added { window, repeats: after.0 - before.0, timeouts: after.1 - before.1 };
        let flow = self.flow(id);
        (flow.window, flow.aggregate) = (window, aggregate);
        flow.measured.pass(added);
        if let Some(aggregate) = aggregate {
            self.aggregates.entry(aggregate).or_default().pass(added);
        }
    }
}

impl Observer for RoundTrips {
    fn passed(&mut self, it: &Passed<'_>, flows: &mut FlowTable) {
        let Some(tcp) = it.arrived.headers.tcp else { return };
        let mate = FlowId(flows.mate(it.came.flow.0));
        let (number, now, stamps) = (it.arrived.number, it.arrived.at.now, tcp.timestamps);
        let segment = Segment { number, now, packet: it.came, stamps, mate };
        self.answer(&segment, it.steps);
        self.pass(&segment, aggregate(it, flows));
    }
}

/// The aggregate of a forward packet: of the conditioner that colours it, or of the policy that has none.
fn aggregate(it: &Passed<'_>, flows: &FlowTable) -> Option<Aggregate> {
    match it.arrived.direction {
        Direction::Reverse => None,
        Direction::Forward if it.edge.is_empty() => {
            Some(Aggregate { place: None, shared: Shared::of(Per::Pair, flows, it.came.flow) })
        }
        Direction::Forward => {
            it.taken.map(|taken| Aggregate { place: Some(taken.place), shared: it.shared(taken.place, flows) })
        }
    }
}
