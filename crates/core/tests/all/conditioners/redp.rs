//! The invariants of REDP (specification section 1.7). The bound on green output, invariant 2, is in `invariants`.

use super::scope;
use crate::common::generate::{any_conditioner, conditioner, quantity};
use crate::common::load::{Offered, Source, Spacing, arrivals, gauge, merged, pass};
use crate::common::stats::mean;
use perhop_core::Rng;
use perhop_core::conditioner::{AnyConditioner, ConditionerParams, LIST};
use perhop_core::packet::{Colour, Packet};
use perhop_core::params::Tree;
use perhop_core::registry::Entry;
use perhop_core::units::Time;
use proptest::prelude::*;

const MBIT: f64 = 1e6;

/// The paper's marker: R = 0.7 Mbit/s, b = 60 packets, T_L = 15, T_H = 45.
fn redp(more: &[(&'static str, Tree)]) -> AnyConditioner {
    let mut entries = vec![("cir", quantity("0.7Mbit/s")), ("cbs", quantity("60000B"))];
    entries.extend_from_slice(more);
    conditioner("redp", &entries).build(&scope()).unwrap()
}

fn rng(seed: u64) -> Rng {
    Rng::stream(seed, 0, "marker")
}

fn entry() -> &'static Entry {
    LIST.iter().find(|e| e.name == "redp").unwrap()
}

fn coloured(colour: Colour, load: Vec<Offered>) -> Vec<Offered> {
    let paint = |o: Offered| Offered { packet: Packet { colour, ..o.packet }, ..o };
    load.into_iter().map(paint).collect()
}

/// Green sources of equal rate, G in all.
fn green(flows: u32, g: f64, spacing: Spacing) -> Vec<Source> {
    (0..flows).map(|i| Source::new(i, g / f64::from(flows), spacing)).collect()
}

fn tally(marker: &AnyConditioner, name: &str) -> u64 {
    use perhop_core::conditioner::Conditioner as _;
    let mut found = None;
    marker.tallies(&mut |what, n| found = if what == name { Some(n) } else { found });
    found.unwrap()
}

fn params(p: &ConditionerParams) -> &perhop_core::conditioner::redp::Params {
    let ConditionerParams::Redp(p) = p else { panic!("redp") };
    p
}

proptest! {
    /// Invariants 1, 3 and 5: the level stays within the bucket and falls only by what leaves green; green stays or
    /// becomes yellow, yellow stays or becomes green, red stays red and passes.
    #[test]
    fn colours_change_as_they_may_and_tokens_follow(
        p in any_conditioner(entry(), scope()), load in arrivals(200), seed in any::<u64>(),
    ) {
        let (mut marker, mut rng) = (p.build(&scope()).unwrap(), rng(seed));
        for offered in &load {
            let before = gauge(&marker, offered.at, "bucket_bytes");
            let out = pass(&mut marker, offered, &mut rng);
            let after = gauge(&marker, offered.at, "bucket_bytes");
            let allowed: &[Colour] = match offered.packet.colour {
                Colour::Red => &[Colour::Red],
                _ => &[Colour::Green, Colour::Yellow],
            };
            prop_assert!(allowed.contains(&out.colour));
            let dropped = out.size == 0;
            prop_assert!(!dropped || offered.packet.colour.presumed() == Colour::Green);
            let taken = if out.colour == Colour::Green && !dropped { f64::from(out.size) } else { 0.0 };
            let depth = params(&p).cbs.get() as f64;
            prop_assert!((0.0..=depth).contains(&after) && (0.0..=depth).contains(&before));
            // Levels up to 2.3 GB in doubles: 52 bits.
            prop_assert!((before - taken - after).abs() <= depth * 1e-15, "{before} {taken} {after}");
        }
    }

    /// Invariant 4: the dropper acts below T_L alone, and not within W of a yellow packet.
    #[test]
    fn the_dropper_rests_above_the_threshold_and_after_yellow(load in arrivals(300), p_drop in 0.0..=1.0f64, seed in any::<u64>()) {
        let mut marker = redp(&[("p-drop", Tree::Float(p_drop))]);
        let (mut draws, mut yellow) = (rng(seed), None::<Time>);
        for offered in &load {
            let level = gauge(&marker, offered.at, "bucket_bytes");
            yellow = if offered.packet.colour == Colour::Yellow { Some(offered.at) } else { yellow };
            let dropped = pass(&mut marker, offered, &mut draws).size == 0;
            let rests = yellow.is_some_and(|at| offered.at.since(at).seconds() < 1.0);
            prop_assert!(!dropped || (level < 15_000.0 && !rests && p_drop > 0.0));
        }
    }
}

/// A green load of 5 Mbit/s keeps the level below T_L: with P_drop = 1 every green packet there is dropped, before any
/// is demoted.
#[test]
fn the_dropper_acts_before_the_demotion() {
    let mut marker = redp(&[("p-drop", Tree::Float(1.0))]);
    let load = coloured(Colour::Green, merged(&green(4, 5.0 * MBIT, Spacing::Strict), 5.0, 1));
    for offered in &load {
        let level = gauge(&marker, offered.at, "bucket_bytes");
        assert_eq!(pass(&mut marker, offered, &mut rng(1)).size == 0, level < 15_000.0);
    }
    assert_eq!(tally(&marker, "demoted") + tally(&marker, "demoted_without_token"), 0);
    assert!(tally(&marker, "dropped_early") > 0);
}

/// Steady state: G of green against R demotes 1 - R/G, and TK settles at T_L (1 - (1 - R/G)/MAX_demo): 2.5 packets at
/// G = 1.2, R = 0.7, and 15 (1 - .3/.5) = 6 at G = 1. With Poisson arrivals TK moves as a walk with a pull of
/// G MAX/T_L = 150 x 0.5/15 = 5 a second, so a sample's standard deviation is sqrt(noise/(2 x 5)): the noise of the green
/// that leaves is at most 150 packets^2/s, sd <= 3.9; 200 s hold 500 memories of 0.4 s: the mean's sd is at most 0.18.
/// 5 sd, and half a packet because the level cannot fall below 0, where green is demoted in any case.
#[test]
fn the_level_settles_where_the_law_says() {
    for (g, packets) in [(1.2, 2.5), (1.0, 6.0)] {
        let mut marker = redp(&[]);
        let load = coloured(Colour::Green, merged(&green(4, g * MBIT, Spacing::Poisson), 220.0, 3));
        let (mut draws, mut levels, mut stays) = (rng(3), Vec::new(), 0.0);
        for offered in &load {
            let level = gauge(&marker, offered.at, "bucket_bytes") / 1000.0;
            let out = pass(&mut marker, offered, &mut draws);
            if offered.at >= Time::from_ns(20_000_000_000) {
                levels.push(level);
                stays += f64::from(u8::from(out.colour == Colour::Green));
            }
        }
        let found = mean(&levels);
        assert!((found - packets).abs() < 5.0 * 0.18 + 0.5, "G = {g}: {found} for {packets}");
        // What leaves green is R but for the level's change, at most 60 packets in 200 s.
        assert!((stays / 200.0 - 87.5).abs() <= 60.0 / 200.0, "{}", stays / 200.0);
    }
}

/// Invariant 6: green below R stays green, and of yellow min(R - g, MAX_promo y) is promoted; within 2 %, and the first
/// 60 packets of the full bucket.
#[test]
fn promotion_uses_what_green_leaves() {
    for (g, y, promoted) in [(0.4, 2.0, 0.3), (0.4, 0.2, 0.1), (0.6, 1.0, 0.1)] {
        let mut sources = coloured(Colour::Green, merged(&green(1, g * MBIT, Spacing::Jittered), 220.0, 5));
        sources.extend(coloured(Colour::Yellow, merged(&[Source::new(9, y * MBIT, Spacing::Jittered)], 220.0, 6)));
        sources.sort_by_key(|o| o.at);
        let (mut marker, mut draws, mut count) = (redp(&[]), rng(7), 0.0);
        for offered in &sources {
            let out = pass(&mut marker, offered, &mut draws);
            assert!(offered.packet.colour != Colour::Green || out.colour == Colour::Green, "{g} {y}");
            let late = offered.at >= Time::from_ns(20_000_000_000);
            count += f64::from(u8::from(late && offered.packet.colour != out.colour));
        }
        let rate = count * 8000.0 / 200.0 / MBIT;
        // 60 packets of the bucket in 200 s are .0024 Mbit/s; the draws of MAX_promo: 3 sqrt(n/4) packets of n.
        let draws = if promoted == 0.5 * y {
            3.0 * (y * MBIT / 8000.0 * 200.0 / 4.0).sqrt() * 8000.0 / 200.0 / MBIT
        } else {
            0.0
        };
        assert!((rate - promoted).abs() <= 0.02 * promoted + 0.0024 + draws, "{g} {y}: {rate} for {promoted}");
    }
}

/// Invariant 7: four jittered sources of equal rate, G = 1.2 against R = 0.7: each has 1 - R/G = .4167 of its packets
/// demoted, within 3 sigma of 9000 draws each and the 60 tokens at the start.
#[test]
fn demotion_is_fair_to_jittered_sources() {
    for seed in 1..6 {
        let load = coloured(Colour::Green, merged(&green(4, 1.2 * MBIT, Spacing::Jittered), 240.0, seed));
        let (mut marker, mut draws, mut yellow) = (redp(&[]), rng(seed), [0.0; 4]);
        let mut all = [0.0; 4];
        for offered in &load {
            let out = pass(&mut marker, offered, &mut draws);
            all[out.flow.0 as usize] += 1.0;
            yellow[out.flow.0 as usize] += f64::from(u8::from(out.colour == Colour::Yellow));
        }
        for (n, y) in all.into_iter().zip(yellow) {
            let share: f64 = 1.0 - 0.7 / 1.2;
            let sigma = (share * (1.0 - share) / n).sqrt();
            assert!((y / n - share).abs() <= 3.0 * sigma + 60.0 / (4.0 * n), "seed {seed}: {}", y / n);
        }
    }
}

/// Section 1.5: T_L = 0 and T_H = b are the leaky bucket: green without a token is yellow, nothing is random.
#[test]
fn without_thresholds_it_is_a_leaky_bucket() {
    let load = coloured(Colour::Green, merged(&green(4, 1.2 * MBIT, Spacing::Poisson), 60.0, 2));
    let bucket = [("cir", quantity("0.7Mbit/s")), ("cbs", quantity("60000B"))];
    let mut bucket = conditioner("token-bucket", &bucket).build(&scope()).unwrap();
    let mut leaky = redp(&[("low-th", quantity("0B")), ("high-th", quantity("100%"))]);
    for offered in &load {
        let [a, b] = [&mut leaky, &mut bucket].map(|it| pass(it, offered, &mut rng(1)).colour == Colour::Green);
        assert_eq!(a, b);
    }
    let yellow =
        Offered { at: Time::from_ns(500_000_000_000), packet: Packet { colour: Colour::Yellow, ..load[0].packet } };
    for _ in 0..100 {
        assert_eq!(pass(&mut leaky, &yellow, &mut rng(1)).colour, Colour::Yellow, "full bucket");
    }
}

/// Section 1.4: one yellow packet, then green at an empty bucket: which reading drops when (P_drop = 1).
#[test]
fn each_yellow_meter_as_it_says() {
    let drops = |meter: &str, at_ms: u64| {
        let more =
            [("p-drop", Tree::Float(1.0)), ("yellow-meter", Tree::Text(meter.into())), ("cir", quantity("8bit/s"))];
        let entries = [&more[..], &[("cbs", quantity("60000B"))]].concat();
        let mut marker = conditioner("redp", &entries).build(&scope()).unwrap();
        let offer = |ms: u64, colour| {
            let packet = Packet { size: 1000, colour, ..Packet::default() };
            Offered { at: Time::from_ns(ms * 1_000_000), packet }
        };
        for _ in 0..46 {
            pass(&mut marker, &offer(0, Colour::Green), &mut rng(1));
        }
        pass(&mut marker, &offer(0, Colour::Yellow), &mut rng(1));
        pass(&mut marker, &offer(at_ms, Colour::Green), &mut rng(1)).size == 0
    };
    assert!(!drops("window", 999) && drops("window", 1000));
    // 1000 B in a window of 1 s: 1000 B/s at once, 1000/(1 + t) later: 125 B/s after 7 s.
    assert!(!drops("rate", 6999) && drops("rate", 7001));
    assert!(!drops("ever", 1_000_000));
    assert!(drops("none", 0));
    assert!(!drops("always", 1_000_000));
}

/// A yellow packet of 1000 B is 1000 B/s in a window of 1 s, and 100 B/s, less than 1 kbit/s, in one of 10 s: retuned to that,
/// the dropper acts at once.
#[test]
fn a_retune_gives_the_meter_its_window() {
    let params = |window: &str| {
        let meter = [("yellow-meter", Tree::Text("rate".into())), ("yellow-window", quantity(window))];
        let bucket = [("cir", quantity("8bit/s")), ("cbs", quantity("60000B")), ("p-drop", Tree::Float(1.0))];
        conditioner("redp", &[&bucket[..], &meter].concat())
    };
    let offer = |colour| Offered { at: Time::ZERO, packet: Packet { size: 1000, colour, ..Packet::default() } };
    for (window, drops) in [("1s", false), ("10s", true)] {
        let mut marker = params("1s").build(&scope()).unwrap();
        marker.retune(Time::ZERO, &params(window), &scope()).unwrap();
        for _ in 0..46 {
            pass(&mut marker, &offer(Colour::Green), &mut rng(1));
        }
        pass(&mut marker, &offer(Colour::Yellow), &mut rng(1));
        assert_eq!(pass(&mut marker, &offer(Colour::Green), &mut rng(1)).size == 0, drops, "{window}");
    }
}

/// Invariant 8: the same seed gives the same packets, and a time without tokens taken may come in one piece or in many:
/// red packets in between, which take nothing and draw nothing, change no other packet's fate.
#[test]
fn idle_time_in_pieces_is_idle_time() {
    let mut load = coloured(Colour::Green, merged(&green(4, 1.2 * MBIT, Spacing::Poisson), 60.0, 8));
    load.iter_mut().step_by(5).for_each(|o| o.packet.colour = Colour::Yellow);
    let red = coloured(Colour::Red, merged(&[Source::new(9, 3.0 * MBIT, Spacing::Poisson)], 60.0, 9));
    let mut both = [load.clone(), red].concat();
    both.sort_by_key(|o| o.at);
    let fates = |load: &[Offered]| {
        let (mut marker, mut draws) = (redp(&[("p-drop", Tree::Float(0.02))]), rng(8));
        let out = load.iter().map(|o| pass(&mut marker, o, &mut draws)).collect::<Vec<_>>();
        out.into_iter().filter(|p| p.flow.0 != 9).map(|p| (p.flow, p.colour, p.size)).collect::<Vec<_>>()
    };
    assert_eq!(fates(&load), fates(&load));
    assert_eq!(fates(&load), fates(&both));
}
