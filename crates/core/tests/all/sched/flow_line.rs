//! Queues before a line for schedulers that judge packets and ask for room: what a port does, in the plainest form.

use super::line::scope;
use crate::oracle::codel::{Log, Waiting};
use perhop_core::Rng;
use perhop_core::aqm::{Backlog, Departure};
use perhop_core::count::Count;
use perhop_core::dscp::Dscp;
use perhop_core::needs::Needs;
use perhop_core::packet::{Ecn, FlowId, Packet};
use perhop_core::port::Turn;
use perhop_core::sched::{AnyScheduler, Head, Heads, Pick, Scheduler as _, SchedulerParams, Visit};
use perhop_core::units::Time;
use perhop_core::verdict::{Side, Verdict};
use std::collections::{BTreeMap, VecDeque};

/// A packet that waits, and its ECN field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) packet: Waiting,
    pub(crate) field: Ecn,
}

/// What waits besides a packet in its queue and in all queues.
fn visit(now: Time, child: usize, entry: &Entry, [queue, all]: [Count; 2]) -> Visit {
    let (packets, bytes, ecn) = (queue.packets as u32, queue.bytes, entry.field.capable());
    let backlog = Backlog { packets, bytes, room: true, ecn, ..Backlog::default() };
    Visit { child, at: Departure { now, arrived: Time::from_ns(entry.packet.arrived), backlog }, all }
}

/// Queues with their scheduler.
pub(crate) struct Host {
    pub(crate) scheduler: AnyScheduler,
    pub(crate) queues: Vec<VecDeque<Entry>>,
    /// What has been handed out and is not sent yet.
    taken: Option<Entry>,
    /// When it lets something go, ns, after it has let nothing go.
    pub(crate) opens: Option<u64>,
    /// Code points of flows.
    pub(crate) dscp: fn(u32) -> Dscp,
    pub(crate) log: Log,
    /// Flows of packets, by their numbers.
    flows: BTreeMap<u32, u32>,
    rng: Rng,
}

impl Host {
    pub(crate) fn new(params: &SchedulerParams) -> Self {
        let scheduler = params.build(&scope()).unwrap();
        let queues = vec![VecDeque::new(); scheduler.places()];
        let (taken, dscp): (_, fn(u32) -> Dscp) = (None, |_| Dscp::BE);
        Self {
            scheduler,
            queues,
            taken,
            opens: None,
            dscp,
            log: Log::default(),
            flows: BTreeMap::new(),
            rng: Rng::stream(1, 0, "scheduler.p.0"),
        }
    }

    /// What waits, with what has been handed out.
    pub(crate) fn all(&self) -> Count {
        let mut all = Count::default();
        self.queues.iter().flatten().chain(&self.taken).for_each(|entry| all.add(entry.packet.bytes as u32));
        all
    }

    fn waiting(&self, child: usize) -> Count {
        let mut all = Count::default();
        self.queues[child].iter().for_each(|entry| all.add(entry.packet.bytes as u32));
        all
    }

    fn tick(&mut self, now: Time) {
        while let Some(due) = self.scheduler.poll_at().filter(|due| *due <= now) {
            let oldest = |child: usize| self.queues[child].front().map(|entry| Time::from_ns(entry.packet.arrived));
            self.scheduler.on_timer(Turn::testing(due), &oldest);
        }
    }

    fn lose(&mut self, child: usize, side: Side, now: Time) -> u64 {
        let queue = &mut self.queues[child];
        let lost = if side == Side::Head { queue.pop_front() } else { queue.pop_back() };
        let lost = lost.expect("it has a packet").packet;
        self.log.dropped.push(lost.id);
        self.scheduler.dropped(Turn::testing(now), child, lost.bytes as u32, self.waiting(child));
        lost.bytes
    }

    /// A packet arrives.
    pub(crate) fn arrive(&mut self, flow: u32, entry: Entry) {
        let now = Time::from_ns(entry.packet.arrived);
        self.tick(now);
        let size = entry.packet.bytes as u32;
        let dscp = (self.dscp)(flow);
        let mut packet = Packet { size, flow: FlowId(flow), dscp, ecn: entry.field, ..Packet::default() };
        let child = self.scheduler.place(Turn::testing(&packet));
        if self.scheduler.needs().contains(Needs::ARRIVALS) {
            let at = visit(now, child, &entry, [self.waiting(child), self.all()]);
            match self.scheduler.on_arrival(Turn::testing(&at), &mut packet, &mut self.rng) {
                Verdict::Pass => {}
                Verdict::Mark if entry.field.capable() => self.log.marked.push(entry.packet.id),
                Verdict::Mark | Verdict::Drop(_) => return self.log.dropped.push(entry.packet.id),
            }
        }
        self.flows.insert(entry.packet.id, flow);
        self.queues[child].push_back(entry);
        self.scheduler.queued(Turn::testing(now), child, size);
        while let Some(room) = self.scheduler.evict(Turn::testing(self.all())) {
            let mut bytes = 0;
            for n in 0..room.packets {
                if n > 0 && bytes >= room.bytes {
                    break;
                }
                bytes += self.lose(room.child, room.side, now);
            }
        }
    }

    fn heads(&self) -> Heads {
        let head =
            |queue: &VecDeque<Entry>| queue.front().map_or(Head::Nothing, |e| Head::Bytes(e.packet.bytes as u32));
        self.queues.iter().map(head).collect()
    }

    /// Whether the packet at the head of a child is sent.
    fn judge(&mut self, child: usize, now: Time) -> bool {
        let Entry { packet, field } = *self.queues[child].front().expect("what is picked has a packet");
        let own = Count { packets: 1, bytes: packet.bytes };
        let at = visit(now, child, &Entry { packet, field }, [self.waiting(child) - own, self.all() - own]);
        let (size, flow) = (packet.bytes as u32, self.flows[&packet.id]);
        let mut shown = Packet { size, flow: FlowId(flow), dscp: (self.dscp)(flow), ecn: field, ..Packet::default() };
        match self.scheduler.on_departure(Turn::testing(&at), &mut shown, &mut self.rng) {
            Verdict::Pass => true,
            Verdict::Mark if field.capable() => {
                self.log.marked.push(packet.id);
                true
            }
            Verdict::Mark | Verdict::Drop(_) => false,
        }
    }

    fn next(&mut self, now: Time) -> Option<Entry> {
        self.tick(now);
        loop {
            let heads = self.heads();
            let [first, again] = [0, 1].map(|_| self.scheduler.pick(Turn::testing(now), &heads));
            assert_eq!(first, again);
            let of_any_size: Heads = heads.iter().map(|it| if it.is_ready() { Head::Bytes(0) } else { *it }).collect();
            assert!(
                self.scheduler.needs().contains(Needs::LENGTHS)
                    || self.scheduler.pick(Turn::testing(now), &of_any_size) == first
            );
            assert!(self.scheduler.needs().contains(Needs::LATER) || !matches!(first, Pick::Later(_)));
            let Pick::Child(child) = first else {
                let later = if let Pick::Later(at) = first { Some(at) } else { None };
                self.opens = later.filter(|at| *at > now).map(Time::ns);
                assert!(self.opens.is_some() || self.queues.iter().all(VecDeque::is_empty), "it idles");
                return None;
            };
            if self.judge(child, now) {
                let sent = self.queues[child].pop_front()?;
                self.scheduler.sent(Turn::testing(now), child, sent.packet.bytes as u32, self.waiting(child));
                return Some(sent);
            }
            self.lose(child, Side::Head, now);
        }
    }

    /// Someone looks at what would be sent: it is taken out.
    pub(crate) fn look(&mut self, now: u64) {
        if self.taken.is_none() {
            self.taken = self.next(Time::from_ns(now));
        }
    }

    /// The packet that is sent.
    pub(crate) fn send(&mut self, now: u64) -> Option<Waiting> {
        self.taken.take().or_else(|| self.next(Time::from_ns(now))).map(|entry| entry.packet)
    }
}
