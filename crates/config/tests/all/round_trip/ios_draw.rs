//! Ports as IOS has them: a policy map of up to eight classes with up to two levels, each key that the dialect has.

use perhop_config::model::{Act, Class, Conditioner, Filter, Kind, Port, Queue, Way};
use perhop_config::value::{Settings, Value, WithOrigin};
use perhop_core::classify::{Match, Prefix, Protocol};
use perhop_core::colour::Colour;
use perhop_core::dscp::Dscp;
use perhop_core::units::{BitRate, Bytes, PacketRate, Packets, SignedBytes, Span};
use proptest::prelude::*;
use std::ops::Range;

/// The rate of the interface.
pub const LINK: BitRate = BitRate::mbps(1000);
/// The interface.
pub const INTERFACE: &str = "GigabitEthernet0/0";
/// Most classes of a policy map beside class-default.
const MOST: usize = 7;
/// Code points of each class, all of them apart.
const CODES: usize = 8;

fn said<T>(is: T) -> WithOrigin<T> {
    WithOrigin::assumed("drawn", is)
}

/// What is drawn of a class before it has its place.
#[derive(Clone, Debug)]
struct Drawn {
    matches: Vec<Match>,
    meter: Option<Meter>,
    queue: Queue,
    weight: u64,
    limit: Settings,
    child: Option<Child>,
}

/// A policy map in a class: a class of the first code points, and what is left.
#[derive(Clone, Debug)]
struct Child {
    queues: [Queue; 2],
    weights: [u64; 2],
    shape: Settings,
}

/// A port.
pub fn port() -> impl Strategy<Value = Port> {
    let classes = prop::collection::vec(drawn(), 0..=MOST);
    let numbers = (0usize..3, any::<bool>(), any::<bool>());
    (classes, numbers, drawn(), shape()).prop_map(|(classes, (priorities, queues, comes_in), last, shape)| {
        let queues = queues || classes.iter().chain([&last]).all(|it| it.meter.is_none());
        let mut port = built(classes, priorities, &last, queues);
        match &mut port.queue {
            Some(queue) => queue.shape = shape,
            None if comes_in => port.way = Way::Input,
            None => {}
        }
        port
    })
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let limit = prop_oneof![Just(Settings::default()), limited("congested"), limited("always")];
    let child = ([leaf(), leaf()], [1u64..13, 1u64..13], shape());
    let child = child.prop_map(|(queues, weights, shape)| Child { queues, weights, shape });
    let child = prop::option::weighted(0.2, child);
    (matches(), prop::option::of(meter()), leaf(), 1u64..13, limit, child)
        .prop_map(|(matches, meter, queue, weight, limit, child)| Drawn { matches, meter, queue, weight, limit, child })
}

/// A port of these classes: the first few have priority.
fn built(mut classes: Vec<Drawn>, priorities: usize, last: &Drawn, queues: bool) -> Port {
    let priorities = priorities.min(classes.len());
    for (i, class) in classes.iter_mut().enumerate() {
        apart(i, &mut class.matches);
        if class.matches.len() != 1 || class.matches[0].dscp.len() < 2 {
            class.child = None;
        }
        if i < priorities {
            class.queue = plain(&class.queue);
            class.child = None;
            if !class.limit.is_empty() {
                class.meter = None;
            }
        }
    }
    let marks = classes
        .iter()
        .chain([last])
        .filter_map(|it| it.meter.as_ref())
        .any(|it| it.2.iter().any(|(_, acts)| acts.iter().any(|act| matches!(act, Act::Mark(_)))));
    let told = marks && queues;
    let conditioners = conditioners(&classes, last, told);
    let queues = queues || conditioners.is_empty();
    let queue = queues.then(|| queue(&classes, priorities, last, told));
    let mut link = Settings::default();
    link.set("rate", said(Value::Rate(LINK)));
    Port {
        interface: said(INTERFACE.into()),
        way: Way::Output,
        behind: None,
        sorts: false,
        accounting: Some(said("l2")),
        link,
        conditioners,
        queue,
        others: Vec::new(),
        both_versions: None,
    }
}

/// Code points that no other class has; one that has none stays by its addresses.
fn apart(i: usize, matches: &mut [Match]) {
    for it in matches.iter_mut().filter(|it| !it.dscp.is_empty()) {
        let own = |code: &Dscp| Dscp::new((i * CODES + usize::from(code.get()) % CODES) as u8);
        let mut codes: Vec<_> = it.dscp.iter().filter_map(own).collect();
        codes.sort_unstable();
        codes.dedup();
        it.dscp = codes;
    }
    // Of classes by address no two have one.
    for it in matches.iter_mut().filter(|it| it.dscp.is_empty()) {
        let net = format!("10.{i}.0.0/16");
        it.destination = vec![Prefix(net.parse().unwrap())];
    }
}

/// Whether no packet agrees with both: code points, or destinations, are apart.
fn never_both(a: &[Match], b: &[Match]) -> bool {
    let apart = |a: &Match, b: &Match| {
        let codes = !a.dscp.is_empty() && !b.dscp.is_empty();
        let ends = !a.destination.is_empty() && !b.destination.is_empty();
        codes && a.dscp.iter().all(|it| !b.dscp.contains(it))
            || ends && a.destination.iter().all(|it| b.destination.iter().all(|other| !overlap(it, other)))
            || protocols(a, b)
    };
    a.iter().all(|a| b.iter().all(|b| apart(a, b)))
}

fn overlap(a: &Prefix, b: &Prefix) -> bool {
    a.0.contains(&b.0) || b.0.contains(&a.0)
}

fn protocols(a: &Match, b: &Match) -> bool {
    let lists = [
        (!a.protocol.is_empty() && !b.protocol.is_empty(), a.protocol.iter().all(|it| !b.protocol.contains(it))),
        (
            !a.source_port.is_empty() && !b.source_port.is_empty(),
            a.source_port.iter().all(|it| !b.source_port.contains(it)),
        ),
        (
            !a.destination_port.is_empty() && !b.destination_port.is_empty(),
            a.destination_port.iter().all(|it| !b.destination_port.contains(it)),
        ),
        (
            !a.source.is_empty() && !b.source.is_empty(),
            a.source.iter().all(|it| b.source.iter().all(|o| !overlap(it, o))),
        ),
    ];
    lists.into_iter().any(|(stated, apart)| stated && apart)
}

/// Those of the classes, with one that only takes its packets where a later one would.
fn conditioners(classes: &[Drawn], last: &Drawn, told: bool) -> Vec<Conditioner> {
    let mut out = Vec::new();
    for (i, class) in classes.iter().enumerate() {
        let later = classes[i + 1..].iter().any(|it| it.meter.is_some() && !never_both(&class.matches, &it.matches));
        let cover = told || later || last.meter.is_some();
        // Those of a policy map in it come before its own, to which their packets go on.
        if class.child.is_some() && (told || cover && class.meter.is_none()) {
            let on = if class.meter.is_some() { Act::Next } else { Act::Transmit };
            out.push(passing(format!("c{i}/0"), &first_codes(class), on));
            out.push(passing(format!("c{i}/1"), &class.matches, on));
        }
        if class.meter.is_some() || cover && class.child.is_none() {
            out.push(conditioner(format!("c{i}"), &class.matches, class.meter.as_ref()));
        }
    }
    out.extend(last.meter.as_ref().map(|meter| conditioner("rest".into(), &[], Some(meter))));
    out
}

type Meter = (&'static str, Settings, Vec<(Colour, Vec<Act>)>);

fn conditioner(name: String, matches: &[Match], meter: Option<&Meter>) -> Conditioner {
    let passing = ("marker", Settings::default(), vec![(Colour::Green, vec![Act::Transmit])]);
    let (kind, settings, actions) = meter.unwrap_or(&passing).clone();
    let actions = actions.into_iter().map(|(colour, acts)| (colour, said(acts))).collect();
    Conditioner { name: said(name), takes: filters(matches), kind, settings, actions }
}

fn passing(name: String, matches: &[Match], on: Act) -> Conditioner {
    let actions = vec![(Colour::Green, said(vec![on]))];
    Conditioner { name: said(name), takes: filters(matches), kind: "marker", settings: Settings::default(), actions }
}

/// What the first class of a policy map in a class takes.
fn first_codes(class: &Drawn) -> Vec<Match> {
    let dscp = class.matches[0].dscp[..class.matches[0].dscp.len() / 2].to_vec();
    vec![Match { dscp, ..class.matches[0].clone() }]
}

fn passed(names: Vec<String>) -> Vec<Filter> {
    filters(&[Match { conditioner: names, ..Match::default() }])
}

fn filters(matches: &[Match]) -> Vec<Filter> {
    matches.iter().map(|it| Filter { order: 0, matches: said(it.clone()) }).collect()
}

fn queue(classes: &[Drawn], priorities: usize, last: &Drawn, told: bool) -> Queue {
    let class = |(i, it): (usize, &Drawn)| {
        let own = format!("c{i}");
        let names = match (&it.child, &it.meter) {
            (None, _) => vec![own],
            (Some(_), None) => vec![format!("c{i}/0"), format!("c{i}/1")],
            (Some(_), Some(_)) => vec![format!("c{i}/0"), format!("c{i}/1"), own],
        };
        let takes = if told { passed(names) } else { filters(&it.matches) };
        Class {
            name: said(format!("class {i}")),
            parent: None,
            takes,
            rest: false,
            settings: it.limit.clone(),
            queue: Some(it.child.as_ref().map_or_else(|| it.queue.clone(), |child| below(i, it, child, told))),
        }
    };
    let (first, others): (Vec<_>, Vec<_>) = classes.iter().enumerate().partition(|(i, _)| *i < priorities);
    let mut first: Vec<_> = first.into_iter().map(class).collect();
    // IOS has two levels; classes of one share a queue.
    for class in first.iter_mut().skip(if last.weight.is_multiple_of(2) { 2 } else { 1 }) {
        class.settings.set("same-level", said(Value::Flag(true)));
    }
    let sharing: Vec<_> = others.into_iter().map(|it| with_quantum(class(it), it.1.weight)).collect();
    let below = match sharing.is_empty() {
        true => last.queue.clone(),
        false => {
            let rest = with_quantum(rest(last.queue.clone()), last.weight);
            scheduler("drr", sharing.into_iter().chain([rest]).collect())
        }
    };
    match first.is_empty() {
        true => below,
        false => scheduler("strict-priority", first.into_iter().chain([rest(below)]).collect()),
    }
}

/// A policy map in a class.
fn below(i: usize, class: &Drawn, child: &Child, told: bool) -> Queue {
    let [first, last] = child.queues.clone();
    let takes = if told { passed(vec![format!("c{i}/0")]) } else { filters(&first_codes(class)) };
    let name = said("first".to_owned());
    let first = Class { name, parent: None, takes, rest: false, settings: Settings::default(), queue: Some(first) };
    let classes = vec![with_quantum(first, child.weights[0]), with_quantum(rest(last), child.weights[1])];
    Queue { shape: child.shape.clone(), ..scheduler("drr", classes) }
}

fn with_quantum(class: Class, weight: u64) -> Class {
    let mut settings = Settings::default();
    settings.set("quantum", said(Value::Bytes(Bytes::new(1_514 * weight))));
    Class { settings, ..class }
}

fn rest(queue: Queue) -> Class {
    Class {
        name: said("class-default".into()),
        parent: None,
        takes: Vec::new(),
        rest: true,
        settings: Settings::default(),
        queue: Some(queue),
    }
}

fn scheduler(kind: &'static str, classes: Vec<Class>) -> Queue {
    Queue {
        name: said("policy".into()),
        kind: Some(Kind::Scheduler(kind)),
        settings: Settings::default(),
        shape: Settings::default(),
        classes,
    }
}

/// What a class takes, in one or two ways.
fn matches() -> impl Strategy<Value = Vec<Match>> {
    let codes = prop::collection::btree_set((0u8..64).prop_filter_map("six bits", Dscp::new), 1..6);
    let codes = codes.prop_map(|it| Match { dscp: it.into_iter().collect(), ..Match::default() });
    let header = || by_header(prop::option::of(prop::sample::select(vec!["192.0.2.1/32", "172.16.0.0/12"])));
    let both = (header(), (0u8..64).prop_filter_map("six bits", Dscp::new)).prop_map(|(it, code)| {
        let first = Match { protocol: vec![Protocol::TCP], source_port: Vec::new(), destination_port: vec![179], ..it };
        vec![first, Match { dscp: vec![code], ..Match::default() }]
    });
    prop_oneof![4 => codes.prop_map(|it| vec![it]), 2 => header().prop_map(|it| vec![it]), 1 => both]
}

fn by_header(source: impl Strategy<Value = Option<&'static str>>) -> impl Strategy<Value = Match> {
    let port = || prop::option::of(prop::sample::select(vec![22u16, 53, 443, 5060]));
    let protocol = prop::sample::select(vec![Protocol::TCP, Protocol::UDP]);
    let code = prop::option::weighted(0.3, (0u8..64).prop_filter_map("six bits", Dscp::new));
    (source, protocol, port(), port(), code).prop_map(|(source, protocol, from, to, code)| Match {
        source: source.map(|it| Prefix(it.parse().unwrap())).into_iter().collect(),
        protocol: vec![protocol],
        source_port: from.into_iter().collect(),
        destination_port: to.into_iter().collect(),
        dscp: code.into_iter().collect(),
        ..Match::default()
    })
}

type Keys = Vec<(&'static str, BoxedStrategy<Value>)>;

fn settings(keys: Keys) -> impl Strategy<Value = Settings> {
    let keys: Vec<_> = keys.into_iter().map(|(key, value)| value.prop_map(move |value| (key, value))).collect();
    keys.prop_map(|all| {
        let mut settings = Settings::default();
        all.into_iter().for_each(|(key, value)| settings.set(key, said(value)));
        settings
    })
}

fn kbit(range: Range<u64>) -> BoxedStrategy<Value> {
    range.prop_map(|kbit| Value::Rate(BitRate::kbps(kbit))).boxed()
}

fn bytes(range: Range<u64>) -> BoxedStrategy<Value> {
    range.prop_map(|it| Value::Bytes(Bytes::new(it))).boxed()
}

fn word(word: &'static str) -> BoxedStrategy<Value> {
    Just(Value::Word(word.into())).boxed()
}

/// `priority` with a limit.
fn limited(police: &'static str) -> BoxedStrategy<Settings> {
    settings(vec![("rate", kbit(64..5_000)), ("burst", bytes(1_600..60_000)), ("police", word(police))]).boxed()
}

/// `police` and `set`: a kind, its keys, its actions.
fn meter() -> BoxedStrategy<Meter> {
    let bits = |second: Keys| [vec![("cir", kbit(64..90_000)), ("cbs", bytes(1_600..200_000))], second].concat();
    let packets = vec![
        ("cir", (10u64..5_000).prop_map(|it| Value::PacketRate(PacketRate::per_second(it))).boxed()),
        ("cbs", (1u32..100).prop_map(|it| Value::Packets(Packets::new(it))).boxed()),
    ];
    let excess = vec![("ebs", bytes(1_600..200_000))];
    let peak = vec![("pir", kbit(90_000..99_000)), ("pbs", bytes(1_600..200_000))];
    let (two, three) = (vec![Colour::Green, Colour::Red], vec![Colour::Green, Colour::Yellow, Colour::Red]);
    prop_oneof![
        kind("token-bucket", settings(bits(Vec::new())).boxed(), two.clone()),
        kind("token-bucket", settings(packets).boxed(), two),
        kind("srtcm", settings(bits(excess)).boxed(), three.clone()),
        kind("trtcm", settings(bits(peak)).boxed(), three),
        (0u8..64)
            .prop_filter_map("six bits", Dscp::new)
            .prop_map(|code| { ("marker", Settings::default(), vec![(Colour::Green, vec![Act::Mark(code)])]) }),
    ]
    .boxed()
}

fn kind(name: &'static str, settings: BoxedStrategy<Settings>, colours: Vec<Colour>) -> BoxedStrategy<Meter> {
    let code = (0u8..64).prop_filter_map("six bits", Dscp::new);
    let act = prop_oneof![
        3 => Just(vec![Act::Transmit]),
        3 => Just(vec![Act::Drop]),
        1 => code.prop_map(|code| vec![Act::Mark(code)]),
    ];
    let acts = prop::collection::vec(act, colours.len());
    // Priority with a policer that drops what exceeds is a limit of the class.
    let differs = |acts: &Vec<Vec<Act>>| acts[0] != [Act::Transmit] || acts[1..].iter().any(|it| *it != [Act::Drop]);
    (settings, acts.prop_filter("no limit of a priority", differs))
        .prop_map(move |(settings, acts)| (name, settings, colours.iter().copied().zip(acts).collect()))
        .boxed()
}

/// `shape average`, or none.
fn shape() -> impl Strategy<Value = Settings> {
    let base = || {
        vec![
            ("rate", kbit(90_000..99_000)),
            ("burst", bytes(2_000..100_000)),
            ("debt", Just(Value::Flag(true)).boxed()),
        ]
    };
    let counted =
        [base(), vec![("overhead", (-14i32..40).prop_map(|n| Value::Signed(SignedBytes::new(n))).boxed())]].concat();
    prop_oneof![3 => Just(Settings::default()), 1 => settings(base()), 1 => settings(counted)]
}

/// A queue without classes.
fn leaf() -> BoxedStrategy<Queue> {
    let limit = prop_oneof![
        (1u32..2_000).prop_map(|it| Value::Packets(Packets::new(it))),
        (3_000u64..500_000).prop_map(|it| Value::Bytes(Bytes::new(it))),
        (1u64..200).prop_map(|it| Value::Time(Span::from_ms(it))),
    ];
    let packets = (2u32..2_000).prop_map(|it| Value::Packets(Packets::new(it)));
    let of = |kind, settings: BoxedStrategy<Settings>| {
        (settings, shape()).prop_map(move |(settings, shape)| Queue {
            name: said(String::new()),
            kind,
            settings,
            shape,
            classes: Vec::new(),
        })
    };
    prop_oneof![
        2 => of(None, settings(vec![("limit", limit.boxed())]).boxed()),
        1 => of(Some(Kind::Scheduler("fq-codel")), settings(vec![("limit", packets.boxed())]).boxed()),
        2 => of(Some(Kind::Aqm("wred")), wred().boxed()),
    ]
    .boxed()
}

/// The same as a queue that drops at its end alone.
fn plain(queue: &Queue) -> Queue {
    let mut settings = Settings::default();
    settings
        .set("limit", queue.settings.get("limit").cloned().unwrap_or_else(|| said(Value::Packets(Packets::new(64)))));
    Queue { kind: None, settings, shape: Settings::default(), ..queue.clone() }
}

/// WRED in packets, bytes or milliseconds: profiles of some code points, and of all others.
fn wred() -> impl Strategy<Value = Settings> {
    let unit = prop::sample::select(vec![0usize, 1, 2]);
    let row = (1u64..1_000, 1u64..1_000, 1u64..200);
    let rows = prop::collection::vec(row, 1..5);
    let codes = prop::collection::btree_set(0u8..64, 8);
    (unit, rows, codes, 1u64..17, any::<bool>()).prop_map(|(unit, rows, codes, weight, ecn)| {
        let length = |n: u64| match unit {
            0 => Value::Packets(Packets::new(n as u32)),
            1 => Value::Bytes(Bytes::new(n * 1_500)),
            _ => Value::Time(Span::from_ms(n)),
        };
        let mut settings = Settings::default();
        settings.set("limit", said(length(2_500)));
        settings.set("weight", said(Value::Count(weight)));
        if ecn {
            settings.set("ecn", said(Value::Flag(true)));
        }
        let last = rows.len() - 1;
        let codes: Vec<_> = codes.into_iter().filter_map(Dscp::new).collect();
        let profile = |(i, (min, more, denominator)): (usize, (u64, u64, u64))| {
            let mut table = Settings::default();
            if i < last {
                let own = codes.iter().skip(i * 2).take(2);
                table.set("for", said(Value::List(own.map(|it| Value::Word(it.to_string())).collect())));
            }
            table.set("min", said(length(min)));
            table.set("max", said(length(min + more)));
            table.set("max-p", said(Value::Number(1.0 / denominator as f64)));
            Value::Table(table)
        };
        settings.set("profiles", said(Value::List(rows.into_iter().enumerate().map(profile).collect())));
        settings
    })
}
