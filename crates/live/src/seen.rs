//! What a forwarder sees of packets at the edge.

use perhop_core::count::Count;
use perhop_core::packet::FlowId;
use perhop_core::port::edge::Edge;
use perhop_edge::{Direction, FlowTable, Observer, Passed};
use perhop_sim::replay::Trip;

use crate::round_trips::RoundTrips;
use crate::trace::Trace;

/// Columns of [`Seen::colours`]: colours, and what was dropped.
const DROPPED: usize = 4;

/// Counts of what passed, and trips that are over.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Forward packets by colour behind the conditioners; the last are those they dropped.
    pub(crate) colours: [Count; 5],
    /// Since they were taken from here.
    pub(crate) trips: Vec<Trip>,
    /// Of TCP, if they are measured.
    pub(crate) round_trips: Option<RoundTrips>,
    /// If packets are recorded.
    pub(crate) trace: Option<Trace>,
}

impl Observer for Seen {
    #[inline]
    fn passed(&mut self, it: &Passed<'_>, flows: &mut FlowTable) {
        if it.arrived.direction == Direction::Forward {
            self.colours[it.left.map_or(DROPPED, |packet| packet.colour.index())].add(it.came.size);
        }
        if let Some(round_trips) = &mut self.round_trips {
            round_trips.passed(it, flows);
        }
        if let Some(trace) = &mut self.trace {
            trace.passed(it, flows);
        }
    }

    fn forget(&mut self, flow: FlowId, _: &Edge) {
        self.round_trips.iter_mut().for_each(|it| it.forget(flow));
        self.trace.iter_mut().for_each(|it| it.forget(flow));
    }

    #[inline]
    fn trip(&mut self, trip: &Trip) {
        self.trips.push(*trip);
    }
}
