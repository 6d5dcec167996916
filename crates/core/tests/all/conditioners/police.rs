//! Policers at loads near their rates: peak rates, MTUs, packets as tokens, framing, exact and as Linux counts.

use crate::common::load::Offered;
use crate::common::load::run;
use crate::oracle;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::conditioner::token_bucket::Params;
use perhop_core::conditioner::{Conditioner, ConditionerParams};
use perhop_core::framing::{Framing, LinkLayer};
use perhop_core::packet::{Colour, Packet};
use perhop_core::units::{BitRate, Burst, Bytes, MeterRate, PacketRate, Packets, SignedBytes, Span, Time};
use perhop_core::{Rng, Scope};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const KBPS: u64 = 1_000;

fn framing() -> impl Strategy<Value = Framing> {
    let layer = prop::option::of(prop::sample::select(vec![LinkLayer::Ethernet, LinkLayer::Atm]));
    let some = (-14i32..60, 0u64..120, layer).prop_map(|(overhead, mpu, link_layer)| Framing {
        overhead: Some(SignedBytes::new(overhead)),
        mpu: Some(Bytes::new(mpu)),
        link_layer,
    });
    prop_oneof![Just(Framing::default()), some]
}

/// Rates from 0.2 to 20 Mbit/s, buckets of 2 to 6 packets, in bytes or time.
fn in_bits() -> impl Strategy<Value = Params> {
    let peak = prop::option::of(1.0..3.0f64);
    let mtu = prop::option::of(prop::sample::select(vec![600u64, 1500, 9000]));
    (200u64..20_000, 3_500u64..9_000, any::<bool>(), peak, mtu, framing()).prop_map(
        |(kbps, bytes, timed, peak, mtu, framing)| {
            let time = Span::from_ns(bytes * 8_000_000 / kbps);
            Params {
                cir: BitRate::bps(kbps * KBPS + 8 * (bytes % 7)).into(),
                cbs: if timed { Burst::Time(time) } else { Burst::Bytes(Bytes::new(bytes)) },
                pir: peak.map(|times| BitRate::bps((kbps as f64 * times) as u64 * KBPS + 1000)),
                mtu: mtu.or(peak.map(|_| 1500)).map(Bytes::new),
                framing,
                arithmetic: None,
            }
        },
    )
}

fn in_packets() -> impl Strategy<Value = Params> {
    let mtu = prop::option::of(prop::sample::select(vec![600u64, 1500]));
    (20u64..4_000, 1u32..8, mtu).prop_map(|(pps, burst, mtu)| {
        let (cir, cbs) = (MeterRate::Packets(PacketRate::per_second(pps)), Burst::Packets(Packets::new(burst)));
        Params { mtu: mtu.map(Bytes::new), ..Params::new(cir, cbs) }
    })
}

/// Packets of 40 to 1500 bytes at 0.9 to 10 times the rate, some in bursts, some after a pause.
fn load(params: &Params, draws: &[(u32, u32, u32)]) -> Vec<Offered> {
    let mut now = 0;
    let offered = |&(size, gap, kind): &(u32, u32, u32)| {
        let rate = params.cir.tokens().bit_s();
        let tokens = if params.cir.in_packets() { 1 } else { u64::from(size) };
        let own = tokens * 8_000_000_000 / rate;
        now += match kind {
            0..=4 => u64::from(gap % 1000),
            5 => own * 8,
            _ => own * u64::from(gap % 100 + 10) / 100,
        };
        Offered { at: Time::from_ns(now), packet: Packet { size, ..Packet::default() } }
    };
    draws.iter().map(offered).collect()
}

/// How many packets got each colour.
#[derive(Default)]
struct Seen {
    green: usize,
    red: usize,
}

fn agree(arithmetic: Arithmetic, params: impl Strategy<Value = Params>) -> Seen {
    let mut runner = TestRunner::new(Config { cases: 400, ..Config::default() });
    let sizes = prop_oneof![Just(40u32), Just(1500), 40u32..1500];
    let input = (params, prop::collection::vec((sizes, any::<u32>(), 0u32..20), 300));
    let seen = std::cell::RefCell::new(Seen::default());
    let check = |(params, draws): (Params, Vec<_>)| {
        let load = load(&params, &draws);
        let params = ConditionerParams::TokenBucketMarker(Params { arithmetic: Some(arithmetic), ..params });
        let mut slow = oracle::of(&params, &Scope::default()).unwrap();
        let Ok(mut fast) = params.build(&Scope::default()) else { return Ok(()) };
        let got = run(&mut fast, &load, &mut Rng::stream(1, 0, "marker"));
        for (i, (offered, got)) in load.iter().zip(got).enumerate() {
            let mut want = offered.packet;
            slow.mark(offered.at.ns(), &mut want, 0.0);
            prop_assert_eq!(got.colour, want.colour, "packet {} at {} of {}", i, offered.at, got.size);
            let mut seen = seen.borrow_mut();
            *if want.colour == Colour::Green { &mut seen.green } else { &mut seen.red } += 1;
        }
        Ok(())
    };
    runner.run(&input, check).unwrap_or_else(|e| panic!("{e}"));
    seen.into_inner()
}

#[test]
fn exact_policers_agree_with_exact_fractions() {
    for seen in [agree(Arithmetic::Exact, in_bits()), agree(Arithmetic::Exact, in_packets())] {
        assert!(seen.green > 10_000 && seen.red > 10_000, "{} green, {} red", seen.green, seen.red);
    }
}

#[test]
fn linux_policers_agree_with_act_police() {
    for seen in [agree(Arithmetic::Linux, in_bits()), agree(Arithmetic::Linux, in_packets())] {
        assert!(seen.green > 10_000 && seen.red > 10_000, "{} green, {} red", seen.green, seen.red);
    }
}

/// The two arithmetics differ where a bucket holds a packet exactly: tc hands 26,669 us over for 10,001 bytes at 3 Mbit/s,
/// which take 26,669.33 us.
#[test]
fn a_packet_of_the_whole_burst_exceeds_in_linux() {
    for (arithmetic, colour) in [(Arithmetic::Exact, Colour::Green), (Arithmetic::Linux, Colour::Red)] {
        let params = Params {
            mtu: Some(Bytes::new(20_000)),
            arithmetic: Some(arithmetic),
            ..Params::new(BitRate::mbps(3), Bytes::new(10_001))
        };
        let load = [Offered { at: Time::ZERO, packet: Packet { size: 10_001, ..Packet::default() } }];
        let mut policer = ConditionerParams::TokenBucketMarker(params).build(&Scope::default()).unwrap();
        assert_eq!(run(&mut policer, &load, &mut Rng::stream(1, 0, "marker"))[0].colour, colour, "{arithmetic:?}");
    }
}

/// Units that do not fit, a peak without its depth, keys without effect: each error names the key and what to write.
#[test]
fn what_does_not_fit_is_refused() {
    let bits = Params::new(BitRate::mbps(1), Bytes::new(2000));
    let packets = Params::new(MeterRate::Packets(PacketRate::per_second(100)), Burst::Packets(Packets::new(10)));
    let time = |ms| Burst::Time(Span::from_ms(ms));
    let framing = Framing { mpu: Some(Bytes::new(64)), ..Framing::default() };
    let linux = Some(Arithmetic::Linux);
    let cases = [
        (Params { cbs: packets.cbs, ..bits.clone() }, "E105", "cbs", "bytes (\"62500B\") or a time (\"10ms\")"),
        (Params { cbs: bits.cbs, ..packets.clone() }, "E105", "cbs", "packets (\"50p\") or a time (\"10ms\")"),
        (
            Params { cbs: time(11), ..bits.clone() },
            "E212",
            "cbs",
            "must be at least 12ms: a larger packet could never conform",
        ),
        (
            Params { cbs: time(9), ..packets.clone() },
            "E212",
            "cbs",
            "must be at least 10ms: a larger packet could never conform",
        ),
        (Params { framing, ..packets.clone() }, "E239", "mpu", "remove it, or write the rate in bit/s"),
        (Params { pir: Some(BitRate::mbps(2)), ..packets.clone() }, "E105", "pir", "both in bit/s, or both in p/s"),
        (
            Params { pir: Some(BitRate::kbps(999)), mtu: Some(Bytes::new(1500)), ..bits.clone() },
            "E213",
            "pir",
            "must be at least 1Mbit/s",
        ),
        (
            Params { pir: Some(BitRate::mbps(2)), ..bits.clone() },
            "E201",
            "mtu",
            "add `mtu`, the depth of the peak bucket and the largest packet that may conform, as in mtu = \"1500B\"",
        ),
        (
            Params { cir: BitRate::bps(8).into(), arithmetic: linux, ..bits.clone() },
            "E201",
            "cbs",
            "must hold less than 274s of its rate",
        ),
    ];
    for (params, code, field, help) in cases {
        let error = ConditionerParams::TokenBucketMarker(params).build(&Scope::default()).unwrap_err();
        assert_eq!((error.code, error.field, &*error.help), (code, field, help), "{error}");
    }
}

/// A running meter keeps its unit and its arithmetic.
#[test]
fn a_change_keeps_unit_and_arithmetic() {
    let bits = Params::new(BitRate::mbps(1), Bytes::new(2000));
    let packets = Params::new(MeterRate::Packets(PacketRate::per_second(100)), Burst::Packets(Packets::new(10)));
    let linux = Params { arithmetic: Some(Arithmetic::Linux), ..bits.clone() };
    let mut policer = ConditionerParams::TokenBucketMarker(bits).build(&Scope::default()).unwrap();
    for (params, field) in [(packets, "cir"), (linux, "arithmetic")] {
        let params = ConditionerParams::TokenBucketMarker(params);
        let error = Conditioner::retune(&mut policer, Time::ZERO, &params, &Scope::default()).unwrap_err();
        assert_eq!((error.code, error.field), ("E202", field));
    }
}
