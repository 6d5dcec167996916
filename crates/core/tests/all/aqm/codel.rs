//! CoDel against the pseudo-code of RFC 8289 section 5, and against a slow version of Linux's; what it does to a queue
//! that never empties.

use super::support;
use crate::common::port::Port;
use crate::oracle::codel::{CoDel, Queue, Settings, Waiting};
use crate::oracle::codel_linux::Linux;
use perhop_core::Rng;
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::aqm::{AqmParams, codel};
use perhop_core::packet::{Ecn, FlowId, Packet};
use perhop_core::port::{Fates, Gate, Limit};
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_core::verdict::Reason;
use proptest::prelude::*;

/// 1000 B take 1 ms.
const RATE: BitRate = BitRate::mbps(8);

fn params(target_ms: u64, interval_ms: u64) -> codel::Params {
    let (target, interval) = (Span::from_ms(target_ms), Span::from_ms(interval_ms));
    let (mtu, arithmetic) = (Bytes::new(1500), Arithmetic::Rfc);
    codel::Params { target, interval, mtu, ecn: false, ce_threshold: None, arithmetic }
}

fn port(params: &codel::Params) -> Port {
    let aqm = AqmParams::CoDel(params.clone()).build(&support::scope(100_000)).unwrap();
    Port::new(Gate::new(aqm, Limit::Packets(100_000), Rng::stream(1, 0, "queue")), RATE)
}

/// The oracle behind the same link: what it has dropped, marked and sent by `now`. Its link and the port's begin and
/// end transmissions at the same ns.
struct Line<Q> {
    codel: Q,
    /// When the packet in transmission leaves, ns; `None` while idle.
    until: Option<u64>,
    sent: u64,
}

impl<Q: Queue> Line<Q> {
    fn new(params: &codel::Params) -> Self {
        let codel = Q::new(Settings {
            target: params.target.ns(),
            interval: params.interval.ns(),
            maxpacket: params.mtu.get(),
            ecn: params.ecn,
            ce_threshold: params.ce_threshold.map(Span::ns),
        });
        Self { codel, until: None, sent: 0 }
    }

    fn advance(&mut self, now: u64) {
        while let Some(done) = self.until.filter(|done| *done <= now) {
            self.send(done);
        }
    }

    fn send(&mut self, now: u64) {
        let sent = self.codel.dequeue(now);
        self.sent += u64::from(sent.is_some());
        self.until = sent.map(|packet| now + packet.bytes * 1000);
    }

    fn arrive(&mut self, packet: Waiting) {
        self.advance(packet.arrived);
        self.codel.enqueue(packet);
        if self.until.is_none() {
            self.send(packet.arrived);
        }
    }
}

fn total(port: &Port) -> Fates {
    port.gate().fates().values().fold(Fates::default(), |sum, fates| sum.plus(fates))
}

/// Gap before a packet in ns, its bytes, whether it is ECN-capable.
type Load = Vec<(u64, u64, bool)>;

/// 125 of Linux's units of 1024 ns; a packet of 128 B takes as long.
const STEP: u64 = 128_000;

/// Bursts and pauses.
fn load() -> impl Strategy<Value = Load> {
    let gap = prop_oneof![8 => 0u64..1_500_000, 1 => 0u64..20_000_000, 1 => 900_000u64..1_100_000];
    prop::collection::vec((gap, 40u64..=1500, any::<bool>()), 200..1500)
}

/// The same in steps, so that departures fall on the ends of intervals.
fn load_in_steps() -> impl Strategy<Value = Load> {
    let gap = prop_oneof![16 => 0u64..10, 1 => 0u64..160].prop_map(|steps| steps * STEP);
    prop::collection::vec((gap, (1u64..=11).prop_map(|units| 128 * units), any::<bool>()), 200..1500)
}

fn any_params(arithmetic: Arithmetic, target: impl Strategy<Value = u64>) -> impl Strategy<Value = codel::Params> {
    let threshold = prop::option::of((0u64..50_000).prop_map(Span::from_us));
    (target, 2u64..20, any::<bool>(), threshold).prop_map(move |(target, factor, ecn, ce_threshold)| {
        let (target, interval) = (Span::from_ns(target), Span::from_ns(target * factor));
        codel::Params { target, interval, ecn, ce_threshold, arithmetic, ..params(5, 100) }
    })
}

/// With times and a load that fall on no grid, or on one.
fn any_case(arithmetic: Arithmetic) -> impl Strategy<Value = (codel::Params, Load)> {
    let any_time = prop_oneof![1_000u64..1_000_000, 1_000_000u64..10_000_000];
    let steps = prop_oneof![1u64..6, 1u64..40].prop_map(|steps| steps * STEP);
    prop_oneof![(any_params(arithmetic, any_time), load()), (any_params(arithmetic, steps), load_in_steps())]
}

/// The same packets are dropped, marked, sent and waiting after every arrival.
fn follow<Q: Queue>(params: &codel::Params, load: &Load) -> Result<(), TestCaseError> {
    let (mut port, mut line) = (port(params), Line::<Q>::new(params));
    let mut now = 0;
    for (id, (gap, bytes, ecn)) in (0u32..).zip(load.iter().copied()) {
        now += gap;
        let field = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
        port.arrive(
            Time::from_ns(now),
            Packet { size: bytes as u32, flow: FlowId(id), ecn: field, ..Packet::default() },
        );
        line.arrive(Waiting { id, arrived: now, bytes, ecn });
        let log = line.codel.log();
        prop_assert_eq!(port.dropped().len(), log.dropped.len());
        prop_assert_eq!(total(&port).marked.packets, log.marked.len() as u64);
        prop_assert_eq!((port.waiting().len(), port.sent), (line.codel.waiting(), line.sent));
    }
    let dropped: Vec<_> = port.dropped().iter().map(|(packet, _)| packet.flow.0).collect();
    prop_assert_eq!(dropped, &*line.codel.log().dropped);
    prop_assert!(port.dropped().iter().all(|(_, reason)| *reason == Reason::Early));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// RFC 8289: every drop and mark, at the same packet.
    #[test]
    fn every_drop_is_the_pseudo_codes((params, load) in any_case(Arithmetic::Rfc)) {
        follow::<CoDel>(&params, &load)?;
    }

    /// Linux: every drop and mark, at the same packet.
    #[test]
    fn every_drop_is_linuxs((params, load) in any_case(Arithmetic::Linux)) {
        follow::<Linux>(&params, &load)?;
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
    let fates = total(&port);
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
