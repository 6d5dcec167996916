//! The queues of a link with a scheduler: one for each of its classes, each with its own gate. Packets being sent leave
//! them for the link's ring.

use super::pool::{Pool, RecordId};
use crate::record::Delays;
use perhop_core::aqm::{Aqm as _, Backlog};
use perhop_core::count::Count;
use perhop_core::queue::Gate;
use perhop_core::sched::{AnyScheduler, Head, Scheduler as _};
use perhop_core::units::Time;
use perhop_core::verdict::{Fate, Reason};
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet.
    pub record: RecordId,
    /// Bytes that the queue counts.
    pub size: u32,
}

/// One class's queue.
#[derive(Clone, Debug)]
pub struct Queue {
    /// AQM, limit, counts.
    pub gate: Gate,
    waiting: VecDeque<Waiting>,
    bytes: u64,
    /// Until when a packet of it was or will be in transmission.
    busy_until: Time,
    /// What was transmitted from it.
    pub sent: Count,
    /// Time from arrival to start of transmission.
    pub waits: Delays,
}

impl Queue {
    fn new(gate: Gate) -> Self {
        let (waiting, busy_until) = (VecDeque::new(), Time::ZERO);
        Self { gate, waiting, bytes: 0, busy_until, sent: Count::default(), waits: Delays::default() }
    }

    /// As its AQM sees it at `now`. It is idle while nothing waits in it and nothing from it is in transmission,
    /// whatever the other queues send.
    pub fn backlog(&self, now: Time) -> Backlog {
        let idle = self.busy_until <= now && self.waiting.is_empty();
        Backlog {
            packets: self.waiting.len() as u32,
            bytes: self.bytes,
            idle_since: idle.then_some(self.busy_until),
            ..Backlog::default()
        }
    }

    /// All that waits, first come first.
    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }

    fn take(&mut self) -> Option<Waiting> {
        let first = self.waiting.pop_front()?;
        self.bytes -= u64::from(first.size);
        Some(first)
    }

    fn head(&self) -> Head {
        self.waiting.front().map(|w| w.size)
    }
}

/// Queues and the scheduler that chooses among them.
#[derive(Clone, Debug)]
pub struct Classes {
    /// The scheduler.
    pub scheduler: AnyScheduler,
    /// In the scheduler's order.
    pub queues: Vec<Queue>,
    heads: Vec<Head>,
    /// The queue chosen last.
    chosen: usize,
}

impl Classes {
    /// Empty queues behind `gates`, one for each class of the scheduler.
    pub fn new(scheduler: AnyScheduler, gates: Vec<Gate>) -> Self {
        let heads = vec![None; gates.len()];
        Self { scheduler, queues: gates.into_iter().map(Queue::new).collect(), heads, chosen: 0 }
    }

    /// A packet that has passed the conditioners arrives at the gate of its class.
    pub fn arrive(&mut self, now: Time, id: RecordId, pool: &mut Pool) -> Result<(), Reason> {
        let record = pool.get_mut(id);
        record.arrived = now;
        let i = self.scheduler.members().of(&record.packet);
        let queue = &mut self.queues[i];
        let backlog = queue.backlog(now);
        if let Fate::Dropped(reason) = queue.gate.arrive(now, backlog, &mut record.packet) {
            return Err(reason);
        }
        let size = record.packet.size;
        queue.waiting.push_back(Waiting { record: id, size });
        queue.bytes += u64::from(size);
        self.heads[i] = queue.head();
        Ok(())
    }

    /// The packet whose turn it is.
    pub fn first(&mut self) -> Option<Waiting> {
        self.chosen = self.scheduler.pick(&self.heads)?;
        self.queues[self.chosen].waiting.front().copied()
    }

    /// The queue of the packet whose turn it is.
    pub fn chosen(&mut self) -> &mut Queue {
        &mut self.queues[self.chosen]
    }

    /// What that queue holds after the packet.
    pub fn behind(&self) -> Backlog {
        let queue = &self.queues[self.chosen];
        let first = queue.waiting.front().map_or(0, |w| w.size);
        let (packets, bytes) = (queue.waiting.len().saturating_sub(1) as u32, queue.bytes - u64::from(first));
        Backlog { packets, bytes, ..Backlog::default() }
    }

    /// The packet whose turn it is, which arrived at `arrived`, is dropped instead.
    pub fn discard(&mut self, now: Time, arrived: Time) {
        let queue = &mut self.queues[self.chosen];
        queue.take();
        if arrived < now {
            // Until now the queue was not idle.
            queue.busy_until = queue.busy_until.max(now);
        }
        self.heads[self.chosen] = queue.head();
    }

    /// The packet whose turn it is leaves its queue to be sent.
    pub fn take(&mut self) -> Option<Waiting> {
        self.first()?;
        let queue = &mut self.queues[self.chosen];
        let taken = queue.take()?;
        queue.sent.add(taken.size);
        self.heads[self.chosen] = queue.head();
        self.scheduler.sent(taken.size, queue.head());
        Some(taken)
    }

    /// The packet taken last, which waited this long, is in transmission until `done`.
    pub fn sends(&mut self, waited: u64, done: Time) {
        let queue = &mut self.queues[self.chosen];
        queue.waits.observe(waited);
        queue.busy_until = done;
    }

    /// Calls the AQMs whose timers are due.
    pub fn on_timer(&mut self, now: Time) {
        for queue in &mut self.queues {
            let backlog = queue.backlog(now);
            let aqm = queue.gate.aqm_mut();
            if aqm.poll_at().is_some_and(|at| at <= now) {
                aqm.on_timer(now, &backlog);
            }
        }
    }

    /// The total of all queues, as a series shows it.
    pub fn backlog(&self, now: Time) -> Backlog {
        let all = self.queues.iter().map(|queue| queue.backlog(now));
        all.fold(Backlog::default(), |sum, queue| Backlog {
            packets: sum.packets + queue.packets,
            bytes: sum.bytes + queue.bytes,
            ..sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Record;
    use perhop_core::aqm::members::Member;
    use perhop_core::aqm::{AqmParams, drop_tail};
    use perhop_core::packet::{Colour, Packet};
    use perhop_core::queue::Limit;
    use perhop_core::sched::{HostKey, SchedulerParams, strict_priority};
    use perhop_core::{Rng, Scope};

    /// Green packets before all others.
    fn classes() -> Classes {
        let class = |members| strict_priority::Class { members, queue: HostKey };
        let list = vec![class(vec![Member::Colour(Colour::Green)]), class(vec![])];
        let scheduler = SchedulerParams::StrictPriority(strict_priority::Params { classes: list });
        let gate = |_| {
            let aqm = AqmParams::DropTail(drop_tail::Params {}).build(&Scope::default()).unwrap();
            Gate::new(aqm, Limit::Packets(2), Rng::stream(1, 0, "queue"))
        };
        Classes::new(scheduler.build(&Scope::default()).unwrap(), [0, 1].map(gate).into())
    }

    fn arrive(classes: &mut Classes, pool: &mut Pool, (us, colour): (u64, Colour)) -> Result<(), Reason> {
        let id = pool.insert(Record { packet: Packet { size: 100, colour, ..Packet::default() }, ..Record::default() });
        classes.arrive(at(us), id, pool)
    }

    fn at(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    /// Idle: nothing waits in it, and nothing from it is being sent; since the end of its last transmission.
    #[test]
    fn a_queue_is_idle_by_itself() {
        let (mut classes, mut pool) = (classes(), Pool::default());
        let idle = |classes: &Classes, us| [0, 1].map(|i| classes.queues[i].backlog(at(us)).idle_since);
        assert_eq!(idle(&classes, 5), [Some(Time::ZERO); 2]);
        for packet in [(10, Colour::Red), (10, Colour::Green)] {
            arrive(&mut classes, &mut pool, packet).unwrap();
        }
        assert_eq!(idle(&classes, 10), [None, None]);
        assert_eq!(classes.take().unwrap().record, 1);
        classes.sends(0, at(20));
        assert_eq!(idle(&classes, 19), [None, None]);
        assert_eq!(idle(&classes, 20), [Some(at(20)), None], "the other still waits");
        assert_eq!(classes.take().unwrap().record, 0);
        classes.sends(10_000, at(30));
        assert_eq!(idle(&classes, 40), [Some(at(20)), Some(at(30))]);
        assert_eq!(classes.queues.iter().map(|q| q.waits.quantiles().unwrap().mean).collect::<Vec<_>>(), [0.0, 10e3]);
    }

    /// Each queue has its own limit; a packet dropped when its turn has come is gone, and its queue was busy until
    /// then.
    #[test]
    fn a_queue_is_full_by_itself_and_what_is_discarded_is_gone() {
        let (mut classes, mut pool) = (classes(), Pool::default());
        for colour in [Colour::Red, Colour::Yellow, Colour::Green] {
            arrive(&mut classes, &mut pool, (10, colour)).unwrap();
        }
        assert_eq!(arrive(&mut classes, &mut pool, (10, Colour::Red)), Err(Reason::Overflow));
        assert_eq!(arrive(&mut classes, &mut pool, (10, Colour::Green)), Ok(()));
        assert_eq!(classes.backlog(at(10)).packets, 4);
        assert_eq!((classes.first().unwrap().record, classes.behind().packets), (2, 1));
        classes.discard(at(15), at(10));
        assert_eq!((classes.take().unwrap().record, classes.queues[0].sent.packets), (4, 1));
        assert_eq!(classes.queues[0].backlog(at(16)).idle_since, Some(at(15)));
        assert_eq!((classes.first().unwrap().record, classes.behind().bytes), (0, 100));
    }
}
