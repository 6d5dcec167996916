//! SFQ: stochastic fairness queueing. Each flow has a queue, and queues are served by deficit round robin. When the
//! buffer is full, the longest queue loses a packet.
//!
//! Source: McKenney, "Stochastic fairness queueing", IEEE INFOCOM 1990; the turns by bytes and all limits are those of
//! Linux 6.12's qdisc of this name, tc-sfq(8), without its perturbation and its RED.
//!
//! ```text
//! arrival:    to the end of its flow's queue; a queue that was empty: to the end of the round, allot = quantum
//!             `active` flows have packets waiting, and this is one more: drop it
//!             `depth` packets of the flow wait: drop it, or with `drop = "head"` the first of them
//!             more than `limit` in all queues now: drop the last packet of the longest queue, or the first
//! departure:  the first queue of the round:
//!               allot <= 0:  allot = allot + quantum; to the end of the round; again
//!               else:        send its first packet;  allot = allot - its bytes;  an empty queue leaves the round
//! ```
//!
//! A queue may send while its allotment is above 0. So it may exceed its quantum by up to a packet, which the next
//! round charges.
//!
//! | symbol   | field        | unit | default  | tc              |
//! |----------|--------------|------|----------|-----------------|
//! |          | `flows`      |      | 1024     | `divisor`       |
//! |          | `active`     |      | 128      | `flows`         |
//! | quantum  | `quantum`    | B    | 1514B    | `quantum`       |
//! |          | `limit`      | p    | 127p     | `limit`         |
//! |          | `depth`      | p    | 127p     | `depth`         |
//! |          | `drop`       |      | `tail`   | `headdrop`      |
//! |          | `hash`       |      | `salted` | always salted   |
//! |          | `salt`       |      | 0        | drawn at set-up |
//! |          | `arithmetic` |      | `exact`  | linux           |
//!
//! `hash` and `salt` map flows to queues as in [FQ-CoDel](fq-codel.md). For equal shares the quantum must be at least
//! the largest packet of the traffic, as tc-sfq(8) demands; with a smaller one large packets wait for several rounds.
//!
//! `arithmetic = "linux"` follows Linux where the rules leave a choice. If several queues are the longest, the one
//! whose length changed last loses; `"exact"` takes the first in the round. If no queue has more than one packet,
//! both take the first in the round. A packet offered to a shaper above is committed: no later one overtakes it.
//!
//! Deviations: the hash is not changed during a run (`perturb`).

use super::flows::{Flows, Hashing};
use super::{Eviction, Heads, Pick, Scheduler, Visit, same_arithmetic};
use crate::Scope;
use crate::arithmetic::Arithmetic;
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Packets, Time};
use crate::verdict::{Reason, Side, Verdict};
use std::collections::VecDeque;

/// Least quantum, as in Linux: bounds the rounds that a large packet waits for.
const LEAST_QUANTUM: Bytes = Bytes::new(256);

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Number of queues that flows are given.
    #[param(default = 1024)]
    pub flows: u32,
    /// Of how many flows packets may wait at once.
    #[param(default = 128)]
    pub active: u32,
    /// Bytes a flow may send in each round.
    #[param(default = "1514B")]
    pub quantum: Bytes,
    /// Most packets that may wait in all queues together.
    #[param(default = "127p")]
    pub limit: Packets,
    /// Most packets of one flow that may wait.
    #[param(default = "127p")]
    pub depth: Packets,
    /// Which packet of a queue is dropped when the queue is full.
    #[param(default = "tail")]
    pub drop: Side,
    /// Which flow has which queue.
    #[param(flatten)]
    pub hashing: Hashing,
    /// What decides where the rules leave it open: the order of the round, or what Linux does.
    #[param(default = "exact")]
    pub arithmetic: Arithmetic,
}

/// One flow's queue.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    packets: u32,
    allot: i64,
    /// When its length changed last, in changes.
    changed: u64,
}

/// One link's SFQ.
#[derive(Clone, Debug)]
pub struct Sfq {
    params: Params,
    flows: Flows,
    queues: Vec<Queue>,
    /// Queues that hold packets, in the order of their turns.
    round: VecDeque<u32>,
    changes: u64,
    /// The queue that an arrival has made longer than `depth`.
    too_deep: Option<usize>,
}

impl Params {
    /// # Errors
    /// E201 for no `flows` or too many, a `quantum` below 256 B, an `active`, `limit` or `depth` of 0.
    pub fn build(self, _scope: &Scope) -> Result<Sfq, ParamError> {
        ParamError::above_zero("active", self.active)?;
        ParamError::at_least("quantum", self.quantum, LEAST_QUANTUM)?;
        ParamError::above_zero("limit", self.limit)?;
        ParamError::above_zero("depth", self.depth)?;
        let flows = self.hashing.over(self.flows)?;
        let (queues, round) = (vec![Queue::default(); flows.queues()], VecDeque::with_capacity(flows.queues()));
        Ok(Sfq { params: self, flows, queues, round, changes: 0, too_deep: None })
    }
}

impl Sfq {
    fn linux(&self) -> bool {
        self.params.arithmetic == Arithmetic::Linux
    }

    /// A queue has grown or shrunk by a packet.
    fn changed(&mut self, queue: usize, packets: u32) {
        self.changes += 1;
        (self.queues[queue].packets, self.queues[queue].changed) = (packets, self.changes);
    }

    /// The queue that loses a packet when there are too many.
    fn longest(&self) -> Option<usize> {
        let round = || self.round.iter().map(|&queue| queue as usize);
        let most = round().map(|queue| self.queues[queue].packets).max()?;
        let mut longest = round().filter(|&queue| self.queues[queue].packets == most);
        match self.linux() && most > 1 {
            true => longest.max_by_key(|&queue| self.queues[queue].changed),
            false => longest.next(),
        }
    }
}

impl Scheduler for Sfq {
    type Params = Params;

    fn places(&self) -> usize {
        self.flows.queues()
    }

    #[inline]
    fn place(&mut self, packet: Turn<&Packet>) -> usize {
        self.flows.of(packet.flow)
    }

    fn on_arrival(&mut self, at: Turn<&Visit>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let Params { active, depth, drop, .. } = self.params;
        let waiting = self.queues[at.child].packets;
        let one_more = waiting == 0 && self.round.len() >= active as usize;
        let too_deep = drop == Side::Tail && waiting >= depth.get();
        if one_more || too_deep { Verdict::Drop(Reason::Overflow) } else { Verdict::Pass }
    }

    fn queued(&mut self, _now: Turn<Time>, child: usize, _bytes: u32) {
        let waiting = self.queues[child].packets;
        if waiting >= self.params.depth.get() {
            // The first packet makes room: the length stays as it is.
            (self.queues[child].packets, self.too_deep) = (waiting + 1, Some(child));
            return;
        }
        self.changed(child, waiting + 1);
        if waiting == 0 {
            self.queues[child].allot = self.params.quantum.get() as i64;
            self.round.push_back(child as u32);
        }
    }

    fn pick(&mut self, _now: Turn<Time>, heads: &Heads) -> Pick {
        loop {
            let Some(&first) = self.round.front() else { return Pick::Nothing };
            let queue = &mut self.queues[first as usize];
            if queue.allot > 0 {
                return if heads[first as usize].is_ready() { Pick::Child(first as usize) } else { Pick::Nothing };
            }
            queue.allot += self.params.quantum.get() as i64;
            self.round.rotate_left(1);
        }
    }

    fn sent(&mut self, _now: Turn<Time>, child: usize, bytes: u32, _behind: Count) {
        self.changed(child, self.queues[child].packets - 1);
        self.queues[child].allot -= i64::from(bytes);
        if self.queues[child].packets == 0 {
            self.round.pop_front();
        }
    }

    fn dropped(&mut self, _now: Turn<Time>, child: usize, _bytes: u32, _behind: Count) {
        if self.too_deep.take().is_some() {
            self.queues[child].packets -= 1;
            return;
        }
        self.changed(child, self.queues[child].packets - 1);
        if self.queues[child].packets == 0 {
            self.round.retain(|&queue| queue as usize != child);
        }
    }

    fn evict(&mut self, all: Turn<Count>) -> Option<Eviction> {
        if let Some(child) = self.too_deep {
            return Some(Eviction { child, packets: 1, bytes: 0, side: Side::Head });
        }
        let full = all.packets > u64::from(self.params.limit.get());
        let child = if full { self.longest() } else { None }?;
        Some(Eviction { child, packets: 1, bytes: 0, side: self.params.drop })
    }

    fn needs(&self) -> Needs {
        Needs::ARRIVALS | Needs::ROOM | Needs::FLOWS | Needs::TAKING.only_if(self.linux())
    }

    /// Queues, the round and allotments stay.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        self.flows.stays(&new.flows)?;
        same_arithmetic(self.linux(), new.linux())?;
        self.params = new.params;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("active_flows", self.round.len() as f64);
    }
}
