//! The gate of a queue: asks the AQM, applies ECN (RFC 3168 section 5), guards the limit, and gives each packet one
//! fate.

use crate::aqm::{AnyAqm, Aqm, Arrival, Backlog, Departure};
use crate::count::Count;
use crate::packet::{Ecn, Packet};
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Fate, Reason, Verdict};

/// How much may wait. The packet in transmission does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// This many packets.
    Packets(u32),
    /// This many bytes.
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

/// A queue's counts for one colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    /// All arrivals.
    pub arrived: Count,
    /// Those that were let in, marked ones included.
    pub queued: Count,
    /// Those marked CE.
    pub marked: Count,
    /// Those dropped, by [`Reason`].
    pub dropped: [Count; Reason::ALL.len()],
    /// Of those let in, dropped when their turn had come. They are in `queued` and in `dropped`, so that no count ever
    /// falls: a packet may be let in before the end of the warm-up and dropped after it.
    pub dropped_at_head: Count,
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
            dropped_at_head: self.dropped_at_head + other.dropped_at_head,
        }
    }

    /// The counts since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            arrived: self.arrived - earlier.arrived,
            queued: self.queued - earlier.queued,
            marked: self.marked - earlier.marked,
            dropped: std::array::from_fn(|i| self.dropped[i] - earlier.dropped[i]),
            dropped_at_head: self.dropped_at_head - earlier.dropped_at_head,
        }
    }

    /// Every arrival was either let in or dropped.
    pub fn conserved(&self) -> bool {
        self.arrived + self.dropped_at_head == self.queued + self.lost()
    }
}

/// The gate.
#[derive(Clone, Debug)]
pub struct Gate {
    aqm: AnyAqm,
    limit: Limit,
    rng: Rng,
    fates: Vec<[Fates; 4]>,
    spared: u64,
}

impl Gate {
    /// A gate before a queue of `limit`, for packets of class 0.
    pub fn new(aqm: AnyAqm, limit: Limit, rng: Rng) -> Self {
        Self { aqm, limit, rng, fates: vec![Default::default()], spared: 0 }
    }

    /// A gate that lets everything in.
    pub fn open() -> Self {
        let aqm = AnyAqm::DropTail(crate::aqm::drop_tail::DropTail);
        Self::new(aqm, Limit::Packets(u32::MAX), Rng::stream(0, 0, "queue"))
    }

    /// Counts classes 0 to `classes - 1` apart.
    pub fn with_classes(mut self, classes: usize) -> Self {
        self.fates.resize(classes.max(1), Default::default());
        self
    }

    /// Decides on an arriving packet. `backlog` says what waits and since when the queue is idle; whether there is room
    /// and whether the packet is ECN-capable is found here.
    #[inline]
    pub(super) fn arrive(&mut self, now: Time, mut backlog: Backlog, packet: &mut Packet) -> Fate {
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

    /// Asks the AQM again about the packet at the head, whose transmission would begin now, and gives it the fate of a
    /// packet that it marks or drops. `at.backlog` says what waits behind it and since when the queue is idle; whether
    /// there is
    /// room for another such packet and whether it is ECN-capable is found here. Without `may_drop` a packet that the AQM
    /// drops is spared.
    pub(super) fn depart(&mut self, mut at: Departure, packet: &mut Packet, may_drop: bool) -> Fate {
        at.backlog.room = self.limit.has_room(at.backlog.packets, at.backlog.bytes, packet.size);
        at.backlog.ecn = packet.ecn.capable();
        let fate = match self.aqm.on_departure(&at, packet, &mut self.rng) {
            Verdict::Pass => return Fate::Queued,
            Verdict::Mark if at.backlog.ecn => {
                packet.ecn = Ecn::Ce;
                Fate::Marked
            }
            Verdict::Mark => Fate::Dropped(Reason::Early),
            Verdict::Drop(reason) => Fate::Dropped(reason),
        };
        if !may_drop && !fate.stays() {
            self.spared += 1;
            return Fate::Queued;
        }
        self.count_at_head(packet, fate);
        self.aqm.on_fate(&Arrival { now: at.now, backlog: at.backlog }, packet, fate);
        fate
    }

    fn count_at_head(&mut self, packet: &Packet, fate: Fate) {
        let fates = &mut self.fates[usize::from(packet.class)][packet.colour.index()];
        match fate {
            Fate::Queued => {}
            Fate::Marked => fates.marked.add(packet.size),
            Fate::Dropped(reason) => {
                fates.dropped[reason as usize].add(packet.size);
                fates.dropped_at_head.add(packet.size);
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

    /// The AQM, for its timers and new parameters.
    pub(super) fn aqm_mut(&mut self) -> &mut AnyAqm {
        &mut self.aqm
    }

    /// Packets sent although the AQM dropped them, see [`super::MOST_HEAD_DROPS`].
    pub fn spared(&self) -> u64 {
        self.spared
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
