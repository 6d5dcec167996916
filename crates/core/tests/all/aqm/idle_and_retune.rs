//! The average over idle time, and under new parameters.

use super::support::{self, RATE, built, common, packets, profile, scope};
use perhop_core::Rng;
use perhop_core::aqm::early::{Counted, Spacing};
use perhop_core::aqm::rio::Mode;
use perhop_core::aqm::wred::Member;
use perhop_core::aqm::{AnyAqm, Aqm, AqmParams, Arrival, Backlog};
use perhop_core::math::pow;
use perhop_core::packet::{Colour, Packet};
use perhop_core::port::Turn;
use perhop_core::units::{Bytes, Length, Time};
use perhop_core::verdict::Fate;

const WQ: f64 = 0.1;

fn gauge(aqm: &AnyAqm, name: &str) -> f64 {
    let mut found = f64::NAN;
    aqm.gauges(Time::ZERO, &mut |key, value| found = if key == name { value } else { found });
    found
}

/// A packet of `colour` finds `packets` at `us`; idle since `idle_us`, if idle.
fn arrive(aqm: &mut AnyAqm, us: u64, packets: u32, idle_us: Option<u64>, colour: Colour) {
    let time = |us| Time::from_ns(us * 1000);
    let backlog = Backlog { packets, idle_since: idle_us.map(time), room: true, ..Backlog::default() };
    let mut packet = Packet { size: 1000, colour, ..Packet::default() };
    let at = Arrival { now: time(us), backlog };
    aqm.on_arrival(Turn::testing(&at), &mut packet, &mut Rng::stream(0, 0, "idle"));
    aqm.on_fate(Turn::testing(&at), &packet, Fate::Queued);
}

fn close(measured: f64, expected: f64) {
    assert!((measured - expected).abs() <= 1e-12 * expected, "{measured} is not {expected}");
}

fn wide() -> AqmParams {
    support::red(profile(packets(100), packets(200), 0.1), common(WQ, Spacing::Uniformised))
}

/// Idle for 10 ms at 10 Mbit/s with mean packets of 500 B: m = 25. Then the arrival's own sample, 0.
#[test]
fn idle_time_decays_the_average() {
    assert_eq!(RATE.bit_s(), 10_000_000);
    let mut aqm = built(&wide());
    arrive(&mut aqm, 0, 40, None, Colour::Unmarked);
    close(gauge(&aqm, "avg_queue_packets"), 4.0);
    arrive(&mut aqm, 15_000, 0, Some(5_000), Colour::Unmarked);
    close(gauge(&aqm, "avg_queue_packets"), 4.0 * pow(1.0 - WQ, 26.0));
}

/// The first packet after idle time was dropped, the link stays idle: the second counts only the time since.
#[test]
fn idle_time_counts_once() {
    let mut aqm = built(&wide());
    arrive(&mut aqm, 0, 40, None, Colour::Unmarked);
    arrive(&mut aqm, 15_000, 0, Some(5_000), Colour::Unmarked);
    arrive(&mut aqm, 15_400, 0, Some(5_000), Colour::Unmarked);
    close(gauge(&aqm, "avg_queue_packets"), 4.0 * pow(1.0 - WQ, 25.0 + 1.0 + 1.0 + 1.0));
}

/// RIO: both averages rest, whoever comes first; IN's takes no sample from an OUT packet.
#[test]
fn both_of_rio_rest() {
    let wide = || profile(packets(100), packets(200), 0.1);
    let mut aqm = built(&support::rio([wide(), wide()], Mode::RioC, common(WQ, Spacing::Uniformised)));
    for _ in 0..2 {
        arrive(&mut aqm, 0, 40, None, Colour::Green);
    }
    let before = [gauge(&aqm, "avg_in_packets"), gauge(&aqm, "avg_queue_packets")];
    close(before[0], WQ * 1.0);
    close(before[1], 40.0 * (1.0 - pow(1.0 - WQ, 2.0)));
    arrive(&mut aqm, 15_000, 0, Some(5_000), Colour::Red);
    close(gauge(&aqm, "avg_in_packets"), before[0] * pow(1.0 - WQ, 25.0));
    close(gauge(&aqm, "avg_queue_packets"), before[1] * pow(1.0 - WQ, 26.0));
}

/// IN's average counts only IN: any number of OUT packets leaves it at zero; in RIO-D and the other way round.
#[test]
fn averages_count_their_own() {
    let wide = || profile(packets(100), packets(200), 0.1);
    for (mode, all) in [(Mode::RioC, true), (Mode::RioD, false)] {
        let params = support::rio([wide(), wide()], mode, common(1.0, Spacing::Uniformised));
        let mut aqm = built(&params);
        let out = if all { "avg_queue_packets" } else { "avg_out_packets" };
        for (n, colour) in [Colour::Yellow, Colour::Red, Colour::Unmarked].into_iter().enumerate() {
            arrive(&mut aqm, 0, n as u32, None, colour);
            assert_eq!([gauge(&aqm, "avg_in_packets"), gauge(&aqm, out)], [0.0, n as f64]);
        }
        for n in 0..5 {
            arrive(&mut aqm, 0, 3 + n, None, Colour::Green);
            assert_eq!(gauge(&aqm, "avg_in_packets"), f64::from(n));
            assert_eq!(gauge(&aqm, out), if all { f64::from(3 + n) } else { 2.0 });
        }
    }
}

const AF: [Colour; 3] = [Colour::Green, Colour::Yellow, Colour::Red];

fn af(averages: Counted) -> AqmParams {
    let class = |colour| (vec![Member::Colour(colour)], profile(packets(100), packets(200), 0.1));
    support::wred_of(averages, AF.map(class).to_vec(), common(1.0, Spacing::Uniformised))
}

/// With a weight of 1 an average is the last sample: two green, three yellow and five red packets wait.
#[test]
fn averages_of_three_precedences() {
    let told = |averages, names: [&str; 3]| {
        let mut aqm = built(&af(averages));
        let mut found = 0;
        for (colour, n) in AF.into_iter().zip([2, 3, 5]) {
            for _ in 0..n {
                arrive(&mut aqm, 0, found, None, colour);
                found += 1;
            }
        }
        // one more of each, in this order: what each average counted when it moved last
        for colour in [Colour::Red, Colour::Yellow, Colour::Green] {
            arrive(&mut aqm, 0, found, None, colour);
            found += 1;
        }
        names.map(|name| gauge(&aqm, name))
    };
    let coupled = told(Counted::Coupled, ["avg_1_packets", "avg_2_packets", "avg_queue_packets"]);
    assert_eq!(coupled, [2.0, 6.0, 12.0], "green's arrival finds 2, 2 + 4 and 2 + 4 + 6");
    let separate = told(Counted::Separate, ["avg_1_packets", "avg_2_packets", "avg_3_packets"]);
    assert_eq!(separate, [2.0, 3.0, 5.0], "each moved at its own arrival");
    assert_eq!(told(Counted::Common, ["avg_queue_packets"; 3]), [12.0; 3]);
}

/// Packets that wait count as what they came as: no other `for`, and not from or to one average for all.
#[test]
fn what_waits_keeps_its_precedence() {
    let mut other = af(Counted::Coupled);
    let AqmParams::Wred(params) = &mut other else { unreachable!() };
    params.profiles.swap(0, 1);
    let refused = [
        (Counted::Coupled, other.clone(), "profiles"),
        (Counted::Coupled, af(Counted::Common), "averages"),
        (Counted::Common, af(Counted::Separate), "averages"),
    ];
    for (from, to, field) in refused {
        let error = built(&af(from)).retune(Time::ZERO, &to, &scope(1000)).unwrap_err();
        assert_eq!((error.code, error.field), ("E202", field));
    }
    let AqmParams::Wred(params) = &mut other else { unreachable!() };
    params.averages = Counted::Common;
    built(&af(Counted::Common)).retune(Time::ZERO, &other, &scope(1000)).unwrap();
    let mut aqm = built(&af(Counted::Coupled));
    arrive(&mut aqm, 0, 0, None, Colour::Green);
    arrive(&mut aqm, 0, 1, None, Colour::Green);
    aqm.retune(Time::ZERO, &af(Counted::Separate), &scope(1000)).unwrap();
    assert_eq!(gauge(&aqm, "avg_1_packets"), 1.0);
    arrive(&mut aqm, 0, 2, None, Colour::Green);
    assert_eq!(gauge(&aqm, "avg_1_packets"), 2.0);
}

/// New parameters take effect, averages stay; the weight is the new one from the next arrival on.
#[test]
fn retune_keeps_averages() {
    let mut aqm = built(&wide());
    arrive(&mut aqm, 0, 40, None, Colour::Unmarked);
    let new = support::red(profile(packets(2), packets(6), 0.5), common(0.5, Spacing::Bernoulli));
    aqm.retune(Time::ZERO, &new, &scope(1000)).unwrap();
    close(gauge(&aqm, "avg_queue_packets"), 4.0);
    close(gauge(&aqm, "drop_p"), 0.25);
    arrive(&mut aqm, 0, 5, None, Colour::Unmarked);
    close(gauge(&aqm, "avg_queue_packets"), 4.5);
}

/// RIO refuses another unit too.
#[test]
fn rio_keeps_its_unit() {
    let bytes = |n| Length::Bytes(Bytes::new(n));
    let settings = || common(WQ, Spacing::Uniformised);
    let of =
        |profile: perhop_core::aqm::early::Profile| support::rio([profile.clone(), profile], Mode::RioC, settings());
    let mut aqm = built(&of(profile(packets(5), packets(9), 0.1)));
    let refused = aqm.retune(Time::ZERO, &of(profile(bytes(5000), bytes(9000), 0.1)), &scope(1000));
    assert_eq!(refused.unwrap_err().code, "E202");
}

/// Refused parameters change nothing; other kinds and other units are refused.
#[test]
fn refused_retunes_change_nothing() {
    let mut aqm = built(&wide());
    arrive(&mut aqm, 0, 40, None, Colour::Unmarked);
    let before = format!("{aqm:?}");
    let bytes = |n| Length::Bytes(Bytes::new(n));
    let settings = common(WQ, Spacing::Uniformised);
    let refused = [
        ("E214", support::red(profile(packets(9), packets(9), 0.1), settings.clone())),
        ("E202", support::red(profile(bytes(9000), bytes(90_000), 0.1), settings.clone())),
        ("E202", support::wred(vec![(vec![], profile(packets(1), packets(2), 0.1))], settings)),
    ];
    for (code, params) in refused {
        assert_eq!(aqm.retune(Time::ZERO, &params, &scope(1000)).unwrap_err().code, code);
        assert_eq!(format!("{aqm:?}"), before);
    }
}
