//! Queues: algorithms with their keys, schedulers over classes.

use super::{LINK, MOST, filters, flag, settings, with, with_origin, word};
use crate::model::{Class, Kind, Queue};
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::units::{BitRate, Bytes, Packets, Span};
use proptest::prelude::*;

/// What a dialect's queues look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Linux: queueing disciplines.
    Tc,
    /// Cisco: priority classes above classes that share.
    Ios,
}

type Keys = Vec<(&'static str, BoxedStrategy<Value>)>;

/// A queue with up to two levels of classes.
pub fn queue(of: Shape) -> BoxedStrategy<Queue> {
    match of {
        Shape::Tc => prop_oneof![2 => leaf(), 3 => top(leaf()), 2 => top(scheduler(leaf()).boxed())].boxed(),
        Shape::Ios => prioritised().boxed(),
    }
}

/// Priority classes, and below them classes that share by quantum.
fn prioritised() -> impl Strategy<Value = Queue> {
    let first = prop::collection::vec(class(limited().boxed(), simple().boxed()), 0..3);
    let below = classful("drr", keys("quantum", bytes(1600..30_000)), simple().boxed(), word_keys(&[]));
    (first, below, shape(), name()).prop_map(|(mut classes, below, shape, name)| {
        let rest = Class {
            name: WithOrigin::assumed(super::SOURCE, "class-default".to_owned()),
            parent: None,
            takes: Vec::new(),
            rest: true,
            settings: Settings::default(),
            queue: Some(below),
        };
        classes.push(rest);
        Queue { name, kind: Some(Kind::Scheduler("strict-priority")), settings: Settings::default(), shape, classes }
    })
}

/// A scheduler whose classes have such queues.
fn scheduler(below: BoxedStrategy<Queue>) -> impl Strategy<Value = Queue> {
    let linux = || word_keys(&[("arithmetic", &["linux", "exact"])]);
    prop_oneof![
        classful("drr", keys("quantum", bytes(1600..30_000)), below.clone(), linux()),
        classful("wrr", keys("weight", (1u64..10).prop_map(Value::Count).boxed()), below.clone(), word_keys(&[])),
        classful("strict-priority", limited().boxed(), below.clone(), word_keys(&[])),
        ets(below.clone()),
        tree("htb", htb().boxed(), below),
    ]
}

/// A scheduler right at the port: below others no class could keep HFSC's guarantees.
fn top(below: BoxedStrategy<Queue>) -> impl Strategy<Value = Queue> {
    prop_oneof![5 => scheduler(below.clone()), 1 => tree("hfsc", hfsc().boxed(), below)]
}

fn classful(
    kind: &'static str,
    keys: BoxedStrategy<Settings>,
    below: BoxedStrategy<Queue>,
    own: BoxedStrategy<Settings>,
) -> BoxedStrategy<Queue> {
    let classes = prop::collection::vec(class(keys, below), 1..=MOST);
    let rest = prop::option::weighted(0.8, any::<prop::sample::Index>());
    (classes, rest, own, shape(), name())
        .prop_map(move |(mut classes, rest, settings, shape, name)| {
            let last = classes.len();
            rest.into_iter().for_each(|at| classes[at.index(last)].rest = true);
            Queue { name, kind: Some(Kind::Scheduler(kind)), settings, shape, classes }
        })
        .boxed()
}

/// Strict classes, then some that share.
fn ets(below: BoxedStrategy<Queue>) -> BoxedStrategy<Queue> {
    let strict = prop::collection::vec(class(limited().boxed(), below.clone()), 0..3);
    let own = word_keys(&[("arithmetic", &["linux", "exact"])]);
    (strict, classful("ets", keys("quantum", bytes(1600..30_000)), below, own))
        .prop_map(|(strict, mut queue)| {
            queue.classes = strict.into_iter().chain(queue.classes).collect();
            queue
        })
        .boxed()
}

/// A class above others, which may have another between.
fn tree(kind: &'static str, keys: BoxedStrategy<Settings>, below: BoxedStrategy<Queue>) -> BoxedStrategy<Queue> {
    let top = match kind {
        "htb" => with(
            vec![("rate", Just(Value::Rate(LINK)).boxed())],
            settings(vec![("ceil", Just(Value::Rate(LINK)).boxed())]),
        )
        .boxed(),
        _ => {
            with(vec![("ls", Just(Value::Rate(LINK)).boxed())], settings(vec![("ul", Just(Value::Rate(LINK)).boxed())]))
                .boxed()
        }
    };
    let own = word_keys(&[("arithmetic", &["linux", "exact"])]);
    (top, classful(kind, keys, below, own), any::<bool>())
        .prop_map(move |(top, mut queue, other)| {
            let rest = queue.classes.iter().any(|class| class.rest);
            let settings = top;
            let name = WithOrigin::assumed(super::SOURCE, "1:1".to_owned());
            let top = Class { name, parent: None, takes: Vec::new(), rest: false, settings, queue: None };
            queue.classes.iter_mut().for_each(|class| class.parent = Some(0));
            queue.classes.insert(0, top);
            if !rest {
                let unclassified = if kind == "htb" { "direct" } else { "drop" };
                queue
                    .settings
                    .set("unclassified", WithOrigin::assumed(super::SOURCE, Value::Word(unclassified.into())));
            }
            if other && kind == "htb" {
                queue.classes.iter_mut().filter(|class| class.rest).for_each(|class| class.parent = None);
            }
            queue
        })
        .boxed()
}

fn htb() -> impl Strategy<Value = Settings> {
    let others: Keys = vec![
        ("ceil", rate(13_000..99_000)),
        ("burst", bytes(1600..100_000)),
        ("cburst", bytes(1600..100_000)),
        ("prio", (0u64..8).prop_map(Value::Count).boxed()),
        ("quantum", bytes(1600..60_000)),
    ];
    with(vec![("rate", rate(64..12_000))], settings(others))
}

fn hfsc() -> impl Strategy<Value = Settings> {
    let ls = prop_oneof![rate(64..12_000), curve()];
    with(vec![("ls", ls.boxed())], settings(vec![("rt", curve()), ("ul", rate(13_000..99_000))]))
}

/// A curve in either of tc's forms.
fn curve() -> BoxedStrategy<Value> {
    let time = || (1u64..100).prop_map(|ms| Value::Time(Span::from_ms(ms))).boxed();
    let steps: Keys = vec![("m1", rate(64..11_000)), ("d", time()), ("m2", rate(64..10_000))];
    let umax: Keys = vec![("umax", bytes(200..1000)), ("dmax", time()), ("rate", rate(64..10_000))];
    let table = |keys: Keys| with(keys, Just(Settings::default())).prop_map(Value::Table);
    prop_oneof![table(steps), table(umax)].boxed()
}

/// A limit of a strict class, or none.
fn limited() -> impl Strategy<Value = Settings> {
    let limit: Keys =
        vec![("rate", rate(64..5000)), ("burst", bytes(1700..60_000)), ("police", word(&["always", "congested"]))];
    prop_oneof![Just(Settings::default()), with(limit, Just(Settings::default()))]
}

fn class(keys: BoxedStrategy<Settings>, below: BoxedStrategy<Queue>) -> impl Strategy<Value = Class> {
    let name = with_origin(prop::sample::select(vec!["1:10", "1:20", "GOLD", "VOICE", "class \"x\"", "{i}"]));
    (name, filters(), keys, prop::option::of(below)).prop_map(|(name, takes, settings, queue)| {
        let name = WithOrigin { is: name.is.to_owned(), origin: name.origin };
        Class { name, parent: None, takes, rest: false, settings, queue }
    })
}

fn name() -> impl Strategy<Value = WithOrigin<String>> {
    with_origin(prop::sample::select(vec!["1:", "policy-map WAN", "110:"]).prop_map(str::to_owned))
}

/// A shaper, or none.
pub fn shape() -> impl Strategy<Value = Settings> {
    let others: Keys = vec![("debt", flag()), ("arithmetic", word(&["linux", "exact"]))];
    let shaper = with(vec![("rate", rate(90_000..99_000)), ("burst", bytes(2000..100_000))], settings(others));
    prop_oneof![3 => Just(Settings::default()), 1 => shaper]
}

/// A queue without classes.
pub fn leaf() -> BoxedStrategy<Queue> {
    let time = |range: std::ops::Range<u64>| range.prop_map(|ms| Value::Time(Span::from_ms(ms))).boxed();
    let codel: Keys =
        vec![("target", time(1..20)), ("interval", time(50..200)), ("ecn", flag()), ("ce-threshold", time(1..5))];
    let pie: Keys = vec![("target", time(5..30)), ("interval", time(10..30)), ("ecn", flag()), ("byte-mode", flag())];
    let many: Keys = vec![("flows", (1u64..2000).prop_map(Value::Count).boxed()), ("limit", packets(10..10_000))];
    let fq = [many.clone(), vec![("quantum", bytes(1600..6000)), ("pacing", flag())]].concat();
    let cake: Keys = vec![
        ("rate", rate(90_000..99_000)),
        ("tins", word(&["besteffort", "diffserv3", "diffserv4"])),
        ("rtt", time(10..200)),
    ];
    let limit: Keys = vec![("limit", packets(10..2000))];
    prop_oneof![
        simple(),
        plain(Some(Kind::Aqm("codel")), settings([limit.clone(), codel.clone()].concat()).boxed()),
        plain(Some(Kind::Aqm("pie")), settings([limit, pie.clone()].concat()).boxed()),
        plain(Some(Kind::Aqm("red")), red().boxed()),
        plain(Some(Kind::Scheduler("fq-codel")), settings([many.clone(), codel].concat()).boxed()),
        plain(Some(Kind::Scheduler("fq-pie")), settings([many, pie].concat()).boxed()),
        plain(Some(Kind::Scheduler("fq")), settings(fq).boxed()),
        plain(Some(Kind::Scheduler("sfq")), settings(vec![("limit", packets(10..127))]).boxed()),
        plain(Some(Kind::Scheduler("cake")), settings(cake).boxed()),
    ]
    .boxed()
}

/// Drop-tail, or WRED, or a queue for each flow: what a class of a router has.
fn simple() -> BoxedStrategy<Queue> {
    let limit: Keys = vec![("limit", packets(64..2000))];
    prop_oneof![
        plain(None, settings(limit).boxed()),
        plain(Some(Kind::Aqm("wred")), wred().boxed()),
        plain(Some(Kind::Scheduler("fq-codel")), Just(Settings::default()).boxed()),
    ]
    .boxed()
}

fn plain(kind: Option<Kind>, settings: BoxedStrategy<Settings>) -> BoxedStrategy<Queue> {
    (settings, shape(), name())
        .prop_map(move |(settings, shape, name)| Queue { name, kind, settings, shape, classes: Vec::new() })
        .boxed()
}

fn red() -> impl Strategy<Value = Settings> {
    let sizes: Keys = vec![
        ("limit", bytes(400_000..500_000)),
        ("min", bytes(10_000..30_000)),
        ("max", bytes(40_000..100_000)),
        ("weight", (1u64..10).prop_map(Value::Count).boxed()),
    ];
    let others: Keys = vec![
        ("max-p", prop::sample::select(vec![0.02, 0.1, 1.0]).prop_map(Value::Number).boxed()),
        ("mean-packet", bytes(500..1500)),
        ("ecn", flag()),
        ("adaptive", flag()),
        ("arithmetic", word(&["exact", "linux"])),
    ];
    with(sizes, settings(others))
}

fn wred() -> impl Strategy<Value = Settings> {
    let profile = |codes: Option<&'static [&'static str]>| {
        let keys: Keys =
            vec![("min", packets(10..20)), ("max", packets(21..40)), ("max-p", Just(Value::Number(0.1)).boxed())];
        with(keys, Just(Settings::default())).prop_map(move |mut settings| {
            let word = |code: &&str| Value::Word((*code).to_owned());
            let list = codes.map(|codes| Value::List(codes.iter().map(word).collect()));
            list.into_iter().for_each(|list| settings.set("for", WithOrigin::assumed(super::SOURCE, list)));
            Value::Table(settings)
        })
    };
    let profiles = (profile(Some(&["AF11", "AF21"])), profile(Some(&["AF12"])), profile(None));
    let profiles = profiles.prop_map(|(a, b, c)| Value::List(vec![a, b, c])).boxed();
    let weight = (4u64..10).prop_map(Value::Count).boxed();
    with(vec![("limit", packets(64..500)), ("profiles", profiles)], settings(vec![("weight", weight), ("ecn", flag())]))
}

fn keys(key: &'static str, value: BoxedStrategy<Value>) -> BoxedStrategy<Settings> {
    with(vec![(key, value)], Just(Settings::default())).boxed()
}

fn word_keys(keys: &[(&'static str, &'static [&'static str])]) -> BoxedStrategy<Settings> {
    settings(keys.iter().map(|(key, words)| (*key, word(words))).collect()).boxed()
}

fn rate(kbit: std::ops::Range<u64>) -> BoxedStrategy<Value> {
    kbit.prop_map(|kbit| Value::Rate(BitRate::kbps(kbit))).boxed()
}

fn bytes(range: std::ops::Range<u64>) -> BoxedStrategy<Value> {
    range.prop_map(|bytes| Value::Bytes(Bytes::new(bytes))).boxed()
}

fn packets(range: std::ops::Range<u32>) -> BoxedStrategy<Value> {
    range.prop_map(|packets| Value::Packets(Packets::new(packets))).boxed()
}
