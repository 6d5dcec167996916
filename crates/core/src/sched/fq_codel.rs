//! FQ-CoDel: each flow has a queue with CoDel. Queues are served by deficit round robin, those of new flows first.
//!
//! Source: RFC 8290 section 4; for `arithmetic = "linux"` the behaviour of Linux 6.12's qdisc of this name.
//!
//! ```text
//! arrival:    to the end of its flow's queue; a queue in no list: to the end of the new ones, credits = quantum
//!             more than `limit` or `memory` now: drop at the head of the fattest queue (by bytes), until half of it or
//!             `drop-batch` packets are gone
//! departure:  the first of the new queues, of the old ones if there is none:
//!               credits <= 0:    credits = credits + quantum; to the end of the old ones; again
//!               nothing in it:   a new one: to the end of the old ones; an old one: out of the list; again
//!               else:            CoDel drops, marks or sends the packet at its head; credits = credits - its bytes
//! ```
//!
//! A flow that sends less than a quantum per round always counts as new. Its packets wait for at most one packet of
//! each other new flow, however long the old queues are. All other flows share the link equally by bytes.
//!
//! | symbol   | field          | unit | default     | tc              |
//! |----------|----------------|------|-------------|-----------------|
//! |          | `flows`        |      | 1024        | `flows`         |
//! | quantum  | `quantum`      | B    | 1514B       | `quantum`       |
//! | limit    | `limit`        | p    | 10240p      | `limit`         |
//! |          | `memory`       | B    | 33554432B   | `memory_limit`  |
//! |          | `drop-batch`   |      | 64          | `drop_batch`    |
//! | target   | `target`       | s    | 5ms         | `target`        |
//! | interval | `interval`     | s    | 100ms       | `interval`      |
//! | mtu      | `mtu`          | B    | 1514B       | the device's    |
//! |          | `ecn`          | -    | true        | `ecn`           |
//! |          | `ce-threshold` | s    | -           | `ce_threshold`  |
//! |          | `hash`         |      | `salted`    | always salted   |
//! |          | `salt`         |      | 0           | drawn at set-up |
//! |          | `arithmetic`   |      | `rfc`       | linux           |
//!
//! `target` to `ce-threshold` are the parameters of [CoDel](codel.md). `hash = "salted"` maps each flow to a queue by
//! a hash with the key `salt`. One of n flows shares its queue with probability 1 - (1 - 1/flows)^(n-1): 9 % for 100
//! flows and 1024 queues. `hash = "exact"` gives each flow a queue, in order of appearance, while any is free.
//! Compare the two to see what collisions cost.
//!
//! `arithmetic = "linux"` departs from the RFC where Linux does:
//!
//! | | `rfc` | `linux` |
//! |---|---|---|
//! | CoDel's numbers | real | [Linux's](codel.md) |
//! | CoDel drops nothing while no more than `mtu` waits | in this flow's queue | in all queues |
//! | a new queue that is found empty | to the end of the old ones | out of the list if there are no old ones |
//! | drops because the queue is full | leave CoDel as it is | count as CoDel's drops: the next one comes sooner |
//! | after them | as long as there is too much | once an arrival |
//! | looked at by another scheduler or a shaper | shows its next packet | hands it out: it is in no flow's queue any more |
//!
//! In `examples/fq-codel.toml`, with four TCP flows and a call, the median wait of a file's packet is 10.4 ms with
//! the RFC's arithmetic and 8.2 ms with Linux's. That of the call is 0.5 and 0.4 ms.
//!
//! Deviations: `memory` counts the bytes of packets, where Linux counts the buffers that hold them. A queue with
//! credits of exactly 0 gets a new quantum, as in Linux; the RFC says "negative" in one place and "at least a
//! quantum" in its explanation. CoDel drops at most 256 packets in a row.

use super::flows::{Flows, Hashing};
use super::newcomers::Newcomers;
use super::{Eviction, Heads, Pick, Scheduler, Visit};
use crate::Scope;
use crate::aqm::arithmetic::Arithmetic;
use crate::aqm::codel::{self, Control, Law, State, Stats};
use crate::count::Count;
use crate::counter::{Part, Seen};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Packets, Span, Time};
use crate::verdict::{Reason, Side, Verdict};

/// Least quantum, as in Linux: bounds the rounds that a large packet waits for.
const LEAST_QUANTUM: Bytes = Bytes::new(256);

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Number of queues.
    #[param(default = 1024)]
    pub flows: u32,
    /// Bytes a flow may send in each round.
    #[param(default = "1514B")]
    pub quantum: Bytes,
    /// Most packets that may wait in all queues together.
    #[param(default = "10240p")]
    pub limit: Packets,
    /// Most bytes that may wait in all queues together.
    #[param(default = "33554432B")]
    pub memory: Bytes,
    /// Most packets dropped at once because the queue is full.
    #[param(default = 64)]
    pub drop_batch: u32,
    /// The wait that is acceptable as a standing delay; below `interval`.
    #[param(default = "5ms")]
    pub target: Span,
    /// How long the wait may stay above `target` before packets are dropped: about the longest round-trip time.
    #[param(default = "100ms")]
    pub interval: Span,
    /// CoDel drops nothing while no more bytes than this wait.
    #[param(default = "1514B")]
    pub mtu: Bytes,
    /// Whether ECN-capable packets are marked where CoDel drops others.
    #[param(default = true)]
    pub ecn: bool,
    /// ECN-capable packets that have waited for longer than this are marked, whether CoDel drops or not.
    pub ce_threshold: Option<Span>,
    /// Which flow has which queue.
    #[param(flatten)]
    pub hashing: Hashing,
    /// Whose numbers and lists: the RFC's or those of Linux.
    #[param(default = "rfc")]
    pub arithmetic: Arithmetic,
}

/// The parameters as they are used.
#[derive(Clone, Debug)]
struct Rules {
    limit: u64,
    memory: u64,
    drop_batch: u32,
    law: Law,
    linux: bool,
}

/// One link's FQ-CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel {
    rules: Rules,
    flows: Flows,
    codels: Vec<State>,
    turns: Newcomers,
    /// Bytes waiting, by queue.
    waiting: Vec<u64>,
    /// Their sum.
    total: u64,
    room: Room,
    stats: Stats,
}

/// What has been done about room since the last arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// Nothing.
    Unasked,
    /// This queue has lost packets.
    Made(usize),
}

impl Params {
    /// # Errors
    /// E201 for no `flows` or too many, a `quantum` below 256 B, a `limit`, `memory` or `drop-batch` of 0; as CoDel's.
    pub fn build(self, _scope: &Scope) -> Result<FqCodel, ParamError> {
        let rules = self.rules()?;
        let flows = self.hashing.over(self.flows)?;
        let n = flows.queues();
        let turns = Newcomers::new(n, self.quantum.get() as i64, rules.linux);
        let (codels, waiting) = (vec![State::default(); n], vec![0; n]);
        let (room, stats) = (Room::Unasked, Stats::default());
        Ok(FqCodel { rules, flows, codels, turns, waiting, total: 0, room, stats })
    }

    fn rules(&self) -> Result<Rules, ParamError> {
        ParamError::at_least("quantum", self.quantum, LEAST_QUANTUM)?;
        ParamError::above_zero("limit", self.limit)?;
        ParamError::above_zero("memory", self.memory)?;
        ParamError::above_zero("drop-batch", self.drop_batch)?;
        let Self { target, interval, mtu, ecn, ce_threshold, arithmetic, drop_batch, .. } = *self;
        let law = Control { target, interval, mtu, ecn, ce_threshold, arithmetic }.law()?;
        let (limit, linux) = (u64::from(self.limit.get()), arithmetic == Arithmetic::Linux);
        Ok(Rules { limit, memory: self.memory.get(), drop_batch, law, linux })
    }
}

impl FqCodel {
    /// Bytes that come or go.
    fn left(&mut self, queue: usize, bytes: u32) {
        self.waiting[queue] -= u64::from(bytes);
        self.total -= u64::from(bytes);
    }

    /// The first of those that have most bytes waiting.
    fn fattest(&self) -> Option<usize> {
        let most = self.waiting.iter().copied().max().filter(|&bytes| bytes > 0)?;
        self.waiting.iter().position(|&bytes| bytes == most)
    }
}

impl Scheduler for FqCodel {
    type Params = Params;

    fn places(&self) -> usize {
        self.flows.queues()
    }

    #[inline]
    fn place(&mut self, packet: Turn<&Packet>) -> usize {
        self.flows.of(packet.flow)
    }

    fn queued(&mut self, _now: Turn<Time>, child: usize, bytes: u32) {
        self.waiting[child] += u64::from(bytes);
        self.total += u64::from(bytes);
        self.room = Room::Unasked;
        self.turns.queued(child);
    }

    fn pick(&mut self, _now: Turn<Time>, heads: &Heads) -> Pick {
        let codels = &mut self.codels;
        self.turns.pick(heads, |queue| codels[queue].emptied())
    }

    fn on_departure(&mut self, at: Turn<&Visit>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let (bytes, backlog) = (packet.size, at.at.backlog);
        let behind = if self.rules.linux { at.all.bytes } else { backlog.bytes };
        let head = codel::Head { now: at.at.now, arrived: at.at.arrived, bytes, behind, ecn: backlog.ecn };
        self.codels[at.child].judge(&self.rules.law, &head, &mut self.stats)
    }

    fn sent(&mut self, _now: Turn<Time>, child: usize, bytes: u32, _behind: Count) {
        self.left(child, bytes);
        self.turns.sent(child, bytes);
    }

    fn dropped(&mut self, _now: Turn<Time>, child: usize, bytes: u32, _behind: Count) {
        self.left(child, bytes);
        if self.rules.linux && self.room == Room::Made(child) {
            self.codels[child].dropped_besides();
        }
    }

    fn evict(&mut self, all: Turn<Count>) -> Option<Eviction> {
        let full = all.packets > self.rules.limit || self.total > self.rules.memory;
        let again = !self.rules.linux || self.room == Room::Unasked;
        let child = if full && again { self.fattest() } else { None };
        let Some(child) = child else {
            self.room = Room::Unasked;
            return None;
        };
        self.room = Room::Made(child);
        Some(Eviction { child, packets: self.rules.drop_batch, bytes: self.waiting[child] / 2, side: Side::Head })
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES | Needs::ROOM | Needs::FLOWS | Needs::TAKING.only_if(self.rules.linux)
    }

    /// Queues, lists and credits stay.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        self.flows.stays(&new.flows)?;
        self.rules.law.arithmetic().stays(new.rules.law.arithmetic())?;
        self.turns.take_quantum(&new.turns);
        self.rules = new.rules;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.turns.gauges(each);
    }

    fn counters(&self, seen: &Seen<'_>, each: &mut dyn FnMut(Part, &'static str, f64)) {
        let mut each = |name, value| each(Part::Whole, name, value);
        self.stats.counters(&mut each);
        each("drop_overlimit", seen.children(0..self.places()).dropped_for(Reason::Overflow) as f64);
        self.turns.counters(&mut each);
    }
}
