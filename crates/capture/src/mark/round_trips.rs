//! Round-trip times and windows of a capture's TCP flows: the instruments of perhop-core's edge, applied to every
//! segment.
//!
//! Each direction of a connection is a separate flow, measured from where the capture was made to the receiver of its data
//! and back. What is measured is the traffic as it was captured, including what a policy would have dropped.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_core::estimate::rtt::{Evidence, GAIN_OF_ALL, GAIN_OF_ONE};
use perhop_core::estimate::{MicroFlows, RoundTrip, Timestamps};
use perhop_core::packet::{FlowId, Packet, flags};
use perhop_core::units::{Span, Time};

use super::idle::EXPIRY;
use super::steps::Steps;

/// What shares an aggregate, with a policy's conditioner or without a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Aggregate {
    /// The conditioner's place in the policy.
    pub(crate) place: Option<usize>,
    pub(crate) shared: Shared,
}

/// What an aggregate's packets have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shared {
    Everything,
    Flow(FlowId),
    Pair(IpAddr, IpAddr),
    /// Protocol and destination port.
    Class(u8, u16),
}

/// Sums over a flow or an aggregate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) trip: RoundTrip,
    pub(crate) segments: u64,
    pub(crate) repeats: u64,
    pub(crate) timeouts: u64,
    pub(crate) from_numbers: u64,
    pub(crate) from_timestamps: u64,
    /// Those that are void since the clock stepped back, and are in no other number.
    pub(crate) voided: u64,
    pub(crate) sum_ns: u128,
    pub(crate) longest: Span,
    /// The largest window of a flow.
    pub(crate) most: u32,
}

/// What a segment added.
#[derive(Clone, Copy, Debug)]
struct Passed {
    window: u32,
    repeats: u32,
    timeouts: u32,
}

impl Measured {
    fn pass(&mut self, it: Passed) {
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
pub(crate) struct FlowTrips {
    pub(crate) measured: Measured,
    /// Its window when its last segment passed.
    pub(crate) window: u32,
    /// Return traffic was seen.
    pub(crate) answered: bool,
    pub(crate) aggregate: Option<Aggregate>,
    /// Nothing since its last SYN.
    opening: bool,
}

/// One sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Number of the packet in the capture that closed it, from 1.
    pub(crate) packet: u64,
    pub(crate) at: Time,
    /// The flow whose data it is about.
    pub(crate) flow: FlowId,
    pub(crate) rtt: Span,
    pub(crate) evidence: Evidence,
}

/// A segment in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    /// Its number in the capture, from 1.
    pub(crate) number: u64,
    pub(crate) now: Time,
    pub(crate) packet: &'a Packet,
    pub(crate) stamps: Option<Timestamps>,
    /// The return flow.
    pub(crate) mate: FlowId,
}

/// All flows of a capture.
#[derive(Debug)]
pub(crate) struct RoundTrips {
    instruments: MicroFlows,
    pub(crate) flows: Vec<FlowTrips>,
    pub(crate) aggregates: BTreeMap<Aggregate, Measured>,
    /// Every sample, if they are asked for.
    pub(crate) samples: Option<Vec<Sample>>,
}

impl RoundTrips {
    pub(crate) fn new(listed: bool) -> Self {
        Self {
            instruments: MicroFlows::new(u32::MAX, EXPIRY),
            flows: Vec::new(),
            aggregates: BTreeMap::new(),
            samples: listed.then(Vec::new),
        }
    }

    /// A TCP segment; `aggregate` as long as it belongs to one.
    pub(crate) fn see(&mut self, it: &Segment<'_>, aggregate: Option<Aggregate>, steps: &Steps) {
        self.answer(it, steps);
        self.pass(it, aggregate);
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
        let passed = Passed { window, repeats: after.0 - before.0, timeouts: after.1 - before.1 };
        let flow = self.flow(id);
        (flow.window, flow.aggregate) = (window, aggregate);
        flow.measured.pass(passed);
        if let Some(aggregate) = aggregate {
            self.aggregates.entry(aggregate).or_default().pass(passed);
        }
    }
}
