//! CAKE's ACK filter against a slow version, in a queue of its flow and in one that flows share; its laws.
//! SACK blocks are those of RFC 2018 section 3.

use super::line::{read_table, scope};
use crate::oracle::acks::{self, Waiting};
use perhop_core::aqm::{AqmParams, drop_tail};
use perhop_core::conditioner::Passage;
use perhop_core::packet::{FlowId, Options, Packet, flags};
use perhop_core::params::Tree;
use perhop_core::port::{Buffers, Fates, Inside, Limit, NodeSpec, Port, PortSpec, QueueSpec, Side};
use perhop_core::units::Time;
use perhop_core::verdict::Reason;
use proptest::prelude::*;

/// Packets by number, and what was dropped of them.
#[derive(Default)]
struct Store {
    packets: Vec<Waiting>,
    dropped: Vec<(u32, Reason)>,
}

impl Buffers<u32> for Store {
    fn packet(&mut self, handle: u32) -> &mut Packet {
        &mut self.packets[handle as usize].0
    }

    fn options(&mut self, handle: u32) -> Options {
        self.packets[handle as usize].1
    }

    fn dropped(&mut self, handle: u32, reason: Reason) {
        self.dropped.push((handle, reason));
    }
}

fn port(isolation: &str, filter: &str) -> Port<u32> {
    let text = |text: &str| Tree::Text(text.into());
    let keys = vec![
        ("tins", text("besteffort")),
        ("isolation", text(isolation)),
        ("flows", Tree::Integer(8)),
        ("hash", text("exact")),
        ("ack-filter", text(filter)),
    ];
    let scheduler = Inside::Scheduler(read_table("cake", keys).unwrap());
    let node = |parent, inside| NodeSpec { parent, shaper: None, inside, scope: scope() };
    let nodes = [node(None, scheduler), node(Some(0), Inside::Queue(0))];
    let aqm = AqmParams::DropTail(drop_tail::Params {});
    let queues = [QueueSpec { aqm, limit: Limit::Packets(u32::MAX), drop: Side::Tail, scope: scope() }];
    PortSpec { name: "p", edge: &[], queues: &queues, nodes: &nodes, seed: 1, replication: 0 }.build().unwrap()
}

/// What is drawn of a packet: blocks, where they begin, time stamps and whether there are other options among it.
type Drawn = (u32, u8, u16, i64, (Vec<[u32; 2]>, u32, Option<(u32, u32)>, u32), bool);

/// An ACK that mostly goes forward, now and then a duplicate with blocks, an old one, one of another kind.
fn packets() -> impl Strategy<Value = Vec<(Waiting, bool)>> {
    let block = (0u32..12, 1u32..5).prop_map(|(from, length)| [from, from + length]);
    let kind = prop_oneof![
        20 => Just(flags::ACK),
        3 => Just(flags::ACK | flags::ECE),
        1 => Just(flags::ACK | flags::CWR),
        1 => Just(flags::ACK | flags::AE),
        1 => Just(flags::ACK | flags::FIN),
        1 => Just(flags::ACK | flags::SYN),
        1 => Just(0u8),
    ];
    let payload = prop_oneof![8 => Just(0u16), 1 => Just(700)];
    let options =
        (prop::collection::vec(block, 0..3), 0u32..6, prop::option::weighted(0.8, (0u32..2, 0u32..2)), 0u32..20);
    let one = (0u32..3, kind, payload, 0i64..3, options, prop::bool::weighted(0.2));
    prop::collection::vec(one, 1..120).prop_map(|all| {
        let mut number = 100i64;
        let step = |(flow, flags, payload, forward, (blocks, base, stamps, others), leaves): Drawn| {
            number += forward - i64::from(forward == 0 && base == 0);
            let ack = number as u32;
            let packet = Packet { size: 66, flow: FlowId(flow), flags, payload, ack, ..Packet::default() };
            let mut sacks = [[0; 2]; 4];
            let beyond = |block: [u32; 2]| block.map(|at| ack + at - 1 + base.min(1));
            sacks.iter_mut().zip(blocks).for_each(|(place, block)| *place = beyond(block));
            let stamps = stamps.map(|(a, b)| [ack + a, ack + b]);
            ((packet, Options { expected: ack, sacks, stamps, others: others == 0 }), leaves)
        };
        all.into_iter().map(step).collect()
    })
}

/// Runs packets through the port and beside it through the slow version; how many were filtered.
fn follow(isolation: &str, aggressive: bool, load: &[(Waiting, bool)]) -> usize {
    let (mut port, mut store) = (port(isolation, if aggressive { "aggressive" } else { "on" }), Store::default());
    let mut slow: Vec<Vec<u32>> = vec![Vec::new(); 3];
    let mut filtered = 0;
    for (number, (waiting, leaves)) in load.iter().enumerate() {
        let (now, mut packet) = (Time::from_ns(number as u64 * 1000), waiting.0);
        let queue = if isolation == "flows" { packet.flow.0 as usize } else { 0 };
        store.packets.push(*waiting);
        assert!(port.arrive(&Passage::of(now, packet.flow), &mut packet, number as u32).stays());
        port.evict(now, &mut store);
        slow[queue].push(number as u32);
        let seen: Vec<_> = slow[queue].iter().map(|&it| load[it as usize].0).collect();
        let gone = acks::gone(&seen, aggressive).map(|place| (slow[queue].remove(place), Reason::Filtered));
        assert_eq!(store.dropped.pop(), gone, "packet {number} of {isolation}");
        filtered += usize::from(gone.is_some());
        if *leaves && let Some(leaving) = port.next(now, &mut store) {
            let queue = slow.iter_mut().find(|queue| queue.first() == Some(&leaving.handle));
            queue.expect("the first of a queue leaves").remove(0);
        }
    }
    let fates = port.queues().iter().flat_map(|queue| queue.gate().fates().values());
    let sum = fates.fold(Fates::default(), |sum, it| sum.plus(it));
    assert_eq!(sum.dropped[Reason::Filtered as usize].packets, filtered as u64);
    assert_eq!((sum.lost(), port.breaches()), (sum.dropped_at_head, vec![]));
    filtered
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_goes_is_what_the_slow_version_says(load in packets(), aggressive in any::<bool>()) {
        follow("flows", aggressive, &load);
        follow("flowblind", aggressive, &load);
    }
}

/// The comparison has something to compare: both filters drop, the aggressive one more.
#[test]
fn both_filters_drop() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let [mut on, mut aggressive] = [0; 2];
    for _ in 0..100 {
        let load = packets().new_tree(&mut runner).unwrap().current();
        on += follow("flows", false, &load);
        aggressive += follow("flows", true, &load);
    }
    assert!(on > 500 && aggressive > on, "{on} {aggressive}");
}

fn ack(number: u32) -> Waiting {
    let packet = Packet { size: 66, flags: flags::ACK, ack: number, ..Packet::default() };
    (packet, Options { expected: number, ..Options::default() })
}

/// A row of pure ACKs: the filter keeps the newest and one before it, the aggressive one the newest alone.
#[test]
fn of_many_acks_two_or_one_stay() {
    let load: Vec<_> = (1..=50).map(|number| (ack(number), false)).collect();
    assert_eq!((follow("flows", false, &load), follow("flows", true, &load)), (48, 49));
}

/// Equal duplicates all stay: their number is what they say.
#[test]
fn duplicates_stay() {
    let load = vec![(ack(7), false); 30];
    assert_eq!((follow("flows", false, &load), follow("flows", true, &load)), (0, 0));
}

/// A host that cannot read options loses no ACK.
#[test]
fn unknown_options_stay() {
    let mut one = Packet { size: 66, flags: flags::ACK, ..Packet::default() };
    let mut port: Port<()> = {
        let nodes = [("ack-filter", Tree::Text("aggressive".into()))];
        let scheduler = Inside::Scheduler(read_table("cake", nodes.to_vec()).unwrap());
        let node = |parent, inside| NodeSpec { parent, shaper: None, inside, scope: scope() };
        let nodes = [node(None, scheduler), node(Some(0), Inside::Queue(0))];
        let aqm = AqmParams::DropTail(drop_tail::Params {});
        let queues = [QueueSpec { aqm, limit: Limit::Packets(u32::MAX), drop: Side::Tail, scope: scope() }];
        PortSpec { name: "p", edge: &[], queues: &queues, nodes: &nodes, seed: 1, replication: 0 }.build().unwrap()
    };
    for number in 0..20 {
        one.ack = number;
        port.arrive(&Passage::of(Time::ZERO, one.flow), &mut one, ());
        port.evict(Time::ZERO, &mut one);
    }
    assert_eq!(port.backlog(Time::ZERO).packets, 20);
}
