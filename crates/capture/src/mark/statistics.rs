//! What is counted of a capture while it goes through the edge.

use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::port::edge::{Action, Edge, Per, arrived};
use perhop_edge::{Direction, FlowTable, Observer, Passed, RoundTrips};
use perhop_sim::replay::Trip;

use super::bursts::Bursts;
use super::demand::Demand;
use super::ledger::Ledger;
use super::marking::{Marking, RoundTripsOf};
use super::queueing::Queueing;
use super::rates::Rates;
use super::records::{DROPPED, Outcome};

/// All that is counted.
#[derive(Debug)]
pub(crate) struct Statistics {
    pub(crate) ledger: Ledger,
    /// By conditioner.
    pub(crate) demands: Vec<Demand>,
    pub(crate) rates: Rates,
    /// Looked for if asked for.
    pub(crate) bursts: Option<Bursts>,
    /// What the queue did, if there is one.
    pub(crate) queueing: Option<Queueing>,
    pub(crate) round_trips: Option<RoundTrips>,
    /// How many packets each conditioner has met, by colour, where some go from one that gives colours to the next.
    met: Option<Vec<[u64; 4]>>,
}

impl Statistics {
    pub(crate) fn new(marking: &Marking) -> Self {
        let demands: Vec<Demand> = marking.stages.iter().map(Demand::new).collect();
        let chained = marking.stages.iter().flat_map(|stage| stage.actions).any(Action::goes_on);
        Self {
            ledger: Ledger::default(),
            rates: Rates::new(&demands),
            bursts: marking.bursts.then(Bursts::new),
            queueing: marking.queue.as_ref().map(|_| Queueing::default()),
            round_trips: match marking.round_trips {
                RoundTripsOf::Nothing => None,
                of => Some(RoundTrips::new(of == RoundTripsOf::Samples)),
            },
            met: chained.then(|| vec![[0; 4]; demands.len()]),
            demands,
        }
    }

    /// A packet of forward direction: what it demands of conditioners, and the bursts that it makes.
    #[inline]
    fn forward(&mut self, it: &Passed<'_>) {
        let (now, packet) = (it.arrived.at.now, it.came);
        if let Some(bursts) = &mut self.bursts {
            bursts.add(now, packet.flow, packet.size);
        }
        if let Some(taken) = it.taken {
            self.demands[taken.place].add(taken.instance, now, (packet.colour, packet.size));
        }
        if self.met.is_some() {
            self.demand_next(it);
        }
    }

    /// Counts a packet at the conditioners behind the first, to which actions sent it on.
    fn demand_next(&mut self, it: &Passed<'_>) {
        let Some(met) = &mut self.met else { return };
        let first = it.taken.map(|taken| taken.place);
        for (place, stage) in it.edge.counts().enumerate() {
            let all = arrived(stage.counts).map(|count| count.packets);
            let before = std::mem::replace(&mut met[place], all);
            if let Some(colour) = Colour::ALL.into_iter().find(|it| all[it.index()] > before[it.index()])
                && Some(place) != first
                && let Some(instance) = it.edge.instance(place, it.came.flow)
            {
                self.demands[place].add(instance, it.arrived.at.now, (colour, it.came.size));
            }
        }
    }
}

impl Observer for Statistics {
    #[inline]
    fn passed(&mut self, it: &Passed<'_>, flows: &mut FlowTable) {
        let reverse = it.arrived.direction == Direction::Reverse;
        self.ledger.passed(it);
        if !reverse {
            self.forward(it);
        }
        let left = if reverse { Some(it.came) } else { it.left };
        let outcome = left.map_or(DROPPED, |packet| packet.colour.index());
        let Packet { flow, size, colour, .. } = *it.came;
        let outcome = Outcome { now: it.arrived.at.now, flow, size, colour, outcome, reverse };
        self.rates.add(&outcome, it.taken, |place| it.shared(place, flows));
        if let Some(round_trips) = &mut self.round_trips {
            round_trips.passed(it, flows);
        }
    }

    fn forget(&mut self, flow: FlowId, edge: &Edge) {
        for (place, demand) in self.demands.iter_mut().enumerate().filter(|(_, demand)| demand.per == Per::Flow) {
            edge.instance(place, flow).into_iter().for_each(|instance| demand.forget(instance));
        }
        self.rates.forget(flow);
    }

    fn trip(&mut self, trip: &Trip) {
        self.queueing.iter_mut().for_each(|it| it.add(trip));
    }
}
