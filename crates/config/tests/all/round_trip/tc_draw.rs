//! Ports as Linux has them: a tree of queueing disciplines with up to two levels of up to eight classes, policers and markers before
//! it, each key that the dialect has. What tc assumes where nothing is said is said.

use super::tc_leaves::{bytes, kbit, leaf, settings, table, word};
use perhop_config::model::{Act, Class, Conditioner, Filter, Kind, Port, Queue, Way};
use perhop_config::value::{Settings, Value, WithOrigin};
use perhop_core::classify::{Match, Prefix, Protocol};
use perhop_core::colour::Colour;
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use perhop_core::units::{BitRate, PacketRate, Packets, SignedBytes, Span};
use proptest::prelude::*;

/// The rate of the link.
pub const LINK: BitRate = BitRate::mbps(1000);
/// The interface.
pub const INTERFACE: &str = "eth0";
/// Most classes of a scheduler.
const MOST: usize = 8;
/// Code points that are a class's alone.
const CODES: usize = 7;

pub fn said<T>(is: T) -> WithOrigin<T> {
    WithOrigin::assumed("drawn", is)
}

/// A port.
pub fn port() -> impl Strategy<Value = Port> {
    let accounting = prop::sample::select(vec!["l2", "l2", "l3", "l2+fcs", "l1"]);
    (conditioners(), queue(), accounting).prop_map(|(conditioners, mut queue, accounting)| {
        // Policers count Ethernet's header; where nothing counts bytes, the link does, which sends IP packets.
        let accounting = match (conditioners.is_empty(), counts(&queue)) {
            (false, _) => "l2",
            (true, false) => "l3",
            (true, true) => accounting,
        };
        by_conditioner(&mut queue, &conditioners);
        let mut link = Settings::default();
        if !holds_itself(&queue) {
            link.set("rate", said(Value::Rate(LINK)));
        }
        Port {
            interface: said(INTERFACE.into()),
            way: Way::Output,
            behind: None,
            sorts: false,
            accounting: Some(said(accounting)),
            link,
            conditioners,
            queue: Some(queue),
            others: Vec::new(),
            both_versions: None,
        }
    })
}

/// Whether a queue asks for the bytes of a packet.
fn counts(queue: &Queue) -> bool {
    let bytes = matches!(queue.settings.get("limit").map(|it| &it.is), Some(Value::Bytes(_)));
    queue.kind.is_some() || !queue.shape.is_empty() || bytes
}

/// Whether something at the root bounds the rate.
fn holds_itself(queue: &Queue) -> bool {
    let kind = |name| queue.kind == Some(Kind::Scheduler(name));
    let direct = queue.settings.get("unclassified").is_some();
    !queue.shape.is_empty() || kind("htb") && !direct || kind("cake") && queue.settings.get("rate").is_some()
}

/// The last class of the first scheduler takes what the first conditioner leaves, too, if there is one.
fn by_conditioner(queue: &mut Queue, conditioners: &[Conditioner]) {
    let (Some(first), Some(class)) = (conditioners.first(), queue.classes.first_mut()) else { return };
    if conditioners.len() < 2 || class.rest || class.takes.is_empty() || class.settings.get("police").is_some() {
        return;
    }
    class.takes = filters(vec![Match { conditioner: vec![first.name.is.clone()], ..Match::default() }]);
}

fn filters(all: Vec<Match>) -> Vec<Filter> {
    all.into_iter().map(|it| Filter { order: 0, matches: said(it) }).collect()
}

/// What a class or a conditioner takes: by code points or by addresses; those of no two numbers meet.
fn matches() -> impl Strategy<Value = Match> {
    let codes = prop::collection::btree_set((0u8..64).prop_filter_map("six bits", Dscp::new), 1..5);
    let codes = codes.prop_map(|it| Match { dscp: it.into_iter().collect(), ..Match::default() });
    prop_oneof![4 => codes, 3 => by_header()]
}

fn by_header() -> impl Strategy<Value = Match> {
    let sources = prop::sample::subsequence(vec!["192.0.2.1/32", "172.16.0.0/12", "2001:db8:1::/48"], 0..3);
    let ports = || prop::sample::subsequence(vec![22u16, 53, 443, 5060], 0..3);
    let protocols = vec![vec![], vec![Protocol::TCP], vec![Protocol::UDP], vec![Protocol(1)], vec![Protocol(47)]];
    let ecn = prop::sample::subsequence(Ecn::ALL.to_vec(), 0..2);
    let codes = prop::collection::btree_set((0u8..64).prop_filter_map("six bits", Dscp::new), 0..2);
    (sources, ports(), ports(), prop::sample::select(protocols), ecn, codes).prop_map(
        |(sources, from, to, protocol, ecn, codes)| {
            let ported = protocol.iter().all(|it| [Protocol::TCP, Protocol::UDP].contains(it));
            let ports = |all: Vec<u16>| if ported { all } else { Vec::new() };
            Match {
                source: sources.into_iter().map(|it| Prefix(it.parse().unwrap())).collect(),
                source_port: ports(from),
                destination_port: ports(to),
                protocol,
                ecn,
                dscp: codes.into_iter().collect(),
                ..Match::default()
            }
        },
    )
}

/// The same among the packets that are those of a number alone, at each level others.
fn apart(matches: &mut Match, level: usize, i: usize) {
    let own = |code: &Dscp| Dscp::new((i * CODES + usize::from(code.get()) % CODES) as u8);
    matches.dscp = matches.dscp.iter().filter_map(own).collect();
    matches.dscp.sort_unstable();
    matches.dscp.dedup();
    let headers = matches.dscp.is_empty() || Match { dscp: Vec::new(), ..matches.clone() } != Match::default();
    if headers {
        let [four, six] = [format!("10.{level}{i}.0.0/16"), format!("2001:db8:{level}{i}::/48")];
        // ICMP is IPv4's, and a packet has one version.
        matches.source.retain(|it| it.0.addr().is_ipv4() || matches.protocol != [Protocol(1)]);
        let has = |six: bool| matches.source.iter().any(|it| it.0.addr().is_ipv6() == six);
        let both = [(has(false) || !has(true), four), (has(true), six)];
        matches.destination = both.into_iter().filter(|it| it.0).map(|it| Prefix(it.1.parse().unwrap())).collect();
        return;
    }
    if level > 0 {
        let four = format!("10.{level}{i}.0.0/16");
        matches.destination = vec![Prefix(four.parse().unwrap())];
    }
}

/// What is drawn of a class before it has its place.
#[derive(Clone, Debug)]
struct Drawn {
    matches: Match,
    queue: Queue,
    limit: Settings,
    htb: Settings,
    hfsc: Settings,
    quantum: u64,
    top: bool,
}

fn queue() -> BoxedStrategy<Queue> {
    prop_oneof![2 => shaped(leaf()), 5 => shaped(scheduler(0))].boxed()
}

/// Below a shaper, at the root of a port.
fn shaped(below: impl Strategy<Value = Queue>) -> impl Strategy<Value = Queue> {
    let peak = settings(vec![
        ("rate", kbit(90_000..99_000)),
        ("burst", bytes(2_000..100_000)),
        ("peak", kbit(100_000..900_000)),
        ("peak-burst", bytes(1_600..9_000)),
        ("arithmetic", word("linux")),
    ]);
    (below, prop::option::weighted(0.25, (peak, framing(0..40)))).prop_map(|(queue, shape)| match shape {
        // Above what holds the rate itself tc has a class between.
        Some((shape, framing)) if queue.kind != Some(Kind::Scheduler("cake")) => {
            Queue { shape: with(shape, &framing), ..queue }
        }
        _ => queue,
    })
}

fn with(mut settings: Settings, others: &Settings) -> Settings {
    others.iter().for_each(|(key, value)| settings.set(key, value.clone()));
    settings
}

/// Bytes that a rate counts.
fn framing(overhead: std::ops::Range<i32>) -> impl Strategy<Value = Settings> {
    let keys = (overhead, 0u64..100, any::<bool>(), any::<[bool; 2]>());
    keys.prop_map(|(overhead, mpu, atm, [first, second])| {
        let mut out = Settings::default();
        if first && overhead != 0 {
            out.set("overhead", said(Value::Signed(SignedBytes::new(overhead))));
        }
        if second && mpu != 0 {
            out.set("mpu", said(Value::Bytes(perhop_core::units::Bytes::new(mpu))));
        }
        if first && atm {
            out.set("link-layer", said(Value::Word("atm".into())));
        }
        out
    })
}

/// A scheduler with its classes; those of the first level may have others below them.
fn scheduler(level: usize) -> BoxedStrategy<Queue> {
    let classes = prop::collection::vec(drawn(level), 1..=MOST);
    let kinds = if level == 0 {
        vec!["htb", "htb", "hfsc", "strict-priority", "ets", "drr"]
    } else {
        vec!["htb", "strict-priority", "ets", "drr"]
    };
    (classes, prop::sample::select(kinds), 0usize..4, any::<bool>(), framing(0..40), 1u64..50)
        .prop_map(move |(classes, kind, strict, rest, framing, r2q)| {
            let mut queue = match kind {
                "htb" => htb(classes, level, rest, &framing, r2q),
                "hfsc" => hfsc(classes, level, rest),
                "ets" => bands("ets", classes, level, strict),
                "drr" => bands("drr", classes, level, 0),
                _ => bands("strict-priority", classes, level, MOST),
            };
            if matches!(kind, "ets" | "drr") {
                queue.classes.iter_mut().for_each(|class| flat(class.queue.as_mut()));
            }
            queue
        })
        .boxed()
}

fn drawn(level: usize) -> impl Strategy<Value = Drawn> {
    let below = match level {
        0 => prop_oneof![4 => leaf(), 1 => scheduler(1)].boxed(),
        _ => leaf().boxed(),
    };
    let shape =
        settings(vec![("rate", kbit(90_000..99_000)), ("burst", bytes(2_000..100_000)), ("arithmetic", word("linux"))]);
    let shape = prop::option::weighted(0.15, shape);
    let limit = settings(vec![("rate", kbit(64..5_000)), ("burst", bytes(1_700..60_000)), ("police", word("always"))]);
    let limit = prop::option::weighted(0.3, limit);
    (matches(), below, shape, limit, class_of_htb(), class_of_hfsc(), (1_514u64..60_000, any::<bool>())).prop_map(
        |(matches, mut queue, shape, limit, htb, hfsc, (quantum, top))| {
            if let Some(shape) = shape.filter(|_| queue.kind != Some(Kind::Scheduler("cake"))) {
                queue.shape = shape;
            }
            Drawn { matches, queue, limit: limit.unwrap_or_default(), htb, hfsc, quantum, top }
        },
    )
}

/// Without what may keep packets although it is its turn.
fn flat(queue: Option<&mut Queue>) {
    let Some(queue) = queue else { return };
    queue.shape = Settings::default();
    if matches!(queue.kind, Some(Kind::Scheduler("htb"))) {
        *queue = Queue { kind: None, settings: Settings::default(), classes: Vec::new(), ..queue.clone() };
        queue.settings.set("limit", said(Value::Packets(Packets::new(77))));
    }
    queue.classes.iter_mut().for_each(|class| flat(class.queue.as_mut()));
}

fn made(mut drawn: Drawn, level: usize, i: usize) -> Class {
    apart(&mut drawn.matches, level, i);
    let name = said(format!("1:{}", i + 1));
    let takes = filters(vec![drawn.matches]);
    Class { name, parent: None, takes, rest: false, settings: Settings::default(), queue: Some(drawn.queue) }
}

fn rest(class: &mut Class) {
    class.takes.clear();
    class.rest = true;
}

fn scheduled(kind: &'static str, settings: Settings, classes: Vec<Class>) -> Queue {
    let name = said("1:".into());
    Queue { name, kind: Some(Kind::Scheduler(kind)), settings, shape: Settings::default(), classes }
}

fn linux() -> Settings {
    let mut out = Settings::default();
    out.set("arithmetic", said(Value::Word("linux".into())));
    out
}

/// Bands, of which the first few are strict; the last takes what is left.
fn bands(kind: &'static str, drawn: Vec<Drawn>, level: usize, strict: usize) -> Queue {
    let many = drawn.len();
    let class = |(i, drawn): (usize, Drawn)| {
        let (limit, quantum) = (drawn.limit.clone(), drawn.quantum);
        let mut class = made(drawn, level, i);
        if i + 1 == many {
            rest(&mut class);
        }
        class.settings = if i < strict { limit } else { Settings::default() };
        if i >= strict {
            class.settings.set("quantum", said(Value::Bytes(perhop_core::units::Bytes::new(quantum))));
        }
        class
    };
    let classes = drawn.into_iter().enumerate().map(class).collect();
    scheduled(kind, if kind == "strict-priority" { Settings::default() } else { linux() }, classes)
}

/// A class above others, or none; the last takes what is left, or no class does.
fn tree(drawn: Vec<Drawn>, level: usize, left: bool, of: impl Fn(&Drawn) -> Settings, top: Settings) -> Vec<Class> {
    let above =
        Class { name: said("1:top".into()), parent: None, takes: Vec::new(), rest: false, settings: top, queue: None };
    let many = drawn.len();
    let mut classes = vec![above];
    for (i, drawn) in drawn.into_iter().enumerate() {
        let (settings, is_top) = (of(&drawn), drawn.top && many > 2);
        let mut class = made(drawn, level, i);
        if left && i + 1 == many {
            rest(&mut class);
        }
        let parent = if is_top && i + 1 == many { None } else { Some(0) };
        classes.push(Class { settings, parent, ..class });
    }
    classes
}

fn htb(drawn: Vec<Drawn>, level: usize, left: bool, framing: &Settings, r2q: u64) -> Queue {
    let mut top = drawn[0].htb.clone();
    ["prio", "quantum"].into_iter().for_each(|key| _ = top.remove(key));
    let classes = tree(drawn, level, left, |it| it.htb.clone(), top);
    let mut settings = with(linux(), framing);
    settings.set("r2q", said(Value::Count(r2q)));
    if !left {
        settings.set("unclassified", said(Value::Word("direct".into())));
    }
    scheduled("htb", settings, classes)
}

fn class_of_htb() -> impl Strategy<Value = Settings> {
    let all = settings(vec![
        ("rate", kbit(64..12_000)),
        ("ceil", kbit(13_000..99_000)),
        ("burst", bytes(1_600..100_000)),
        ("cburst", bytes(1_600..100_000)),
        ("prio", (0u64..8).prop_map(Value::Count).boxed()),
        ("quantum", bytes(1_600..60_000)),
    ]);
    (all, any::<bool>()).prop_map(|(mut all, quantum)| {
        if !quantum {
            all.remove("quantum");
        }
        all
    })
}

fn hfsc(drawn: Vec<Drawn>, level: usize, left: bool) -> Queue {
    let mut top = Settings::default();
    top.set("ls", said(Value::Rate(BitRate::mbps(100))));
    top.set("ul", said(Value::Rate(BitRate::mbps(100))));
    let mut queue = scheduled("hfsc", linux(), tree(drawn, level, left, |it| it.hfsc.clone(), top));
    if !left {
        queue.settings.set("unclassified", said(Value::Word("drop".into())));
    }
    queue
}

fn class_of_hfsc() -> impl Strategy<Value = Settings> {
    let time = || (1u64..100).prop_map(|ms| Value::Time(Span::from_ms(ms))).boxed();
    let steps = table(vec![("m1", kbit(64..11_000)), ("d", time()), ("m2", kbit(64..10_000))]);
    let umax = table(vec![("umax", bytes(200..1_000)), ("dmax", time()), ("rate", kbit(64..10_000))]);
    let curve = prop_oneof![kbit(64..10_000), steps, umax].boxed();
    let all = settings(vec![("ls", curve.clone()), ("rt", curve), ("ul", kbit(13_000..99_000))]);
    (all, any::<[bool; 2]>()).prop_map(|(mut all, [rt, ul])| {
        [("rt", rt), ("ul", ul)].into_iter().filter(|it| !it.1).for_each(|(key, _)| _ = all.remove(key));
        all
    })
}

/// Policers and markers whose packets are apart; the last may take all that is left.
fn conditioners() -> impl Strategy<Value = Vec<Conditioner>> {
    let several = prop::collection::vec((matches(), meter()), 0..5);
    (prop_oneof![1 => Just(Vec::new()), 1 => several], any::<bool>()).prop_map(|(drawn, all)| {
        let many = drawn.len();
        let conditioner = |(i, (mut matches, (kind, settings, mut actions))): (usize, (Match, Meter))| {
            apart(&mut matches, 9, i);
            let last = i + 1 == many;
            if last {
                actions.iter_mut().for_each(|(_, acts)| acts.is = passed_on(&acts.is));
            }
            let takes = if last && all { Vec::new() } else { filters(vec![matches]) };
            Conditioner { name: said(format!("c{i}")), takes, kind, settings, actions }
        };
        let mut all: Vec<_> = drawn.into_iter().enumerate().map(conditioner).collect();
        for i in 1..all.len() {
            // Two markers in a row that do the same are one.
            if (all[i].kind, &all[i].actions) == ("marker", &all[i - 1].actions) {
                let code = Dscp::new(i as u8).into_iter().map(Act::Mark);
                all[i].actions = vec![(Colour::Green, said(code.chain([Act::Transmit]).collect()))];
            }
        }
        all
    })
}

/// Behind the last conditioner nothing is next.
fn passed_on(acts: &[Act]) -> Vec<Act> {
    acts.iter().map(|act| if *act == Act::Next { Act::Transmit } else { *act }).collect()
}

type Meter = (&'static str, Settings, Vec<(Colour, WithOrigin<Vec<Act>>)>);

fn meter() -> impl Strategy<Value = Meter> {
    let packets = settings(vec![
        ("cir", (10u64..5_000).prop_map(|it| Value::PacketRate(PacketRate::per_second(it))).boxed()),
        ("cbs", (1u32..100).prop_map(|it| Value::Packets(Packets::new(it))).boxed()),
        ("arithmetic", word("linux")),
    ]);
    let bits = settings(vec![
        ("cir", kbit(64..90_000)),
        ("cbs", bytes(2_200..200_000)),
        ("pir", kbit(90_000..99_000)),
        ("mtu", bytes(2_100..9_000)),
        ("arithmetic", word("linux")),
    ]);
    let bits = (bits, framing(0..40), any::<bool>()).prop_map(|(mut bits, mut framing, peak)| {
        framing.remove("mpu");
        if !peak {
            ["pir", "mtu"].into_iter().for_each(|key| _ = bits.remove(key));
        }
        with(bits, &framing)
    });
    let two = |settings: BoxedStrategy<Settings>| {
        (settings, act(), act()).prop_map(|(settings, green, red)| {
            // A policer says one of two marks itself.
            let both = [&green, &red].iter().all(|acts| acts.len() == 2 && acts[1] == Act::Next);
            let red = if both { passed_on(&red) } else { red };
            let acts = vec![(Colour::Green, said(green)), (Colour::Red, said(red))];
            ("token-bucket", settings, acts)
        })
    };
    let marker = act().prop_map(|it| ("marker", Settings::default(), vec![(Colour::Green, said(it))]));
    prop_oneof![3 => two(bits.boxed()), 1 => two(packets.boxed()), 2 => marker]
}

fn act() -> impl Strategy<Value = Vec<Act>> {
    let code = || (0u8..64).prop_filter_map("six bits", Dscp::new);
    prop_oneof![
        3 => Just(vec![Act::Transmit]),
        3 => Just(vec![Act::Drop]),
        2 => code().prop_map(|code| vec![Act::Mark(code), Act::Transmit]),
        1 => Just(vec![Act::Next]),
        1 => code().prop_map(|code| vec![Act::Mark(code), Act::Next]),
    ]
}
