//! TRED's laws (PPS specification, section 1.9): RED where tickets are equal, cubes where they are not.

use super::support::{self, Load, any_common, any_profile, any_tred, any_tred_of_untagged, published, run};
use crate::common::port::Port;
use perhop_core::Rng;
use perhop_core::aqm::early::{Order, Spacing};
use perhop_core::aqm::tred::{self, Minimum, Untagged};
use perhop_core::aqm::{AqmParams, Arrival, Backlog};
use perhop_core::conditioner::pps_tagger::Unit;
use perhop_core::packet::{Colour, Packet, flags};
use perhop_core::port::{Gate, Limit, Turn};
use perhop_core::units::{Span, Time};
use perhop_core::verdict::{Fate, Reason, Verdict};
use proptest::prelude::*;

const LIMIT: u32 = 30;

fn tagged(size: u32, tickets: f64) -> Packet {
    let mut packet = Packet { size, ..Packet::default() };
    packet.set_label(tickets as f32);
    packet
}

/// The same load with `tickets` of each packet.
fn relabelled(load: &Load, tickets: impl Fn(&Packet) -> f32) -> Load {
    let mut load = load.clone();
    load.iter_mut().for_each(|(_, packet)| packet.set_label(tickets(packet)));
    load
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Invariant 5: equal tickets (by packet, or by byte where bytes are compared) are RED, fate for fate on the same draws,
    /// with every spacing, in both orders.
    #[test]
    fn equal_tickets_are_red(
        profile in any_profile(), common in any_common(), own in any_tred(), load in support::tickets(&Colour::ALL), tickets in 1.0..255.0f32,
    ) {
        let of = |packet: &Packet| if own.expected.unit == Unit::Bytes { packet.size as f32 / 64.0 } else { tickets };
        let (load, red) = (relabelled(&load, of), support::red(profile.clone(), common.clone()));
        prop_assert_eq!(run(&support::tred(profile, common, &own), LIMIT, &load), run(&red, LIMIT, &load));
    }

    /// No packet has tickets: RED.
    #[test]
    fn no_tickets_are_red(profile in any_profile(), common in any_common(), own in any_tred(), load in support::tickets(&Colour::ALL)) {
        let mut load = load;
        load.iter_mut().for_each(|(_, packet)| *packet = Packet { label: 0.0, flags: 0, ..*packet });
        let red = run(&support::red(profile.clone(), common.clone()), LIMIT, &load);
        prop_assert_eq!(run(&support::tred(profile, common, &own), LIMIT, &load), red);
    }

    /// Invariant 8 at a queue: a currency's unit does not matter; a power of 2 is exact.
    #[test]
    fn units_cancel(
        profile in any_profile(), common in any_common(), own in any_tred(), load in support::tickets(&Colour::ALL), unit in -20i32..20,
    ) {
        let tred = support::tred(profile, common, &own);
        let unit = perhop_core::math::pow(2.0, f64::from(unit)) as f32;
        let mut scaled = load.clone();
        scaled.iter_mut().for_each(|(_, packet)| packet.label *= unit);
        prop_assert_eq!(run(&tred, LIMIT, &scaled), run(&tred, LIMIT, &load));
    }

    /// E is a mean of what passed the filter, so between the least and the most of it; AvgTkt of all; E is at most K times
    /// the least tickets of all where the minimum is one of intervals longer than the load.
    #[test]
    fn expectations_are_means(own in any_tred(), load in support::tickets(&Colour::ALL)) {
        let mut own = own;
        (own.expected.min_interval, own.expected.minimum) = (Span::from_s(1000), Minimum::Interval);
        let params = support::tred(published_profile(), support::common(0.1, Spacing::Bernoulli), &own);
        let (mut port, mut now) = (support::port(&params, LIMIT), Time::ZERO);
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        for (gap, packet) in &load {
            now += *gap;
            port.arrive(now, *packet);
            let Some(tickets) = packet.label().filter(|g| *g >= 0.0 && g.is_finite()) else { continue };
            let density = f64::from(tickets) / if own.expected.unit == Unit::Bytes { f64::from(packet.size) } else { 1.0 };
            (least, most) = (least.min(density), most.max(density));
            let [all, expected] = ["average_tickets", "expected_tickets"].map(|name| port.gauge(now, name));
            prop_assert!(all >= least * (1.0 - 1e-12) && all <= most * (1.0 + 1e-12), "{} {} {}", least, all, most);
            prop_assert!(expected >= least * (1.0 - 1e-12) && expected <= most * (1.0 + 1e-12));
        }
    }
}

proptest! {
    /// Retuned before its first packet TRED is one built so: no parameter survives.
    #[test]
    fn a_retune_takes_every_parameter(
        old in (any_profile(), any_common(), any_tred_of_untagged()), new in (any_profile(), any_common(), any_tred_of_untagged()),
        load in support::tickets(&Colour::ALL),
    ) {
        let [old, new] = [old, new].map(|(profile, common, own)| support::tred(profile, common, &own));
        let mut port = support::port(&old, LIMIT);
        port.retune(Time::ZERO, &new, &support::scope(LIMIT)).unwrap();
        let mut now = Time::ZERO;
        let mut arrive = |(gap, packet): &(Span, Packet)| {
            now += *gap;
            port.arrive(now, *packet)
        };
        prop_assert_eq!(load.iter().map(&mut arrive).collect::<Vec<_>>(), run(&new, LIMIT, &load));
    }
}

fn published_profile() -> perhop_core::aqm::early::Profile {
    support::profile(support::packets(5), support::packets(55), 0.2)
}

/// The published TRED, at once on the ramp: its average is the queue.
fn params(own: impl FnOnce(&mut tred::Params)) -> AqmParams {
    let mut params = published(published_profile());
    params.weight.0 = 1.0;
    own(&mut params);
    AqmParams::Tred(params)
}

/// TRED that has seen packets of these tickets in turn for 10 s, 10 000 a second.
fn seasoned(params: &AqmParams, tickets: &[f64]) -> (perhop_core::aqm::AnyAqm, Time) {
    use perhop_core::aqm::Aqm;
    let (mut aqm, mut rng) = (params.build(&support::scope(1000)).unwrap(), Rng::stream(1, 0, "seasoning"));
    let mut at = Arrival { now: Time::ZERO, backlog: Backlog::default() };
    for i in 0..100_000 {
        at.now += Span::from_us(100);
        aqm.on_arrival(Turn::testing(&at), &mut tagged(1000, tickets[i % tickets.len()]), &mut rng);
    }
    (aqm, at.now)
}

/// Of n packets of g tickets that each come next, at a queue of `waiting`: those that are dropped, by their draw.
fn dropped(params: &AqmParams, history: &[f64], (g, waiting, n): (f64, u32, u32)) -> Vec<bool> {
    dropped_of(params, history, (tagged(1000, g), waiting, n))
}

/// The same of any packet.
fn dropped_of(params: &AqmParams, history: &[f64], (packet, waiting, n): (Packet, u32, u32)) -> Vec<bool> {
    use perhop_core::aqm::Aqm;
    let (aqm, now) = seasoned(params, history);
    let backlog = Backlog { packets: waiting, bytes: u64::from(waiting) * 1000, room: true, ..Backlog::default() };
    let arrival = Arrival { now, backlog };
    let drop = |i| {
        let mut rng = Rng::stream(2, i, "draw");
        aqm.clone().on_arrival(Turn::testing(&arrival), &mut packet.clone(), &mut rng) != Verdict::Pass
    };
    (0..n).map(drop).collect()
}

/// Invariant 4: p(E) = p of RED, p(E/2) = 8 p, p(2 E) = p/8, at most 1. p = 0.2 (q - 5)/50; the packet itself moves E by
/// 1/50 000. n draws have a standard deviation of sqrt(p (1 - p)/n); 5 of them.
#[test]
fn the_probability_is_scaled_by_the_cube() {
    let n = 20_000;
    for (waiting, g, expected) in [
        (15, 80.0, 0.04),
        (15, 40.0, 0.32),
        (15, 160.0, 0.005),
        (30, 80.0, 0.1),
        (30, 40.0, 0.8),
        (30, 100.0, 0.1 * 0.512),
        (50, 40.0, 1.0),
        (5, 1.0, 0.0),
    ] {
        let share = dropped(&params(|_| {}), &[80.0], (g, waiting, n)).iter().filter(|d| **d).count();
        let share = share as f64 / f64::from(n);
        let error = 5.0 * (expected * (1.0 - expected) / f64::from(n)).sqrt() + 1e-4 * expected;
        assert!((share - expected).abs() <= error, "{g} tickets, queue {waiting}: {share}, p {expected} +- {error}");
    }
}

/// The exponent is `n`: p (E/g)^n.
#[test]
fn the_exponent_is_n() {
    let draws = 20_000;
    for exponent in [0.0, 1.0, 2.0, 4.0] {
        let params = params(|p| p.n = exponent);
        for (g, ratio) in [(40.0, 2.0), (100.0, 0.8f64)] {
            let expected = 0.04 * perhop_core::math::pow(ratio, exponent);
            let share =
                dropped(&params, &[80.0], (g, 15, draws)).iter().filter(|d| **d).count() as f64 / f64::from(draws);
            let error = 5.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt() + 1e-4;
            assert!((share - expected).abs() <= error, "n {exponent}, {g} tickets: {share}, p {expected} +- {error}");
        }
    }
}

/// Invariant 4: for one state, one spacing and one draw, more tickets never drop where fewer pass.
#[test]
fn more_tickets_are_never_dropped_sooner() {
    let spacings = [Spacing::Uniformised, Spacing::Bernoulli, Spacing::Wait, Spacing::DsRed];
    for (spacing, scaling) in
        spacings.into_iter().flat_map(|s| [Order::BeforeSpacing, Order::AfterSpacing].map(|o| (s, o)))
    {
        let params = params(|p| (p.spacing, p.scaling) = (spacing, scaling));
        let mut before = vec![true; 500];
        for g in [1.0, 20.0, 40.0, 60.0, 79.0, 80.0, 81.0, 100.0, 159.0, 161.0, 255.0] {
            let now = dropped(&params, &[80.0], (g, 20, 500));
            assert!(
                now.iter().zip(&before).all(|(now, before)| *before || !now),
                "{spacing:?} {scaling:?}, {g} tickets"
            );
            before = now;
        }
    }
}

/// Nothing is dropped up to min, everything from max on, whatever the tickets.
#[test]
fn the_ends_of_the_ramp_do_not_look_at_tickets() {
    for g in [1.0, 80.0, 255.0] {
        assert_eq!(dropped(&params(|_| {}), &[80.0], (g, 5, 500)), [false; 500]);
        assert_eq!(dropped(&params(|_| {}), &[80.0], (g, 55, 500)), [true; 500]);
    }
}

fn gauges(params: &AqmParams, history: &[f64]) -> [f64; 3] {
    use perhop_core::aqm::Aqm;
    let (aqm, now) = seasoned(params, history);
    let mut found = std::collections::BTreeMap::new();
    aqm.gauges(now, &mut |name, value| {
        found.insert(name, value);
    });
    ["incoming_tickets_s", "average_tickets", "expected_tickets"].map(|name| found[name])
}

/// Rich flows: packets with K times the least tickets, or more, are not expected; of the others the mean is. 10 000 packets/s
/// over 2 windows: e^-2 of the rate is missing, of the means nothing.
#[test]
fn rich_packets_are_kept_out_of_the_expectation() {
    let [rate, all, expected] = gauges(&params(|_| {}), &[80.0, 100.0, 159.0, 160.0, 250.0]);
    assert!((all / 149.8 - 1.0).abs() < 1e-3, "{all}");
    assert!((expected / 113.0 - 1.0).abs() < 1e-3, "{expected}");
    assert!((rate / (1_498_000.0 * (1.0 - perhop_core::math::exp(-2.0))) - 1.0).abs() < 1e-3, "{rate}");
    let [_, _, expected] = gauges(&params(|p| p.expected.k = 4.0), &[80.0, 100.0, 159.0, 160.0, 250.0]);
    assert!((expected / 149.8 - 1.0).abs() < 1e-3, "{expected}");
}

/// One packet of 1 ticket: nothing else is expected until its interval and the next are over; the quantile does not see it.
#[test]
fn a_single_ticket_is_forgotten() {
    let gate = |params: &AqmParams| {
        let aqm = params.build(&support::scope(1000)).unwrap();
        Port::new(Gate::new(aqm, Limit::Packets(1000), Rng::stream(3, 0, "queue")), support::RATE)
    };
    let mut interval = gate(&params(|p| p.expected.min_interval = Span::from_s(1)));
    let mut quantile = gate(&params(|p| p.expected.minimum = Minimum::Quantile));
    let mut at_ms = Vec::new();
    for ms in 0..4000u64 {
        let now = Time::from_ns(ms * 1_000_000);
        let packet = tagged(100, if ms == 500 { 1.0 } else { 80.0 });
        interval.arrive(now, packet);
        quantile.arrive(now, packet);
        let expected = interval.gauge(now, "expected_tickets");
        at_ms.push(expected);
        assert!(quantile.gauge(now, "expected_tickets") >= 79.0);
    }
    // 500 packets of 80 and one of 1 were in E; then only the least.
    let blind = (80.0 * 500.0 + 1.0) / 501.0;
    assert!((at_ms[500] / blind - 1.0).abs() < 0.01 && (at_ms[1999] - at_ms[501]).abs() < 1e-9, "{}", at_ms[1999]);
    assert!(at_ms[2001] > at_ms[1999] && at_ms[3999] > 79.9, "{} {}", at_ms[2001], at_ms[3999]);
}

/// The quantile is one: of tickets spread evenly over 50 to 150 it is near 55, where 5 % lie below; K times as much,
/// 110, is where E's packets end: its mean is (50 + 110)/2. The estimate moves by 5 % a step, 20 to 1 against it: within 10 %.
#[test]
fn the_quantile_is_that_of_five_percent() {
    let spread: Vec<f64> = (0..1000u64).map(|i| 50.0 + ((i * 617) % 1000) as f64 / 10.0).collect();
    let [_, _, expected] = gauges(&params(|p| p.expected.minimum = Minimum::Quantile), &spread);
    assert!((expected / 80.0 - 1.0).abs() < 0.10, "{expected}");
    let [_, _, expected] = gauges(&params(|_| {}), &spread);
    assert!((expected / 75.0 - 1.0).abs() < 0.01, "{expected}");
}

/// By byte: packets of 500 and 1000 bytes with tickets in proportion are all as expected; by packet the small ones are not.
#[test]
fn bytes_compare_tickets_per_byte() {
    let small = |unit| {
        let params = params(|p| p.expected.unit = unit);
        let (mut port, mut now) = (support::port(&params, 1000), Time::ZERO);
        for i in 0..2000u32 {
            now += Span::from_us(1000);
            let size = if i % 2 == 0 { 500 } else { 1000 };
            port.arrive(now, tagged(size, f64::from(size) / 10.0));
        }
        port.gauge(now, "expected_tickets")
    };
    assert!((small(Unit::Bytes) - 0.1).abs() < 1e-9);
    assert!((small(Unit::Packets) - 50.0).abs() < 1e-6, "100 is twice the least");
}

proptest! {
    /// What becomes of packets without tickets is nothing to a load of others.
    #[test]
    fn who_tags_is_not_touched(
        profile in any_profile(), common in any_common(), own in any_tred(), load in support::tickets(&Colour::ALL),
    ) {
        let load = relabelled(&load, |packet| packet.label().filter(|g| *g >= 0.0 && g.is_finite()).unwrap_or(50.0));
        let fates = |untagged| run(&support::tred(profile.clone(), common.clone(), &tred::Params { untagged, ..own.clone() }), LIMIT, &load);
        prop_assert_eq!(fates(Untagged::Least), fates(Untagged::Red));
        prop_assert_eq!(fates(Untagged::Drop), fates(Untagged::Red));
    }

    /// `drop` lets none of them in, whatever the queue, but pure ACKs.
    #[test]
    fn drop_lets_none_in(
        profile in any_profile(), common in any_common(), own in any_tred_of_untagged(), load in support::tickets(&Colour::ALL),
    ) {
        let tred = support::tred(profile, common, &tred::Params { untagged: Untagged::Drop, ..own });
        for ((_, packet), fate) in load.iter().zip(run(&tred, LIMIT, &load)) {
            let lacks = !packet.label().is_some_and(|g| g >= 0.0 && g.is_finite());
            if lacks && packet.flags & flags::ACK == 0 {
                prop_assert_eq!(fate, Fate::Dropped(Reason::Forced));
            }
        }
    }
}

/// `least`: for one state and one draw a packet without tickets never passes where one of the least tickets that were seen is
/// dropped, nor one of 1 ticket. Pure ACKs are RED's in each case.
#[test]
fn who_does_not_tag_is_no_better_off_than_the_least() {
    let history = [80.0, 100.0, 45.0];
    let untagged = Packet { size: 1000, payload: 960, ..Packet::default() };
    let ack = Packet { size: 40, flags: flags::ACK, ..Packet::default() };
    let rule = |untagged| params(|p| p.untagged = untagged);
    for waiting in [5, 6, 20, 40, 54, 55] {
        let of = dropped_of(&rule(Untagged::Least), &history, (untagged, waiting, 500));
        for g in [45.0, 1.0] {
            let least = dropped(&rule(Untagged::Least), &history, (g, waiting, 500));
            assert!(of.iter().zip(&least).all(|(of, least)| *of || !least), "{g} tickets, queue {waiting}");
        }
        let red = dropped_of(&rule(Untagged::Red), &history, (untagged, waiting, 500));
        for untagged in [Untagged::Red, Untagged::Least, Untagged::Drop] {
            assert_eq!(
                dropped_of(&rule(untagged), &history, (ack, waiting, 500)),
                red,
                "{untagged:?}, queue {waiting}"
            );
        }
    }
}

/// The paper's tag of 0: p (E/0)^3 is 1 wherever p is not 0. As MinTkt it keeps all others out of E.
#[test]
fn a_tag_of_zero_is_dropped_first() {
    for waiting in [6, 20, 54] {
        assert_eq!(dropped(&params(|_| {}), &[80.0], (0.0, waiting, 100)), [true; 100]);
    }
    assert_eq!(dropped(&params(|_| {}), &[80.0], (0.0, 5, 100)), [false; 100], "p is 0 at min");
    assert_eq!(
        dropped(&params(|p| p.n = 0.0), &[80.0], (0.0, 20, 500)),
        dropped(&params(|p| p.n = 0.0), &[80.0], (80.0, 20, 500))
    );
    let [_, all, expected] = gauges(&params(|_| {}), &[80.0, 100.0, 0.0]);
    assert!((all / 60.0 - 1.0).abs() < 1e-3 && (expected / 89.0 - 1.0).abs() < 0.2, "{all} {expected}");
}
