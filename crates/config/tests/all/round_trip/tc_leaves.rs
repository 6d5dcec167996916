//! Queues without classes as Linux has them, all that tc assumes said.

use super::tc_draw::said;
use perhop_config::model::{Kind, Queue};
use perhop_config::value::{Settings, Value};
use perhop_core::units::{BitRate, Bytes, Packets, SignedBytes, Span};
use proptest::prelude::*;
use std::ops::Range;

type Keys = Vec<(&'static str, BoxedStrategy<Value>)>;

/// All of these keys.
pub fn settings(keys: Keys) -> BoxedStrategy<Settings> {
    let keys: Vec<_> = keys.into_iter().map(|(key, value)| value.prop_map(move |value| (key, value))).collect();
    keys.prop_map(|all| {
        let mut settings = Settings::default();
        all.into_iter().for_each(|(key, value)| settings.set(key, said(value)));
        settings
    })
    .boxed()
}

/// A table of all of these keys.
pub fn table(keys: Keys) -> BoxedStrategy<Value> {
    settings(keys).prop_map(Value::Table).boxed()
}

pub fn kbit(range: Range<u64>) -> BoxedStrategy<Value> {
    range.prop_map(|kbit| Value::Rate(BitRate::kbps(kbit))).boxed()
}

pub fn bytes(range: Range<u64>) -> BoxedStrategy<Value> {
    range.prop_map(|it| Value::Bytes(Bytes::new(it))).boxed()
}

pub fn word(word: &'static str) -> BoxedStrategy<Value> {
    Just(Value::Word(word.into())).boxed()
}

fn words(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop::sample::select(words).prop_map(|it| Value::Word(it.into())).boxed()
}

fn packets(range: Range<u32>) -> BoxedStrategy<Value> {
    range.prop_map(|it| Value::Packets(Packets::new(it))).boxed()
}

fn us(range: Range<u64>) -> BoxedStrategy<Value> {
    range.prop_map(|it| Value::Time(Span::from_us(it))).boxed()
}

fn ms(range: Range<u64>) -> BoxedStrategy<Value> {
    range.prop_map(|it| Value::Time(Span::from_ms(it))).boxed()
}

fn count(range: Range<u64>) -> BoxedStrategy<Value> {
    range.prop_map(Value::Count).boxed()
}

/// A power of two.
fn power(range: Range<u32>) -> BoxedStrategy<Value> {
    range.prop_map(|it| Value::Count(1 << it)).boxed()
}

fn flag() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::Flag).boxed()
}

fn sixteenths() -> BoxedStrategy<Value> {
    (1u32..33).prop_map(|it| Value::Number(f64::from(it) / 16.0)).boxed()
}

/// The largest packet, which the interface has.
fn mtu() -> (&'static str, BoxedStrategy<Value>) {
    ("mtu", Just(Value::Bytes(Bytes::new(1514))).boxed())
}

/// Any queue without classes.
pub fn leaf() -> impl Strategy<Value = Queue> {
    let by = |limit| settings(vec![("limit", limit)]);
    let head = settings(vec![("limit", packets(2..2_000)), ("drop", word("head"))]);
    prop_oneof![
        of(None, by(packets(2..2_000))),
        of(None, by(bytes(3_000..500_000))),
        of(None, head),
        of(Some(Kind::Aqm("codel")), maybe(codel(), "ce-threshold")),
        of(Some(Kind::Aqm("pie")), settings(pie())),
        of(Some(Kind::Aqm("red")), red()),
        of(Some(Kind::Aqm("choke")), choke()),
        of(Some(Kind::Scheduler("fq-codel")), fq_codel()),
        of(Some(Kind::Scheduler("fq-pie")), fq_pie()),
        of(Some(Kind::Scheduler("fq")), fq()),
        of(Some(Kind::Scheduler("sfq")), sfq()),
        of(Some(Kind::Scheduler("cake")), cake()),
    ]
}

fn of(kind: Option<Kind>, settings: BoxedStrategy<Settings>) -> impl Strategy<Value = Queue> {
    settings.prop_map(move |settings| Queue {
        name: said(String::new()),
        kind,
        settings,
        shape: Settings::default(),
        classes: Vec::new(),
    })
}

/// With this key, or without it.
fn maybe(keys: Keys, key: &'static str) -> BoxedStrategy<Settings> {
    (settings(keys), any::<bool>())
        .prop_map(move |(mut settings, keep)| {
            if !keep {
                settings.remove(key);
            }
            settings
        })
        .boxed()
}

fn linux() -> (&'static str, BoxedStrategy<Value>) {
    ("arithmetic", word("linux"))
}

fn codel() -> Keys {
    vec![
        ("limit", packets(2..2_000)),
        ("target", us(100..20_000)),
        ("interval", us(30_000..200_000)),
        ("ecn", flag()),
        ("ce-threshold", us(100..5_000)),
        mtu(),
        linux(),
    ]
}

fn pie() -> Keys {
    vec![
        ("limit", packets(2..2_000)),
        ("target", us(1_000..30_000)),
        ("interval", ms(10..30)),
        ("alpha", sixteenths()),
        ("beta", sixteenths()),
        ("ecn", flag()),
        ("byte-mode", flag()),
        ("delay", words(&["timestamps", "rate"])),
        mtu(),
        linux(),
    ]
}

fn fq_pie() -> BoxedStrategy<Settings> {
    let percent = (1u32..100).prop_map(|it| Value::Number(f64::from(it) / 100.0)).boxed();
    let own: Keys = vec![("flows", count(1..2_000)), ("quantum", bytes(256..60_000)), ("ecn-below", percent)];
    settings(pie().into_iter().filter(|it| it.0 != "arithmetic").chain(own).collect())
}

fn fq_codel() -> BoxedStrategy<Settings> {
    let memory = Just(Value::Bytes(Bytes::new(32 << 20))).boxed();
    let own: Keys = vec![
        ("flows", count(1..2_000)),
        ("quantum", bytes(256..60_000)),
        ("memory", memory),
        ("drop-batch", count(1..100)),
    ];
    maybe(codel().into_iter().chain(own).collect(), "ce-threshold")
}

fn fq() -> BoxedStrategy<Settings> {
    let slack = (1u64..100_000).prop_map(|ns| Value::Time(Span::from_ns(ns))).boxed();
    let map = prop::collection::vec(0u8..3, 16);
    let map = map.prop_map(|it| Value::Word(it.iter().map(u8::to_string).collect::<Vec<_>>().join(" "))).boxed();
    let weights = prop::collection::vec(16_384u32..1_000_000, 3);
    let weights =
        weights.prop_map(|it| Value::Word(it.iter().map(u32::to_string).collect::<Vec<_>>().join(" "))).boxed();
    let all = settings(vec![
        ("limit", packets(2..20_000)),
        ("flow-limit", packets(1..200)),
        ("quantum", bytes(1_514..60_000)),
        ("initial-quantum", bytes(1_514..60_000)),
        ("pacing", flag()),
        ("low-rate-threshold", kbit(1..2_000)),
        ("refill-delay", ms(1..100)),
        ("timer-slack", slack),
        ("flows", power(4..11)),
        ("maxrate", kbit(1_000..90_000)),
        ("ce-threshold", us(100..5_000)),
        ("priomap", map),
        ("weights", weights),
    ]);
    (all, any::<[bool; 3]>())
        .prop_map(|(mut all, [maxrate, mark, bands])| {
            let paced = all.get("pacing").is_some_and(|it| it.is == Value::Flag(true));
            let kept = [("maxrate", maxrate && paced), ("ce-threshold", mark), ("priomap", bands), ("weights", bands)];
            kept.into_iter().filter(|it| !it.1).for_each(|(key, _)| _ = all.remove(key));
            all
        })
        .boxed()
}

fn sfq() -> BoxedStrategy<Settings> {
    settings(vec![
        ("limit", packets(2..100)),
        ("quantum", bytes(1_514..60_000)),
        ("depth", packets(1..128)),
        ("active", count(100..129)),
        ("flows", power(7..11)),
        ("drop", words(&["tail", "head"])),
        linux(),
    ])
}

/// Its weight is one that a burst gives.
fn red() -> BoxedStrategy<Settings> {
    let all = settings(vec![
        ("limit", bytes(400_000..500_000)),
        ("min", bytes(10_000..30_000)),
        ("max", bytes(40_000..100_000)),
        ("max-p", share()),
        ("mean-packet", bytes(500..1_500)),
        ("weight", count(2..8)),
        ("ecn", flag()),
        ("adaptive", flag()),
        linux(),
    ]);
    all.boxed()
}

fn choke() -> BoxedStrategy<Settings> {
    settings(vec![
        ("limit", packets(300..1_000)),
        ("min", packets(10..30)),
        ("max", packets(40..200)),
        ("max-p", share()),
        ("mean-packet", bytes(500..1_500)),
        ("weight", count(2..8)),
        ("ecn", flag()),
        linux(),
    ])
}

fn share() -> BoxedStrategy<Value> {
    prop::sample::select(vec![0.02, 0.1, 0.015, 0.5, 1.0]).prop_map(Value::Number).boxed()
}

fn cake() -> BoxedStrategy<Settings> {
    let all = settings(vec![
        ("rate", kbit(1_000..99_000)),
        ("tins", words(&["besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8"])),
        (
            "isolation",
            words(&[
                "flowblind",
                "srchost",
                "dsthost",
                "hosts",
                "flows",
                "dual-srchost",
                "dual-dsthost",
                "triple-isolate",
            ]),
        ),
        ("rtt", us(100..300_000)),
        ("flows", Just(Value::Count(1024)).boxed()),
        ("ack-filter", words(&["off", "on", "aggressive"])),
        ("split-gso", flag()),
        ("overhead", (-20i32..243).prop_map(|it| Value::Signed(SignedBytes::new(it))).boxed()),
        ("mpu", bytes(1..257)),
        ("link-layer", word("atm")),
        mtu(),
    ]);
    (all, any::<[bool; 4]>())
        .prop_map(|(mut all, [rate, overhead, mpu, atm])| {
            let kept = [("rate", rate), ("overhead", overhead), ("mpu", mpu), ("link-layer", atm)];
            kept.into_iter().filter(|it| !it.1).for_each(|(key, _)| _ = all.remove(key));
            all
        })
        .boxed()
}
