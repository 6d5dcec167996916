//! FQ-PIE: each flow has a queue with PIE. Queues are served by deficit round robin, those of new flows first.
//!
//! Source: Ramakrishnan et al., "FQ-PIE Queue Discipline in the Linux Kernel: Design, Implementation and Challenges",
//! IEEE LCN 2019; the behaviour of Linux 6.12's qdisc of this name, tc-fq_pie(8).
//!
//! ```text
//! arrival:    `limit` packets wait in all queues: drop it
//!             PIE of its flow's queue, with that queue's delay and bytes: drop, mark or let in
//!             to the end of the queue; a queue in no list: to the end of the new ones, credits = quantum
//! departure:  the first of the new queues, of the old ones if there is none:
//!               credits <= 0:    credits = credits + quantum; to the end of the old ones; again
//!               nothing in it:   a new one: to the end of the old ones if there are any; else out of the lists; again
//!               else:            send the packet at its head;  credits = credits - its bytes
//! every T:    PIE of each queue changes its probability
//! ```
//!
//! A flow that sends less than a quantum per round always counts as new. Its packets wait for at most one packet of
//! each other new flow. PIE drops nothing of a queue that holds less than two packets of `mtu`, so it never drops them
//! either. All other flows share the link equally by bytes, and each is held to the target by its own probability.
//!
//! | symbol     | field        | unit | default      | tc                          |
//! |------------|--------------|------|--------------|-----------------------------|
//! |            | `flows`      |      | 1024         | `flows`                     |
//! | quantum    | `quantum`    | B    | 1514B        | `quantum`                   |
//! | limit      | `limit`      | p    | 10240p       | `limit`                     |
//! | QDELAY_REF | `target`     | s    | 15ms         | `target`                    |
//! | T_UPDATE   | `interval`   | s    | 15ms         | `tupdate`                   |
//! | alpha      | `alpha`      | 1/s  | 0.125        | `alpha` / 16                |
//! | beta       | `beta`       | 1/s  | 1.25         | `beta` / 16                 |
//! |            | `delay`      |      | `timestamps` | `rate`: `dq_rate_estimator` |
//! |            | `byte-mode`  |      | false        | `bytemode`                  |
//! |            | `mtu`        | B    | 1514B        | the device's                |
//! |            | `ecn`        |      | false        | `ecn`                       |
//! | MAX_ECNTH  | `ecn-below`  | -    | 0.1          | `ecn_prob` / 100            |
//! |            | `hash`       |      | `salted`     | always salted               |
//! |            | `salt`       |      | 0            | drawn at set-up             |
//!
//! The only arithmetic is Linux's, that of [PIE](pie.md) with `arithmetic = "linux"`, of whose keys this has those that
//! Linux has: `alpha` and `beta` are multiples of 1/16, `ecn-below` of 1/100, and ECN-capable packets are marked up to
//! and including it. A kernel rounds `interval` up to the ticks of its timer: write the rounded value. `hash` and `salt`
//! map flows to queues as in [FQ-CoDel](fq-codel.md).
//!
//! Deviations: `memory_limit` is no key. Linux 6.12 counts how often more memory is in use (`overmemory`), and drops
//! nothing for it. A kernel updates the probabilities for the first time 500 ms after the queue is set up; here the
//! first update comes after `interval`.

use super::flows::{Flows, Hashing};
use super::newcomers::Newcomers;
use super::{Heads, Pick, Scheduler, Visit};
use crate::Scope;
use crate::aqm::Backlog;
use crate::aqm::arithmetic::Arithmetic;
use crate::aqm::pie::linux::{Law, State};
use crate::aqm::pie::{self, DelayFrom, Drops};
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Packets, Probability, Span, Time};
use crate::verdict::{Reason, Verdict};

/// Least quantum, as in Linux: bounds the rounds that a large packet waits for.
const LEAST_QUANTUM: Bytes = Bytes::new(256);

/// How fast the probabilities follow the delay.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Gains {
    /// Weight of the delay's distance from the target, 1/s.
    #[param(default = 0.125)]
    pub alpha: f64,
    /// Weight of the delay's change in an interval, 1/s.
    #[param(default = 1.25)]
    pub beta: f64,
}

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
    /// Target delay.
    #[param(default = "15ms")]
    pub target: Span,
    /// Time between two changes of the probabilities.
    #[param(default = "15ms")]
    pub interval: Span,
    /// How fast the probabilities follow the delay.
    #[param(flatten)]
    pub gains: Gains,
    /// How the queueing delay is measured.
    #[param(default = "timestamps")]
    pub delay: DelayFrom,
    /// Whether packets smaller than `mtu` are dropped in proportion to their size.
    #[param(default = false)]
    pub byte_mode: bool,
    /// A packet is never dropped if less than two packets of this size wait in its queue.
    #[param(default = "1514B")]
    pub mtu: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped.
    #[param(default = false)]
    pub ecn: bool,
    /// The probability above which ECN-capable packets are dropped too.
    #[param(default = 0.1)]
    pub ecn_below: Probability,
    /// Which flow has which queue.
    #[param(flatten)]
    pub hashing: Hashing,
}

/// The parameters as they are used.
#[derive(Clone, Debug)]
struct Rules {
    limit: u64,
    interval: Span,
    law: Law,
}

/// One flow's PIE, and what waits in its queue, bytes.
#[derive(Clone, Debug)]
struct Queue {
    pie: State,
    waiting: u64,
}

/// One link's FQ-PIE.
#[derive(Clone, Debug)]
pub struct FqPie {
    rules: Rules,
    flows: Flows,
    queues: Vec<Queue>,
    turns: Newcomers,
    next: Time,
}

impl Params {
    /// # Errors
    /// E201 for no `flows` or too many, a `quantum` below 256 B, a `limit`, `target`, `interval` or `mtu` of 0, and what
    /// Linux's arithmetic cannot state.
    pub fn build(self, _scope: &Scope) -> Result<FqPie, ParamError> {
        let (rules, flows) = (self.rules()?, self.hashing.over(self.flows)?);
        let queues = vec![Queue { pie: State::START, waiting: 0 }; flows.queues()];
        let turns = Newcomers::new(flows.queues(), self.quantum.get() as i64, true);
        let next = Time::ZERO + rules.interval;
        Ok(FqPie { rules, flows, queues, turns, next })
    }

    fn rules(&self) -> Result<Rules, ParamError> {
        ParamError::at_least("quantum", self.quantum, LEAST_QUANTUM)?;
        ParamError::above_zero("limit", self.limit)?;
        ParamError::above_zero("target", self.target)?;
        ParamError::above_zero("interval", self.interval)?;
        ParamError::above_zero("mtu", self.mtu)?;
        ParamError::at_least("alpha", self.gains.alpha, 0.0)?;
        ParamError::at_least("beta", self.gains.beta, 0.0)?;
        let law = Law::of_flow(&self.pie(), self.percent()?)?;
        Ok(Rules { limit: self.limit.get().into(), interval: self.interval, law })
    }

    /// `ecn_prob`.
    ///
    /// # Errors
    /// E201 for a probability that is no whole number of per cent.
    pub fn percent(&self) -> Result<u64, ParamError> {
        let percent = (self.ecn_below.get() * 100.0).round();
        if (percent / 100.0 - self.ecn_below.get()).abs() < 1e-9 {
            return Ok(percent as u64);
        }
        let message = format!("`ecn-below` is {}", self.ecn_below.get());
        let help = format!("Linux counts it in whole per cent: write {}", percent / 100.0);
        Err(ParamError::new("ecn-below", "E201", message).help(help))
    }

    /// Of one queue.
    fn pie(&self) -> pie::Params {
        pie::Params {
            target: self.target,
            interval: self.interval,
            max_burst: Span::from_ms(150),
            alpha: self.gains.alpha,
            beta: self.gains.beta,
            delay: self.delay,
            drops: Drops { derandomise: true, cap: true, byte_mode: self.byte_mode },
            active_above: None,
            mtu: self.mtu,
            ecn: self.ecn,
            ecn_below: self.ecn_below,
            arithmetic: Arithmetic::Linux,
        }
    }
}

impl Scheduler for FqPie {
    type Params = Params;

    fn places(&self) -> usize {
        self.flows.queues()
    }

    #[inline]
    fn place(&mut self, packet: Turn<&Packet>) -> usize {
        self.flows.of(packet.flow)
    }

    fn on_arrival(&mut self, at: Turn<&Visit>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let room = at.all.packets < self.rules.limit;
        let backlog = Backlog { room, ..at.at.backlog };
        let verdict = self.queues[at.child].pie.on_arrival(&self.rules.law, &backlog, packet.size, rng);
        if room { verdict } else { Verdict::Drop(Reason::Overflow) }
    }

    fn queued(&mut self, _now: Turn<Time>, child: usize, bytes: u32) {
        self.queues[child].waiting += u64::from(bytes);
        self.turns.queued(child);
    }

    fn pick(&mut self, _now: Turn<Time>, heads: &Heads) -> Pick {
        self.turns.pick(heads, |_| {})
    }

    fn on_departure(&mut self, at: Turn<&Visit>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.queues[at.child].pie.on_departure(&self.rules.law, &at.at, packet.size);
        Verdict::Pass
    }

    fn sent(&mut self, _now: Turn<Time>, child: usize, bytes: u32, _behind: Count) {
        self.queues[child].waiting -= u64::from(bytes);
        self.turns.sent(child, bytes);
    }

    fn needs(&self) -> Needs {
        Needs::ARRIVALS | Needs::DEPARTURES | Needs::TIMER | Needs::FLOWS | Needs::TAKING
    }

    fn poll_at(&self) -> Option<Time> {
        Some(self.next)
    }

    fn on_timer(&mut self, now: Turn<Time>, _oldest: &dyn Fn(usize) -> Option<Time>) {
        let law = &self.rules.law;
        self.queues.iter_mut().for_each(|queue| queue.pie.update(law, queue.waiting));
        self.next = *now + self.rules.interval;
    }

    /// Queues, lists, credits and probabilities stay; a new `interval` begins with the next change.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        self.flows.stays(&new.flows)?;
        self.turns.take_quantum(&new.turns);
        self.rules = new.rules;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.turns.gauges(each);
        each("most_drop_p", self.queues.iter().map(|queue| queue.pie.p()).fold(0.0, f64::max));
    }
}
