//! Conditioners: policers, meters and markers.

use super::{filters, flag, settings, with, with_origin, word};
use crate::model::{Act, Conditioner};
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::colour::Colour;
use perhop_core::dscp::Dscp;
use perhop_core::units::{BitRate, Bytes, PacketRate, Packets, SignedBytes};
use proptest::prelude::*;

/// Up to four.
pub fn conditioners() -> impl Strategy<Value = Vec<Conditioner>> {
    prop::collection::vec(conditioner(), 0..4)
}

fn conditioner() -> impl Strategy<Value = Conditioner> {
    let name = with_origin(prop::sample::select(vec!["GOLD", "police 1", "class VOICE", "class-default"]));
    let kind = prop_oneof![
        token_bucket().prop_map(|it| ("token-bucket", it)),
        by_packets().prop_map(|it| ("token-bucket", it)),
        three_colours("ebs").prop_map(|it| ("srtcm", it)),
        peak().prop_map(|it| ("trtcm", it)),
        settings(vec![("colour", word(&["green", "yellow", "red"]))]).prop_map(|it| ("marker", it)),
    ];
    (name, filters(), kind, actions()).prop_map(|(name, takes, (kind, settings), actions)| {
        let name = WithOrigin { is: name.is.to_owned(), origin: name.origin };
        Conditioner { name, takes, kind, settings, actions }
    })
}

fn actions() -> impl Strategy<Value = Vec<(Colour, WithOrigin<Vec<Act>>)>> {
    let code = (0u8..64).prop_filter_map("six bits", Dscp::new);
    let act = prop_oneof![
        3 => Just(vec![Act::Transmit]),
        3 => Just(vec![Act::Drop]),
        2 => code.prop_map(|code| vec![Act::Mark(code)]),
        1 => Just(vec![Act::Next]),
        1 => Just(vec![Act::Colour(Colour::Yellow), Act::Mark(Dscp::BE), Act::Next]),
    ];
    let each = Colour::METERED
        .map(|colour| prop::option::of(with_origin(act.clone())).prop_map(move |act| act.map(|act| (colour, act))));
    Vec::from(each).prop_map(|all| all.into_iter().flatten().collect())
}

fn rate(range: std::ops::Range<u64>) -> BoxedStrategy<Value> {
    range.prop_map(|kbit| Value::Rate(BitRate::kbps(kbit))).boxed()
}

fn large() -> BoxedStrategy<Value> {
    (2000u64..200_000).prop_map(|bytes| Value::Bytes(Bytes::new(bytes))).boxed()
}

fn framing() -> Vec<(&'static str, BoxedStrategy<Value>)> {
    vec![
        ("overhead", (-14i32..40).prop_map(|n| Value::Signed(SignedBytes::new(n))).boxed()),
        ("mpu", (0u64..128).prop_map(|n| Value::Bytes(Bytes::new(n))).boxed()),
    ]
}

fn token_bucket() -> impl Strategy<Value = Settings> {
    let others = [framing(), vec![("arithmetic", word(&["linux", "exact"]))]].concat();
    with(vec![("cir", rate(64..90_000)), ("cbs", large())], settings(others))
}

fn by_packets() -> impl Strategy<Value = Settings> {
    let cir = (10u64..5000).prop_map(|n| Value::PacketRate(PacketRate::per_second(n))).boxed();
    let cbs = (1u32..100).prop_map(|n| Value::Packets(Packets::new(n))).boxed();
    with(vec![("cir", cir), ("cbs", cbs)], Just(Settings::default()))
}

fn three_colours(second: &'static str) -> impl Strategy<Value = Settings> {
    let others = settings([framing(), vec![("colour-aware", flag())]].concat());
    with(vec![("cir", rate(64..90_000)), ("cbs", large()), (second, large())], others)
}

fn peak() -> impl Strategy<Value = Settings> {
    with(vec![("pir", rate(90_000..99_000))], three_colours("pbs"))
}
