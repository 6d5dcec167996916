//! Queues along a line: a scheduler, or its slow version, is given packets and asked what it sends, as early as it may.

use super::line::scope;
use perhop_core::count::Count;
use perhop_core::port::Turn;
use perhop_core::sched::{AnyScheduler, Head, Heads, Pick, Scheduler as _, SchedulerParams};
use perhop_core::units::Time;
use proptest::prelude::*;
use std::collections::VecDeque;

/// A packet that has been sent: when (ns), by which child, its bytes.
pub(crate) type Sent = (u64, usize, u32);

/// What can be driven along a line.
pub(crate) trait Host {
    fn arrive(&mut self, now: u64, child: usize, size: u32);
    fn look(&mut self, now: u64) -> Option<usize>;
    fn lose(&mut self, now: u64, child: usize);
    fn send(&mut self, now: u64) -> Option<(usize, u32)>;
    /// After nothing could be sent.
    fn wakes(&self, now: u64) -> Option<u64>;
}

/// The scheduler with its queues.
pub(crate) struct Fast {
    pub(crate) scheduler: AnyScheduler,
    queues: Vec<VecDeque<u32>>,
    pub(crate) wakes: Option<u64>,
}

impl Fast {
    pub(crate) fn new(params: &SchedulerParams) -> Self {
        let scheduler = params.build(&scope()).unwrap();
        let queues = vec![VecDeque::new(); scheduler.places()];
        Self { scheduler, queues, wakes: None }
    }

    fn behind(&self, child: usize) -> Count {
        let queue = &self.queues[child];
        Count { packets: queue.len() as u64, bytes: queue.iter().map(|&size| u64::from(size)).sum() }
    }
}

impl Host for Fast {
    fn arrive(&mut self, now: u64, child: usize, size: u32) {
        self.queues[child].push_back(size);
        self.scheduler.queued(Turn::testing(Time::from_ns(now)), child, size);
    }
    fn look(&mut self, now: u64) -> Option<usize> {
        let head = |queue: &VecDeque<u32>| queue.front().map_or(Head::Nothing, |&size| Head::Bytes(size));
        let heads: Heads = self.queues.iter().map(head).collect();
        let [first, again] = [0, 1].map(|_| self.scheduler.pick(Turn::testing(Time::from_ns(now)), &heads));
        assert_eq!(first, again, "asked twice, it says the same");
        self.wakes = None;
        match first {
            Pick::Child(child) => return Some(child),
            Pick::Later(at) => self.wakes = Some(at.ns()),
            Pick::Nothing => assert!(self.queues.iter().all(VecDeque::is_empty)),
        }
        None
    }
    fn lose(&mut self, now: u64, child: usize) {
        let size = self.queues[child].pop_front().unwrap();
        self.scheduler.dropped(Turn::testing(Time::from_ns(now)), child, size, self.behind(child));
    }
    fn send(&mut self, now: u64) -> Option<(usize, u32)> {
        let child = self.look(now)?;
        let size = self.queues[child].pop_front().unwrap();
        self.scheduler.sent(Turn::testing(Time::from_ns(now)), child, size, self.behind(child));
        Some((child, size))
    }
    fn wakes(&self, now: u64) -> Option<u64> {
        assert!(self.wakes.is_none_or(|at| at > now), "it waits for the future");
        self.wakes
    }
}

/// Packets and how they are sent.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// Time since the one before (ns), child, bytes.
    pub(crate) arrivals: Vec<(u64, usize, u32)>,
    /// bit/s of the line; 0 for one that takes no time.
    pub(crate) line: u64,
    /// Every so many packets one is dropped at the head, none if 0.
    pub(crate) drop_every: usize,
}

/// Everything is sent, as early as it may.
pub(crate) fn drive(host: &mut impl Host, load: &Load) -> Vec<Sent> {
    let mut at = 0;
    let mut arrivals: VecDeque<_> = load
        .arrivals
        .iter()
        .map(|&(gap, child, size)| {
            at += gap;
            (at, child, size)
        })
        .collect();
    let (mut sent, mut dropped, mut now, mut busy) = (Vec::new(), 0, 0, 0);
    loop {
        while let Some(&(at, child, size)) = arrivals.front()
            && at <= now
        {
            arrivals.pop_front();
            host.arrive(now, child, size);
        }
        let mut wakes = None;
        if busy <= now {
            let due = load.drop_every > 0 && sent.len() / load.drop_every.max(1) > dropped;
            if due && let Some(child) = host.look(now) {
                host.lose(now, child);
                dropped += 1;
            }
            if let Some((child, size)) = host.send(now) {
                sent.push((now, child, size));
                if load.line == 0 {
                    continue;
                }
                busy = now + (u64::from(size) * 8_000_000_000).div_ceil(load.line);
            } else {
                wakes = host.wakes(now);
            }
        }
        let next =
            [arrivals.front().map(|next| next.0), wakes, (busy > now).then_some(busy)].into_iter().flatten().min();
        let Some(next) = next else { return sent };
        now = next;
    }
}

/// From far below the rates to far above, with pauses.
pub(crate) fn loads(children: usize) -> impl Strategy<Value = Load> {
    let gap = prop_oneof![6 => 0u64..2_000_000, 2 => Just(0), 1 => 0u64..30_000_000];
    let arrivals = prop::collection::vec((gap, 0..children, prop_oneof![40u32..1500, Just(1500)]), 1..250);
    let line = prop_oneof![Just(0), Just(10_000_000), Just(100_000_000)];
    (arrivals, line, prop_oneof![3 => Just(0usize), 1 => 2usize..9]).prop_map(|(arrivals, line, drop_every)| Load {
        arrivals,
        line,
        drop_every,
    })
}
