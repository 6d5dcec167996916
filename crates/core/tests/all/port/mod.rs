//! The port: its classes, its hooks at departure, and that a line known in advance gives what one step at a time gives.

mod edges;
mod tree;
mod hooks;
mod lists;

use perhop_core::Scope;
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::aqm::early::Weight;
use perhop_core::aqm::members::Member;
use perhop_core::aqm::{Aqm as _, AqmParams, codel, drop_tail, fred};
use perhop_core::classify::{FlowHeaders, Match};
use perhop_core::conditioner::{ConditionerParams, Passage, pps_relabeller};
use perhop_core::counted::Of;
use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::params::{Node, Params as _, Place, Problems, Reader, Table, Tree};
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::port::{
    Buffers, Fates, Limit, MOST_HEAD_DROPS, NodeSpec, Port, PortError, PortSpec, QueueSpec, Side, Transmission,
};
use perhop_core::sched::{HostKey, SchedulerParams, strict_priority};
use perhop_core::units::{BitRate, Bytes, Length, Packets, Probability, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use proptest::prelude::*;

/// Packets by number, and those that were dropped at the head.
#[derive(Default)]
struct Held {
    packets: Vec<Packet>,
    dropped: Vec<(usize, Reason)>,
}

impl Buffers<usize> for Held {
    fn packet(&mut self, handle: usize) -> &mut Packet {
        &mut self.packets[handle]
    }

    fn dropped(&mut self, handle: usize, reason: Reason) {
        self.dropped.push((handle, reason));
    }
}

impl Held {
    fn arrive(&mut self, port: &mut Port<usize>, now: Time, packet: Packet) -> Fate {
        let handle = self.packets.len();
        self.packets.push(packet);
        port.arrive(&Passage::of(now, packet.flow), &mut self.packets[handle], handle)
    }
}

fn at(us: u64) -> Time {
    Time::from_ns(us * 1000)
}

fn scope() -> Scope {
    Scope { link_rate: Some(BitRate::mbps(8)), limit: Some(Length::Packets(Packets::new(1000))), ..Scope::default() }
}

fn queue(aqm: AqmParams, limit: u32) -> QueueSpec {
    QueueSpec { aqm, limit: Limit::Packets(limit), drop: Side::Tail, scope: scope() }
}

fn drop_tail(limit: u32) -> QueueSpec {
    queue(AqmParams::DropTail(drop_tail::Params {}), limit)
}

fn of_times(target: Span, interval: Span) -> codel::Params {
    let (mtu, arithmetic) = (Bytes::new(1500), Arithmetic::Rfc);
    codel::Params { target, interval, mtu, ecn: false, ce_threshold: None, arithmetic }
}

fn codel(limit: u32) -> QueueSpec {
    let (target, interval) = (Span::from_ms(5), Span::from_ms(100));
    queue(AqmParams::CoDel(of_times(target, interval)), limit)
}

fn spec<'a>(edge: &'a [StageSpec], queues: &'a [QueueSpec]) -> PortSpec<'a> {
    PortSpec { name: "a -> b", edge, queues, nodes: &[], seed: 1, replication: 0 }
}

/// Green packets before all others.
fn green_first() -> SchedulerParams {
    let class = |members| strict_priority::Class {
        filter: Vec::into(members),
        name: None,
        template: Default::default(),
        limit: Default::default(),
        same_level: None,
        queue: HostKey,
    };
    let classes = vec![class(vec![Member::Colour(Colour::Green)]), class(vec![])];
    SchedulerParams::StrictPriority(strict_priority::Params { classes: classes.into() })
}

fn coloured(colour: Colour) -> Packet {
    Packet { size: 100, colour, ..Packet::default() }
}

fn of_class(queues: &[QueueSpec; 2]) -> Port<usize> {
    let nodes = NodeSpec::flat(green_first(), queues);
    PortSpec { nodes: &nodes, ..spec(&[], queues) }.build().unwrap()
}

/// Idle: nothing waits in it, and nothing of it is being sent; since the end of its own last transmission.
#[test]
fn a_queue_is_idle_by_itself() {
    let (mut port, mut held) = (of_class(&[drop_tail(2), drop_tail(2)]), Held::default());
    let idle = |port: &Port<usize>, us| [0, 1].map(|i| port.queues()[i].backlog(at(us)).idle_since);
    assert_eq!(idle(&port, 5), [Some(Time::ZERO); 2]);
    for colour in [Colour::Red, Colour::Green] {
        assert_eq!(held.arrive(&mut port, at(10), coloured(colour)), Fate::Queued);
    }
    assert_eq!(idle(&port, 10), [None, None]);
    let first = port.next(at(10), &mut held).unwrap();
    assert_eq!((first.handle, first.queue, first.arrived), (1, 0, at(10)));
    port.busy_until(&first, at(20));
    assert_eq!(idle(&port, 19), [None, None]);
    assert_eq!(idle(&port, 20), [Some(at(20)), None], "the other still waits");
    let second = port.next(at(20), &mut held).unwrap();
    port.busy_until(&second, at(30));
    assert_eq!((second.handle, idle(&port, 40)), (0, [Some(at(20)), Some(at(30))]));
}

/// Each queue has its own limit; a packet that is dropped when its turn has come is gone, and its queue was busy until then.
#[test]
fn a_queue_is_full_by_itself_and_what_is_dropped_at_the_head_is_gone() {
    let (mut port, mut held) = (of_class(&[codel(20), drop_tail(1)]), Held::default());
    assert_eq!(held.arrive(&mut port, at(0), coloured(Colour::Red)), Fate::Queued);
    assert_eq!(held.arrive(&mut port, at(0), coloured(Colour::Yellow)), Fate::Dropped(Reason::Overflow));
    for _ in 0..20 {
        assert_eq!(held.arrive(&mut port, at(0), Packet { size: 1000, ..coloured(Colour::Green) }), Fate::Queued);
    }
    assert_eq!(port.backlog(at(0)).packets, 21);
    // The first long wait is noticed at 10 ms; it has been long for an interval at 110 ms.
    assert_eq!(port.next(at(10_000), &mut held).unwrap().handle, 2);
    assert_eq!(port.next(at(110_000), &mut held).unwrap().handle, 4);
    assert_eq!(held.dropped, [(3, Reason::Early)]);
    let fates = port.queues()[0].gate().fates().of(Of::new(0, Colour::Green));
    assert_eq!((fates.queued.packets, fates.dropped_at_head.packets, fates.lost().packets), (20, 1, 1));
    assert_eq!(port.queues()[0].sent().packets, 2);
    assert!(fates.conserved());
}

/// One call drops no more than its bound, however much CoDel's schedule asks for: after a pause of hours it asks for
/// thousands.
#[test]
fn head_drops_in_one_call_are_bounded_and_counted() {
    let (mut port, mut held) = (spec(&[], &[codel(2000)]).build().unwrap(), Held::default());
    let packet = Packet { size: 1000, ..Packet::default() };
    (0..2000).for_each(|_| assert_eq!(held.arrive(&mut port, at(0), packet), Fate::Queued));
    for ms in [10, 111] {
        port.next(at(ms * 1000), &mut held).unwrap();
    }
    let dropped = held.dropped.len();
    let leaving = port.next(at(10_000_000_000), &mut held).unwrap();
    let in_one_call = held.dropped.len() - dropped;
    assert_eq!((in_one_call, port.queues()[0].gate().spared()), (MOST_HEAD_DROPS as usize, 1));
    assert_eq!(leaving.handle, held.dropped.last().unwrap().0 + 1, "the packet behind the last drop leaves");
    let fates = port.fates().values().fold(Fates::default(), |sum, fates| sum.plus(fates));
    assert!(fates.conserved());
    assert_eq!(fates.dropped_at_head.packets, held.dropped.len() as u64);
}

/// What was counted between two times never falls, also where a packet let in before the first is dropped after it: what a
/// warm-up asks for.
#[test]
fn no_count_falls_when_a_packet_is_dropped_at_the_head() {
    let (mut port, mut held) = (spec(&[], &[codel(300)]).build().unwrap(), Held::default());
    let packet = Packet { size: 1000, ..Packet::default() };
    (0..300).for_each(|_| assert_eq!(held.arrive(&mut port, at(0), packet), Fate::Queued));
    let warm = port.fates();
    for ms in 1..400 {
        port.next(at(ms * 1000), &mut held);
    }
    let since: Vec<_> = port.fates().iter().map(|(of, now)| now.since(&warm.of(of))).collect();
    let all = since.iter().fold(Fates::default(), |sum, fates| sum.plus(fates));
    assert_eq!((all.arrived.packets, all.queued.packets), (0, 0));
    assert!(all.dropped_at_head.packets > 0 && all.dropped_at_head == all.lost());
}

fn relabeller() -> StageSpec {
    let mut problems = Problems::default();
    let table = Table { entries: vec![("tickets".into(), Place::default(), Node::from(Tree::Text("1000t/s".into())))] };
    let params = pps_relabeller::Params::read(&mut Reader::new(&table, Place::default(), &mut problems)).unwrap();
    StageSpec {
        name: "exchange".into(),
        matches: Match::default(),
        per: Per::Aggregate,
        params: ConditionerParams::PpsRelabeller(params),
        actions: [Action::TRANSMIT; 4],
        scope: scope(),
    }
}

fn headers() -> FlowHeaders {
    FlowHeaders {
        protocol: 17,
        source: std::net::Ipv4Addr::new(10, 0, 0, 1).into(),
        destination: std::net::Ipv4Addr::new(10, 0, 0, 2).into(),
        source_port: 1,
        destination_port: 2,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    }
}

/// Conditioners see at departure what leaves, and nothing else: a packet that the AQM drops at the head keeps its label.
#[test]
fn conditioners_see_what_leaves_and_not_what_is_dropped() {
    let (mut port, mut held) = (spec(&[relabeller()], &[codel(1000)]).build().unwrap(), Held::default());
    port.register(FlowId(0), &headers());
    let mut packet = Packet { size: 1000, ..Packet::default() };
    packet.set_label(100.0);
    let mut left = Vec::new();
    for us in 0..2_000_000 / 500 {
        held.arrive(&mut port, at(us * 500), packet);
        if us % 2 == 0 {
            left.extend(port.next(at(us * 500), &mut held).map(|leaving| leaving.handle));
        }
    }
    let label = |i: &usize| held.packets[*i].label();
    assert!(held.dropped.len() > 20);
    assert!(held.dropped.iter().all(|(i, _)| label(i) == Some(100.0)));
    assert!(left.iter().skip(100).all(|i| label(i) != Some(100.0)), "what left was relabelled");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let queues = [drop_tail(1), drop_tail(1), drop_tail(1)];
    let nodes = NodeSpec::flat(green_first(), &queues);
    let three = PortSpec { nodes: &nodes, ..spec(&[], &queues) };
    assert_eq!(three.build::<()>().unwrap_err(), PortError::Queues { queues: 3, classes: 2 });
    assert_eq!(spec(&[], &queues).build::<()>().unwrap_err(), PortError::Queues { queues: 3, classes: 1 });
    assert_eq!(spec(&[], &[]).build::<()>().unwrap_err(), PortError::Queues { queues: 0, classes: 1 });
    let wrong = [queue(AqmParams::CoDel(of_times(Span::ZERO, Span::from_ms(1))), 1)];
    let PortError::Queue(error) = spec(&[], &wrong).build::<()>().unwrap_err() else { panic!("the AQM's fault") };
    assert_eq!((error.field, error.code), ("target", "E201"));
}

/// A line of 8 Mbit/s.
fn sends(now: Time, busy_until: Time, bytes: u32) -> Transmission {
    let starts = now.max(busy_until);
    Transmission { starts, ends: starts + Span::from_us(u64::from(bytes)) }
}

/// What becomes of each packet at its arrival, and when those that stay are sent.
type Story = (Vec<Fate>, Vec<(usize, Time)>);

fn ahead(spec: &PortSpec<'_>, load: &[(u64, Packet)]) -> Story {
    let mut port: Port<usize> = spec.build().unwrap();
    assert!(port.is_plain_fifo());
    let (mut busy_until, mut now, mut fates, mut sent, mut first) = (Time::ZERO, 0, Vec::new(), Vec::new(), None);
    for (i, (gap, packet)) in load.iter().enumerate() {
        now += gap;
        let line = |at| {
            let sent = sends(at, busy_until, packet.size);
            busy_until = sent.ends;
            sent
        };
        let kept = port.arrive_ahead(&Passage::of(at(now), packet.flow), &mut packet.clone(), i, line);
        fates.push(kept.map_or_else(Fate::Dropped, |_| Fate::Queued));
        if let Ok(Some(ends)) = kept {
            assert_eq!(first.replace(ends), None, "nothing was taken: only the first is the first");
        }
    }
    while let Some(ends) = first {
        let (next, behind) = port.take_sent();
        assert_eq!(next.sent.ends, ends);
        first = behind;
        sent.push((next.handle, next.sent.starts));
    }
    (fates, sent)
}

fn step_by_step(spec: &PortSpec<'_>, load: &[(u64, Packet)]) -> Story {
    let mut port: Port<usize> = spec.build().unwrap();
    let (mut busy_until, mut now, mut held) = (None, 0, Held::default());
    let (mut fates, mut sent) = (Vec::new(), Vec::new());
    let mut begin = |port: &mut Port<usize>, held: &mut Held, now: Time| {
        let leaving = port.next(now, held)?;
        sent.push((leaving.handle, now));
        let ends = sends(now, now, held.packets[leaving.handle].size).ends;
        port.busy_until(&leaving, ends);
        Some(ends)
    };
    for (gap, packet) in load {
        now += gap;
        while let Some(done) = busy_until.filter(|done| *done <= at(now)) {
            busy_until = begin(&mut port, &mut held, done);
        }
        fates.push(held.arrive(&mut port, at(now), *packet));
        if busy_until.is_none() {
            busy_until = begin(&mut port, &mut held, at(now));
        }
    }
    while let Some(done) = busy_until {
        busy_until = begin(&mut port, &mut held, done);
    }
    (fates, sent)
}

fn red() -> AqmParams {
    let text = |text: &str| Node::from(Tree::Text(text.into()));
    let entries = [("min", text("2p")), ("max", text("8p"))].map(|(key, node)| (key.into(), Place::default(), node));
    let (table, mut problems) = (Table { entries: entries.into() }, Problems::default());
    AqmParams::read("red", Place::default(), &mut Reader::new(&table, Place::default(), &mut problems)).unwrap()
}

proptest! {
    /// Whether the line says at once when a packet will be sent, or is asked again at the end of each transmission: the
    /// same fates, the same times. Gaps and sizes are few, so that packets often arrive when a transmission ends.
    #[test]
    fn a_line_known_in_advance_is_the_same_line(
        load in prop::collection::vec((0u64..30, 1u32..15), 1..300), limit in 1u32..20, managed in any::<bool>(),
    ) {
        let packet = |size| Packet { size, ..Packet::default() };
        let load: Vec<_> = load.into_iter().map(|(gap, size)| (100 * gap, packet(100 * size))).collect();
        let queues = [if managed { queue(red(), limit) } else { drop_tail(limit) }];
        let spec = spec(&[], &queues);
        prop_assert_eq!(ahead(&spec, &load), step_by_step(&spec, &load));
    }
}

/// An AQM that looks at departures sees what waits behind the packet: 3 packets of 500 B behind the first, which with
/// wq = 1 FRED has for its average.
#[test]
fn a_departure_leaves_packets_and_bytes_behind() {
    let bytes = |n| Length::Bytes(Bytes::new(n));
    let params = fred::Params {
        min: bytes(50_000),
        max: bytes(90_000),
        max_p: Probability::new(0.1).unwrap(),
        minq: Packets::new(2),
        weight: Weight(1.0),
        mean_packet: Bytes::new(500),
        ecn: false,
        per: fred::Per::Flow,
    };
    let (mut port, mut held) = (spec(&[], &[queue(AqmParams::Fred(params), 100)]).build().unwrap(), Held::default());
    (0..4).for_each(|_| _ = held.arrive(&mut port, at(0), Packet { size: 500, ..Packet::default() }));
    assert!(port.next(at(0), &mut held).is_some() && held.dropped.is_empty());
    let mut average = 0.0;
    port.queues()[0].gate().aqm().gauges(at(0), &mut |name, value| {
        average = if name == "avg_queue_bytes" { value } else { average };
    });
    assert_eq!(average, 1500.0);
}

/// A limit in bytes is reached, not passed, by the packet that fills it: three of 1000 B wait in 3000 B, a fourth does not.
#[test]
fn a_limit_in_bytes_may_be_filled() {
    for (size, fits) in [(1000, 3), (999, 3), (1001, 2)] {
        let queues = [QueueSpec { limit: Limit::Bytes(3000), ..drop_tail(1) }];
        let (mut port, mut held) = (spec(&[], &queues).build().unwrap(), Held::default());
        let arrive = |_| held.arrive(&mut port, at(0), Packet { size, ..Packet::default() });
        let fates: Vec<_> = (0..5).map(arrive).collect();
        assert_eq!(fates.iter().filter(|fate| **fate == Fate::Queued).count(), fits, "{size} B");
    }
}
