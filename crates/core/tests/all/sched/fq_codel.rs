//! FQ-CoDel against slow versions from RFC 8290 and of Linux, packet for packet; its laws.

use super::flow_line::{Entry, Host};
use super::line::{NOW, scope};
use crate::oracle::codel::{CoDel, Settings, Waiting};
use crate::oracle::codel_linux::Linux;
use crate::oracle::fq_codel::{FqCoDel, Limits, Shared};
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::packet::Ecn;
use perhop_core::sched::flows::{Hash, Hashing};
use perhop_core::sched::{AnyScheduler, SchedulerParams, fq_codel};
use perhop_core::units::{Bytes, Packets, Span};
use proptest::prelude::*;

/// When the slow Linux begins, ns: its clock then reads what a machine's does that has been up for a while.
const UP: u64 = 1024 * 1_000_000_000;

fn params(arithmetic: Arithmetic) -> fq_codel::Params {
    fq_codel::Params {
        flows: 8,
        quantum: Bytes::new(1514),
        limit: Packets::new(1000),
        memory: Bytes::new(1 << 25),
        drop_batch: 64,
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        mtu: Bytes::new(1514),
        ecn: true,
        ce_threshold: None,
        hashing: Hashing { hash: Hash::Exact, salt: 0 },
        arithmetic,
    }
}

fn host(params: &fq_codel::Params) -> Host {
    Host::new(&SchedulerParams::FqCodel(params.clone()))
}

fn slow<C: Shared>(params: &fq_codel::Params) -> FqCoDel<C> {
    let settings = Settings {
        target: params.target.ns(),
        interval: params.interval.ns(),
        maxpacket: params.mtu.get(),
        ecn: params.ecn,
        ce_threshold: params.ce_threshold.map(Span::ns),
    };
    let limits = Limits {
        quantum: params.quantum.get() as i64,
        packets: params.limit.get() as usize,
        memory: params.memory.get(),
        drop_batch: params.drop_batch as usize,
        linux: params.arithmetic == Arithmetic::Linux,
    };
    FqCoDel::new(limits, (0..params.flows).map(|_| C::new(settings)).collect())
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Packets of a flow arrive together: flow, how many, bytes, whether they are ECN-capable.
    Arrive(u32, u32, u32, bool),
    /// Time passes, ns.
    Wait(u64),
    /// A packet is sent, if any waits; another scheduler may have looked at it before.
    Send,
    /// Another scheduler looks at what would be sent.
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![40u32..=1514, Just(1514), Just(757)];
    prop_oneof![
        4 => (0u32..8, 1u32..4, size.clone(), any::<bool>()).prop_map(|(flow, n, size, ecn)| Step::Arrive(flow, n, size, ecn)),
        1 => (0u32..3, 3u32..30, size, any::<bool>()).prop_map(|(flow, n, size, ecn)| Step::Arrive(flow, n, size, ecn)),
        3 => prop_oneof![0u64..200_000, 0u64..3_000_000, Just(128_000)].prop_map(Step::Wait),
        6 => Just(Step::Send),
        1 => Just(Step::Look),
    ]
}

fn any_params(arithmetic: Arithmetic) -> impl Strategy<Value = fq_codel::Params> {
    let limits = (prop_oneof![2u32..40, 200u32..1000], prop_oneof![2000u64..60_000, Just(1 << 25)], 1u32..20);
    let quantum = prop_oneof![256u64..4000, Just(757), Just(1514)];
    let codel = (prop_oneof![10u64..1000, 1000u64..5000], 2u64..20, any::<bool>());
    let threshold = prop::option::of((0u64..5000).prop_map(Span::from_us));
    (limits, quantum, codel, threshold).prop_map(
        move |((limit, memory, drop_batch), quantum, (target_us, factor, ecn), ce_threshold)| fq_codel::Params {
            quantum: Bytes::new(quantum),
            limit: Packets::new(limit),
            memory: Bytes::new(memory),
            drop_batch,
            target: Span::from_us(target_us),
            interval: Span::from_us(target_us * factor),
            ecn,
            ce_threshold,
            ..params(arithmetic)
        },
    )
}

/// Every packet that is sent, dropped and marked.
fn follow<C: Shared>(params: &fq_codel::Params, steps: &[Step], began: u64) -> Result<(), TestCaseError> {
    let (mut host, mut slow) = (host(params), slow::<C>(params));
    let (mut now, mut id, mut shown) = (0, 0, None);
    let mut places = Vec::new();
    let shift = |packet: Waiting| Waiting { arrived: packet.arrived + began, ..packet };
    for step in steps {
        match *step {
            Step::Wait(ns) => now += ns,
            Step::Arrive(flow, n, bytes, ecn) => {
                let place = places.iter().position(|f| *f == flow).unwrap_or(places.len());
                if place == places.len() {
                    places.push(flow);
                }
                for _ in 0..n {
                    let packet = Waiting { id, arrived: now, bytes: bytes.into(), ecn };
                    let field = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
                    host.arrive(place as u32, Entry { packet, field });
                    slow.enqueue(place, shift(packet), usize::from(shown.is_some()));
                    id += 1;
                }
            }
            Step::Look => {
                host.look(now);
                shown = shown.or_else(|| slow.dequeue(now + began));
            }
            Step::Send => {
                let expected = shown.take().or_else(|| slow.dequeue(now + began));
                prop_assert_eq!(host.send(now).map(shift), expected);
            }
        }
        prop_assert_eq!(&host.log.dropped, &slow.log.dropped);
        prop_assert_eq!(&host.log.marked, &slow.log.marked);
    }
    prop_assert_eq!(host.all().packets, (slow.packets() + usize::from(shown.is_some())) as u64);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// RFC 8290 section 4: every packet.
    #[test]
    fn every_packet_goes_as_the_rfc_says(
        params in any_params(Arithmetic::Rfc), steps in prop::collection::vec(step(), 50..600),
    ) {
        follow::<CoDel>(&params, &steps, 0)?;
    }

    /// Linux: every packet.
    #[test]
    fn every_packet_goes_as_in_linux(
        params in any_params(Arithmetic::Linux), steps in prop::collection::vec(step(), 50..600),
    ) {
        follow::<Linux>(&params, &steps, UP)?;
    }
}

fn entry(id: u32, arrived: u64, bytes: u64) -> Entry {
    Entry { packet: Waiting { id, arrived, bytes, ecn: false }, field: Ecn::NotEct }
}

/// All of one size in a queue that is always full: shares of bytes are equal whatever the packets' sizes, within a quantum
/// and a packet.
#[test]
fn flows_share_by_bytes() {
    let long = Span::from_s(100);
    let mut host = host(&fq_codel::Params { target: Span::from_s(99), interval: long, ..params(Arithmetic::Rfc) });
    let sizes = [1500, 700, 100];
    for (flow, bytes) in (0..).zip(sizes) {
        (0..300_000 / bytes).for_each(|i| host.arrive(flow, entry(flow * 10_000 + i as u32, 0, bytes)));
    }
    let mut sent = [0u64; 3];
    for _ in 0..600 {
        let packet = host.send(0).unwrap();
        sent[packet.id as usize / 10_000] += packet.bytes;
    }
    let (most, least) = (sent.iter().max().unwrap(), sent.iter().min().unwrap());
    assert!(most - least <= 1514 + 1500, "{sent:?}");
}

/// A packet now and then of a flow that has nothing waiting goes before what the others have, and waits for one packet
/// of them at most.
#[test]
fn a_sparse_flow_goes_first() {
    for arithmetic in [Arithmetic::Rfc, Arithmetic::Linux] {
        let mut host = host(&params(arithmetic));
        (0..100).for_each(|id| host.arrive(id % 2, entry(id, 0, 1000)));
        (0..10).for_each(|_| _ = host.send(0));
        for id in 1000..1010 {
            host.arrive(2, entry(id, 0, 100));
            assert_eq!(host.send(0).map(|packet| packet.id), Some(id));
            // Two rounds of the others: it has left the lists.
            (0..4).for_each(|_| _ = host.send(0));
        }
    }
}

/// What is too much goes at the head of the fattest, half of it at most, a batch at most.
#[test]
fn the_fattest_makes_room() {
    for (drop_batch, expected) in [(64, vec![0, 1, 2]), (2, vec![0, 1]), (1, vec![0])] {
        let mut host = host(&fq_codel::Params { limit: Packets::new(10), drop_batch, ..params(Arithmetic::Linux) });
        (0..6).for_each(|id| host.arrive(0, entry(id, 0, 1000)));
        (6..10).for_each(|id| host.arrive(1, entry(id, 0, 1400)));
        assert!(host.log.dropped.is_empty());
        host.arrive(2, entry(10, 0, 100));
        assert_eq!(host.log.dropped, expected);
    }
}

/// A queue found empty goes behind the old ones; in Linux, if there are none, it is new again with its next packet.
#[test]
fn an_empty_new_queue_is_old_unless_linux_has_no_old_ones() {
    for (arithmetic, expected) in [(Arithmetic::Rfc, [3, 2]), (Arithmetic::Linux, [2, 3])] {
        let mut host = host(&params(arithmetic));
        host.arrive(0, entry(0, 0, 1000));
        assert_eq!(host.send(0).unwrap().id, 0);
        // Queue 0 is still new, and empty. Queue 1 comes behind it, and sends: queue 0 has been passed over.
        host.arrive(1, entry(1, 0, 2000));
        assert_eq!(host.send(0).unwrap().id, 1);
        host.arrive(0, entry(2, 0, 1000));
        host.arrive(2, entry(3, 0, 1000));
        let next = [host.send(0).unwrap().id, host.send(0).unwrap().id];
        assert_eq!(next, expected, "{arithmetic:?}");
    }
}

fn built(params: &fq_codel::Params) -> Result<AnyScheduler, (&'static str, &'static str)> {
    SchedulerParams::FqCodel(params.clone()).build(&scope()).map_err(|e| (e.field, e.code))
}

#[test]
fn what_cannot_work_is_refused() {
    let base = params(Arithmetic::Rfc);
    let cases = [
        (fq_codel::Params { flows: 0, ..base.clone() }, ("flows", "E201")),
        (fq_codel::Params { flows: 65_537, ..base.clone() }, ("flows", "E201")),
        (fq_codel::Params { quantum: Bytes::new(255), ..base.clone() }, ("quantum", "E201")),
        (fq_codel::Params { limit: Packets::new(0), ..base.clone() }, ("limit", "E201")),
        (fq_codel::Params { memory: Bytes::new(0), ..base.clone() }, ("memory", "E201")),
        (fq_codel::Params { drop_batch: 0, ..base.clone() }, ("drop-batch", "E201")),
        (fq_codel::Params { target: base.interval, ..base.clone() }, ("target", "E214")),
    ];
    for (params, error) in cases {
        assert_eq!(built(&params).unwrap_err(), error);
    }
}

/// Which flow has which queue, and in which unit CoDel keeps its times, are fixed.
#[test]
fn a_running_one_keeps_its_queues() {
    let base = params(Arithmetic::Rfc);
    let salted = Hashing { hash: Hash::Salted, salt: 0 };
    let mut running = built(&base).unwrap();
    for (other, field) in [
        (fq_codel::Params { flows: 9, ..base.clone() }, "flows"),
        (fq_codel::Params { hashing: salted, ..base.clone() }, "flows"),
        (params(Arithmetic::Linux), "arithmetic"),
    ] {
        let error = running.retune(NOW, &SchedulerParams::FqCodel(other), &scope()).unwrap_err();
        assert_eq!((error.field, error.code), (field, "E202"));
    }
    let more = fq_codel::Params { quantum: Bytes::new(3000), limit: Packets::new(1), ..base };
    assert!(running.retune(NOW, &SchedulerParams::FqCodel(more), &scope()).is_ok());
}
