//! Trees of queues: shapers against their definition, schedulers within schedulers against flat ones, room made at the
//! head.

use crate::common::frames::{counted, framing};
use perhop_core::Scope;
use perhop_core::aqm::members::Member;
use perhop_core::aqm::{self, AqmParams, codel, drop_tail};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::conditioner::Passage;
use perhop_core::framing::Framing;
use perhop_core::packet::{Colour, Packet};
use perhop_core::port::{Buffers, Inside, LetGo, Limit, NodeSpec, Port, PortSpec, QueueSpec, ShaperParams, Side};
use perhop_core::sched::{HostKey, SchedulerParams, htb, strict_priority};
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_core::verdict::Reason;
use proptest::prelude::*;

const RATE: BitRate = BitRate::mbps(8); // a byte a microsecond
const BURST: u64 = 3000;

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

/// A packet, and when it comes.
#[derive(Clone, Copy, Debug)]
struct Coming {
    at: Time,
    size: u32,
    colour: Colour,
}

/// What left, and when.
type Left = Vec<(usize, Time)>;

/// A port before a line that takes no time: what left when, what was dropped.
fn run(port: &mut Port<usize>, coming: &[Coming]) -> (Left, Held) {
    let (mut held, mut left) = (Held::default(), Left::new());
    for (i, it) in coming.iter().enumerate() {
        drain(port, &mut held, &mut left, it.at);
        let mut packet = Packet { size: it.size, colour: it.colour, ..Packet::default() };
        let fate = port.arrive(&Passage::of(it.at, packet.flow), &mut packet, i);
        held.packets.push(packet);
        if fate.stays() {
            port.evict(it.at, &mut held);
        }
        send(port, &mut held, &mut left, it.at);
    }
    drain(port, &mut held, &mut left, Time::MAX);
    assert_eq!(port.breaches(), Vec::<String>::new());
    (left, held)
}

fn send(port: &mut Port<usize>, held: &mut Held, left: &mut Left, now: Time) {
    while let Some(leaving) = port.next(now, held) {
        port.busy_until(&leaving, now);
        left.push((leaving.handle, now));
    }
}

fn drain(port: &mut Port<usize>, held: &mut Held, left: &mut Left, until: Time) {
    while let Some(at) = port.opens_at().filter(|at| *at <= until) {
        send(port, held, left, at);
    }
}

fn queue(limit: u32, drop: Side) -> QueueSpec {
    let aqm = AqmParams::DropTail(drop_tail::Params {});
    QueueSpec { aqm, limit: Limit::Packets(limit), drop, scope: Scope::default() }
}

fn shaper(debt: bool, arithmetic: Arithmetic) -> ShaperParams {
    ShaperParams {
        rate: RATE,
        burst: Bytes::new(BURST),
        peak: None,
        peak_burst: None,
        debt,
        granularity: None,
        arithmetic,
        framing: Framing::default(),
    }
}

fn leaf(parent: Option<usize>, queue: usize) -> NodeSpec {
    NodeSpec { parent, shaper: None, inside: Inside::Queue(queue), scope: Scope::default() }
}

fn strict(parent: Option<usize>, members: &[Option<Colour>]) -> NodeSpec {
    let class = |colour: &Option<Colour>| strict_priority_class(*colour);
    let params = strict_priority::Params { classes: members.iter().map(class).collect() };
    let inside = Inside::Scheduler(SchedulerParams::StrictPriority(params));
    NodeSpec { parent, shaper: None, inside, scope: Scope::default() }
}

fn strict_priority_class(colour: Option<Colour>) -> strict_priority::Class {
    let filter = colour.map(Member::Colour).into_iter().collect::<Vec<_>>().into();
    strict_priority::Class {
        name: None,
        filter,
        template: Default::default(),
        limit: Default::default(),
        same_level: None,
        queue: HostKey,
    }
}

fn build(queues: &[QueueSpec], nodes: &[NodeSpec]) -> Port<usize> {
    PortSpec { name: "a -> b", edge: &[], queues, nodes, seed: 1, replication: 0 }.build().unwrap()
}

fn shaped(params: ShaperParams, limit: u32) -> Port<usize> {
    let root = NodeSpec { shaper: Some(params), ..leaf(None, 0) };
    build(&[queue(limit, Side::Tail)], &[root])
}

fn coming() -> impl Strategy<Value = Vec<Coming>> {
    let one = (0u64..2_000_000, 40u32..1500, prop::sample::select(vec![Colour::Green, Colour::Yellow, Colour::Red]));
    prop::collection::vec(one, 1..120).prop_map(|all| {
        let mut now = 0;
        let at = |(gap, size, colour)| {
            now += gap;
            Coming { at: Time::from_ns(now), size, colour }
        };
        all.into_iter().map(at).collect()
    })
}

/// A token bucket before an unlimited queue, packet by packet, in nanoseconds of a microsecond a byte: when each leaves.
fn slow(coming: &[Coming], debt: bool) -> Left {
    slow_framed(coming, debt, BURST, |size| size)
}

/// The same, of packets that count as `counted` says.
fn slow_framed(coming: &[Coming], debt: bool, burst: u64, counted: impl Fn(u32) -> u32) -> Left {
    let (depth, mut tokens, mut filled) = (burst as i64 * 1000, burst as i64 * 1000, 0i64);
    let mut left = Left::new();
    for (i, it) in coming.iter().enumerate() {
        let arrived = it.at.ns() as i64;
        let cost = i64::from(counted(it.size)) * 1000;
        let earliest = arrived.max(filled);
        tokens = (tokens + earliest - filled).min(depth);
        let wait = (if debt { -tokens } else { cost - tokens }).max(0);
        filled = earliest + wait;
        tokens = (tokens + wait).min(depth) - cost;
        left.push((i, Time::from_ns(filled as u64)));
    }
    left
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_shaper_is_a_token_bucket(
        coming in coming(), debt in any::<bool>(), framing in framing(),
        arithmetic in prop::sample::select(vec![Arithmetic::Exact, Arithmetic::Linux]),
    ) {
        let shaper = ShaperParams { framing, ..shaper(debt, arithmetic) };
        let (left, held) = run(&mut shaped(shaper, u32::MAX), &coming);
        prop_assert!(held.dropped.is_empty());
        // Linux fills its bucket with what a packet of `burst` costs.
        let burst = if arithmetic == Arithmetic::Linux { counted(framing, BURST as u32).into() } else { BURST };
        prop_assert_eq!(left, slow_framed(&coming, debt, burst, |size| counted(framing, size)));
    }

    /// A bucket is large enough if the largest packet fits as it is counted, in Linux as it is; `peak-burst` is by default.
    #[test]
    fn a_burst_holds_the_largest_packet(
        framing in framing(), burst in 1u64..2000, debt: bool, peak: bool,
        arithmetic in prop::sample::select(vec![Arithmetic::Exact, Arithmetic::Linux]),
    ) {
        let peak = peak.then_some(BitRate::mbps(9));
        let params = ShaperParams { framing, peak, burst: Bytes::new(burst), ..shaper(debt, arithmetic) };
        let least = if arithmetic == Arithmetic::Linux { 1500 } else { counted(framing, 1500) };
        let refused = params.build(&Scope::default()).err().map(|error| (error.field, error.code));
        let small = !debt && burst < u64::from(least);
        prop_assert_eq!(refused, small.then_some(("burst", "E212")));
    }

    /// In any interval at most the burst and what the rate earns in it; without debt.
    #[test]
    fn a_shaper_keeps_its_rate(coming in coming()) {
        let (left, _) = run(&mut shaped(shaper(false, Arithmetic::Exact), u32::MAX), &coming);
        for from in 0..left.len() {
            let mut bytes = 0;
            for (i, at) in &left[from..] {
                bytes += u64::from(coming[*i].size);
                prop_assert!(bytes <= BURST + at.since(left[from].1).ns() / 1000 + 1);
            }
        }
    }

    /// Wake-ups at multiples of a millisecond: nothing leaves between two of them but what finds tokens on arrival, and
    /// nothing before it could without.
    #[test]
    fn a_coarse_timer_delays_only(coming in coming()) {
        let fine = run(&mut shaped(shaper(false, Arithmetic::Exact), u32::MAX), &coming).0;
        let tick = Span::from_ms(1);
        let coarse = ShaperParams { granularity: Some(tick), ..shaper(false, Arithmetic::Exact) };
        let coarse = run(&mut shaped(coarse, u32::MAX), &coming).0;
        for ((i, at), (same, early)) in coarse.iter().zip(&fine) {
            prop_assert!(i == same && at >= early);
            prop_assert!(at.ns() % tick.ns() == 0 || coming.iter().any(|it| it.at == *at));
        }
    }

    /// Strict priority within strict priority is strict priority, below a shaper too.
    #[test]
    fn nested_priorities_are_flat_ones(coming in coming(), limit in 1u32..20) {
        let [green, yellow] = [Some(Colour::Green), Some(Colour::Yellow)];
        let queues: Vec<_> = (0..3).map(|_| queue(limit, Side::Tail)).collect();
        let below = |root: NodeSpec| NodeSpec { shaper: Some(shaper(false, Arithmetic::Exact)), ..root };
        let flat = [below(strict(None, &[green, yellow, None])), leaf(Some(0), 0), leaf(Some(0), 1), leaf(Some(0), 2)];
        let nested = [below(strict(None, &[green, None])), leaf(Some(0), 0), strict(Some(0), &[yellow, None]), leaf(Some(2), 1), leaf(Some(2), 2)];
        let (left, held) = run(&mut build(&queues, &flat), &coming);
        let (same, also) = run(&mut build(&queues, &nested), &coming);
        prop_assert_eq!(left, same);
        prop_assert_eq!(held.dropped, also.dropped);
    }

    /// Before a line that takes no time, what waits waits for the shaper: in the time from the first packet that has to wait
    /// until none does, and so on. The others go at once.
    #[test]
    fn a_shaper_holds_while_something_waits(coming in coming(), debt in any::<bool>(), limit in 1u32..20) {
        let queues: Vec<_> = (0..2).map(|_| queue(limit, Side::Tail)).collect();
        let root = NodeSpec { shaper: Some(shaper(debt, Arithmetic::Exact)), ..strict(None, &[Some(Colour::Green), None]) };
        let mut port = build(&queues, &[root, leaf(Some(0), 0), leaf(Some(0), 1)]);
        let (left, _) = run(&mut port, &coming);
        let mut waits: Vec<_> = left.iter().map(|(i, at)| (coming[*i].at, *at)).collect();
        waits.sort();
        let (mut until, mut held) = (Time::ZERO, Span::ZERO);
        for (from, to) in waits {
            held = held + to.since(from.max(until));
            until = until.max(to);
        }
        let bytes = left.iter().map(|(i, _)| u64::from(coming[*i].size)).sum();
        prop_assert_eq!(port.let_go(until), [(0, LetGo { bytes, held })]);
    }

    /// A shaper of a class holds back that class alone.
    #[test]
    fn a_held_class_does_not_hold_the_others(coming in coming()) {
        let queues: Vec<_> = (0..2).map(|_| queue(u32::MAX, Side::Tail)).collect();
        let held_back = NodeSpec { shaper: Some(shaper(false, Arithmetic::Exact)), ..leaf(Some(0), 0) };
        let nodes = [strict(None, &[Some(Colour::Green), None]), held_back, leaf(Some(0), 1)];
        let left = run(&mut build(&queues, &nodes), &coming).0;
        let green: Vec<_> = coming.iter().copied().filter(|it| it.colour == Colour::Green).collect();
        let alone: Vec<_> = slow(&green, false).into_iter().map(|(_, at)| at).collect();
        let (of_green, others): (Left, Left) = left.into_iter().partition(|(i, _)| coming[*i].colour == Colour::Green);
        prop_assert_eq!(of_green.iter().map(|(_, at)| *at).collect::<Vec<_>>(), alone);
        prop_assert!(others.iter().all(|(i, at)| *at == coming[*i].at));
    }

    /// The oldest go: what is left are the last ones that came.
    #[test]
    fn room_is_made_at_the_head(n in 1usize..30, limit in 1u32..10) {
        let root = NodeSpec { shaper: Some(shaper(false, Arithmetic::Exact)), ..leaf(None, 0) };
        let mut port = build(&[queue(limit, Side::Head)], &[root]);
        let all: Vec<_> = (0..n).map(|_| Coming { at: Time::ZERO, size: 1500, colour: Colour::Green }).collect();
        let (left, held) = run(&mut port, &all);
        let (at_once, limit) = (2.min(n), limit as usize);
        let gone = n.saturating_sub(at_once + limit);
        let kept: Vec<_> = (0..at_once).chain(at_once + gone..n).collect();
        prop_assert_eq!(left.iter().map(|(i, _)| *i).collect::<Vec<_>>(), kept);
        prop_assert_eq!(held.dropped.len(), gone);
        prop_assert!(held.dropped.iter().all(|(_, reason)| *reason == Reason::Overflow));
    }
}

/// Two red packets wait for tokens, then a green one comes: it goes first, unless the shaper has been shown a red one that
/// the scheduler has taken out.
#[test]
fn what_is_taken_out_goes_first() {
    let mut all: Vec<_> = (0..4).map(|_| Coming { at: Time::ZERO, size: 1500, colour: Colour::Red }).collect();
    all.push(Coming { at: Time::from_ns(1000), size: 1500, colour: Colour::Green });
    let queues: Vec<_> = (0..2).map(|_| queue(u32::MAX, Side::Tail)).collect();
    let order = |inner: Option<ShaperParams>| {
        let root = NodeSpec { shaper: Some(shaper(false, Arithmetic::Linux)), ..strict(None, &[None]) };
        let below = NodeSpec { shaper: inner, ..strict(Some(0), &[Some(Colour::Green), None]) };
        let nodes = [root, below, leaf(Some(1), 0), leaf(Some(1), 1)];
        run(&mut build(&queues, &nodes), &all).0.into_iter().map(|(i, _)| i).collect::<Vec<_>>()
    };
    assert_eq!(order(None), [0, 1, 4, 2, 3]);
    // The shaper in between never waits, but it is one of Linux's: it keeps what it shows.
    let open =
        ShaperParams { rate: BitRate::mbps(8000), burst: Bytes::new(1_000_000), ..shaper(false, Arithmetic::Linux) };
    assert_eq!(order(Some(open)), [0, 1, 2, 4, 3]);
}

/// A queue that takes what is looked at, and drops from the head: the packet it keeps for the shaper is the one that goes.
#[test]
fn what_is_kept_can_be_dropped_at_the_head() {
    let aqm = codel::Params {
        target: Span::from_s(1),
        interval: Span::from_s(10),
        mtu: Bytes::new(1500),
        ecn: false,
        ce_threshold: None,
        arithmetic: aqm::arithmetic::Arithmetic::Linux,
    };
    let taking = QueueSpec { aqm: AqmParams::CoDel(aqm), ..queue(2, Side::Head) };
    let root = NodeSpec { shaper: Some(shaper(false, Arithmetic::Exact)), ..leaf(None, 0) };
    let all: Vec<_> = (0..6).map(|_| Coming { at: Time::ZERO, size: 1500, colour: Colour::Green }).collect();
    let (left, held) = run(&mut build(&[taking], &[root]), &all);
    assert_eq!(left.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [0, 1, 4, 5]);
    assert_eq!(held.dropped.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn a_packet_larger_than_the_burst_never_goes() {
    let big = Coming { at: Time::ZERO, size: BURST as u32 + 1, colour: Colour::Green };
    let (left, _) = run(&mut shaped(shaper(false, Arithmetic::Exact), 10), &[big, Coming { size: 100, ..big }]);
    assert_eq!(left, [(1, Time::ZERO)]);
    assert_eq!(run(&mut shaped(shaper(true, Arithmetic::Exact), 10), &[big]).0, [(0, Time::ZERO)]);
}

/// Two packets of 1500 B spend the bucket of 3000 B, the third waits for 1500 us: at any time until then that it is asked.
#[test]
fn a_packet_that_still_waits_is_held() {
    let packet = Coming { at: Time::ZERO, size: 1500, colour: Colour::Green };
    let mut port = shaped(shaper(false, Arithmetic::Exact), 10);
    let (mut held, mut left) = (Held::default(), Left::new());
    for i in 0..3 {
        let mut packet = Packet { size: packet.size, ..Packet::default() };
        assert!(port.arrive(&Passage::of(Time::ZERO, packet.flow), &mut packet, i).stays());
        held.packets.push(packet);
    }
    send(&mut port, &mut held, &mut left, Time::ZERO);
    let at = |us: u64| Time::from_ns(us * 1000);
    let so_far = |us: u64| LetGo { bytes: 3000, held: Span::from_ns(us * 1000) };
    assert_eq!(port.let_go(at(400)), [(0, so_far(400))]);
    let half = ShaperParams { rate: BitRate::mbps(4), ..shaper(false, Arithmetic::Exact) };
    port.retune_shaper(at(400), 0, &half, &Scope::default()).unwrap();
    assert_eq!(port.let_go(at(400)), [(0, so_far(400))]);
    port.begin_count(at(600));
    drain(&mut port, &mut held, &mut left, Time::MAX);
    // 400 B were earned at first; the other 1100 B take 2200 us, 2000 of them after the count began.
    assert_eq!(left[2].1, at(2600));
    assert_eq!(port.let_go(at(5000)), [(0, LetGo { bytes: 1500, held: Span::from_ns(2_000_000) })]);
}

/// The third packet has its tokens after 1500 us; that the line has no room for it until 5 ms is not the shaper's doing.
#[test]
fn a_shaper_does_not_hold_for_the_line() {
    let mut port = shaped(shaper(false, Arithmetic::Exact), 10);
    let (mut held, mut left) = (Held::default(), Left::new());
    for i in 0..3 {
        let mut packet = Packet { size: 1500, ..Packet::default() };
        assert!(port.arrive(&Passage::of(Time::ZERO, packet.flow), &mut packet, i).stays());
        held.packets.push(packet);
    }
    send(&mut port, &mut held, &mut left, Time::ZERO);
    send(&mut port, &mut held, &mut left, Time::from_ns(5_000_000));
    assert_eq!(left.len(), 3);
    let expected = LetGo { bytes: 4500, held: Span::from_ns(1_500_000) };
    assert_eq!(port.let_go(Time::from_ns(5_000_000)), [(0, expected)]);
}

/// The nodes have numbers in their parents' order, each tree before what follows it.
#[test]
fn nodes_are_named_by_their_place() {
    let queues: Vec<_> = (0..3).map(|_| queue(10, Side::Tail)).collect();
    let nested = [strict(None, &[Some(Colour::Green), None]), strict(Some(0), &[Some(Colour::Red), None])];
    let nodes = [&nested[..], &[leaf(Some(1), 0), leaf(Some(1), 1), leaf(Some(0), 2)]].concat();
    let port = build(&queues, &nodes);
    let branches = port.branches();
    let named: Vec<_> = branches.iter().map(|it| (&*it.path, it.node, it.queues.clone())).collect();
    let some = |path, node, queues: &[usize]| (path, Some(node), queues.to_vec());
    let expected = [
        some("root", 0, &[0, 1, 2]),
        some("1", 1, &[0, 1]),
        some("1.1", 2, &[0]),
        some("1.2", 3, &[1]),
        some("2", 4, &[2]),
    ];
    assert_eq!(named, expected);
    let above: Vec<_> = branches.iter().map(|it| (it.above, &*it.name, it.depth)).collect();
    assert_eq!(above, [(None, "", 0), (Some(0), "1", 1), (Some(1), "1", 2), (Some(1), "2", 2), (Some(0), "2", 1)]);
    assert!(!port.is_flat());
    let flat = [strict(None, &[Some(Colour::Green), None]), leaf(Some(0), 0), leaf(Some(0), 1)];
    assert!(build(&queues[..2], &flat).is_flat());
    assert!(!shaped(shaper(false, Arithmetic::Exact), 1).is_flat());
}

/// A class that has a name goes by it, one without by its number; then a flat tree says more than its queues.
#[test]
fn nodes_are_named_by_their_classes() {
    let classes = [(Some("voice"), Some(Colour::Green)), (None, None)];
    let class = |(name, colour): (Option<&str>, _)| strict_priority::Class {
        name: name.map(str::to_owned),
        ..strict_priority_class(colour)
    };
    let scheduler =
        SchedulerParams::StrictPriority(strict_priority::Params { classes: classes.map(class).into_iter().collect() });
    let nodes = [
        NodeSpec { inside: Inside::Scheduler(scheduler), ..strict(None, &[None]) },
        leaf(Some(0), 0),
        leaf(Some(0), 1),
    ];
    let port = build(&[queue(10, Side::Tail), queue(10, Side::Tail)], &nodes);
    assert_eq!(port.branches().iter().map(|it| &*it.path).collect::<Vec<_>>(), ["root", "voice", "2"]);
    assert!(!port.is_flat());
}

/// A bucket kept over a change holds the same bytes, and pays at the new rate.
#[test]
fn a_new_rate_keeps_the_tokens() {
    let mut port = shaped(shaper(false, Arithmetic::Exact), 10);
    let packet = Coming { at: Time::ZERO, size: 1500, colour: Colour::Green };
    let (left, _) = run(&mut port, &[packet; 2]);
    assert_eq!(left, [(0, Time::ZERO), (1, Time::ZERO)]);
    let half = ShaperParams { rate: BitRate::mbps(4), ..shaper(false, Arithmetic::Exact) };
    port.retune_shaper(Time::from_ns(750_000), 0, &half, &Scope::default()).unwrap();
    let later = Coming { at: Time::from_ns(750_000), ..packet };
    // 750 B were earned at 1 B/us; the other 750 B take 1500 us.
    assert_eq!(run(&mut port, &[later]).0, [(0, Time::from_ns(2_250_000))]);
}

/// As far as it is known when the third of three packets has its tokens, whatever comes behind it meanwhile: on a timer of 1 ms it
/// goes with the arrival at 1.7 ms, without one 1500 us after the first two.
#[test]
fn what_comes_behind_wakes_a_coarse_timer_only() {
    let at = |us: u64| Time::from_ns(us * 1000);
    let of = |us| Coming { at: at(us), size: 1500, colour: Colour::Green };
    let coming = [of(0), of(0), of(0), of(400), of(1700)];
    let left = |granularity| {
        let params = ShaperParams { granularity, ..shaper(false, Arithmetic::Exact) };
        run(&mut shaped(params, 10), &coming).0.into_iter().map(|(_, at)| at).collect::<Vec<_>>()
    };
    assert_eq!(left(None), [0, 0, 1500, 3000, 4500].map(at));
    assert_eq!(left(Some(Span::from_ms(1))), [0, 0, 1700, 3000, 5000].map(at));
}

/// A packet that no longer fits the bucket does not go when it would have.
#[test]
fn a_packet_larger_than_the_burst_has_become_waits() {
    let packet = Coming { at: Time::ZERO, size: BURST as u32, colour: Colour::Green };
    let mut port = shaped(shaper(false, Arithmetic::Exact), 10);
    let (mut held, mut left) = (Held::default(), Left::new());
    for i in 0..2 {
        let mut packet = Packet { size: packet.size, ..Packet::default() };
        assert!(port.arrive(&Passage::of(Time::ZERO, packet.flow), &mut packet, i).stays());
        held.packets.push(packet);
    }
    send(&mut port, &mut held, &mut left, Time::ZERO);
    let small = ShaperParams { burst: Bytes::new(BURST / 2), ..shaper(false, Arithmetic::Exact) };
    port.retune_shaper(Time::from_ns(1_000_000), 0, &small, &Scope::default()).unwrap();
    drain(&mut port, &mut held, &mut left, Time::from_ns(20_000_000));
    assert_eq!(left, [(0, Time::ZERO)]);
}

/// HTB holds back its class, and whatever is above it is woken when that may send: as at the root.
#[test]
fn what_waits_for_its_rate_is_woken_below_others() {
    let class = htb::Class {
        template: Default::default(),
        name: None,
        parent: None,
        filter: Default::default(),
        rate: RATE,
        ceil: None,
        prio: None,
        quantum: None,
        burst: Some(Bytes::new(BURST)),
        cburst: Some(Bytes::new(BURST)),
        queue: None,
    };
    let params = htb::Params {
        classes: vec![class].into(),
        r2q: 10,
        framing: Framing::default(),
        arithmetic: Arithmetic::Exact,
        unclassified: None,
    };
    let node =
        |parent| NodeSpec { inside: Inside::Scheduler(SchedulerParams::Htb(params.clone())), ..strict(parent, &[]) };
    let queues: Vec<_> = (0..2).map(|_| queue(10, Side::Tail)).collect();
    let coming = [Coming { at: Time::ZERO, size: 1500, colour: Colour::Green }; 5];
    let alone = run(&mut build(&queues[..1], &[node(None), leaf(Some(0), 0)]), &coming).0;
    let classes = strict(None, &[Some(Colour::Green), None]);
    let below = [classes, node(Some(0)), leaf(Some(1), 0), leaf(Some(0), 1)];
    assert_eq!(run(&mut build(&queues, &below), &coming).0, alone);
    // Two pay with the burst, one leaves a debt of 1500 B.
    assert_eq!(alone.iter().map(|(_, at)| at.ns()).collect::<Vec<_>>(), [0, 0, 0, 1_500_000, 3_000_000]);
}
