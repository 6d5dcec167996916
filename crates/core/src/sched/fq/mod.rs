//! fq: each flow has a queue, and a flow that is paced waits until its next packet may go. Flows are served by deficit
//! round robin, new ones first, in three bands.
//!
//! Source: the behaviour of Linux 6.12's qdisc of this name, tc-fq(8); Corbet, "TSO sizing and the FQ scheduler",
//! LWN 2013.
//!
//! ```text
//! arrival:    `limit` packets of its band wait: drop it
//!             nothing waits, or only packets of flows that must wait, and fewer than 8 on the fast path:
//!               to the end of the fast path, unless its flow may be paced
//!             `flow-limit` packets of its flow wait: drop it
//!             to the end of its flow's queue; a flow in no list: to the end of the new ones of its band
//!               it was in none for longer than `refill-delay`:  credit is at least a quantum
//! departure:  the first packet of the fast path; else, of the band whose turn it is while its credit is above 0,
//!             the first of the new flows, of the old ones if there is none:
//!               credit <= 0:     credit = credit + quantum; to the end of the old ones; again
//!               nothing in it:   a new one: to the end of the old ones; an old one: out of the list; again
//!               now < next:      out of the list until `next`; then to the end of the old ones; again
//!               else:            send its first packet;  credit = credit - its bytes, of flow and band
//!             no flow, or the band's credit is used up: the turn is that of the next band;  its credit = credit + weight
//! pacing:     rate = min(maxrate, what the sender's socket states)
//!               rate <= low-rate-threshold:  credit = 0;  next = now + packet / rate
//!               credit <= 0:                 next = now + max(packet, quantum) / rate
//!               at most 1 s; less half of it at most, as much as the packet before came late
//! ```
//!
//! | symbol | field                | unit  | default                           | tc                   |
//! |--------|----------------------|-------|-----------------------------------|----------------------|
//! |        | `flows`              |       | 1024                              | `orphan_mask` + 1    |
//! |        | `quantum`            | B     | 3028B                             | `quantum`            |
//! |        | `initial-quantum`    | B     | 15140B                            | `initial_quantum`    |
//! |        | `limit`              | p     | 10000p                            | `limit`              |
//! |        | `flow-limit`         | p     | 100p                              | `flow_limit`         |
//! |        | `pacing`             |       | true                              | `pacing`, `nopacing` |
//! |        | `maxrate`            | bit/s | -                                 | `maxrate`            |
//! |        | `low-rate-threshold` | bit/s | 550kbit/s                         | `low_rate_threshold` |
//! |        | `refill-delay`       | s     | 40ms                              | `refill_delay`       |
//! |        | `timer-slack`        | s     | 10us                              | `timer_slack`        |
//! |        | `ce-threshold`       | s     | -                                 | `ce_threshold`       |
//! |        | `priomap`            |       | `1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1` | `priomap`            |
//! |        | `weights`            | B     | `589824 196608 65536`             | `weights`            |
//! |        | `hash`               |       | `salted`                          | see below            |
//! |        | `salt`               |       | 0                                 | drawn at set-up      |
//!
//! **Who is paced.** At the port of its own host a datagram is paced by its traffic's `max-pacing-rate`
//! (`SO_MAX_PACING_RATE`), and a TCP segment by its connection: with `fq` at that port every connection of Linux's
//! stacks paces, whatever its law, and each segment gets to the port when it may leave it. With `pacing = false` only
//! BBR and Prague pace. At a router's port nothing is known of the socket: a packet that is forwarded is held back by
//! `maxrate` alone. Linux is the same (W355 says where a scenario expects more).
//!
//! A flow that must wait is looked at when a packet arrives, when the link is free, and `timer-slack` after its time.
//!
//! **Bands.** `priomap` has the band of each of Linux's 16 priorities, 0 the first, and a packet's priority follows
//! from two bits of its code point, as in Linux: 0 (BE, CS1 to CS7), 2 (AF11, AF21, AF31, AF41), 6 (AF12 ..), 4 (AF13 ..,
//! EF). So by default AF41 is in the last band and EF in that of best effort. `weights` are what the bands may send in
//! a turn. A flow that has been in no list comes back in the band of its last packet before, the first time in the
//! first band, until its credit is spent.
//!
//! `limit` counts each band by itself. Packets on the fast path are not in a list, need no credit and count for no
//! limit. The only arithmetic is Linux's.
//!
//! Deviations: `hash` and `salt` map flows to queues as in [FQ-CoDel](fq-codel.md). Linux does so with packets that
//! are forwarded and with datagrams of sockets that are not connected; a connected socket has a separate queue,
//! which is `hash = "exact"`. A flow's credit is kept however long the flow is silent: Linux may forget a flow after 3 s,
//! which then starts with `initial-quantum` again. `horizon` is no key, since no packet gets here before its time.
//! `defrate` and `buckets` are none either: Linux ignores the first, the second is for speed.
//!
//! Decision: docs/decisions/113-fq-paces-in-the-sender.md

mod bands;
mod delayed;

use super::flows::{Flows, Hashing};
use super::{Heads, Pick, Scheduler, Socket, Visit};
use crate::Scope;
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::{FlowId, Packet};
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, NS_PER_S, Packets, Span, Time};
use crate::verdict::{Reason, Verdict};
use bands::{Bands, List};
pub use bands::{Priomap, Weights};
use delayed::Delayed;
use std::collections::VecDeque;

/// Least and largest quantum, as in Linux.
const LEAST_QUANTUM: Bytes = Bytes::new(256);
const MOST_QUANTUM: Bytes = Bytes::new(1 << 20);
/// Packets that the fast path holds while others wait.
const FAST: usize = 8;
/// A tick of Linux's timer, ns.
const TICK: u64 = 1_000_000;

/// Bytes a flow may send in its turn.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Quanta {
    /// Bytes a flow may send in each round.
    #[param(default = "3028B")]
    pub quantum: Bytes,
    /// Bytes a flow may send in its first round.
    #[param(default = "15140B")]
    pub initial_quantum: Bytes,
}

/// The three bands.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Priorities {
    /// The band of each of Linux's 16 priorities.
    #[param(default = "1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1")]
    pub priomap: Priomap,
    /// Bytes that each band may send in its turn.
    #[param(default = "589824 196608 65536")]
    pub weights: Weights,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Number of queues.
    #[param(default = 1024)]
    pub flows: u32,
    /// Bytes a flow may send.
    #[param(flatten)]
    pub quanta: Quanta,
    /// Most packets of a band that may wait.
    #[param(default = "10000p")]
    pub limit: Packets,
    /// Most packets of a flow that may wait.
    #[param(default = "100p")]
    pub flow_limit: Packets,
    /// Whether flows are paced.
    #[param(default = true)]
    pub pacing: bool,
    /// No flow is sent faster.
    pub maxrate: Option<BitRate>,
    /// A flow that is paced at this rate or a lower one sends single packets, not quanta.
    #[param(default = "550kbit/s")]
    pub low_rate_threshold: BitRate,
    /// A flow that was silent for longer may send a whole quantum.
    #[param(default = "40ms")]
    pub refill_delay: Span,
    /// How late a timer may end a flow's wait.
    #[param(default = "10us")]
    pub timer_slack: Span,
    /// ECN-capable packets that leave this much later than they might have are marked.
    pub ce_threshold: Option<Span>,
    /// Which packets go before others.
    #[param(flatten)]
    pub priorities: Priorities,
    /// Which flow has which queue.
    #[param(flatten)]
    pub hashing: Hashing,
}

/// The parameters as they are used; rates in B/s, times in ns.
#[derive(Clone, Debug)]
struct Rules {
    quantum: i64,
    initial: i64,
    limit: u32,
    flow_limit: u32,
    pacing: bool,
    maxrate: u64,
    low_rate: u64,
    refill: u64,
    ce_threshold: Option<Span>,
}

/// Faster than any rate.
const UNPACED: u64 = u64::MAX;

/// Where a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It has sent nothing yet.
    Fresh,
    /// In no list, since this tick.
    Silent(u64),
    Listed,
    /// Until its time.
    Delayed,
}

/// One flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    place: Place,
    credit: i64,
    band: usize,
    /// Packets, without those on the fast path.
    waiting: u32,
    /// Its next packet goes no sooner; 0: it was not paced yet.
    next: Time,
}

const FRESH: Flow = Flow { place: Place::Fresh, credit: 0, band: 0, waiting: 0, next: Time::ZERO };

/// A packet between two hooks.
#[derive(Clone, Copy, Debug, Default)]
struct Passing {
    band: usize,
    fast: bool,
    socket: Option<Socket>,
}

/// One link's fq.
#[derive(Clone, Debug)]
pub struct Fq {
    rules: Rules,
    hashed: Flows,
    flows: Vec<Flow>,
    bands: Bands,
    delayed: Delayed,
    /// Whose packets are on the fast path.
    fast: VecDeque<u32>,
    /// Flows that have packets, without those that must wait.
    ready: u32,
    /// Packets that wait.
    waiting: u64,
    /// Of the host that the port belongs to, by flow.
    sockets: Vec<Option<Socket>>,
    passing: Passing,
}

impl Params {
    /// # Errors
    /// E201 for no `flows` or too many, a `quantum` or `initial-quantum` out of range, a `limit`, `flow-limit` or `maxrate` of
    /// 0; E290 for a `maxrate` that nothing keeps.
    pub fn build(self, _scope: &Scope) -> Result<Fq, ParamError> {
        let (rules, hashed) = (self.rules()?, self.hashing.over(self.flows)?);
        let n = hashed.queues();
        Ok(Fq {
            rules,
            hashed,
            flows: vec![FRESH; n],
            bands: Bands::new(n, &self.priorities.priomap, &self.priorities.weights),
            delayed: Delayed::new(n, self.timer_slack),
            fast: VecDeque::with_capacity(FAST),
            ready: 0,
            waiting: 0,
            sockets: Vec::new(),
            passing: Passing::default(),
        })
    }

    fn rules(&self) -> Result<Rules, ParamError> {
        for (field, value) in [("quantum", self.quanta.quantum), ("initial-quantum", self.quanta.initial_quantum)] {
            ParamError::at_least(field, value, LEAST_QUANTUM)?;
            if value > MOST_QUANTUM {
                let error = ParamError::new(field, "E201", format!("`{field}` is {value}"));
                return Err(error.help(format!("must be at most {MOST_QUANTUM}")));
            }
        }
        ParamError::above_zero("limit", self.limit)?;
        ParamError::above_zero("flow-limit", self.flow_limit)?;
        if let Some(rate) = self.maxrate {
            ParamError::at_least("maxrate", rate, BitRate::bps(8))?;
            self.keeps(rate)?;
        }
        let bytes_s = |rate: BitRate| rate.bit_s() / 8;
        Ok(Rules {
            quantum: self.quanta.quantum.get() as i64,
            initial: self.quanta.initial_quantum.get() as i64,
            limit: self.limit.get(),
            flow_limit: self.flow_limit.get(),
            pacing: self.pacing,
            maxrate: self.maxrate.map_or(UNPACED, bytes_s),
            low_rate: bytes_s(self.low_rate_threshold),
            refill: self.refill_delay.ns() / TICK,
            ce_threshold: self.ce_threshold,
        })
    }

    /// E290
    fn keeps(&self, maxrate: BitRate) -> Result<(), ParamError> {
        if self.pacing {
            return Ok(());
        }
        let error = ParamError::new("maxrate", "E290", format!("`maxrate` is {maxrate} with `pacing = false`"));
        Err(error.help("fq keeps a `maxrate` by pacing: remove `pacing = false`, or `maxrate`"))
    }
}

impl Fq {
    fn socket(&self, flow: FlowId) -> Option<Socket> {
        self.sockets.get(flow.0 as usize).copied().flatten()
    }

    /// Whether a packet that arrives overtakes the lists.
    fn is_fast(&self, now: Time, waiting: u64, socket: Option<Socket>) -> bool {
        let calm = self.ready == 0 && self.fast.len() < FAST && !self.delayed.is_due(now);
        let paced = matches!(socket, Some(Socket::Datagrams { rate: Some(_) }));
        (waiting == 0 || calm) && !paced && self.rules.maxrate == UNPACED
    }

    /// A flow that has packets comes into the lists if it is in none.
    fn enlist(&mut self, now: Time, flow: usize) {
        let it = &mut self.flows[flow];
        match it.place {
            Place::Listed | Place::Delayed => return,
            Place::Fresh => it.credit = self.rules.initial,
            // An odd number, as there.
            Place::Silent(tick) if now.ns() / TICK > (tick | 1) + self.rules.refill => {
                it.credit = it.credit.max(self.rules.quantum);
            }
            Place::Silent(_) => {}
        }
        it.place = Place::Listed;
        self.bands.add(it.band, List::New, flow);
    }

    /// The flows whose time has come are ready.
    fn release(&mut self, now: Time) {
        while let Some(flow) = self.delayed.pop(now) {
            self.flows[flow].place = Place::Listed;
            self.ready += 1;
            self.bands.add(self.flows[flow].band, List::Old, flow);
        }
    }

    /// The flow that sends, at the front of the lists of the band whose turn it is.
    fn choose(&mut self, now: Time) -> Option<usize> {
        while let Some((flow, list)) = self.bands.front() {
            let it = &mut self.flows[flow];
            if it.credit <= 0 {
                it.credit += self.rules.quantum;
                let band = it.band;
                self.bands.take();
                self.bands.add(band, List::Old, flow);
            } else if it.waiting == 0 {
                self.bands.take();
                self.pass_over(now, flow, list);
            } else if now < it.next {
                it.place = Place::Delayed;
                let next = it.next;
                self.bands.take();
                self.ready -= 1;
                self.delayed.add(next, flow);
            } else {
                return Some(flow);
            }
        }
        None
    }

    /// A flow that was at the front has nothing.
    fn pass_over(&mut self, now: Time, flow: usize, list: List) {
        match list {
            List::New => self.bands.add(self.flows[flow].band, List::Old, flow),
            List::Old => self.flows[flow].place = Place::Silent(now.ns() / TICK),
        }
    }

    /// A packet of a flow goes: when the next may.
    fn pace(&mut self, now: Time, flow: usize, bytes: u32) {
        let Rules { maxrate, low_rate, quantum, .. } = self.rules;
        let it = &mut self.flows[flow];
        let (mut rate, mut bytes) = (maxrate, u64::from(bytes));
        if !matches!(self.passing.socket, Some(Socket::Tcp)) {
            if let Some(Socket::Datagrams { rate: Some(stated) }) = self.passing.socket {
                rate = rate.min(stated.bit_s() / 8);
            }
            if rate <= low_rate {
                it.credit = 0;
            } else {
                bytes = bytes.max(quantum as u64);
                if it.credit > 0 {
                    return;
                }
            }
        }
        if rate != UNPACED {
            let pause = (bytes * NS_PER_S / rate.max(1)).min(NS_PER_S);
            let late = if it.next > Time::ZERO { now.since(it.next).ns() } else { 0 };
            it.next = now + Span::from_ns(pause - late.min(pause / 2));
        }
    }
}

impl Scheduler for Fq {
    type Params = Params;

    fn places(&self) -> usize {
        self.hashed.queues()
    }

    #[inline]
    fn place(&mut self, packet: Turn<&Packet>) -> usize {
        self.hashed.of(packet.flow)
    }

    fn sends(&mut self, flow: Turn<FlowId>, socket: Socket) {
        let i = flow.0 as usize;
        if i >= self.sockets.len() {
            self.sockets.resize(i + 1, None);
        }
        self.sockets[i] = Some(socket);
    }

    fn on_arrival(&mut self, at: Turn<&Visit>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let band = self.bands.of(packet.dscp);
        if self.bands.waiting(band) >= self.rules.limit {
            return Verdict::Drop(Reason::Overflow);
        }
        let socket = self.socket(packet.flow);
        let fast = self.is_fast(at.at.now, at.all.packets, socket);
        if !fast && self.flows[at.child].waiting >= self.rules.flow_limit {
            return Verdict::Drop(Reason::Overflow);
        }
        self.passing = Passing { band, fast, socket };
        Verdict::Pass
    }

    fn queued(&mut self, now: Turn<Time>, child: usize, _bytes: u32) {
        self.waiting += 1;
        if self.passing.fast {
            self.fast.push_back(child as u32);
            return;
        }
        self.enlist(*now, child);
        let it = &mut self.flows[child];
        it.band = self.passing.band;
        self.ready += u32::from(it.waiting == 0);
        it.waiting += 1;
        self.bands.came(it.band);
    }

    fn pick(&mut self, now: Turn<Time>, _heads: &Heads) -> Pick {
        if let Some(&flow) = self.fast.front() {
            return Pick::Child(flow as usize);
        }
        if self.waiting == 0 {
            return Pick::Nothing;
        }
        self.release(*now);
        loop {
            if let Some(flow) = self.choose(*now) {
                return Pick::Child(flow);
            }
            if !self.bands.turn() {
                return self.delayed.wakes(*now).map_or(Pick::Nothing, Pick::Later);
            }
        }
    }

    fn on_departure(&mut self, at: Turn<&Visit>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let fast = !self.fast.is_empty();
        self.passing = Passing { band: self.bands.of(packet.dscp), fast, socket: self.socket(packet.flow) };
        let late = at.at.now.since(at.at.arrived.max(self.flows[at.child].next));
        let marks = !fast && at.at.backlog.ecn && self.rules.ce_threshold.is_some_and(|most| late > most);
        if marks { Verdict::Mark } else { Verdict::Pass }
    }

    fn sent(&mut self, now: Turn<Time>, child: usize, bytes: u32, _behind: Count) {
        self.waiting -= 1;
        if self.passing.fast {
            self.fast.pop_front();
            return;
        }
        let it = &mut self.flows[child];
        it.waiting -= 1;
        self.ready -= u32::from(it.waiting == 0);
        it.credit -= i64::from(bytes);
        self.bands.left(self.passing.band, bytes);
        if self.rules.pacing {
            self.pace(*now, child, bytes);
        }
    }

    fn needs(&self) -> Needs {
        Needs::ARRIVALS | Needs::DEPARTURES | Needs::LATER | Needs::FLOWS | Needs::TAKING
    }

    /// Queues, lists, credits and times stay.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        self.hashed.stays(&new.hashed)?;
        self.bands.stays(&new.bands)?;
        if self.rules.pacing != new.rules.pacing {
            let error = ParamError::new("pacing", "E202", "`pacing` of a running fq would change".into());
            return Err(error.help("the connections of the host have begun with it: remove it from the change"));
        }
        self.delayed.take_slack(&new.delayed);
        self.rules = new.rules;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("ready_flows", f64::from(self.ready));
        each("throttled_flows", self.delayed.len() as f64);
    }
}
