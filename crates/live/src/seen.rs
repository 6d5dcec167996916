//! What a forwarder sees of packets at the edge.

use perhop_core::count::Count;
use perhop_edge::{Direction, FlowTable, Observer, Passed};
use perhop_sim::replay::Trip;

/// Columns of [`Seen::colours`]: colours, and what was dropped.
const DROPPED: usize = 4;

/// Counts of what passed, and trips that are over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Forward packets by colour behind the conditioners; the last are those they dropped.
    pub(crate) colours: [Count; 5],
    /// Since they were taken from here.
    pub(crate) trips: Vec<Trip>,
}

impl Observer for Seen {
    #[inline]
    fn passed(&mut self, it: &Passed<'_>, _: &mut FlowTable) {
        if it.arrived.direction == Direction::Forward {
            self.colours[it.left.map_or(DROPPED, |packet| packet.colour.index())].add(it.came.size);
        }
    }

    #[inline]
    fn trip(&mut self, trip: &Trip) {
        self.trips.push(*trip);
    }
}
