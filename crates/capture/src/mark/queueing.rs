//! What the queue behind the conditioners did, by whom it was met: all packets, code points, colours, flows.
//!
//! Memory: a distribution of waits for each code point and colour, and a record of fixed size for each flow.

use std::collections::BTreeMap;

use perhop_core::count::Count;
use perhop_core::verdict::{Fate, Reason};
use perhop_sim::record::Delays;
use perhop_sim::replay::Trip;

/// Packets by fate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Met {
    /// All that came to the queue.
    pub(crate) came: Count,
    /// Those that were sent, marked ones included.
    pub(crate) sent: Count,
    /// Those that the queue marked.
    pub(crate) marked: Count,
    /// Those that the queue dropped, by [`Reason`].
    pub(crate) dropped: [Count; Reason::ALL.len()],
    /// Waits of those sent, ns: their sum and the longest.
    pub(crate) waited: u128,
    pub(crate) longest: u64,
}

impl Met {
    fn add(&mut self, trip: &Trip) {
        let size = trip.packet.size;
        self.came.add(size);
        if let Some(wait) = wait(trip) {
            self.sent.add(size);
            self.waited += u128::from(wait);
            self.longest = self.longest.max(wait);
        }
        match trip.fate {
            Fate::Queued => {}
            Fate::Marked => self.marked.add(size),
            Fate::Dropped(reason) => self.dropped[reason as usize].add(size),
        }
    }

    /// Dropped for any reason.
    pub(crate) fn lost(&self) -> Count {
        self.dropped.iter().copied().sum()
    }

    /// Mean wait of what was sent, ns.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.sent.packets > 0).then(|| self.waited as f64 / self.sent.packets as f64)
    }
}

/// From arrival to the start of transmission, ns, of what was sent.
fn wait(trip: &Trip) -> Option<u64> {
    trip.sent.map(|sent| sent.starts.since(trip.arrived).ns())
}

/// Packets by fate, and the distribution of their waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) met: Met,
    pub(crate) waits: Delays,
}

impl Group {
    fn add(&mut self, trip: &Trip) {
        self.met.add(trip);
        wait(trip).into_iter().for_each(|ns| self.waits.observe(ns));
    }
}

/// All that the queue did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queueing {
    pub(crate) all: Group,
    /// By code point, as it came to the queue.
    pub(crate) code_points: BTreeMap<u8, Group>,
    /// By colour.
    pub(crate) colours: BTreeMap<usize, Group>,
    pub(crate) flows: Vec<Met>,
    /// The most that waited when a packet came: packets, and bytes.
    pub(crate) longest: Count,
}

impl Queueing {
    /// A trip that is over. What a conditioner dropped never came to the queue.
    pub(crate) fn add(&mut self, trip: &Trip) {
        if trip.fate == Fate::Dropped(Reason::Policer) {
            return;
        }
        self.all.add(trip);
        self.code_points.entry(trip.packet.dscp.get()).or_default().add(trip);
        self.colours.entry(trip.packet.colour.index()).or_default().add(trip);
        self.longest.packets = self.longest.packets.max(trip.found.packets);
        self.longest.bytes = self.longest.bytes.max(trip.found.bytes);
        let flow = trip.packet.flow.0 as usize;
        if self.flows.len() <= flow {
            self.flows.resize(flow + 1, Met::default());
        }
        self.flows[flow].add(trip);
    }
}
