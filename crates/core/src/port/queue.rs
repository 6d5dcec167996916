//! The queues of a port: one, or one for each class of a scheduler. Each has its own gate.

use super::ring::{Entry, Ring};
use super::{Gate, Sent, Transmission};
use crate::aqm::{Aqm as _, AqmParams, Backlog, Departure};
use crate::count::Count;
use crate::packet::Packet;
use crate::params::ParamError;
use crate::sched::{AnyScheduler, Head, Pick, Scheduler as _, SchedulerParams};
use crate::scope::Scope;
use crate::units::Time;
use crate::verdict::Fate;

const NOT_KNOWN: Transmission = Transmission { starts: Time::MAX, ends: Time::MAX };

/// A first-in first-out queue behind a gate.
#[derive(Clone, Debug)]
pub struct Queue<H> {
    pub(super) gate: Gate,
    pub(super) ring: Ring<H>,
    /// Until when a packet of it was or will be in transmission.
    busy_until: Time,
    pub(super) sent: Count,
}

impl<H: Copy> Queue<H> {
    pub(super) fn new(gate: Gate) -> Self {
        Self { gate, ring: Ring::new(), busy_until: Time::ZERO, sent: Count::default() }
    }

    /// As its AQM sees it at `now`. It is idle while nothing waits in it and nothing from it is in transmission,
    /// whatever
    /// the port's other queues send.
    pub fn backlog(&self, now: Time) -> Backlog {
        let begun = self.ring.begun(now);
        self.behind(now, begun.packets as u32, begun.bytes)
    }

    /// The backlog without the first `packets` of `bytes`.
    #[inline]
    fn behind(&self, now: Time, packets: u32, bytes: u64) -> Backlog {
        let packets = self.ring.waiting() - packets;
        let idle = self.busy_until <= now && packets == 0;
        Backlog {
            packets,
            bytes: self.ring.waiting_bytes() - bytes,
            idle_since: idle.then_some(self.busy_until),
            ..Backlog::default()
        }
    }

    #[inline]
    pub(super) fn arrive(&mut self, now: Time, packet: &mut Packet, handle: H) -> Fate {
        let fate = self.gate.arrive(now, self.behind(now, 0, 0), packet);
        if fate.stays() {
            self.ring.push(Entry { handle, size: packet.size, arrived: now, sent: NOT_KNOWN });
        }
        fate
    }

    #[inline(always)]
    pub(super) fn arrive_ahead(
        &mut self,
        now: Time,
        packet: &mut Packet,
        handle: H,
        line: impl FnOnce(Time) -> Transmission,
    ) -> Fate {
        self.ring.start_until(now);
        let fate = self.gate.arrive(now, self.behind(now, 0, 0), packet);
        if fate.stays() {
            let sent = line(now);
            self.busy_until = sent.ends;
            self.ring.push(Entry { handle, size: packet.size, arrived: now, sent });
        }
        fate
    }

    /// The packet at the head.
    #[inline]
    pub(super) fn first(&self) -> Option<Entry<H>> {
        self.ring.first().copied()
    }

    fn head(&self) -> Head {
        self.ring.first().map_or(Head::Nothing, |first| Head::Bytes(first.size))
    }

    /// Asks the AQM about the packet at the head. If it is dropped it is gone, and the queue was not idle until now.
    fn depart(&mut self, now: Time, packet: &mut Packet, may_drop: bool) -> Fate {
        let Some(&Entry { arrived, size, .. }) = self.ring.first() else { return Fate::Queued };
        let at = Departure { now, arrived, backlog: self.behind(now, 1, u64::from(size)) };
        let fate = self.gate.depart(at, packet, may_drop);
        if !fate.stays() {
            self.ring.take();
            if arrived < now {
                self.busy_until = self.busy_until.max(now);
            }
        }
        fate
    }

    /// The packet at the head leaves to be sent.
    fn take(&mut self) -> Option<Entry<H>> {
        let taken = *self.ring.take()?;
        self.sent.add(taken.size);
        Some(taken)
    }

    pub(super) fn busy_until(&mut self, ends: Time) {
        self.busy_until = ends;
    }

    /// When the packet at the front will have been sent.
    #[inline]
    pub(super) fn sent_at(&self) -> Option<Time> {
        self.ring.front().map(|entry| entry.sent.ends)
    }

    #[inline]
    pub(super) fn take_sent(&mut self) -> Option<Sent<H>> {
        self.ring.take().map(Entry::sent)
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        self.ring.start_until(now);
        let backlog = self.behind(now, 0, 0);
        let aqm = self.gate.aqm_mut();
        if aqm.poll_at().is_some_and(|at| at <= now) {
            aqm.on_timer(now, &backlog);
        }
    }

    pub(super) fn retune(&mut self, now: Time, params: &AqmParams, scope: &Scope) -> Result<(), ParamError> {
        self.gate.aqm_mut().retune(now, params, scope)
    }

    /// AQM, limit, counts.
    #[inline]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The packets that left by [`super::Port::next`].
    pub fn sent(&self) -> Count {
        self.sent
    }

    /// What waits.
    pub fn waiting(&self) -> Count {
        Count { packets: u64::from(self.ring.waiting()), bytes: self.ring.waiting_bytes() }
    }

    /// All it holds, first come first. On a line whose future is known, what is sent and not yet taken comes first.
    pub fn handles(&self) -> impl Iterator<Item = H> {
        self.ring.iter().map(|entry| entry.handle)
    }
}

/// Nearly all ports have one queue: it is not boxed, since every packet passes it.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub(super) enum Queues<H> {
    One(Queue<H>),
    Several(Box<Classes<H>>),
}

impl<H: Copy> Queues<H> {
    /// In the scheduler's order.
    #[inline]
    pub(super) fn all(&self) -> &[Queue<H>] {
        match self {
            Self::One(queue) => std::slice::from_ref(queue),
            Self::Several(classes) => &classes.queues,
        }
    }

    #[inline]
    pub(super) fn all_mut(&mut self) -> &mut [Queue<H>] {
        match self {
            Self::One(queue) => std::slice::from_mut(queue),
            Self::Several(classes) => &mut classes.queues,
        }
    }

    /// The queue that sends next; `None` if nothing waits.
    pub(super) fn pick(&mut self, now: Time) -> Option<usize> {
        match self {
            Self::One(_) => Some(0),
            Self::Several(classes) => match classes.scheduler.pick(now, &classes.heads) {
                Pick::Child(i) => Some(i),
                Pick::Later(_) | Pick::Nothing => None,
            },
        }
    }

    pub(super) fn depart(&mut self, chosen: usize, now: Time, packet: &mut Packet, may_drop: bool) -> Fate {
        match self {
            Self::One(queue) => queue.depart(now, packet, may_drop),
            Self::Several(classes) => classes.depart(chosen, now, packet, may_drop),
        }
    }

    pub(super) fn take(&mut self, chosen: usize, now: Time) {
        match self {
            Self::One(queue) => _ = queue.take(),
            Self::Several(classes) => classes.take(chosen, now),
        }
    }

    /// The total of all queues, as a series shows it.
    pub(super) fn backlog(&self, now: Time) -> Backlog {
        let Self::Several(classes) = self else { return self.all()[0].backlog(now) };
        let all = classes.queues.iter().map(|queue| queue.backlog(now));
        all.fold(Backlog::default(), |sum, queue| Backlog {
            packets: sum.packets + queue.packets,
            bytes: sum.bytes + queue.bytes,
            ..sum
        })
    }
}

/// Queues and the scheduler that chooses among them.
#[derive(Clone, Debug)]
pub(super) struct Classes<H> {
    scheduler: AnyScheduler,
    queues: Vec<Queue<H>>,
    heads: Vec<Head>,
}

impl<H: Copy> Classes<H> {
    /// Empty queues behind `gates`, one for each class of the scheduler.
    pub(super) fn new(scheduler: AnyScheduler, gates: Vec<Gate>) -> Self {
        let heads = vec![Head::Nothing; gates.len()];
        Self { scheduler, queues: gates.into_iter().map(Queue::new).collect(), heads }
    }

    pub(super) fn arrive(&mut self, now: Time, packet: &mut Packet, handle: H) -> Fate {
        let i = self.scheduler.place(packet);
        let fate = self.queues[i].arrive(now, packet, handle);
        if fate.stays() {
            self.scheduler.queued(now, i, packet.size);
        }
        self.heads[i] = self.queues[i].head();
        fate
    }

    fn depart(&mut self, chosen: usize, now: Time, packet: &mut Packet, may_drop: bool) -> Fate {
        let fate = self.queues[chosen].depart(now, packet, may_drop);
        if !fate.stays() {
            self.scheduler.dropped(now, chosen, packet.size, self.queues[chosen].waiting());
        }
        self.heads[chosen] = self.queues[chosen].head();
        fate
    }

    fn take(&mut self, chosen: usize, now: Time) {
        let queue = &mut self.queues[chosen];
        let Some(taken) = queue.take() else { return };
        self.heads[chosen] = queue.head();
        self.scheduler.sent(now, chosen, taken.size, queue.waiting());
    }

    pub(super) fn retune(&mut self, now: Time, params: &SchedulerParams, scope: &Scope) -> Result<(), ParamError> {
        self.scheduler.retune(now, params, scope)
    }
}
