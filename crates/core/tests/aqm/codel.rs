//! CoDel against the pseudo-code of RFC 8289 section 5; what it does to a queue that never empties.

use crate::codel_oracle::CoDel;
use crate::port::Port;
use crate::support;
use perhop_core::Rng;
use perhop_core::aqm::{AqmParams, codel};
use perhop_core::packet::Packet;
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_core::verdict::Reason;
use proptest::prelude::*;

/// 1000 B take 1 ms.
const RATE: BitRate = BitRate::mbps(8);

fn params(target_ms: u64, interval_ms: u64) -> codel::Params {
    codel::Params { target: Span::from_ms(target_ms), interval: Span::from_ms(interval_ms), mtu: Bytes::new(1500) }
}

fn port(params: &codel::Params) -> Port {
    let aqm = AqmParams::CoDel(params.clone()).build(&support::scope(100_000)).unwrap();
    Port::new(Gate::new(aqm, Limit::Packets(100_000), Rng::stream(1, 0, "queue")), RATE)
}

/// The oracle behind the same link: what it has dropped and sent by `now`. Its link and the port's begin and end
/// transmissions at the same ns.
struct Line {
    codel: CoDel,
    /// When the packet in transmission leaves, ns; `None` while idle.
    until: Option<u64>,
    sent: u64,
}

impl Line {
    fn new(params: &codel::Params) -> Self {
        let codel = CoDel::new(params.target.ns() as f64, params.interval.ns() as f64, params.mtu.get());
        Self { codel, until: None, sent: 0 }
    }

    fn advance(&mut self, now: u64) {
        while let Some(done) = self.until.filter(|done| *done <= now) {
            self.send(done);
        }
    }

    fn send(&mut self, now: u64) {
        let sent = self.codel.dequeue(now as f64);
        self.sent += u64::from(sent.is_some());
        self.until = sent.map(|(_, bytes)| now + bytes * 1000);
    }

    fn arrive(&mut self, now: u64, bytes: u64) {
        self.advance(now);
        self.codel.enqueue(now as f64, bytes);
        if self.until.is_none() {
            self.send(now);
        }
    }
}

/// Bursts and pauses: gap before a packet in us, its bytes.
fn load() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let gap = prop_oneof![8 => 0u64..1_500, 1 => 0u64..20_000, 1 => 900u64..1_100];
    prop::collection::vec((gap, 40u64..=1500), 200..1500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every drop, at the same packet.
    #[test]
    fn every_drop_is_the_pseudo_codes(load in load(), target in 1u64..10, factor in 2u64..20) {
        let params = params(target, target * factor);
        let (mut port, mut line) = (port(&params), Line::new(&params));
        let mut now = 0;
        for (gap, bytes) in load {
            now += gap * 1000;
            port.arrive(Time::from_ns(now), Packet { size: bytes as u32, ..Packet::default() });
            line.arrive(now, bytes);
            prop_assert_eq!(port.dropped().len() as u64, line.codel.drops);
            prop_assert_eq!((port.waiting().len(), port.sent), (line.codel.waiting(), line.sent));
        }
        prop_assert!(port.dropped().iter().all(|(_, reason)| *reason == Reason::Early));
    }
}

/// Twice the link's rate for ten seconds: the first drop one interval after the wait passed the target, the gaps between
/// drops by RFC 8289 section 5.6, and every packet in one of three places.
#[test]
fn drops_follow_the_control_law() {
    let mut port = port(&params(5, 100));
    let mut drops = Vec::new();
    for i in 0..20_000u64 {
        let now = Time::from_ns(i * 500_000);
        port.arrive(now, Packet { size: 1000, ..Packet::default() });
        drops.extend((drops.len()..port.dropped().len()).map(|_| now.seconds()));
    }
    // The wait grows by 1 ms in 2: it passes 5 ms at 10 ms; packets leave every ms.
    assert!((0.110..0.113).contains(&drops[0]), "{}", drops[0]);
    let mut due = drops[0];
    for (n, at) in drops.iter().enumerate().skip(1).take(200) {
        due += 0.1 / (n as f64).sqrt();
        // A drop waits for the next transmission, at most 1 ms, and is seen at the next arrival, .5 ms; the first drop too.
        assert!((at - due).abs() <= 0.0016, "drop {n} at {at}, due {due}");
    }
    let gone = port.sent + port.dropped().len() as u64 + port.waiting().len() as u64;
    assert_eq!(gone, 20_000);
    let fates = &port.gate().fates()[0].iter().fold(Default::default(), |sum: perhop_core::port::Fates, f| sum.plus(f));
    assert_eq!((fates.queued.packets, fates.dropped_at_head.packets), (20_000, port.dropped().len() as u64));
    assert!(fates.conserved());
}

/// A wait below the target, or no more than an MTU behind the packet, is never punished, however long it lasts.
#[test]
fn a_short_queue_is_left_alone() {
    let mut port = port(&params(5, 100));
    for i in 0..10_000u64 {
        // Four packets at a time, every 4 ms: the last waits for 3 ms.
        port.arrive(Time::from_ns(i / 4 * 4_000_000), Packet { size: 1000, ..Packet::default() });
    }
    assert!(port.dropped().is_empty());
    let slow = codel::Params { target: Span::from_us(100), ..params(5, 100) };
    let mut port = self::port(&slow);
    for i in 0..10_000u64 {
        // Two at a time: the second waits for ten times the target, with nothing behind it.
        port.arrive(Time::from_ns(i / 2 * 2_000_000), Packet { size: 1000, ..Packet::default() });
    }
    port.advance(Time::from_ns(10_001_000_000));
    assert_eq!((port.dropped().len(), port.waited), (0, Span::from_ms(1)));
}
