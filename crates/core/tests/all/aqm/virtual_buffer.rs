//! SVB and MSVB: decision by decision as their oracle, and the laws of the virtual buffer.

use super::support::{self, Load, RATE, packets};
use crate::common::port::Port;
use crate::oracle::virtual_buffer::{Class as OracleClass, Counts, Gives, Router};
use perhop_core::aqm::cap::Cap;
use perhop_core::aqm::members::Member;
use perhop_core::aqm::msvb::Redistribute;
use perhop_core::aqm::virtual_buffer::{Common, Counting, Threshold, VirtualQueue, chance};
use perhop_core::aqm::{Aqm, AqmParams, early, msvb, svb};
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Colour, Packet};
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{Bytes, Length, Probability, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use perhop_core::{Rng, Scope};
use proptest::prelude::*;

const LIMIT: u32 = 16;
const MEAN: u64 = 1000;

fn dscp(name: &str) -> Dscp {
    name.parse().unwrap()
}

/// In packets, or in bytes of that many packets.
fn length(n: u32, in_bytes: bool) -> Length {
    if in_bytes { Length::Bytes(Bytes::new(u64::from(n) * MEAN)) } else { packets(n) }
}

pub(crate) fn common(v0: Length, floor: Length) -> Common {
    Common { v0, floor, counting: Counting::Passed, mean_packet: Bytes::new(MEAN), ecn: false }
}

fn any_counting() -> impl Strategy<Value = Counting> {
    prop::sample::select(vec![Counting::Passed, Counting::Queued, Counting::Offered])
}

fn any_common() -> impl Strategy<Value = Common> {
    (1u32..40, 0u32..40, any::<bool>(), any_counting(), any::<bool>()).prop_map(|(v0, floor, bytes, counting, ecn)| {
        Common { counting, ecn, ..common(length(v0, bytes), length(floor % v0, bytes)) }
    })
}

/// How far the cap is above V0, units; `None`: no cap.
pub(crate) fn any_cap() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![2 => Just(Some(0)), 1 => Just(None), 1 => (1u32..30).prop_map(Some)]
}

fn any_svb() -> impl Strategy<Value = AqmParams> {
    let alpha = prop_oneof![Just(0.0), 0.01..3.0];
    (alpha, any_cap(), any_common()).prop_map(|(alpha, cap, common)| {
        let (v0, in_bytes) = number(common.v0);
        let cap = cap
            .map_or(Cap::None, |above| if above == 0 { Cap::V0 } else { Cap::At(length(v0 as u32 + above, in_bytes)) });
        // What `queued` can reach.
        let counting = if common.counting == Counting::Queued { Counting::Passed } else { common.counting };
        AqmParams::Svb(svb::Params { alpha, cap, common: Common { counting, ..common } })
    })
}

pub(crate) fn any_rule() -> impl Strategy<Value = Redistribute> {
    prop::sample::select(vec![Redistribute::Off, Redistribute::Silent, Redistribute::Unused])
}

/// Three classes: one by code point, one by colour, the rest.
fn any_msvb() -> impl Strategy<Value = AqmParams> {
    let class = || (0.0..0.33f64, prop_oneof![Just(0.0), 0.05..3.0]);
    (class(), class(), class(), any_common(), any_rule()).prop_map(|(a, b, c, common, redistribute)| {
        let members = [vec![Member::Dscp(dscp("AF11"))], vec![Member::Colour(Colour::Green)], vec![]];
        let class = |(members, (share, alpha))| msvb::Class {
            filter: Vec::into(members),
            share: Probability::new(share).unwrap(),
            alpha,
        };
        let classes = members.into_iter().zip([a, b, c]).map(class).collect();
        AqmParams::Msvb(msvb::Params { classes, common, redistribute })
    })
}

/// The class of a packet, by its place in the list of [`any_msvb`].
fn class_of(params: &AqmParams, packet: &Packet) -> usize {
    match params {
        AqmParams::Msvb(_) if packet.dscp == dscp("AF11") => 0,
        AqmParams::Msvb(_) if packet.colour == Colour::Green => 1,
        AqmParams::Msvb(_) => 2,
        _ => 0,
    }
}

fn number(length: Length) -> (f64, bool) {
    match length {
        Length::Packets(n) => (f64::from(n.get()), false),
        Length::Bytes(n) => (n.get() as f64, true),
        other => panic!("{other}"),
    }
}

fn oracle(params: &AqmParams, rng: Rng) -> Router {
    let (common, redistribute, classes) = match params {
        AqmParams::Svb(p) => (&p.common, Redistribute::Off, vec![(p.alpha, 1.0)]),
        AqmParams::Msvb(p) => (&p.common, p.redistribute, p.classes.iter().map(|c| (c.alpha, c.share.get())).collect()),
        other => panic!("{}", other.name()),
    };
    let (v0, in_bytes) = number(common.v0);
    let cap = match params {
        AqmParams::Svb(svb::Params { cap: Cap::None, .. }) => f64::INFINITY,
        AqmParams::Svb(svb::Params { cap: Cap::At(cap), .. }) => number(*cap).0,
        _ => v0,
    };
    let floor = number(common.floor).0;
    let c = if in_bytes { RATE.bytes_s() } else { RATE.bytes_s() / MEAN as f64 };
    let counts = match common.counting {
        Counting::Passed => Counts::Passed,
        Counting::Queued => Counts::Queued,
        Counting::Offered => Counts::Offered,
    };
    let class = |(alpha, phi)| OracleClass { alpha, phi, vth: v0, sent: 0.0 };
    let classes = classes.into_iter().map(class).collect();
    let gives = match redistribute {
        Redistribute::Off => Gives::Nothing,
        Redistribute::Silent => Gives::Silent,
        Redistribute::Unused => Gives::Unused,
    };
    let ecn = common.ecn;
    Router { c, v0, cap, floor, in_bytes, counts, ecn, gives, classes, vq: floor, now: 0.0, rng }
}

fn port(params: &AqmParams, rng: Rng) -> Port {
    Port::new(Gate::new(params.build(&support::scope(LIMIT)).unwrap(), Limit::Packets(LIMIT), rng), RATE)
}

/// Overload and idle time, with pauses of seconds, in which classes fall silent.
fn any_load() -> impl Strategy<Value = Load> {
    (support::load(&Colour::ALL), prop::collection::vec((0usize..400, 100u64..3000), 0..4)).prop_map(
        |(mut load, pauses)| {
            for (at, ms) in pauses {
                let n = load.len();
                load[at % n].0 = Span::from_ms(ms);
            }
            load
        },
    )
}

/// The same to the last bits of sums made in another order, of numbers up to `scale`.
fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale
}

/// Runs a load through an AQM and its oracle; the fates.
fn compared(params: &AqmParams, load: &Load, rng: &Rng) -> Result<Vec<Fate>, TestCaseError> {
    let (mut port, mut oracle, mut now) = (port(params, rng.clone()), oracle(params, rng.clone()), Time::ZERO);
    let mut fates = Vec::new();
    for (n, (gap, packet)) in load.iter().enumerate() {
        now += *gap;
        port.advance(now);
        let room = port.waiting().len() < LIMIT as usize;
        let expected = oracle.arrive(now.ns(), (class_of(params, packet), packet), room);
        prop_assert_eq!(port.arrive(now, *packet), expected, "packet {}", n);
        let mut gauges = Vec::new();
        port.gate().aqm().gauges(now, &mut |name, value| gauges.push((name, value)));
        let seen = |begins: &str| gauges.iter().filter(|g| g.0.starts_with(begins)).map(|g| g.1).collect::<Vec<_>>();
        let scale = oracle.classes.iter().fold(oracle.v0 + oracle.vq, |sum, class| sum + class.vth);
        prop_assert!(close(seen("virtual_queue")[0], oracle.vq, scale), "packet {}: {:?} {}", n, gauges, oracle.vq);
        for (value, class) in seen("threshold").into_iter().zip(&oracle.classes) {
            prop_assert!(close(value, class.vth, scale), "packet {}: {:?} {:?}", n, gauges, oracle.classes);
        }
        fates.push(expected);
    }
    Ok(fates)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn every_decision_is_the_oracles(
        params in prop_oneof![any_svb(), any_msvb()], load in any_load(), seed in any::<u64>(),
    ) {
        compared(&params, &load, &Rng::stream(seed, 0, "queue"))?;
    }

    /// What counts moves Vq up and its class's threshold down; what does not, moves nothing.
    #[test]
    fn only_what_counts_moves(params in any_msvb(), load in any_load(), seed in any::<u64>()) {
        // Without `redistribute`: between two arrivals gauges do not know who has fallen silent.
        let AqmParams::Msvb(stated) = params else { unreachable!() };
        let params = AqmParams::Msvb(msvb::Params { redistribute: Redistribute::Off, ..stated.clone() });
        let (mut port, mut now) = (port(&params, Rng::stream(seed, 0, "queue")), Time::ZERO);
        for (gap, packet) in &load {
            now += *gap;
            port.advance(now);
            let i = class_of(&params, packet);
            let name = ["threshold_1", "threshold_2", "threshold_3"][i];
            let (queue, size) = match stated.common.v0 {
                Length::Packets(_) => ("virtual_queue_packets", f64::from(packet.size) / 1000.0),
                _ => ("virtual_queue_bytes", f64::from(packet.size)),
            };
            let before = [port.gauge(now, queue), port.gauge(now, name)];
            let fate = port.arrive(now, *packet);
            let counted = match stated.common.counting {
                Counting::Passed => fate != Fate::Dropped(Reason::Early),
                Counting::Queued => fate.stays(),
                Counting::Offered => true,
            };
            let expected = match counted {
                true => [before[0] + size, (before[1] - stated.classes[i].alpha * size).max(0.0)],
                false => before,
            };
            let after = [port.gauge(now, queue), port.gauge(now, name)];
            prop_assert!(close(after[0], expected[0], before[0] + size) && close(after[1], expected[1], 1e5));
        }
    }

    /// Whatever arrives, at once or 10^6 s apart: F <= Vq, 0 <= Vth <= cap, 0 <= p <= 1, and of two classes the one with the
    /// higher threshold suffers no more.
    #[test]
    fn bounds_hold_for_any_arrivals(
        params in prop_oneof![any_svb(), any_msvb()], load in any_load(), seed in any::<u64>(),
        rests in prop::collection::vec((0usize..400, prop_oneof![Just(0u64), Just(1), Just(1_000_000)]), 0..40),
    ) {
        let mut load = load;
        for (at, seconds) in rests {
            let n = load.len();
            load[at % n].0 = Span::from_s(seconds);
        }
        let common = match &params {
            AqmParams::Svb(p) => &p.common,
            AqmParams::Msvb(p) => &p.common,
            other => panic!("{}", other.name()),
        };
        let (cap, floor) = (oracle(&params, Rng::stream(seed, 0, "unused")).cap, number(common.floor).0);
        let (mut port, mut now) = (port(&params, Rng::stream(seed, 0, "queue")), Time::ZERO);
        for (gap, packet) in &load {
            now += *gap;
            port.arrive(now, *packet);
            let mut gauges = Vec::new();
            port.gate().aqm().gauges(now, &mut |name, value| gauges.push((name, value)));
            let of = |begins: &str| gauges.iter().filter(|g| g.0.starts_with(begins)).map(|g| g.1).collect::<Vec<_>>();
            prop_assert!(of("virtual_queue").iter().all(|vq| vq.is_finite() && *vq >= floor), "{gauges:?}");
            let (thresholds, chances) = (of("threshold"), of("drop_p"));
            prop_assert!(!thresholds.is_empty() && thresholds.len() == chances.len());
            prop_assert!(thresholds.iter().all(|vth| vth.is_finite() && (0.0..=cap).contains(vth)), "{gauges:?}");
            prop_assert!(chances.iter().all(|p| (0.0..=1.0).contains(p)), "{gauges:?}");
            for (a, p) in thresholds.iter().zip(&chances) {
                prop_assert!(thresholds.iter().zip(&chances).all(|(b, q)| a < b || p <= q), "{gauges:?}");
            }
        }
    }

    /// p in [0, 1]; it grows with the queue and falls with the threshold.
    #[test]
    fn a_probability(queue in 0.0..1e4, threshold in -1e3..1e4, more in 0.0..1e3) {
        let p = chance(queue, threshold);
        prop_assert!((0.0..=1.0).contains(&p));
        prop_assert!(chance(queue + more, threshold.max(0.0)) >= chance(queue, threshold.max(0.0)));
        prop_assert!(chance(queue, threshold + more) <= p);
    }

    /// An idle interval may be split: queue and threshold end where they would have.
    #[test]
    fn idle_time_may_be_split(burst in 0u32..100, parts in prop::collection::vec(0u64..50_000_000, 1..8)) {
        let scope = support::scope(LIMIT);
        let floor = early::Level { unit: early::Unit::Packets, value: 3.0 };
        let mut whole = (VirtualQueue::new(floor, Bytes::new(MEAN), &scope).unwrap(), Threshold::new(0.5, 125.0, 40.0));
        for _ in 0..burst {
            whole.0.add(1.0);
            whole.1.take(1.0);
        }
        let mut split = whole.clone();
        let mut now = Time::ZERO;
        for part in parts {
            now += Span::from_ns(part);
            split.0.advance(now);
            split.1.advance(now);
        }
        prop_assert!(close(whole.0.at(now), split.0.at(now), 100.0));
        prop_assert!(close(whole.1.at(now), split.1.at(now), 100.0));
    }

    /// Away from the bounds, with shares that sum to 1, Vq + sum Vth_i/alpha_i is constant.
    #[test]
    fn the_sum_is_conserved(
        alphas in [0.1..2.0f64, 0.1..2.0f64], share in 0.05..0.95f64,
        packets_sent in prop::collection::vec((0u64..900, any::<bool>()), 1..200),
    ) {
        let class = |(members, share, alpha)| msvb::Class { filter: Vec::into(members), share: Probability::new(share).unwrap(), alpha };
        let green = vec![Member::Colour(Colour::Green)];
        let classes = [(green, share, alphas[0]), (vec![], 1.0 - share, alphas[1])].into_iter().map(class).collect();
        let params = AqmParams::Msvb(msvb::Params {
            classes, common: common(packets(1_000_000), packets(0)), redistribute: Redistribute::Off,
        });
        let mut port = port(&params, Rng::stream(1, 0, "queue"));
        let sum = |port: &Port, now| {
            let vth = |i: usize| port.gauge(now, ["threshold_1", "threshold_2"][i]) / alphas[i];
            port.gauge(now, "virtual_queue_packets") + vth(0) + vth(1)
        };
        let mut now = Time::ZERO;
        let send = |port: &mut Port, now, green| {
            let colour = if green { Colour::Green } else { Colour::Red };
            port.arrive(now, Packet { size: 1000, colour, ..Packet::default() })
        };
        // Far enough from V0 and from an empty virtual queue for what follows: 0.18 s are 225 packets.
        for i in 0..1000 {
            send(&mut port, now, i % 2 == 0);
        }
        let k = sum(&port, now);
        for (us, green) in packets_sent {
            now += Span::from_us(us);
            prop_assert_ne!(send(&mut port, now, green), Fate::Dropped(Reason::Early));
            let after = sum(&port, now);
            prop_assert!((after - k).abs() <= 1e-9 * k, "{} {}", after, k);
        }
    }
}

/// The loads of the comparison reach all there is to compare.
#[test]
fn everything_occurs() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::<_, u32>::new();
    for seed in 0..300 {
        let params = prop_oneof![any_svb(), any_msvb()];
        let (params, load) = (params, any_load()).new_tree(&mut runner).unwrap().current();
        for fate in compared(&params, &load, &Rng::stream(seed, 0, "queue")).unwrap() {
            *seen.entry(format!("{fate:?}")).or_default() += 1;
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(seen.values().all(|n| *n >= 200), "{seen:?}");
}

/// Ten classes of equal share, each offering twice its share at a constant rate: after 20 s each passes its share
/// within 1 %. What a class passed over its share in the 20 s counted is the change of Vth_i/alpha_i; Vth_i stays within
/// about 10 packets, so that is under 20 of 2500.
#[test]
fn greedy_classes_get_their_shares() {
    let names: Vec<Dscp> = (1..=10).map(|i| Dscp::new(i).unwrap()).collect();
    let share = Probability::new(0.1).unwrap();
    let classes =
        names.iter().map(|d| msvb::Class { filter: vec![Member::Dscp(*d)].into(), share, alpha: 0.5 }).collect();
    let params = AqmParams::Msvb(msvb::Params {
        classes,
        common: common(packets(40), packets(0)),
        redistribute: Redistribute::Off,
    });
    let mut port = support::port(&params, 100);
    let mut passed = [0u32; 10];
    // 250 packets a second from each, one class after the other.
    for n in 0..(250 * 10 * 40u64) {
        let now = Time::from_ns(n * 400_000);
        let class = (n % 10) as usize;
        let fate = port.arrive(now, Packet { size: 1000, dscp: names[class], ..Packet::default() });
        if fate.stays() && now.seconds() >= 20.0 {
            passed[class] += 1;
        }
    }
    for passed in passed {
        assert!((f64::from(passed) / (125.0 * 20.0) - 1.0).abs() <= 0.01, "{passed}");
    }
}

/// Half of the classes silent: the others get their shares and no more; with `redistribute`, all of the link.
#[test]
fn what_silent_classes_leave() {
    let passed = |redistribute| {
        let class = |name: &str, share| {
            let members = if name.is_empty() { vec![] } else { vec![Member::Dscp(dscp(name))] };
            msvb::Class { filter: Vec::into(members), share: Probability::new(share).unwrap(), alpha: 0.5 }
        };
        let classes = vec![class("AF11", 0.125), class("AF12", 0.375), class("", 0.5)];
        let common = common(packets(40), packets(0));
        let mut port = support::port(&AqmParams::Msvb(msvb::Params { classes, common, redistribute }), 100);
        let mut passed = [0.0f64; 2];
        for n in 0..(2500 * 20u64) {
            let (now, class) = (Time::from_ns(n * 400_000), (n % 2) as usize);
            let packet = Packet { size: 1000, dscp: dscp(["AF11", "AF12"][class]), ..Packet::default() };
            if port.arrive(now, packet).stays() && now.seconds() >= 10.0 {
                passed[class] += 1.0 / 12_500.0;
            }
        }
        passed
    };
    let halves = [0.125, 0.375];
    let all = [0.25, 0.75];
    for (redistribute, expected) in
        [(Redistribute::Off, halves), (Redistribute::Silent, all), (Redistribute::Unused, all)]
    {
        for (share, expected) in passed(redistribute).into_iter().zip(expected) {
            assert!((share - expected).abs() <= 0.01, "{redistribute:?}: {share}, not {expected}");
        }
    }
}

/// As long as no class pauses for a second, `silent` changes no verdict.
#[test]
fn without_silence_redistribution_is_the_paper() {
    let fates = |redistribute| {
        let share = Probability::new(0.1).unwrap();
        let class = |i| msvb::Class { filter: vec![Member::Dscp(Dscp::new(i).unwrap())].into(), share, alpha: 0.5 };
        let classes = (1..=10).map(class).collect();
        let common = common(packets(40), packets(0));
        let params = AqmParams::Msvb(msvb::Params { classes, common, redistribute });
        let (mut port, mut rng) = (support::port(&params, 100), Rng::stream(5, 0, "load"));
        let mut now = Time::ZERO;
        let mut next = || {
            now += Span::from_ns((rng.exponential(600.0) * 1e3) as u64);
            let dscp = Dscp::new(1 + (10.0 * rng.uniform()) as u8).unwrap();
            port.arrive(now, Packet { size: 1000, dscp, ..Packet::default() })
        };
        (0..10_000).map(|_| next()).collect::<Vec<_>>()
    };
    let literal = fates(Redistribute::Off);
    assert!(literal.iter().filter(|fate| !fate.stays()).count() > 1000);
    assert_eq!(literal, fates(Redistribute::Silent));
}

/// Idle for 10^6 s: the virtual queue is at its floor, every threshold at its cap, to the bit.
#[test]
fn a_long_rest_ends_at_the_bounds() {
    let params = AqmParams::Svb(svb::Params { alpha: 0.5, cap: Cap::V0, common: common(packets(300), packets(260)) });
    let mut port = support::port(&params, 100);
    for _ in 0..200 {
        port.arrive(Time::ZERO, Packet { size: 1000, ..Packet::default() });
    }
    let later = Time::ZERO + Span::from_s(1_000_000);
    assert!(port.gauge(Time::ZERO, "drop_p") > 0.0);
    let gauges = ["virtual_queue_packets", "threshold_packets", "drop_p"].map(|name| port.gauge(later, name));
    assert_eq!(gauges, [260.0, 300.0, 0.0]);
    assert_eq!(port.arrive(later, Packet { size: 1000, ..Packet::default() }), Fate::Queued);
    assert_eq!(port.gauge(later, "virtual_queue_packets"), 261.0);
}

/// With V0 = 8, alpha = .05 and an idle link of 1250 packets/s the threshold rises by 62.5 a second, to its cap: none, 40, or V0.
#[test]
fn a_cap_is_what_is_stated() {
    let after = |cap| {
        let params = AqmParams::Svb(svb::Params { alpha: 0.05, cap, common: common(packets(8), packets(0)) });
        let port = support::port(&params, 100);
        [0, 500, 1000, 100_000].map(|ms| port.gauge(Time::ZERO + Span::from_ms(ms), "threshold_packets"))
    };
    assert_eq!(after(Cap::None), [8.0, 8.0 + 31.25, 8.0 + 62.5, 8.0 + 6250.0]);
    assert_eq!(after(Cap::At(packets(40))), [8.0, 39.25, 40.0, 40.0]);
    assert_eq!(after(Cap::At(packets(8))), [8.0; 4]);
    assert_eq!(after(Cap::V0), [8.0; 4]);
}

/// A cap may change on the way: one below the threshold lowers it, one above lets it rise.
#[test]
fn a_cap_may_change() {
    let params = |cap| AqmParams::Svb(svb::Params { alpha: 0.05, cap, common: common(packets(8), packets(0)) });
    let mut port = support::port(&params(Cap::None), 100);
    let at = |s| Time::ZERO + Span::from_s(s);
    let mut change = |s, cap| {
        port.retune(at(s), &params(cap), &support::scope(100)).unwrap();
        [s, s + 1].map(|s| port.gauge(at(s), "threshold_packets"))
    };
    assert_eq!(change(2, Cap::At(packets(40))), [40.0, 40.0]);
    assert_eq!(change(3, Cap::None), [40.0, 102.5]);
    assert_eq!(change(4, Cap::V0), [8.0, 8.0]);
}

/// Every refusal, its code and what it names.
#[test]
fn refused() {
    let build = |params: AqmParams, scope: &Scope| {
        params.build(scope).map(|_| ()).map_err(|e| (e.code, e.sentence().into_owned()))
    };
    let svb = |alpha, common| AqmParams::Svb(svb::Params { alpha, cap: Cap::V0, common });
    let scope = support::scope(100);
    let no_rate = Scope { link_rate: None, ..scope.clone() };
    let good = || common(packets(40), packets(0));
    let capped = |cap| AqmParams::Svb(svb::Params { alpha: 0.1, cap: Cap::At(cap), common: good() });
    let bytes = |n| Length::Bytes(Bytes::new(n));
    let queued = |v0, floor| Common { counting: Counting::Queued, ..common(packets(v0), packets(floor)) };
    let faults = [
        (svb(-0.1, good()), &scope, "E201", "`alpha` is -0.1"),
        (svb(0.1, common(packets(0), packets(0))), &scope, "E201", "`v0` is 0"),
        (svb(0.1, common(packets(40), packets(40))), &scope, "E214", "`floor` 40p is not below `v0` 40p"),
        (svb(0.1, common(packets(40), bytes(5))), &scope, "E219", ""),
        (svb(0.1, good()), &no_rate, "E218", "`aqm` needs the rate of the link behind the queue"),
        (svb(0.1, Common { mean_packet: Bytes::new(0), ..good() }), &scope, "E201", "`mean-packet` is 0B"),
        (capped(packets(39)), &scope, "E214", "`cap` 39p is below `v0` 40p, where the threshold starts"),
        (capped(bytes(50_000)), &scope, "E219", ""),
        (svb(0.1, queued(111, 0)), &scope, "E215", "`v0` 111p is beyond what a queue of 100p can reach"),
    ];
    for (params, scope, code, message) in faults {
        let (found, said) = build(params, scope).unwrap_err();
        assert_eq!(found, code);
        assert!(message.is_empty() || said == message, "{said}");
    }
    for fine in [svb(0.1, queued(109, 0)), svb(0.1, queued(300, 260)), svb(0.0, common(bytes(9000), packets(0)))] {
        assert_eq!(build(fine, &scope), Ok(()));
    }
    let msvb = |shares: &[f64], alpha| {
        let colours = Colour::ALL.iter().map(|c| vec![Member::Colour(*c)]);
        let class = |(members, share): (_, &f64)| msvb::Class {
            filter: Vec::into(members),
            share: Probability::new(*share).unwrap(),
            alpha,
        };
        let classes = colours.zip(shares).map(class).collect();
        build(AqmParams::Msvb(msvb::Params { classes, common: good(), redistribute: Redistribute::Off }), &scope)
    };
    assert_eq!(msvb(&[0.4, 0.6], 0.5), Ok(()));
    assert_eq!(msvb(&[0.5, 0.75], 0.5).unwrap_err(), ("E201", "the shares of `classes` sum to 1.25".into()));
    assert_eq!(msvb(&[0.5, 0.5], -1.0).unwrap_err(), ("E201", "class 1: `alpha` is -1".into()));
    assert_eq!(msvb(&[], 0.5).unwrap_err().0, "E201");
}

/// At a new rate queue and thresholds stay and continue from there; another unit is refused.
#[test]
fn retuned() {
    let params = AqmParams::Svb(svb::Params { alpha: 0.5, cap: Cap::V0, common: common(packets(40), packets(0)) });
    let mut port = support::port(&params, 100);
    let packet = Packet { size: 1000, ..Packet::default() };
    for _ in 0..20 {
        port.arrive(Time::ZERO, packet);
    }
    let half = Time::from_ns(8_000_000);
    let gauges = |port: &Port, now| ["virtual_queue_packets", "threshold_packets"].map(|g| port.gauge(now, g));
    assert_eq!(gauges(&port, half), [10.0, 35.0]);
    let slow = Scope { link_rate: Some(perhop_core::units::BitRate::mbps(5)), ..support::scope(100) };
    port.retune(half, &params, &slow).unwrap();
    assert_eq!(gauges(&port, half), [10.0, 35.0]);
    assert_eq!(gauges(&port, Time::from_ns(16_000_000)), [5.0, 37.5]);
    let other = AqmParams::Svb(svb::Params {
        alpha: 0.5,
        cap: Cap::V0,
        common: common(Length::Bytes(Bytes::new(40_000)), Length::Bytes(Bytes::new(0))),
    });
    assert_eq!(port.retune(half, &other, &slow).unwrap_err().code, "E202");
}
