//! CAKE against a slow version, packet for packet; its laws; its errors.

use super::flow_line::{Entry, Host};
use super::line::{NOW, scope};
use crate::common::frames::framing;
use crate::oracle::cake::{self, Settings};
use crate::oracle::codel::Waiting;
use perhop_core::Rng;
use perhop_core::Scope;
use perhop_core::classify::FlowHeaders;
use perhop_core::dscp::Dscp;
use perhop_core::framing::Framing;
use perhop_core::packet::{Ecn, FlowId};
use perhop_core::port::Turn;
use perhop_core::sched::cake::{AckFilter, Isolation, Params, Tins};
use perhop_core::sched::flows::{Hash, Hashing};
use perhop_core::sched::{Scheduler as _, SchedulerParams};
use perhop_core::units::{BitRate, Bytes, Span};
use proptest::prelude::*;
use std::net::IpAddr;

fn defaults() -> Params {
    Params {
        rate: Some(BitRate::mbps(10)),
        tins: Tins::Besteffort,
        isolation: Isolation::Flows,
        rtt: Span::from_ms(100),
        memory: None,
        flows: 16,
        mtu: Bytes::new(1514),
        ack_filter: AckFilter::Off,
        hashing: Hashing { hash: Hash::Exact, salt: 0 },
        framing: Framing::default(),
        split_gso: true,
    }
}

/// Of each flow its source and destination, from few of each.
fn ends(flow: u32) -> [u8; 2] {
    [1 + (flow / 3 % 4) as u8, 11 + (flow % 2) as u8]
}

fn headers([source, destination]: [u8; 2]) -> FlowHeaders {
    FlowHeaders {
        protocol: 17,
        source: IpAddr::from([10, 0, 0, source]),
        destination: IpAddr::from([10, 0, 0, destination]),
        source_port: 1,
        destination_port: 2,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    }
}

/// Code points of every kind, by flow.
const CODES: [u8; 12] = [0, 46, 34, 18, 8, 48, 1, 26, 16, 40, 10, 44];

fn dscp(flow: u32) -> Dscp {
    Dscp::new(CODES[flow as usize % CODES.len()]).unwrap()
}

/// The tins of CODES as tc-cake(8) lists them.
fn tin(tins: Tins, flow: u32) -> usize {
    let of = |tins: [usize; 12]| tins[flow as usize % CODES.len()];
    match tins {
        Tins::Besteffort => 0,
        Tins::Precedence => of([0, 5, 4, 2, 1, 6, 0, 3, 2, 5, 1, 5]),
        Tins::Diffserv3 => of([0, 2, 0, 0, 1, 2, 1, 0, 0, 0, 0, 2]),
        Tins::Diffserv4 => of([0, 3, 2, 2, 1, 3, 1, 2, 2, 3, 0, 3]),
        Tins::Diffserv8 => of([2, 6, 3, 4, 1, 7, 0, 3, 5, 6, 1, 6]),
    }
}

/// The tins' rates and quanta as tc-cake(8) and Linux have them.
fn tins(params: &Params) -> Vec<(Option<u64>, i128)> {
    let rate = params.rate.map(|rate| rate.bit_s() / 8);
    let parts = |all: [(u64, i128); 4], n: usize| -> Vec<_> {
        all[..n].iter().map(|&(by, quantum)| (rate.map(|rate| rate / by), quantum)).collect()
    };
    match params.tins {
        Tins::Besteffort => vec![(rate, 65_535)],
        Tins::Diffserv3 => parts([(1, 1024), (16, 64), (4, 256), (1, 0)], 3),
        Tins::Diffserv4 => parts([(1, 1024), (16, 64), (2, 512), (4, 256)], 4),
        Tins::Precedence | Tins::Diffserv8 => {
            let mut all = vec![(rate, 256)];
            for i in 0..7 {
                let (rate, quantum): (Option<u64>, i128) = all[i];
                all.push((rate.map(|rate| rate * 7 / 8), quantum * 7 / 8));
            }
            all
        }
    }
}

const FLOWS: u32 = 12;

fn host(params: &Params) -> Host {
    let mut host = Host::new(&SchedulerParams::Cake(params.clone()));
    (0..FLOWS).for_each(|flow| host.scheduler.register(Turn::testing(FlowId(flow)), &headers(ends(flow))));
    host.dscp = dscp;
    host
}

fn slow(params: &Params) -> cake::Cake {
    let alike = match params.isolation {
        Isolation::DualSrchost => [true, false],
        Isolation::DualDsthost => [false, true],
        Isolation::TripleIsolate => [true, true],
        _ => [false, false],
    };
    let settings = Settings {
        rate: params.rate.map(|rate| rate.bit_s() / 8),
        tins: tins(params),
        rtt: params.rtt.ns().into(),
        memory: params.memory.map_or(u64::MAX, Bytes::get),
        alike,
        hosts: (0..FLOWS).map(|flow| ends(flow).map(usize::from)).collect(),
        mtu: params.mtu.get(),
        framing: params.framing,
    };
    cake::Cake::new(settings, Rng::stream(1, 0, "scheduler.p.0"))
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many packets of a flow: flow, how many, bytes, ECN field.
    Arrive(u32, u32, u32, Ecn),
    /// ns
    Wait(u64),
    Send,
    /// Another scheduler looks at what would be sent.
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = || prop_oneof![40u32..=1514, Just(1514), Just(305)];
    let field = || prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ce]);
    let step = prop_oneof![
        6 => (0..FLOWS, 1u32..3, size(), field()).prop_map(|(flow, n, size, ecn)| Step::Arrive(flow, n, size, ecn)),
        1 => (0..FLOWS, 3u32..40, size(), field()).prop_map(|(flow, n, size, ecn)| Step::Arrive(flow, n, size, ecn)),
        4 => prop_oneof![0u64..3_000_000, 0u64..30_000_000, 100_000_000u64..300_000_000].prop_map(Step::Wait),
        9 => Just(Step::Send),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 20..500)
}

fn params() -> impl Strategy<Value = Params> {
    let rate = prop_oneof![Just(None), (1u64..2_000_000).prop_map(|by| Some(BitRate::bps(8192 + by * 50)))];
    let sorts = [Tins::Besteffort, Tins::Precedence, Tins::Diffserv3, Tins::Diffserv4, Tins::Diffserv8];
    let isolations = [Isolation::Flows, Isolation::DualSrchost, Isolation::DualDsthost, Isolation::TripleIsolate];
    let memory = prop_oneof![Just(None), (4000u64..60_000).prop_map(|n| Some(Bytes::new(n)))];
    let pick = (prop::sample::select(sorts.to_vec()), prop::sample::select(isolations.to_vec()));
    (rate, pick, 1u64..200_000, memory, framing()).prop_map(|(rate, (tins, isolation), us, memory, framing)| Params {
        rate,
        tins,
        isolation,
        rtt: Span::from_us(us * 20),
        memory,
        framing,
        ..defaults()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Every packet sent, marked and dropped.
    #[test]
    fn every_packet_goes_as_in_the_slow_version(params in params(), steps in steps()) {
        let (mut host, mut slow) = (host(&params), slow(&params));
        let (mut id, mut now, mut shown) = (0, 0, None);
        for step in steps {
            match step {
                Step::Arrive(flow, n, bytes, field) => {
                    for _ in 0..n {
                        let packet = Waiting { id, arrived: now, bytes: bytes.into(), ecn: field.capable() };
                        host.arrive(flow, Entry { packet, field });
                        slow.enqueue(tin(params.tins, flow), flow as usize, packet);
                        id += 1;
                    }
                }
                Step::Wait(ns) => now += ns,
                Step::Look => {
                    host.look(now);
                    shown = shown.or_else(|| slow.dequeue(now));
                }
                Step::Send => prop_assert_eq!(host.send(now), shown.take().or_else(|| slow.dequeue(now))),
            }
            prop_assert_eq!(&host.log.dropped, &slow.dropped);
            prop_assert_eq!(&host.log.marked, &slow.marked);
        }
    }
}

/// Gives every flow that has fewer than three packets waiting another three, and sends `n`; the bytes that each flow sent.
fn saturated(host: &mut Host, flows: u32, sizes: fn(u32) -> u64, n: usize) -> Vec<u64> {
    let (mut now, mut id, mut waiting, mut sent) = (0, 0, vec![0; flows as usize], vec![0; flows as usize]);
    let mut whose = Vec::new();
    for _ in 0..n {
        for flow in (0..flows).filter(|&flow| waiting[flow as usize] < 3).collect::<Vec<_>>() {
            for _ in 0..3 {
                let packet = Waiting { id, arrived: now, bytes: sizes(flow), ecn: true };
                host.arrive(flow, Entry { packet, field: Ecn::Ect0 });
                whose.push(flow);
                id += 1;
            }
            waiting[flow as usize] += 3;
        }
        let packet = loop {
            match host.send(now) {
                Some(packet) => break packet,
                None => now = host.opens.unwrap(),
            }
        };
        let flow = whose[packet.id as usize] as usize;
        waiting[flow] -= 1;
        sent[flow] += packet.bytes;
    }
    sent
}

/// A host with one flow and one with eight: each gets half, to within a quantum and a packet for each of the flows.
#[test]
fn hosts_share_alike_whatever_their_flows() {
    for isolation in [Isolation::DualSrchost, Isolation::TripleIsolate] {
        let params = Params { isolation, ..defaults() };
        let mut host = Host::new(&SchedulerParams::Cake(params));
        for flow in 0..9 {
            let ends = if flow == 0 { [1, 11] } else { [2, 12] };
            host.scheduler.register(Turn::testing(FlowId(flow)), &headers(ends));
        }
        let sent = saturated(&mut host, 9, |flow| 200 + 150 * u64::from(flow), 20_000);
        let (one, eight) = (sent[0], sent[1..].iter().sum::<u64>());
        assert!(one.abs_diff(eight) < 9 * (305 + 1514), "{one} {eight}");
        let (least, most) = (sent[1..].iter().min().unwrap(), sent[1..].iter().max().unwrap());
        assert!(most - least < 2 * (305 + 1514), "{sent:?}");
    }
}

/// Flows whose packets differ in size share by bytes if hosts do not matter.
#[test]
fn flows_share_alike() {
    let mut host = host(&defaults());
    let sent = saturated(&mut host, 9, |flow| 200 + 150 * u64::from(flow), 20_000);
    let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
    assert!(most - least < 2 * (305 + 1514), "{sent:?}");
}

/// Each tin of `diffserv4` gets its part while all want more, and best effort the rest: 3/16. Flow 4 is bulk, 2 video, 1 voice.
#[test]
fn every_tin_gets_its_rate() {
    let params = Params { tins: Tins::Diffserv4, ..defaults() };
    let sent = saturated(&mut host(&params), 5, |_| 1000, 16_000);
    let parts = [sent[0], sent[4], sent[2] + sent[3], sent[1]].map(|bytes| bytes as f64 / 1e6);
    for (part, wanted) in parts.into_iter().zip([3.0, 1.0, 8.0, 4.0]) {
        assert!((part - wanted).abs() < 0.02, "{parts:?}");
    }
    // A tin that is alone has it all.
    let mut alone = host(&params);
    let before = saturated(&mut alone, 1, |_| 1250, 1000);
    assert_eq!((before[0], alone.opens.unwrap()), (1_250_000, 999_000_000));
}

/// Without a rate the tins share by their quanta: 16 to 1 to 8 to 4.
#[test]
fn without_a_rate_tins_share_by_their_quanta() {
    let params = Params { tins: Tins::Diffserv4, rate: None, ..defaults() };
    let sent = saturated(&mut host(&params), 5, |_| 1000, 29_000);
    let parts = [sent[0], sent[4], sent[2] + sent[3], sent[1]].map(|bytes| bytes as f64 / 1e6);
    for (part, wanted) in parts.into_iter().zip([16.0, 1.0, 8.0, 4.0]) {
        assert!((part - wanted).abs() < 0.1, "{parts:?}");
    }
}

proptest! {
    /// In no interval does it send more than its rate and a packet.
    #[test]
    fn it_never_sends_faster_than_its_rate(arrivals in prop::collection::vec((0u64..4_000_000, 0..FLOWS, 40u64..1514), 1..200)) {
        let params = Params { tins: Tins::Diffserv4, isolation: Isolation::TripleIsolate, ..defaults() };
        let (mut host, mut sent, mut at) = (host(&params), Vec::new(), 0);
        let mut send_until = |host: &mut Host, end: u64| {
            let mut now = at;
            while now <= end {
                match host.send(now) {
                    Some(packet) => sent.push((now, packet.bytes)),
                    None if host.all().packets > 0 => now = host.opens.unwrap(),
                    None => break,
                }
            }
            at = end;
        };
        let mut now = 0;
        for (id, (gap, flow, bytes)) in (0..).zip(arrivals) {
            now += gap;
            send_until(&mut host, now - u64::from(gap > 0));
            let packet = Waiting { id, arrived: now, bytes, ecn: false };
            host.arrive(flow, Entry { packet, field: Ecn::NotEct });
        }
        send_until(&mut host, now + 10_000_000_000);
        for first in 0..sent.len() {
            let mut bytes = 0;
            for &(until, last) in &sent[first..] {
                prop_assert!(bytes * 800 <= until - sent[first].0, "{:?}", sent[first]);
                bytes += last;
            }
        }
    }
}

/// Eight queues in a set: forty busy flows of a thousand queues never share, where one hash in 1024 would let them (one of
/// two pairs of hundreds). Flows that left may come back to another place.
#[test]
fn busy_flows_have_their_own_queues() {
    for salt in 0..50 {
        let hashing = Hashing { hash: Hash::Salted, salt };
        let mut host = Host::new(&SchedulerParams::Cake(Params { flows: 1024, hashing, ..defaults() }));
        for flow in 0..40 {
            let packet = Waiting { id: flow, arrived: 0, bytes: 100, ecn: false };
            host.arrive(flow, Entry { packet, field: Ecn::NotEct });
        }
        assert_eq!(host.queues.iter().filter(|queue| queue.len() == 1).count(), 40, "{salt}");
    }
    // Nine flows and one set: two share.
    let hashing = Hashing { hash: Hash::Salted, salt: 1 };
    let mut host = Host::new(&SchedulerParams::Cake(Params { flows: 8, hashing, ..defaults() }));
    for flow in 0..9 {
        let packet = Waiting { id: flow, arrived: 0, bytes: 100, ecn: false };
        host.arrive(flow, Entry { packet, field: Ecn::NotEct });
    }
    assert_eq!(host.queues.iter().filter(|queue| queue.len() == 2).count(), 1);
}

/// How many queues the flows of `ends` have: 12 flows, four sources, two destinations, eight pairs.
#[test]
fn isolation_says_whose_queues_there_are() {
    let cases = [
        (Isolation::Flowblind, 1),
        (Isolation::Srchost, 4),
        (Isolation::Dsthost, 2),
        (Isolation::Hosts, 8),
        (Isolation::Flows, 12),
        (Isolation::DualSrchost, 12),
        (Isolation::DualDsthost, 12),
        (Isolation::TripleIsolate, 12),
    ];
    for (isolation, queues) in cases {
        for hash in [Hash::Exact, Hash::Salted] {
            let mut host = host(&Params { isolation, hashing: Hashing { hash, salt: 5 }, flows: 256, ..defaults() });
            for flow in 0..FLOWS {
                let packet = Waiting { id: flow, arrived: 0, bytes: 100, ecn: false };
                host.arrive(flow, Entry { packet, field: Ecn::NotEct });
            }
            let used = host.queues.iter().filter(|queue| !queue.is_empty()).count();
            assert_eq!(used, queues, "{isolation:?} {hash:?}");
        }
    }
}

#[test]
fn what_cannot_work_is_refused() {
    let cases = [
        (Params { rate: Some(BitRate::bps(8191)), ..defaults() }, "rate"),
        (Params { rtt: Span::ZERO, ..defaults() }, "rtt"),
        (Params { memory: Some(Bytes::new(0)), ..defaults() }, "memory"),
        (Params { flows: 0, ..defaults() }, "flows"),
        (Params { mtu: Bytes::new(0), ..defaults() }, "mtu"),
        (Params { mtu: Bytes::new(65_536), ..defaults() }, "mtu"),
        (Params { framing: Framing { mpu: Some(Bytes::new(70_000)), ..Framing::default() }, ..defaults() }, "mpu"),
    ];
    for (params, field) in cases {
        let error = SchedulerParams::Cake(params).build(&scope()).unwrap_err();
        assert_eq!((error.field, error.code), (field, "E201"));
    }
    let mut running = SchedulerParams::Cake(defaults()).build(&scope()).unwrap();
    let salted = Hashing { hash: Hash::Salted, salt: 0 };
    let cases = [
        (Params { tins: Tins::Diffserv3, ..defaults() }, "tins"),
        (Params { isolation: Isolation::Hosts, ..defaults() }, "isolation"),
        (Params { flows: 8, ..defaults() }, "flows"),
        (Params { hashing: salted, ..defaults() }, "hash"),
    ];
    for (params, field) in cases {
        let error = running.retune(NOW, &SchedulerParams::Cake(params), &scope()).unwrap_err();
        assert_eq!((error.field, error.code), (field, "E202"));
    }
    let slow = Scope { link_rate: Some(BitRate::mbps(9)), ..scope() };
    let advice = SchedulerParams::Cake(defaults()).build(&slow).unwrap().warnings();
    assert_eq!((advice[0].field, advice[0].code), ("rate", "W324"));
    assert!(running.warnings().is_empty());
}

/// A new rate counts from the next packet on; a rate that ends lets all go.
#[test]
fn a_new_rate_counts_at_once() {
    let mut host = host(&defaults());
    for id in 0..4 {
        let packet = Waiting { id, arrived: 0, bytes: 1250, ecn: false };
        host.arrive(0, Entry { packet, field: Ecn::NotEct });
    }
    assert_eq!((host.send(0).map(|p| p.id), host.send(0), host.opens), (Some(0), None, Some(1_000_000)));
    let of = |rate| SchedulerParams::Cake(Params { rate, ..defaults() });
    host.scheduler.retune(NOW, &of(Some(BitRate::mbps(5))), &scope()).unwrap();
    assert_eq!(
        (host.send(1_000_000).map(|p| p.id), host.send(1_000_000), host.opens),
        (Some(1), None, Some(3_000_000))
    );
    host.scheduler.retune(NOW, &of(None), &scope()).unwrap();
    assert_eq!([2_000_000; 2].map(|at| host.send(at).map(|p| p.id)), [Some(2), Some(3)]);
}
