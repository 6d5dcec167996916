//! SIO: IN as a separate SVB, OUT by the real queue and a threshold that halves.

use super::support::{self, RATE, packets};
use crate::common::port::Port;
use crate::oracle::virtual_buffer::{Class, Counts, Gives, Router};
use perhop_core::Rng;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::cap::Cap;
use perhop_core::aqm::sio::{Halving, Params, Recovery};
use perhop_core::aqm::virtual_buffer::Counting;
use perhop_core::math::power_of_two;
use perhop_core::packet::{Colour, Packet};
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{Bytes, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use proptest::prelude::*;

const LIMIT: u32 = 16;

fn defaults() -> Params {
    Params {
        alpha: 0.2,
        v0: packets(30),
        cap: Cap::V0,
        counting: Counting::Passed,
        out_threshold: packets(8),
        halving: Halving::Drops,
        recovery: Recovery::None,
        recovery_after: Span::from_s(1),
        overflow_after: Span::from_s(1),
        mean_packet: Bytes::new(1000),
        ecn: false,
    }
}

fn any_params() -> impl Strategy<Value = Params> {
    let halving = prop::sample::select(vec![Halving::Drops, Halving::Overflows, Halving::DropsAndMarks]);
    let recovery = prop::sample::select(vec![Recovery::None, Recovery::Step, Recovery::Reset]);
    let v0 = (1u32..30, super::virtual_buffer::any_cap());
    (0.0..2.0, v0, 0u32..12, halving, recovery, [1u64..50, 1u64..50], any::<bool>()).prop_map(
        |(alpha, (v0, cap), out, halving, recovery, [drop_ms, overflow_ms], ecn)| Params {
            alpha,
            v0: packets(v0),
            cap: cap.map_or(Cap::None, |above| if above == 0 { Cap::V0 } else { Cap::At(packets(v0 + above)) }),
            out_threshold: packets(out),
            halving,
            recovery,
            recovery_after: Span::from_ms(drop_ms),
            overflow_after: Span::from_ms(overflow_ms),
            ecn,
            ..defaults()
        },
    )
}

fn port(params: &Params, rng: Rng) -> Port {
    let aqm = AqmParams::Sio(params.clone()).build(&support::scope(LIMIT)).unwrap();
    Port::new(Gate::new(aqm, Limit::Packets(LIMIT), rng), RATE)
}

/// OUT's threshold from the history alone: when it was halved, and whether because the queue was full.
fn out_threshold(params: &Params, start: f64, halvings: &[(u64, bool)], now: u64) -> f64 {
    let rise = |value: f64, (from, overflow): (u64, bool), to: u64| {
        let after = if overflow { params.overflow_after } else { params.recovery_after };
        let n = (to - from) / after.ns();
        match params.recovery {
            Recovery::None => value,
            Recovery::Step => start.min(value + n as f64),
            Recovery::Reset => {
                if n > 0 {
                    start
                } else {
                    value
                }
            }
        }
    };
    let (mut value, mut since) = (start, (0, false));
    for halving in halvings {
        value = rise(value, since, halving.0) / 2.0;
        since = *halving;
    }
    rise(value, since, now)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Every decision as SVB's oracle for IN and the paper's two lines for OUT, on the same draws.
    #[test]
    fn every_decision_is_the_oracles(
        params in any_params(), load in support::load(&Colour::ALL), seed in any::<u64>(),
    ) {
        let rng = Rng::stream(seed, 0, "queue");
        let mut port = port(&params, rng.clone());
        let start = match params.out_threshold { perhop_core::units::Length::Packets(n) => f64::from(n.get()), _ => 0.0 };
        let v0 = match params.v0 { perhop_core::units::Length::Packets(n) => f64::from(n.get()), _ => 0.0 };
        let cap = match params.cap {
            Cap::V0 => v0,
            Cap::None => f64::INFINITY,
            Cap::At(cap) => match cap { perhop_core::units::Length::Packets(n) => f64::from(n.get()), _ => 0.0 },
        };
        let class = Class { alpha: params.alpha, phi: 1.0, vth: v0, sent: 0.0 };
        let mut inside = Router {
            c: 1250.0, v0, cap, floor: 0.0, in_bytes: false, counts: Counts::Passed, ecn: params.ecn, gives: Gives::Nothing,
            classes: vec![class], vq: 0.0, now: 0.0, rng,
        };
        let (mut now, mut halvings) = (Time::ZERO, Vec::new());
        for (n, (gap, packet)) in load.iter().enumerate() {
            now += *gap;
            port.advance(now);
            let waiting = port.waiting().len();
            let room = waiting < LIMIT as usize;
            let expected = if packet.colour == Colour::Green {
                let fate = inside.arrive(now.ns(), (0, packet), room);
                let halves = match params.halving {
                    Halving::Drops => !fate.stays(),
                    Halving::Overflows => fate == Fate::Dropped(Reason::Overflow),
                    Halving::DropsAndMarks => fate != Fate::Queued,
                };
                halvings.extend(halves.then_some((now.ns(), fate == Fate::Dropped(Reason::Overflow))));
                fate
            } else {
                let q = waiting as f64;
                let threshold = out_threshold(&params, start, &halvings, now.ns());
                let p = if q > 0.0 { ((q - threshold) / q).max(0.0) } else { 0.0 };
                match (inside.rng.uniform() < p, room) {
                    (true, true) if params.ecn && packet.ecn.capable() => Fate::Marked,
                    (true, _) => Fate::Dropped(Reason::Early),
                    (false, true) => Fate::Queued,
                    (false, false) => Fate::Dropped(Reason::Overflow),
                }
            };
            prop_assert_eq!(port.arrive(now, *packet), expected, "packet {}", n);
            let gauge = port.gauge(now, "threshold_out_packets");
            let expected = out_threshold(&params, start, &halvings, now.ns());
            prop_assert_eq!(gauge, expected);
        }
    }

    /// Without recovery OUT's threshold is its start by 2 to the number of IN drops, exactly.
    #[test]
    fn halved_by_every_drop_of_in(load in support::load(&Colour::ALL), seed in any::<u64>()) {
        let params = Params { v0: packets(3), alpha: 1.0, ..defaults() };
        let (mut port, mut now, mut drops) = (port(&params, Rng::stream(seed, 0, "queue")), Time::ZERO, 0);
        for (gap, packet) in &load {
            now += *gap;
            port.advance(now);
            let (threshold, waiting) = (port.gauge(now, "threshold_out_packets"), port.waiting().len());
            let fate = port.arrive(now, *packet);
            if packet.colour != Colour::Green && waiting as f64 <= threshold {
                prop_assert_ne!(fate, Fate::Dropped(Reason::Early));
            }
            drops += i32::from(packet.colour == Colour::Green && !fate.stays());
            prop_assert_eq!(port.gauge(now, "threshold_out_packets"), 8.0 * power_of_two(-drops));
        }
    }
}

#[test]
fn refused() {
    let code = |params: Params| AqmParams::Sio(params).build(&support::scope(100)).map(|_| ()).map_err(|e| e.code);
    assert_eq!(code(defaults()), Ok(()));
    assert_eq!(code(Params { alpha: -1.0, ..defaults() }), Err("E201"));
    assert_eq!(code(Params { v0: packets(0), ..defaults() }), Err("E201"));
    assert_eq!(code(Params { cap: Cap::At(packets(29)), ..defaults() }), Err("E214"));
    assert_eq!(code(Params { cap: Cap::At(packets(30)), ..defaults() }), Ok(()));
    assert_eq!(code(Params { recovery_after: Span::from_s(0), ..defaults() }), Err("E201"));
    assert_eq!(code(Params { overflow_after: Span::from_s(0), ..defaults() }), Err("E201"));
    assert_eq!(code(Params { out_threshold: packets(100), ..defaults() }), Err("E215"));
}

/// A threshold that has halved stays halved under new parameters, and does not exceed its new start.
#[test]
fn retuned() {
    let params = Params { v0: packets(1), alpha: 1.0, ..defaults() };
    let mut port = support::port(&AqmParams::Sio(params.clone()), 100);
    let green = Packet { size: 1000, colour: Colour::Green, ..Packet::default() };
    while port.arrive(Time::ZERO, green).stays() {}
    let threshold = |port: &Port| port.gauge(Time::ZERO, "threshold_out_packets");
    assert_eq!(threshold(&port), 4.0);
    for (start, expected) in [(20, 4.0), (3, 3.0)] {
        let params = Params { out_threshold: packets(start), ..params.clone() };
        port.retune(Time::ZERO, &AqmParams::Sio(params), &support::scope(100)).unwrap();
        assert_eq!(threshold(&port), expected);
    }
}

/// What has been recovered by the time of new parameters stays, and recovery continues from there by them.
#[test]
fn another_interval_begins_where_the_old_one_ends() {
    let interval = |after| Params { recovery: Recovery::Step, overflow_after: after, v0: packets(1000), ..defaults() };
    let mut port = support::port(&AqmParams::Sio(interval(Span::from_s(2))), 10);
    let green = Packet { size: 1000, colour: Colour::Green, ..Packet::default() };
    while port.arrive(Time::ZERO, green).stays() {}
    let at = |s| Time::ZERO + Span::from_s(s);
    let other = AqmParams::Sio(interval(Span::from_s(1)));
    port.retune(at(2), &other, &support::scope(10)).unwrap();
    assert_eq!([2, 3, 4].map(|s| port.gauge(at(s), "threshold_out_packets")), [5.0, 6.0, 7.0]);
}

/// After a drop by IN's own virtual buffer one packet is recovered every 200 ms, after one because the queue was full every 10 s;
/// new parameters know what the last one was.
#[test]
fn the_interval_is_by_what_halved() {
    let (soon, late) = (Span::from_ms(200), Span::from_s(10));
    let stated = Params { recovery: Recovery::Step, recovery_after: soon, overflow_after: late, ..defaults() };
    let after = |overflow: bool| {
        // A virtual buffer that never drops, or one that soon does.
        let (v0, limit) = if overflow { (packets(1000), 10) } else { (packets(1), 100) };
        let params = Params { v0, alpha: 0.1, ..stated.clone() };
        let mut port = support::port(&AqmParams::Sio(params.clone()), limit);
        let green = Packet { size: 1000, colour: Colour::Green, ..Packet::default() };
        let mut last = port.arrive(Time::ZERO, green);
        while last.stays() {
            last = port.arrive(Time::ZERO, green);
        }
        assert_eq!(last == Fate::Dropped(Reason::Overflow), overflow);
        let other = AqmParams::Sio(Params { alpha: 0.2, ..params });
        port.retune(Time::ZERO, &other, &support::scope(limit)).unwrap();
        [0, 200, 600, 10_000].map(|ms| port.gauge(Time::ZERO + Span::from_ms(ms), "threshold_out_packets"))
    };
    assert_eq!(after(false), [4.0, 5.0, 7.0, 8.0]);
    assert_eq!(after(true), [4.0, 4.0, 4.0, 5.0]);
}
