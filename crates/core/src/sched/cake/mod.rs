//! CAKE: a shaper without bursts, in front of tins chosen by code point. Each tin has a queue with COBALT for each
//! flow and is fair among hosts.
//!
//! Source: Høiland-Jørgensen, Täht and Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home
//! Gateways", IEEE LANMAN 2018. Where the paper leaves a point open: the behaviour of Linux 6.12's qdisc of this
//! name, tc-cake(8).
//!
//! ```text
//! arrival:    to the tin of its code point, there to the end of its flow's queue; a queue in no list, or a decaying one: to
//!             the end of the new ones, deficit = its quantum
//!             more than `memory` waits now: drop at the head of the longest queue (by bytes), again
//! departure:  not before the shaper's time:  time = time + bytes / rate  for each packet; now, if nothing waited
//!   tin:      with a rate: the last whose own time, by its own rate, has come; if none has, the one whose is next
//!             without: DRR by the tins' quanta
//!   queue:    the first of the new ones, of the old ones if there is none:
//!               deficit <= 0:    deficit = deficit + its quantum; to the end of the old ones; again
//!               nothing in it:   out of the list; to the decaying ones if COBALT has not forgotten yet; again
//!               else:            COBALT drops, marks or sends the packet at its head; deficit = deficit - its bytes
//! its quantum:  that of the tin / n, where n of the flows of its host are not sparse
//! ```
//!
//! A tin has priority only while it keeps within its share of the rate. Above that it competes for the remainder, so
//! no tin starves another. The shares are thresholds, not limits: in `diffserv4` they are 1/16 of the rate for bulk,
//! 1/2 for video, 1/4 for voice and all of it for best effort.
//!
//! | `tins`       | tins, the last first within its rate | rates |
//! |--------------|-----------------------------------------|-------|
//! | `besteffort` | one | all |
//! | `precedence` | by the first three bits of the code point | 1, 7/8 of it, 7/8 of that ... |
//! | `diffserv3`  | best effort; bulk: CS1, LE; voice: CS6, CS7, EF, VA, TOS 4 | 1, 1/16, 1/4 |
//! | `diffserv4`  | best effort; bulk: CS1, LE; video: AF2x, AF3x, AF4x, CS2, CS3, TOS 4; voice: CS4 to CS7, EF, VA | 1, 1/16, 1/2, 1/4 |
//! | `diffserv8`  | LE; AF1x, CS1, TOS 2; best effort; AF3x, AF4x, CS3; AF2x, TOS 4; CS2; CS4, CS5, EF, VA; CS6, CS7 | as `precedence` |
//!
//! `isolation` says which packets share a queue, and who gets a fair share of a tin. `dual-srchost` is fair among
//! source addresses (uploads behind a gateway), `dual-dsthost` among destinations (downloads). `triple-isolate` looks
//! at both addresses of a flow and takes the one with more bulk flows. `srchost`, `dsthost` and `hosts` give each
//! source, destination or pair one queue. `flows` is fair among flows and ignores hosts. `flowblind` has a single
//! queue.
//!
//! | symbol | field        | unit  | default          | tc                              |
//! |--------|--------------|-------|------------------|---------------------------------|
//! | rate   | `rate`       | bit/s | -                | `bandwidth`, `unlimited`        |
//! |        | `tins`       |       | `diffserv3`      | the same words                  |
//! |        | `isolation`  |       | `triple-isolate` | the same words                  |
//! |        | `rtt`        | s     | 100ms            | `rtt`                           |
//! |        | `memory`     | B     | -                | `memlimit`                      |
//! |        | `flows`      |       | 1024             | 1024                            |
//! |        | `ack-filter` |       | `off`            | `no-ack-filter`, `ack-filter`, `ack-filter-aggressive` |
//! |        | `mtu`        | B     | 1514B            | the device's                    |
//! |        | `overhead`   | B     | -                | `overhead`                      |
//! |        | `mpu`        | B     | -                | `mpu`                           |
//! |        | `link-layer` |       | -                | `noatm`, `atm`                  |
//! |        | `split-gso`  |       | true             | `split-gso`, `no-split-gso`     |
//! |        | `hash`       |       | `salted`         | always salted                   |
//! |        | `salt`       |       | 0                | drawn at boot                   |
//!
//! COBALT's interval is `rtt` and its target `rtt` / 20 in whole microseconds. Both are raised where 1.5 packets of
//! `mtu` take longer than the target at the tin's rate. COBALT marks ECN-capable packets. The quantum of a tin's
//! queues is its rate in B/s / 4096, between 300 B and 1514 B. `memory` defaults to four times the bytes that pass in
//! `rtt` at `rate`, at least 4 MiB and at most 10240 packets of `mtu`. `flows` is the number of queues in each tin.
//!
//! `ack-filter` drops ACKs that wait although a newer one of the same flow says all that they say. An ACK goes only if it is
//! pure, its number is not above that of the packet that has just come, its SACK blocks are covered by those of that
//! packet, its time stamps are not later, and it has no other options. Of equal numbers it goes only if that packet has
//! more blocks. The first such ACK goes once another is behind it (`on`), or also if it is next to the packet that has
//! come (`aggressive`). Where ECE or CWR changes, the ACK before the change stays. Dropped ACKs are counted as
//! `filtered`. Tickets on ACKs (PPS) are lost with them. The ACKs of QUIC are encrypted, so none goes. In a capture
//! options are not read, so none goes either.
//!
//! `hash = "salted"` maps a flow to a set of eight queues by a hash with the key `salt`. The flow takes a free queue
//! of the set, and shares one only if all eight are in use. `hash = "exact"` gives each flow a queue while any is
//! free.
//!
//! Deviations: Linux rounds a quantum divided among hosts to whole bytes at random; here the quantum is counted in
//! 2^-16 of a byte and equals that mean. `memory` counts the bytes of packets, where Linux counts the buffers that
//! hold them. If several queues are the longest, the first one of the first tin loses. Linux raises the rate of a tin
//! to 64 B/s; here a lower rate is refused. `ingress`, `autorate-ingress`, `wash` and `nat`
//! are not implemented. With `split-gso = false`, `overhead`, `mpu` and `link-layer` count once for a burst,
//! in Linux once for each of its segments. COBALT drops at most 256 packets in a row.
//!
//! Decision: docs/decisions/115-an-ack-filter-asks-the-host.md

mod acks;
mod hosts;
mod sets;
mod tin;
mod tins;

pub use acks::AckFilter;
pub use hosts::Isolation;
pub use tins::{Outline as TinOutline, Tins, tin_name};

use super::flows::{Hash, Hashing};
use super::{Eviction, Heads, Pick, Scheduler, Visit};
use crate::Scope;
use crate::aqm::cobalt;
use crate::classify::FlowHeaders;
use crate::count::Count;
use crate::counter::{Part, Seen};
use crate::dscp::Dscp;
use crate::framing::{Frame, Framing};
use crate::needs::Needs;
use crate::packet::{FlowId, Packet};
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Span, Time};
use crate::verdict::{Side, Verdict};
use hosts::Identities;
use sets::Sets;
use tin::{Terms, Tin};
use tins::{Clock, Pace, Share};

/// A sixteenth of it, the slowest tin's, is 64 B/s: Linux's least.
const LEAST_RATE: BitRate = BitRate::bps(8192);
/// Queues in a set.
const WAYS: usize = 8;
/// Least and most bytes in a turn of a queue.
const LEAST_QUANTUM: u64 = 300;
const MOST_QUANTUM: u64 = 1514;
/// Least of a `memory` that is not stated, and the most packets in it.
const LEAST_MEMORY: u64 = 4 << 20;
const MOST_PACKETS: u64 = 10_240;
/// Largest `mtu`, as of IP.
const LARGEST: Bytes = Bytes::new(65_535);

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Rate to shape to; default: no shaping.
    pub rate: Option<BitRate>,
    /// How packets are sorted into tins.
    #[param(default = "diffserv3")]
    pub tins: Tins,
    /// Which packets have a separate queue, and between which hosts and flows a tin is fair.
    #[param(default = "triple-isolate")]
    pub isolation: Isolation,
    /// Round-trip time of most traffic: COBALT's interval, and 20 times its target.
    #[param(default = "100ms")]
    pub rtt: Span,
    /// Most bytes that may wait in all queues together; default: from `rate` and `rtt`.
    pub memory: Option<Bytes>,
    /// Number of queues in each tin.
    #[param(default = 1024)]
    pub flows: u32,
    /// Largest packet, with its header.
    #[param(default = "1514B")]
    pub mtu: Bytes,
    /// Whether ACKs that newer ones make redundant are dropped.
    #[param(default = "off")]
    pub ack_filter: AckFilter,
    /// Which flow, and which host, has which place.
    #[param(flatten)]
    pub hashing: Hashing,
    /// Which bytes of a packet the rates and quanta count.
    #[param(flatten)]
    pub framing: Framing,
    /// Whether a burst of its own host is queued segment by segment, and not as one packet.
    #[param(default = true)]
    pub split_gso: bool,
}

/// The parameters as they are used.
#[derive(Clone, Debug)]
struct Rules {
    memory: u64,
    frame: Frame,
    filter: AckFilter,
    splits: bool,
    advice: Option<ParamError>,
}

/// Queues that lose a packet, if there are any.
#[derive(Clone, Copy, Debug, Default)]
struct Losing {
    /// The longest one, without room.
    evicting: Option<usize>,
    /// The one that the last packet has come to, with an ACK filter.
    filtering: Option<usize>,
}

/// One link's CAKE.
#[derive(Clone, Debug)]
pub struct Cake {
    kind: Tins,
    /// By code point.
    tin_of: [u8; 64],
    identities: Identities,
    rules: Rules,
    flows: usize,
    tins: Vec<Tin>,
    /// With a rate.
    clock: Option<Clock>,
    /// The tin that was served last.
    current: usize,
    /// The queue that is being served: asked for a packet until one is sent.
    serving: Option<usize>,
    /// The queues that lose a packet.
    losing: Losing,
    waiting: Count,
    /// How often a packet came to an empty queue before its time.
    early: u64,
}

impl Params {
    /// # Errors
    /// E201 for a `rate` below 8192 bit/s, an `rtt`, `memory` or `mtu` of 0, an `mtu` above 65535B, no `flows` or too many; as
    /// [`Framing::build`].
    pub fn build(self, scope: &Scope) -> Result<Cake, ParamError> {
        let rules = self.rules(scope)?;
        let flows = self.hashing.over(self.flows)?.queues();
        let sets = Sets::new(flows, if self.hashing.hash == Hash::Exact { flows } else { WAYS });
        let alike = self.isolation.shares();
        let tin = |share| Tin::new(self.terms(share), Clock::of(pace(share)), &sets, alike);
        let code = |code| Dscp::new(code as u8).map_or(0, |dscp| self.tins.of(dscp) as u8);
        Ok(Cake {
            kind: self.tins,
            tin_of: std::array::from_fn(code),
            identities: Identities::new(self.isolation, self.hashing),
            rules,
            flows,
            tins: self.shares().into_iter().map(tin).collect(),
            clock: self.bytes_s().map(|rate| Clock::of(Pace::of(rate))),
            current: 0,
            serving: None,
            losing: Losing::default(),
            waiting: Count::default(),
            early: 0,
        })
    }

    fn rules(&self, scope: &Scope) -> Result<Rules, ParamError> {
        self.rate.map_or(Ok(()), |rate| ParamError::at_least("rate", rate, LEAST_RATE))?;
        ParamError::above_zero("rtt", self.rtt)?;
        self.memory.map_or(Ok(()), |memory| ParamError::above_zero("memory", memory))?;
        ParamError::above_zero("mtu", self.mtu)?;
        if self.mtu > LARGEST {
            return Err(ParamError::new("mtu", "E201", format!("`mtu` is {}", self.mtu))
                .help(format!("must be at most {LARGEST}")));
        }
        let (frame, splits, advice) = (self.framing.build(scope)?, self.split_gso, self.advice(scope));
        Ok(Rules { memory: self.most(), frame, filter: self.ack_filter, splits, advice })
    }

    fn bytes_s(&self) -> Option<u64> {
        self.rate.map(|rate| rate.bit_s() / 8)
    }

    /// How many bytes may wait.
    pub(super) fn most(&self) -> u64 {
        self.memory.map_or_else(|| self.usual_memory(), Bytes::get)
    }

    fn usual_memory(&self) -> u64 {
        let most = MOST_PACKETS * self.mtu.get();
        let passes = |rate: u64| u128::from(rate) * u128::from(self.rtt.ns()) * 4 / 1_000_000_000;
        self.bytes_s().map_or(most, |rate| most.min(passes(rate).max(LEAST_MEMORY.into()).min(most.into()) as u64))
    }

    fn shares(&self) -> Vec<Share> {
        self.tins.shares(self.bytes_s())
    }

    fn terms(&self, share: Share) -> Terms {
        let quantum = |rate: u64| (rate >> 12).clamp(LEAST_QUANTUM, MOST_QUANTUM);
        Terms {
            law: tins::law(self.rtt, self.mtu.get() as u32, pace(share)),
            rate: share.rate,
            flow_quantum: share.rate.map_or(MOST_QUANTUM, quantum),
            quantum: share.quantum,
        }
    }

    /// Its tins, in tc's order.
    pub fn outline(&self) -> Vec<TinOutline> {
        let (shares, shown, others) = (self.shares(), self.tins.shown(), self.tins.of(Dscp::default()));
        let of = |(place, &tin): (usize, &usize)| {
            let all = (0..64).filter_map(Dscp::new);
            let codes = all.filter(|&code| tin != others && self.tins.of(code) == tin).collect();
            let Terms { law, rate, flow_quantum, .. } = self.terms(shares[tin]);
            let (name, [target, interval]) = (tin_name(shown.len(), place), [law.target, law.interval]);
            TinOutline { name, codes, threshold: rate, target, interval, quantum: flow_quantum }
        };
        shown.iter().enumerate().map(of).collect()
    }

    /// W324: a rate above the one that bounds it.
    fn advice(&self, scope: &Scope) -> Option<ParamError> {
        let (rate, link) = (self.rate?, scope.link_rate?);
        let message = format!("`rate` {rate} is above the {link} that it gets");
        let advice = ParamError::new("rate", "W324", message);
        let help = format!(
            "must be at most {link}, or leave `rate` out: otherwise the tins are served by rates that the link does not have"
        );
        (rate > link).then(|| advice.help(help))
    }
}

fn pace(share: Share) -> Pace {
    share.rate.map_or_else(Pace::default, Pace::of)
}

impl Cake {
    /// The tin that is served next; `None` if no packet waits in any.
    fn next_tin(&mut self, now: Time) -> Option<usize> {
        if self.waiting.packets == 0 || !self.tins.iter().any(Tin::has_work) {
            return None;
        }
        match self.clock {
            Some(_) => self.next_by_rate(now),
            None => Some(self.next_by_quantum()),
        }
    }

    /// The last that is due; else the one that is due next, the last of those that are at the same time.
    fn next_by_rate(&self, now: Time) -> Option<usize> {
        let waiting = self.tins.iter().enumerate().filter(|(_, tin)| tin.has_work());
        waiting.min_by_key(|&(i, tin)| (tin.clock.next.since(now), std::cmp::Reverse(i))).map(|it| it.0)
    }

    fn next_by_quantum(&mut self) -> usize {
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.has_work() {
                return self.current;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.terms.quantum;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// The queue that sends, from that of the last drop on.
    fn next_queue(&mut self, now: Time, heads: &Heads) -> Option<usize> {
        let mut decaying = true;
        if let Some(serving) = self.serving {
            if heads[serving].is_ready() {
                return Some(serving);
            }
            self.tins[serving / self.flows].emptied(serving % self.flows, now);
            decaying = false;
        }
        while let Some(tin) = self.next_tin(now) {
            self.current = tin;
            while let Some(queue) = self.tins[tin].first(decaying) {
                decaying = false;
                let child = tin * self.flows + queue;
                if self.tins[tin].is_in_debt(queue) {
                    self.tins[tin].renew(queue, !heads[child].is_ready());
                } else if heads[child].is_ready() {
                    return Some(child);
                } else {
                    self.tins[tin].emptied(queue, now);
                    break;
                }
            }
        }
        None
    }

    /// A packet of a child has gone.
    fn left(&mut self, child: usize, bytes: u32) {
        self.tins[child / self.flows].left(child % self.flows, bytes);
        self.waiting = self.waiting - Count { packets: 1, bytes: bytes.into() };
    }

    /// The first of those that have most bytes waiting.
    fn longest(&self) -> Option<usize> {
        let queues = self.tins.iter().flat_map(|tin| &tin.queues).map(|queue| queue.bytes).enumerate();
        let longest = queues.filter(|it| it.1 > 0).max_by_key(|&(i, bytes)| (bytes, std::cmp::Reverse(i)));
        longest.map(|it| it.0)
    }
}

/// What is fixed when the run begins.
fn fixed(field: &'static str) -> ParamError {
    let error = ParamError::new(field, "E202", format!("`{field}` of a running CAKE would change"));
    error.help(
        "`tins`, `isolation`, `flows`, `hash` and `salt` are fixed when the run begins: remove it from the change",
    )
}

impl Scheduler for Cake {
    type Params = Params;

    fn places(&self) -> usize {
        self.tins.len() * self.flows
    }

    fn place(&mut self, packet: Turn<&Packet>) -> usize {
        let tin = usize::from(self.tin_of[usize::from(packet.dscp.get())]);
        let whose = self.identities.of(packet.flow);
        tin * self.flows + self.tins[tin].place(whose)
    }

    fn register(&mut self, flow: Turn<FlowId>, headers: &FlowHeaders) {
        self.identities.register(*flow, headers);
    }

    fn queued(&mut self, now: Turn<Time>, child: usize, bytes: u32) {
        let tin = &mut self.tins[child / self.flows];
        if tin.bytes == 0 {
            tin.clock.rested(*now);
        }
        if self.waiting.packets == 0 {
            self.early += u64::from(self.clock.is_some_and(|clock| clock.next > *now));
            self.clock.iter_mut().for_each(|clock| clock.rested(*now));
        }
        tin.queued(child % self.flows, bytes);
        self.waiting.add(bytes);
        self.losing.filtering = (self.rules.filter != AckFilter::Off).then_some(child);
    }

    fn pick(&mut self, now: Turn<Time>, heads: &Heads) -> Pick {
        if let Some(clock) = self.clock.filter(|clock| clock.next > *now && self.waiting.packets > 0) {
            return Pick::Later(clock.next);
        }
        self.serving = self.next_queue(*now, heads);
        self.serving.map_or(Pick::Nothing, Pick::Child)
    }

    fn on_departure(&mut self, at: Turn<&Visit>, _packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let (queue, tin) = (at.child % self.flows, &mut self.tins[at.child / self.flows]);
        let at = at.at;
        let wait = at.now.since(at.arrived);
        let head = cobalt::Head { now: at.now, wait, ecn: at.backlog.ecn, last: at.backlog.packets == 0 };
        let verdict = tin.queues[queue].cobalt.judge(&tin.terms.law, &head, rng).verdict();
        if !matches!(verdict, Verdict::Drop(_)) {
            tin.waited(wait);
        }
        verdict
    }

    fn sent(&mut self, now: Turn<Time>, child: usize, bytes: u32, _behind: Count) {
        self.left(child, bytes);
        self.serving = None;
        let (counted, tin) = (self.rules.frame.bytes(bytes), &mut self.tins[child / self.flows]);
        tin.charge(child % self.flows, counted, *now);
        match &mut self.clock {
            Some(clock) => clock.next += clock.pace.takes(counted),
            None => tin.deficit -= i64::from(counted),
        }
    }

    fn dropped(&mut self, now: Turn<Time>, child: usize, bytes: u32, _behind: Count) {
        self.left(child, bytes);
        if self.losing.evicting.take().is_some() {
            let tin = &mut self.tins[child / self.flows];
            tin.queues[child % self.flows].cobalt.overflowed(&tin.terms.law, *now);
        }
    }

    fn filters(&mut self) -> Option<(usize, AckFilter)> {
        Some((self.losing.filtering.take()?, self.rules.filter))
    }

    fn evict(&mut self, _all: Turn<Count>) -> Option<Eviction> {
        let full = self.waiting.bytes > self.rules.memory;
        self.losing.evicting = if full { self.longest() } else { None };
        self.losing.evicting.map(|child| Eviction { child, packets: 1, bytes: 0, side: Side::Head })
    }

    fn needs(&self) -> Needs {
        let flows = Needs::ROOM | Needs::FLOWS | Needs::TAKING;
        Needs::DEPARTURES | Needs::LENGTHS | Needs::LATER | flows | Needs::SEGMENTS.only_if(self.rules.splits)
    }

    fn warnings(&self) -> Vec<ParamError> {
        self.rules.advice.iter().cloned().collect()
    }

    /// Queues, lists and deficits stay.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        let fixed_fields = [
            ("tins", self.kind == new.kind),
            ("isolation", self.identities.isolation == new.identities.isolation),
            ("flows", self.flows == new.flows),
            ("hash", self.identities.hashing == new.identities.hashing),
        ];
        if let Some((field, _)) = fixed_fields.into_iter().find(|it| !it.1) {
            return Err(fixed(field));
        }
        for (tin, new) in self.tins.iter_mut().zip(new.tins) {
            tin.terms = new.terms;
            tin.clock.pace = new.clock.pace;
        }
        self.rules = new.rules;
        self.clock = new.clock.map(|clock| Clock { next: self.clock.map_or(now, |old| old.next), ..clock });
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let sum = |i: usize| self.tins.iter().map(|tin| f64::from(tin.counts()[i])).sum();
        each("sparse_flows", sum(0));
        each("bulk_flows", sum(1));
        each("decaying_flows", sum(2));
    }

    fn counters(&self, seen: &Seen<'_>, each: &mut dyn FnMut(Part, &'static str, f64)) {
        for (place, &tin) in self.kind.shown().iter().enumerate() {
            let below = seen.children(tin * self.flows..(tin + 1) * self.flows);
            self.tins[tin].counters(&below, &mut |name, value| each(Part::Tin(place), name, value));
        }
    }

    /// Each time that the line asks before its time, and each packet that comes to an empty queue before it.
    fn overlimits(&self, seen: &Seen<'_>) -> Option<u64> {
        if self.clock.is_none() { Some(0) } else { seen.held_back.map(|times| times + self.early) }
    }
}
