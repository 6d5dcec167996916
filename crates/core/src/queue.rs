//! The gate of a queue: asks the AQM, applies ECN, guards the limit, and gives each packet one fate.
//!
//! Where packets wait is the host's business; what becomes of them is decided and counted here, so
//! simulator and forwarder cannot differ.

use crate::aqm::{AnyAqm, Aqm, Arrival, Backlog, Departure};
use crate::count::Count;
use crate::packet::{Ecn, Packet};
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Fate, Reason, Verdict};

/// How much may wait. The packet in transmission does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether `size` more bytes, one more packet, fit.
    #[inline]
    pub fn has_room(self, packets: u32, bytes: u64, size: u32) -> bool {
        match self {
            Self::Packets(limit) => packets < limit,
            Self::Bytes(limit) => bytes + u64::from(size) <= limit,
        }
    }
}

/// What a queue counted for one colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    /// All that came.
    pub arrived: Count,
    /// Those that waited, marked ones included.
    pub queued: Count,
    /// Those marked CE.
    pub marked: Count,
    /// Those dropped, by [`Reason`].
    pub dropped: [Count; Reason::ALL.len()],
}

impl Fates {
    /// Dropped for any reason.
    pub fn lost(&self) -> Count {
        self.dropped.iter().copied().sum()
    }

    /// With those of another queue.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            arrived: self.arrived + other.arrived,
            queued: self.queued + other.queued,
            marked: self.marked + other.marked,
            dropped: std::array::from_fn(|i| self.dropped[i] + other.dropped[i]),
        }
    }

    /// Less those of an earlier time.
    pub fn since(&self, then: &Self) -> Self {
        Self {
            arrived: self.arrived - then.arrived,
            queued: self.queued - then.queued,
            marked: self.marked - then.marked,
            dropped: std::array::from_fn(|i| self.dropped[i] - then.dropped[i]),
        }
    }

    /// Every arrival has exactly one fate.
    pub fn conserved(&self) -> bool {
        self.arrived == self.queued + self.lost()
    }
}

/// The gate.
#[derive(Clone, Debug)]
pub struct Gate {
    aqm: AnyAqm,
    limit: Limit,
    rng: Rng,
    fates: Vec<[Fates; 4]>,
}

impl Gate {
    /// A gate before a queue of `limit`, for packets of class 0.
    pub fn new(aqm: AnyAqm, limit: Limit, rng: Rng) -> Self {
        Self { aqm, limit, rng, fates: vec![Default::default()] }
    }

    /// Counts classes 0 to `classes - 1` apart.
    pub fn with_classes(mut self, classes: usize) -> Self {
        self.fates.resize(classes.max(1), Default::default());
        self
    }

    /// Decides on an arriving packet. `backlog` says what waits and since when all is idle; whether there is
    /// room and whether the packet is ECN-capable is found here.
    #[inline]
    pub fn arrive(&mut self, now: Time, mut backlog: Backlog, packet: &mut Packet) -> Fate {
        backlog.room = self.limit.has_room(backlog.packets, backlog.bytes, packet.size);
        backlog.ecn = packet.ecn.capable();
        let at = Arrival { now, backlog };
        let fate = match self.aqm.on_arrival(&at, packet, &mut self.rng) {
            Verdict::Drop(reason) => Fate::Dropped(reason),
            Verdict::Mark if !backlog.ecn => Fate::Dropped(Reason::Early),
            _ if !backlog.room => Fate::Dropped(Reason::Overflow),
            Verdict::Mark => {
                packet.ecn = Ecn::Ce;
                Fate::Marked
            }
            Verdict::Pass => Fate::Queued,
        };
        self.count(packet, fate);
        self.aqm.on_fate(&at, packet, fate);
        fate
    }

    /// Asks the AQM again at the start of a packet's transmission. A packet dropped now was never queued:
    /// its fate is changed, so that it still has exactly one.
    pub fn depart(&mut self, at: &Departure, packet: &mut Packet) -> Fate {
        let verdict = self.aqm.on_departure(at, packet, &mut self.rng);
        let fates = &mut self.fates[usize::from(packet.class)][packet.colour.index()];
        match verdict {
            Verdict::Pass => Fate::Queued,
            Verdict::Mark if packet.ecn.capable() => {
                packet.ecn = Ecn::Ce;
                fates.marked.add(packet.size);
                Fate::Marked
            }
            Verdict::Mark | Verdict::Drop(_) => {
                let reason = if let Verdict::Drop(reason) = verdict { reason } else { Reason::Early };
                fates.queued.packets -= 1;
                fates.queued.bytes -= u64::from(packet.size);
                fates.dropped[reason as usize].add(packet.size);
                Fate::Dropped(reason)
            }
        }
    }

    #[inline]
    fn count(&mut self, packet: &Packet, fate: Fate) {
        let fates = &mut self.fates[usize::from(packet.class)][packet.colour.index()];
        fates.arrived.add(packet.size);
        match fate {
            Fate::Queued => fates.queued.add(packet.size),
            Fate::Marked => {
                fates.queued.add(packet.size);
                fates.marked.add(packet.size);
            }
            Fate::Dropped(reason) => fates.dropped[reason as usize].add(packet.size),
        }
    }

    /// The AQM, for its gauges and timers.
    pub fn aqm(&self) -> &AnyAqm {
        &self.aqm
    }

    /// The AQM, to be told of time and departures.
    pub fn aqm_mut(&mut self) -> &mut AnyAqm {
        &mut self.aqm
    }

    /// How much may wait.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// What it counted, by class and [`crate::packet::Colour`].
    pub fn fates(&self) -> &[[Fates; 4]] {
        &self.fates
    }
}
