//! Round trips of TCP at the edge: from a segment to what acknowledges it.
//!
//! Of data that goes from A to B they are those between here and the receiver, and of data from B to A those between here
//! and the receiver behind A. What waits in the queue here is part of the first.

use perhop_core::estimate::MicroFlows;
use perhop_core::packet::FlowId;
use perhop_core::units::Span;
use perhop_edge::{Direction, FlowTable, Passed};

/// A flow that is silent for longer begins afresh.
const EXPIRY: Span = Span::from_s(60);

/// Samples of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// How many.
    pub number: u64,
    /// Their sum.
    pub sum_ns: u64,
    /// The shortest and the longest; `None` without samples.
    pub bounds: Option<[Span; 2]>,
}

impl Samples {
    fn add(&mut self, rtt: Span) {
        self.number += 1;
        self.sum_ns = self.sum_ns.saturating_add(rtt.ns());
        let [least, most] = self.bounds.unwrap_or([rtt; 2]);
        self.bounds = Some([least.min(rtt), most.max(rtt)]);
    }
}

impl Samples {
    /// With those of another time.
    pub fn plus(&self, other: &Self) -> Self {
        let bounds = match (self.bounds, other.bounds) {
            (Some([least, most]), Some([l, m])) => Some([least.min(l), most.max(m)]),
            (one, another) => one.or(another),
        };
        Self { number: self.number + other.number, sum_ns: self.sum_ns.saturating_add(other.sum_ns), bounds }
    }
}

/// What measures.
#[derive(Debug)]
pub struct RoundTrips {
    flows: MicroFlows,
    samples: [Samples; 2],
}

impl RoundTrips {
    /// Nothing yet, for so many flows.
    pub(crate) fn new(most: u32) -> Self {
        Self { flows: MicroFlows::new(most, EXPIRY), samples: Default::default() }
    }

    pub(crate) fn passed(&mut self, it: &Passed<'_>, flows: &FlowTable) {
        let Some(tcp) = it.arrived.headers.tcp else { return };
        let (now, way) = (it.arrived.at.now, it.arrived.direction);
        if let Some(mate) = flows.known_mate(it.came.flow.0)
            && let Some((rtt, _)) = self.flows.on_reverse(now, FlowId(mate), it.came, tcp.timestamps)
        {
            // what comes back answers data of the other direction
            self.samples[usize::from(way == Direction::Forward)].add(rtt);
        }
        self.flows.on_forward(now, it.came, tcp.timestamps);
    }

    pub(crate) fn forget(&mut self, flow: FlowId) {
        self.flows.forget(flow);
    }

    /// Samples since the last call: of data from A to B, and of data from B to A.
    pub fn take(&mut self) -> [Samples; 2] {
        std::mem::take(&mut self.samples)
    }
}
