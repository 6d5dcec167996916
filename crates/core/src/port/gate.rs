//! The gate of a queue: asks the AQM, applies ECN (RFC 3168 section 5), guards the limit, and gives each packet one
//! fate.

use crate::aqm::drop_tail::DropTail;
use crate::aqm::members::Members;
use crate::aqm::{AnyAqm, Aqm, AqmParams, Arrival, Backlog, Departure};
use crate::counted::Counted;
use crate::needs::Needs;
use crate::packet::{Ecn, Packet};
use crate::params::ParamError;
use crate::port::Turn;
use crate::port::fates::Fates;
use crate::rng::Rng;
use crate::scope::Scope;
use crate::units::Time;
use crate::verdict::{Fate, Reason, Side, Verdict};

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

static DROP_TAIL: AnyAqm = AnyAqm::DropTail(DropTail);

/// The gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// None is drop-tail, which has nothing to say. Most queues of a network are: they are spared the question and the room.
    asked: Option<Box<AqmWithRng>>,
    limit: Limit,
    drop: Side,
    fates: Counted<Fates>,
    spared: u64,
}

/// An AQM and what it draws from.
#[derive(Clone, Debug)]
struct AqmWithRng {
    aqm: AnyAqm,
    rng: Rng,
}

impl Gate {
    /// A gate before a queue of `limit`.
    pub fn new(aqm: AnyAqm, limit: Limit, rng: Rng) -> Self {
        let asked = (!matches!(aqm, AnyAqm::DropTail(_))).then(|| Box::new(AqmWithRng { aqm, rng }));
        Self { asked, limit, drop: Side::Tail, fates: Counted::default(), spared: 0 }
    }

    /// A gate that lets everything in.
    pub fn open() -> Self {
        Self::new(DROP_TAIL.clone(), Limit::Packets(u32::MAX), Rng::stream(0, 0, "queue"))
    }

    /// Drops from this side when there is no room.
    pub fn with_drop(self, drop: Side) -> Self {
        Self { drop, ..self }
    }

    /// Whether the packet at the head goes when there is no room.
    pub(super) fn drops_at_head(&self) -> bool {
        self.drop == Side::Head
    }

    /// Whether an arrival may cost packets that wait already their place.
    pub(super) fn makes_room(&self) -> bool {
        self.drop == Side::Head || self.aqm().needs().contains(Needs::ROOM)
    }

    /// Whether more waits than its limit, which happens only where the packet at the head goes.
    #[inline]
    pub(super) fn is_overfull(&self, packets: u32, bytes: u64) -> bool {
        self.drop == Side::Head
            && match self.limit {
                Limit::Packets(limit) => packets > limit,
                Limit::Bytes(limit) => bytes > limit,
            }
    }

    /// A waiting packet that the AQM drops with the last arrival, by its place from the head.
    pub(super) fn evicts(&mut self) -> Option<(u32, Reason)> {
        self.asked.as_deref_mut()?.aqm.evict()
    }

    /// A packet of the queue is dropped, mostly because the queue is full; `backlog` is what waits besides it.
    pub(super) fn evict(&mut self, now: Time, mut backlog: Backlog, packet: &mut Packet, reason: Reason) {
        (backlog.room, backlog.ecn) = (false, packet.ecn.capable());
        let fate = Fate::Dropped(reason);
        self.count_at_head(packet, fate);
        if let Some(AqmWithRng { aqm, .. }) = self.asked.as_deref_mut() {
            aqm.on_fate(Turn::new(&Arrival { now, backlog }), packet, fate);
        }
    }

    /// A packet that those above want dropped: the AQM is not asked.
    #[cold]
    fn refuse(&mut self, packet: &Packet, reason: Reason) -> Fate {
        let fate = Fate::Dropped(reason);
        self.count(packet, fate);
        fate
    }

    /// Decides on an arriving packet. `backlog` says what waits and since when the queue is idle; whether there is room
    /// and whether the packet is ECN-capable is found here.
    #[inline]
    pub(super) fn arrive(&mut self, now: Time, backlog: impl Fn() -> Backlog, packet: &mut Packet) -> Fate {
        self.decide(now, backlog, packet, false)
    }

    /// As [`Gate::arrive`], of a packet about which those above it in a tree have said `above`.
    pub(super) fn arrive_below(
        &mut self,
        now: Time,
        backlog: impl Fn() -> Backlog,
        packet: &mut Packet,
        above: Verdict,
    ) -> Fate {
        match above {
            Verdict::Drop(reason) => self.refuse(packet, reason),
            above => self.decide(now, backlog, packet, above == Verdict::Mark),
        }
    }

    // Drop-tail asks less of the backlog than an AQM does.
    #[inline(always)]
    fn decide(&mut self, now: Time, backlog: impl Fn() -> Backlog, packet: &mut Packet, marked: bool) -> Fate {
        if self.asked.is_some() {
            return self.ask(now, self.completed(backlog(), packet), packet, marked);
        }
        let fate = self.let_in(&self.completed(backlog(), packet), packet, marked);
        self.count(packet, fate);
        fate
    }

    #[inline(always)]
    fn completed(&self, backlog: Backlog, packet: &Packet) -> Backlog {
        let room = self.limit.has_room(backlog.packets, backlog.bytes, packet.size);
        Backlog { room, ecn: packet.ecn.capable(), ..backlog }
    }

    /// The fate of a packet of which the AQM is asked.
    #[inline(never)]
    fn ask(&mut self, now: Time, backlog: Backlog, packet: &mut Packet, marked: bool) -> Fate {
        let at = Arrival { now, backlog };
        let own = match self.asked.as_deref_mut() {
            Some(AqmWithRng { aqm, rng }) => aqm.on_arrival(Turn::new(&at), packet, rng),
            None => Verdict::Pass,
        };
        let fate = match own {
            Verdict::Drop(reason) => Fate::Dropped(reason),
            own => self.let_in(&backlog, packet, own == Verdict::Mark || marked),
        };
        self.count(packet, fate);
        if let Some(AqmWithRng { aqm, .. }) = self.asked.as_deref_mut() {
            aqm.on_fate(Turn::new(&at), packet, fate);
        }
        fate
    }

    /// The fate of a packet that is not dropped yet.
    #[inline(always)]
    fn let_in(&self, backlog: &Backlog, packet: &mut Packet, marked: bool) -> Fate {
        if marked && !backlog.ecn {
            return Fate::Dropped(Reason::Early);
        }
        if !backlog.room && self.drop == Side::Tail {
            return Fate::Dropped(Reason::Overflow);
        }
        if !marked {
            return Fate::Queued;
        }
        packet.ecn = Ecn::Ce;
        Fate::Marked
    }

    /// Asks the AQM again, unless those above it in a tree (`above`) have decided, about the packet at the head, whose
    /// transmission would begin now, and gives it the fate of a packet that it marks or drops. `at.backlog` says what waits
    /// behind it and since when the queue is idle; whether there is room for another such packet and whether it is ECN-capable is
    /// found here. Without `may_drop` a packet that the AQM drops is spared.
    pub(super) fn depart(&mut self, mut at: Departure, packet: &mut Packet, may_drop: bool, above: Verdict) -> Fate {
        at.backlog = self.completed(at.backlog, packet);
        let verdict = match (above, self.asked.as_deref_mut()) {
            (Verdict::Pass, Some(AqmWithRng { aqm, rng })) => aqm.on_departure(Turn::new(&at), packet, rng),
            (above, _) => above,
        };
        let fate = match verdict {
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
        if let Some(AqmWithRng { aqm, .. }) = self.asked.as_deref_mut() {
            aqm.on_fate(Turn::new(&Arrival { now: at.now, backlog: at.backlog }), packet, fate);
        }
        fate
    }

    fn count_at_head(&mut self, packet: &Packet, fate: Fate) {
        let fates = self.fates_of(packet);
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
    fn fates_of(&mut self, packet: &Packet) -> &mut Fates {
        self.fates.at(packet.class, packet.colour)
    }

    #[inline]
    fn count(&mut self, packet: &Packet, fate: Fate) {
        let fates = self.fates_of(packet);
        fates.arrived.add(packet.size);
        match fate {
            Fate::Queued => fates.queued.add(packet.size),
            fate => self.count_signal(packet, fate),
        }
    }

    /// A mark or a drop. Out of the way of the many packets that are just queued.
    #[inline(never)]
    fn count_signal(&mut self, packet: &Packet, fate: Fate) {
        let fates = self.fates_of(packet);
        match fate {
            Fate::Queued => {}
            Fate::Marked => {
                fates.queued.add(packet.size);
                fates.marked.add(packet.size);
            }
            Fate::Dropped(reason) => fates.dropped[reason as usize].add(packet.size),
        }
    }

    /// The AQM, for its gauges and timers.
    pub fn aqm(&self) -> &AnyAqm {
        self.asked.as_deref().map_or(&DROP_TAIL, |asked| &asked.aqm)
    }

    /// The list by which its AQM sorts packets.
    pub(super) fn members(&mut self) -> Option<&mut Members> {
        self.asked.as_deref_mut()?.aqm.members()
    }

    /// The time that its AQM asked for has come.
    pub(super) fn on_timer(&mut self, now: Time, backlog: &Backlog) {
        if let Some(AqmWithRng { aqm, .. }) = self.asked.as_deref_mut()
            && aqm.poll_at().is_some_and(|at| at <= now)
        {
            aqm.on_timer(Turn::new(now), backlog);
        }
    }

    /// New parameters for its AQM.
    pub(super) fn retune(&mut self, now: Time, params: &AqmParams, scope: &Scope) -> Result<(), ParamError> {
        match self.asked.as_deref_mut() {
            Some(AqmWithRng { aqm, .. }) => aqm.retune(now, params, scope),
            None => DROP_TAIL.clone().retune(now, params, scope),
        }
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
    pub fn fates(&self) -> &Counted<Fates> {
        &self.fates
    }

    /// Makes room for what it may count from now on.
    pub(super) fn reserve(&mut self) {
        self.fates.reserve_colours();
    }
}
