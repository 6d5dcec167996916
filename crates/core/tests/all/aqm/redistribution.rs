//! What MSVB's classes leave: closed forms of the rule `unused`, its laws, and how it continues under new parameters.

use super::support::{self, packets};
use super::virtual_buffer::{any_rule, common};
use crate::common::port::Port;
use perhop_core::aqm::members::Member;
use perhop_core::aqm::msvb::{Class, Params, Redistribute};
use perhop_core::aqm::virtual_buffer::Threshold;
use perhop_core::aqm::{Aqm, AqmParams};
use perhop_core::packet::{Colour, Packet};
use perhop_core::units::{BitRate, Probability, Span, Time};
use perhop_core::verdict::Fate;
use perhop_core::{Rng, Scope};
use proptest::prelude::*;

const COLOURS: [Colour; 3] = [Colour::Green, Colour::Yellow, Colour::Red];
const THRESHOLDS: [&str; 3] = ["threshold_1", "threshold_2", "threshold_3"];

/// Classes green, yellow, red with these shares and alpha 0.5, V0 = 40 and F = 0.
fn params(shares: [f64; 3], redistribute: Redistribute) -> Params {
    let class = |(colour, share): (Colour, f64)| Class {
        filter: vec![Member::Colour(colour)].into(),
        share: Probability::new(share).unwrap(),
        alpha: 0.5,
    };
    let classes = COLOURS.into_iter().zip(shares).map(class).collect();
    Params { classes, common: common(packets(40), packets(0)), redistribute }
}

fn port(params: &Params) -> Port {
    support::port(&AqmParams::Msvb(params.clone()), 100)
}

fn send(port: &mut Port, now: Time, class: usize) -> Fate {
    port.arrive(now, Packet { size: 1000, colour: COLOURS[class], ..Packet::default() })
}

fn thresholds(port: &Port, now: Time) -> [f64; 3] {
    THRESHOLDS.map(|name| port.gauge(now, name))
}

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

fn assert_close(found: [f64; 3], expected: [f64; 3]) {
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-9, "{found:?}, not {expected:?}");
    }
}

/// Ten packets of green, five of yellow, none of red at time 0, shares .2, .3, .5: V0 is never passed, so virtual queues
/// of 10 and 5 packets are served as in generalised processor sharing. Yellow has 3/5 of 1250 packets/s, and is empty
/// after 5/750 s = 6.67 ms, when green has 10 - 500/150 = 6.67 left, which last 5.33 ms more at the full rate.
#[test]
fn served_as_in_processor_sharing() {
    let mut port = port(&params([0.2, 0.3, 0.5], Redistribute::Unused));
    for class in [0; 10].into_iter().chain([1; 5]) {
        assert_eq!(send(&mut port, Time::ZERO, class), Fate::Queued);
    }
    assert_close(thresholds(&port, Time::ZERO), [35.0, 37.5, 40.0]);
    assert_close(thresholds(&port, ms(4)), [40.0 - 0.5 * 8.0, 40.0 - 0.5 * 2.0, 40.0]);
    assert_close(thresholds(&port, ms(10)), [40.0 - 0.5 * 2.5, 40.0, 40.0]);
    assert_eq!(thresholds(&port, ms(12)), [40.0; 3]);
    // What is full says nothing of when it became so.
    assert_eq!(thresholds(&port, ms(900)), [40.0; 3]);
}

/// Above V0 a class has its own share alone, until Vq is down to V0; also beside classes that have not sent, which are
/// not silent before 1 s is over.
#[test]
fn nothing_is_given_while_it_would_hurt() {
    let params = Params { common: common(packets(40), packets(0)), ..params([0.2, 0.3, 0.5], Redistribute::Unused) };
    let (mut port, mut sent) = (port(&params), 0);
    while sent < 50 {
        sent += u32::from(send(&mut port, Time::ZERO, 0) == Fate::Queued);
    }
    assert_eq!(port.gauge(Time::ZERO, "virtual_queue_packets"), 50.0);
    // 8 ms at 250 packets/s, then 4 ms at 1250.
    assert_close(thresholds(&port, ms(8)), [40.0 - 0.5 * 48.0, 40.0, 40.0]);
    assert_close(thresholds(&port, ms(12)), [40.0 - 0.5 * 43.0, 40.0, 40.0]);
}

/// What silent classes leave is handed on above V0 too, from the moment they are silent: at 1.0 s green and yellow have
/// said nothing for a second, at 1.004 s red.
#[test]
fn silent_classes_are_not_hurt() {
    let mut port = port(&params([0.2, 0.3, 0.5], Redistribute::Unused));
    send(&mut port, ms(4), 2);
    let at = ms(996);
    let mut sent = 0;
    while sent < 60 {
        sent += u32::from(send(&mut port, at, 0) == Fate::Queued);
    }
    // 4 ms at 250 packets/s; 4 ms with yellow's share, at 250 (1 + .3/.2); then all, until Vq is V0 and after it.
    assert_close(thresholds(&port, ms(1000)), [40.0 - 0.5 * 59.0, 40.0, 40.0]);
    assert_close(thresholds(&port, ms(1004)), [40.0 - 0.5 * 56.5, 40.0, 40.0]);
    assert_close(thresholds(&port, ms(1008)), [40.0 - 0.5 * 51.5, 40.0, 40.0]);
}

proptest! {
    /// No work is lost below V0 while a class is below its cap: Vq + sum of Vth/alpha stays what it is, classes at their
    /// cap or not, as long as shares sum to 1 and Vq is above its floor. MSVB loses some whenever a class is at V0.
    #[test]
    fn work_is_conserved(
        a in 0.1..0.5f64, b in 0.1..0.4f64, load in prop::collection::vec((0u64..900, 0usize..2), 1..100),
    ) {
        let shares = [a, b, 1.0 - a - b];
        let sum = |port: &Port, now| {
            port.gauge(now, "virtual_queue_packets") + 2.0 * thresholds(port, now).iter().sum::<f64>()
        };
        let mut port = port(&params(shares, Redistribute::Unused));
        let mut now = Time::ZERO;
        for n in 0..20 {
            send(&mut port, now, n % 2);
        }
        let k = sum(&port, now);
        for (us, class) in load {
            now += Span::from_us(us);
            let queue = port.gauge(now, "virtual_queue_packets");
            if queue <= 1e-9 || queue > 38.0 {
                break;
            }
            prop_assert!((sum(&port, now) - k).abs() <= 1e-9 * k, "{} {}", sum(&port, now), k);
            send(&mut port, now, class);
        }
    }

    /// What fills up is at its cap to the bit, whatever the numbers: or it would keep rising for its last bit for ever.
    #[test]
    fn full_is_full(alpha in 0.01..3.0f64, fair in 1.0..2000.0f64, cap in 1.0..400.0f64, part in 0.01..1.0f64) {
        let mut threshold = Threshold::new(alpha, fair, cap);
        threshold.take(part * cap / alpha);
        prop_assert!(!threshold.is_full());
        threshold.rise_for(threshold.until_full());
        prop_assert!(threshold.is_full());
    }

    /// Bounds hold under any load and rule, and an interval may be split by looks and by new parameters that are the old.
    #[test]
    fn splitting_changes_nothing(
        rule in any_rule(), load in prop::collection::vec((0u64..40_000, 0usize..3), 1..200), seed in any::<u64>(),
    ) {
        let params = params([0.2, 0.3, 0.5], rule);
        let (mut whole, mut split) = (port(&params), port(&params));
        let (mut now, mut rng) = (Time::ZERO, Rng::stream(seed, 0, "cuts"));
        for (us, class) in load {
            let cut = now + Span::from_us((us as f64 * rng.uniform()) as u64);
            if rng.uniform() < 0.3 {
                split.retune(cut, &AqmParams::Msvb(params.clone()), &support::scope(100)).unwrap();
            }
            now += Span::from_us(us);
            prop_assert_eq!(send(&mut whole, now, class), send(&mut split, now, class));
            for (a, b) in thresholds(&whole, now).into_iter().zip(thresholds(&split, now)) {
                prop_assert!((0.0..=40.0).contains(&a) && (a - b).abs() <= 1e-9, "{} {}", a, b);
            }
        }
    }
}

/// All busy: each class has its share, as in MSVB. 2500 packets/s offered, in turn, half of what each class sends passes.
/// Below its share, a class loses next to nothing and the others have what it leaves, shares in proportion.
#[test]
fn shares_are_max_min() {
    let passed = |rates: [f64; 3]| {
        let mut port = port(&params([0.2, 0.3, 0.5], Redistribute::Unused));
        let mut next = rates.map(|rate| 1e6 / rate);
        let mut passed = [0.0f64; 3];
        while next[0] < 40e6 {
            let class = (0..3).min_by(|a, b| next[*a].total_cmp(&next[*b])).unwrap();
            let now = Time::ZERO + Span::from_us(next[class] as u64);
            next[class] += 1e6 / rates[class];
            let stays = send(&mut port, now, class).stays();
            passed[class] += f64::from(u32::from(stays && now.seconds() >= 10.0)) / (30.0 * 1250.0);
        }
        passed
    };
    // Each within 1 % of the link: the Bernoulli drops of 30 s move a share by less than 40 of 37 500 packets (the
    // integral holds them), and a virtual queue of at most 80 packets starts and ends the interval.
    for (rates, expected) in [
        ([500.0, 750.0, 1250.0], [0.2, 0.3, 0.5]),
        ([2500.0, 125.0, 2500.0], [0.9 * 2.0 / 7.0, 0.1, 0.9 * 5.0 / 7.0]),
        ([2500.0, 1.0, 1.0], [1.0, 0.0, 0.0]),
    ] {
        let found = passed(rates);
        for (share, expected) in found.into_iter().zip(expected) {
            assert!((share - expected).abs() <= 0.01, "{rates:?}: {found:?}");
        }
    }
}

/// From one rule to another queue and thresholds keep their values, and continue by the new rule.
#[test]
fn the_rule_may_change() {
    let rules = [Redistribute::Off, Redistribute::Silent, Redistribute::Unused];
    for (from, to) in rules.into_iter().flat_map(|from| rules.map(|to| (from, to))) {
        let mut port = port(&params([0.2, 0.3, 0.5], from));
        for class in [0; 20].into_iter().chain([1; 8]) {
            send(&mut port, ms(10), class);
        }
        let at = ms(14);
        let before = (port.gauge(at, "virtual_queue_packets"), thresholds(&port, at));
        let next = AqmParams::Msvb(params([0.2, 0.3, 0.5], to));
        port.retune(at, &next, &support::scope(100)).unwrap();
        assert_eq!(port.gauge(at, "virtual_queue_packets"), before.0);
        assert_close(thresholds(&port, at), before.1);
        // 4 ms more: 1 and 1.5 packets by their own shares, 2 and 3 with red's.
        let gain = if to == Redistribute::Unused { 2.0 } else { 1.0 };
        let expected = [before.1[0] + 0.5 * gain, before.1[1] + 0.75 * gain, 40.0];
        assert_close(thresholds(&port, ms(18)), expected);
        // At half the rate half as much.
        let slow = Scope { link_rate: Some(BitRate::mbps(5)), ..support::scope(100) };
        port.retune(ms(18), &next, &slow).unwrap();
        assert_close(thresholds(&port, ms(18)), expected);
        assert_close(thresholds(&port, ms(22)), [expected[0] + 0.25 * gain, expected[1] + 0.375 * gain, 40.0]);
    }
}

/// The rule takes effect while Vq is above V0, and uses Vq as it is then: 45 after 4 ms, so that V0 is reached 4 ms later.
#[test]
fn the_rule_may_come_above_v0() {
    for from in [Redistribute::Off, Redistribute::Silent] {
        let (mut port, mut sent) = (port(&params([0.2, 0.3, 0.5], from)), 0);
        while sent < 50 {
            sent += u32::from(send(&mut port, Time::ZERO, 0) == Fate::Queued);
        }
        let next = AqmParams::Msvb(params([0.2, 0.3, 0.5], Redistribute::Unused));
        port.retune(ms(4), &next, &support::scope(100)).unwrap();
        assert_close(thresholds(&port, ms(8)), [40.0 - 0.5 * 48.0, 40.0, 40.0]);
        assert_close(thresholds(&port, ms(12)), [40.0 - 0.5 * 43.0, 40.0, 40.0]);
    }
}

/// Red never sends and green stops: two fall silent, the second at 1.5 s; yellow's packets at 0.6 s and 1.6 s leave no
/// pause of a second.
#[test]
fn silences_are_counted() {
    let mut port = port(&params([0.2, 0.3, 0.5], Redistribute::Silent));
    let count = |port: &Port| {
        let mut found = Vec::new();
        port.gate().aqm().tallies(&mut |name, n| found.push((name, n)));
        found
    };
    for (at, class, expected) in [(500, 0, 0), (600, 1, 0), (1050, 1, 1), (1600, 1, 2)] {
        send(&mut port, ms(at), class);
        assert_eq!(count(&port), [("silences", expected)]);
    }
    assert_eq!(count(&self::port(&params([0.2, 0.3, 0.5], Redistribute::Unused))), []);
}

/// A class whose threshold does not move keeps its share: nothing says what it leaves.
#[test]
fn alpha_of_zero_leaves_nothing() {
    let mut params = params([0.2, 0.3, 0.5], Redistribute::Unused);
    params.classes[1].alpha = 0.0;
    let mut port = port(&params);
    for _ in 0..20 {
        send(&mut port, Time::ZERO, 0);
    }
    // Red's half goes to green and yellow: green has 250 (1 + .5/.5) packets/s.
    assert_close(thresholds(&port, ms(8)), [40.0 - 0.5 * 16.0, 40.0, 40.0]);
}
