//! COBALT against a slow version of Linux's; what BLUE does to traffic that does not react; its errors.

use super::support;
use crate::common::port::Port;
use crate::oracle::cobalt::{Cobalt, Times};
use crate::oracle::codel::Waiting;
use perhop_core::Rng;
use perhop_core::aqm::{AqmParams, cobalt::Params};
use perhop_core::packet::{Ecn, FlowId, Packet};
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_core::verdict::Reason;
use proptest::prelude::*;
use std::collections::VecDeque;

/// 1000 B take 1 ms.
const RATE: BitRate = BitRate::mbps(8);

fn params(target: Span, interval: Span) -> Params {
    Params { target, interval, mtu: Bytes::new(500), ecn: true }
}

fn rng() -> Rng {
    Rng::stream(1, 0, "queue")
}

fn port(params: &Params, limit: u32) -> Port {
    let scope = perhop_core::Scope { link_rate: Some(RATE), ..support::scope(limit) };
    let aqm = AqmParams::Cobalt(params.clone()).build(&scope).unwrap();
    Port::new(Gate::new(aqm, Limit::Packets(limit), rng()), RATE)
}

/// The oracle behind the same link.
struct Line {
    cobalt: Cobalt,
    times: Times,
    ecn: bool,
    limit: usize,
    queue: VecDeque<Waiting>,
    rng: Rng,
    /// When the packet in transmission leaves, ns; `None` while idle.
    until: Option<u64>,
    idle_since: u64,
    dropped: Vec<u32>,
    marked: u64,
    sent: u64,
}

impl Line {
    fn new(params: &Params, limit: u32) -> Self {
        let times =
            Times { target: params.target.ns().into(), interval: params.interval.ns().into(), spared: 2_000_000 };
        let (cobalt, queue, rng, ecn) = (Cobalt::default(), VecDeque::new(), rng(), params.ecn);
        let (until, idle_since, dropped, marked, sent) = (None, 0, Vec::new(), 0, 0);
        Self { cobalt, times, ecn, limit: limit as usize, queue, rng, until, idle_since, dropped, marked, sent }
    }

    fn advance(&mut self, now: u64) {
        while let Some(done) = self.until.filter(|done| *done <= now) {
            self.send(done);
        }
    }

    fn send(&mut self, now: u64) {
        (self.until, self.idle_since) = (None, now);
        while let Some(packet) = self.queue.pop_front() {
            let seen = Waiting { ecn: packet.ecn && self.ecn, ..packet };
            let (mark, drop) = self.cobalt.judge(self.times, now.into(), seen, &mut self.rng);
            if drop && !self.queue.is_empty() {
                self.dropped.push(packet.id);
                continue;
            }
            self.marked += u64::from(mark);
            self.sent += 1;
            self.until = Some(now + packet.bytes * 1000);
            return;
        }
    }

    fn arrive(&mut self, packet: Waiting) {
        self.advance(packet.arrived);
        if self.until.is_none() {
            self.cobalt.empty(self.times, self.idle_since.into());
        }
        if self.queue.len() == self.limit {
            return self.cobalt.full(self.times, packet.arrived.into());
        }
        self.queue.push_back(packet);
        if self.until.is_none() {
            self.send(packet.arrived);
        }
    }
}

/// Bursts and pauses: gap before a packet in ns, its bytes, whether it is ECN-capable.
fn load() -> impl Strategy<Value = Vec<(u64, u64, bool)>> {
    let gap = prop_oneof![12 => 0u64..1_200_000, 1 => 0u64..20_000_000, 1 => 100_000_000u64..400_000_000];
    prop::collection::vec((gap, 40u64..=1500, any::<bool>()), 200..1500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// The same packets are dropped, marked, sent and waiting after every arrival.
    #[test]
    fn every_drop_is_linuxs(
        (target, factor, ecn, limit) in (100_000u64..10_000_000, 2u64..20, any::<bool>(), prop_oneof![5u32..50, Just(10_000)]),
        load in load(),
    ) {
        let params = Params { ecn, ..params(Span::from_ns(target), Span::from_ns(target * factor)) };
        let (mut port, mut line, mut now) = (port(&params, limit), Line::new(&params, limit), 0);
        for (id, (gap, bytes, ecn)) in (0u32..).zip(load) {
            now += gap;
            let field = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
            let packet = Packet { size: bytes as u32, flow: FlowId(id), ecn: field, ..Packet::default() };
            port.arrive(Time::from_ns(now), packet);
            line.arrive(Waiting { id, arrived: now, bytes, ecn });
            let marked: u64 = port.gate().fates().values().map(|fates| fates.marked.packets).sum();
            prop_assert_eq!((port.dropped().len(), marked), (line.dropped.len(), line.marked));
            prop_assert_eq!((port.waiting().len(), port.sent), (line.queue.len(), line.sent));
        }
        let dropped: Vec<_> = port.dropped().iter().map(|(packet, _)| packet.flow.0).collect();
        prop_assert_eq!(dropped, line.dropped);
    }
}

/// Twice the link's rate, whatever is dropped: with room for a second's packets CoDel alone holds the queue to a few intervals
/// only after a long time; once it overflows BLUE finds the half that has to go, and the queue no longer overflows.
#[test]
fn blue_finds_the_share_that_must_go() {
    let params = params(Span::from_ms(5), Span::from_ms(100));
    let mut port = port(&params, 200);
    let (mut before, mut overflows) = (0, Vec::new());
    for i in 0..80_000u64 {
        port.arrive(Time::from_ns(i * 500_000), Packet { size: 1000, ..Packet::default() });
        if i % 10_000 == 9_999 {
            let all: u64 =
                port.gate().fates().values().map(|fates| fates.dropped[Reason::Overflow as usize].packets).sum();
            overflows.push(all - before);
            before = all;
        }
    }
    assert!(overflows[0] > 100 && overflows[3..].iter().all(|&n| n < 20), "{overflows:?}");
}

#[test]
fn what_cannot_work_is_refused() {
    let build = |target, interval| {
        let built = AqmParams::Cobalt(params(target, interval)).build(&support::scope(100));
        built.map_err(|error| (error.field, error.code)).err()
    };
    let ms = Span::from_ms;
    assert_eq!(build(Span::ZERO, ms(100)), Some(("target", "E201")));
    assert_eq!(build(ms(100), ms(100)), Some(("target", "E214")));
    assert_eq!(build(ms(5), ms(100)), None);
}
