//! PPS's taggers and relabellers: what is issued is what is passed on, shares survive an exchange, units cancel.

use super::scope;
use crate::common::dialogue::{Event, Host, Step, call, dialogues};
use crate::common::generate::{any_conditioner, conditioner, quantity};
use crate::common::load::{Offered, SPACINGS, Source, Spacing, merged};
use perhop_core::Rng;
use perhop_core::conditioner::{AnyConditioner, ConditionerParams, LIST};
use perhop_core::estimate::EventRate;
use perhop_core::packet::{Packet, flags};
use perhop_core::params::Tree;
use perhop_core::units::{Span, Time};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

fn built(name: &str, tickets: u64, more: &[(&'static str, Tree)]) -> AnyConditioner {
    let mut entries = vec![("tickets", quantity(&format!("{tickets}t/s")))];
    entries.extend_from_slice(more);
    conditioner(name, &entries).build(&scope()).unwrap()
}

/// Sends a load through to the link, packet by packet; the tickets on each as it leaves.
fn relabelled(it: AnyConditioner, load: &[Offered], rng: &mut Rng) -> Vec<f64> {
    let mut host = Host::new(it);
    let mut tickets = |offered: &Offered| {
        for event in [Event::Forward, Event::Departs] {
            let step = Step { event, offered: *offered };
            let packet = host.step(&step, |it, now, packet| call(it, event, (now, packet), rng));
            if event == Event::Departs {
                return f64::from(packet.unwrap().label().unwrap());
            }
        }
        unreachable!()
    };
    load.iter().map(&mut tickets).collect()
}

/// Sources of the rates (packets/s) and tickets (t/s) given, 100 s of them.
fn tagged(sources: &[(f64, f64)], spacing: Spacing, seed: u64) -> Vec<Offered> {
    let source = |(i, (rate, _)): (usize, &(f64, f64))| Source::new(i as u32, rate * 8000.0, spacing);
    let mut load = merged(&sources.iter().enumerate().map(source).collect::<Vec<_>>(), 100.0, seed);
    for offered in &mut load {
        let (rate, tickets) = sources[offered.packet.flow.0 as usize];
        offered.packet.set_label((tickets / rate) as f32);
    }
    load
}

/// Tickets/s from 40 s (8 windows: all starts are over) to 100 s, of all flows or one.
fn rate_of(load: &[Offered], tickets: &[f64], flow: Option<u32>) -> f64 {
    let counted = |(o, _): &(&Offered, &f64)| o.at.ns() >= 40_000_000_000 && flow.is_none_or(|f| o.packet.flow.0 == f);
    load.iter().zip(tickets).filter(counted).map(|(_, t)| t).sum::<f64>() / 60.0
}

/// Packets/s and tickets/s, 1800 in all.
const SOURCES: [(f64, f64); 3] = [(40.0, 600.0), (60.0, 300.0), (80.0, 900.0)];
const TAGS: [(&str, &str, f64); 3] =
    [("real", "nearest", 0.03), ("linear", "nearest", 0.05), ("linear", "stochastic", 0.05)];

/// Invariants 1 and 2: a relabeller passes on what was issued to its link, within the specification's 3 % (5 % with codes),
/// and a flow's share of it is its share of what came in. All tags of a flow are equal here, so nearest codes are off by up
/// to half a ticket besides. 3 flows, 180 packets/s and more: in 60 s counts are known to 1 %.
#[test]
fn tickets_and_shares_are_kept() {
    for (codes, spacing) in TAGS.into_iter().flat_map(|t| SPACINGS.map(|s| (t, s))) {
        for issued in [1200u64, 5000, 20_000] {
            let (tags, rounding, tolerance) = codes;
            let load = tagged(&SOURCES, spacing, issued);
            let it = built("pps-relabeller", issued, &[("tags", quantity(tags)), ("rounding", quantity(rounding))]);
            let tickets = relabelled(it, &load, &mut Rng::stream(2, 0, "relabeller"));
            let all = rate_of(&load, &tickets, None);
            let near = |got: f64, want: f64, allowed: f64| {
                let off = (got / want - 1.0).abs();
                assert!(off < allowed, "{codes:?} {spacing:?} {issued}: {got}, wanted {want} within {allowed}");
            };
            near(all, issued as f64, tolerance);
            let came: Vec<f64> = load.iter().map(|o| f64::from(o.packet.label)).collect();
            for (flow, (rate, own)) in SOURCES.into_iter().enumerate() {
                let of = |tickets: &[f64]| rate_of(&load, tickets, Some(flow as u32)) / rate_of(&load, tickets, None);
                let half = if (tags, rounding) == ("linear", "nearest") { 0.5 } else { 0.0 };
                near(of(&tickets), of(&came), tolerance + half / (own / 1800.0 * issued as f64 / rate));
            }
        }
    }
}

proptest! {
    /// Invariant 1: packets that leave with no arrival between them have one exchange rate, which keeps their ratios: to
    /// the 24 bits of a label.
    #[test]
    fn one_exchange_rate_keeps_ratios(labels in prop::collection::vec(1.0..255.0f32, 2..20), issued in 1u64..100_000) {
        let more = [("tags", quantity("real")), ("policing", quantity("off"))];
        let mut host = Host::new(built("pps-relabeller", issued, &more));
        let mut rng = Rng::stream(0, 0, "unused");
        let mut step = |event, ms: u64, label: f32| {
            let mut packet = Packet::default();
            packet.set_label(label);
            let offered = Offered { at: Time::from_ns(ms * 1_000_000), packet };
            host.step(&Step { event, offered }, |it, now, packet| call(it, event, (now, packet), &mut rng))
        };
        for (i, label) in labels.iter().enumerate() {
            step(Event::Forward, i as u64, *label);
        }
        let out: Vec<f32> = labels.iter().map(|_| step(Event::Departs, 30, 0.0).unwrap().label().unwrap()).collect();
        for (label, got) in labels.iter().zip(&out) {
            let (want, got) = (f64::from(label / labels[0]), f64::from(got / out[0]));
            prop_assert!((got / want - 1.0).abs() < 3.0 * f64::from(f32::EPSILON), "{} {}", got, want);
        }
    }

    /// Invariant 8 at one link: whatever the unit of the incoming tickets, what is passed on is the same; a unit that is a
    /// power of 2 is exact. Tickets are passed on in the unit in which they are issued. But for tags of 0, which become the least
    /// that a real tag holds.
    #[test]
    fn units_cancel(steps in dialogues(200), unit in -20i32..20, seed: u64, integral: bool) {
        let policing = quantity(if integral { "integral" } else { "ratio" });
        let more = [("tags", quantity("real")), ("policing", policing)];
        let unit = perhop_core::math::pow(2.0, f64::from(unit)) as f32;
        let steps: Vec<Step> = steps.into_iter().filter(|step| step.offered.packet.label != 0.0).collect();
        let out = |unit: f32, issued: u64| {
            let scaled = |step: &Step| {
                let mut step = *step;
                step.offered.packet.label *= unit;
                step
            };
            labels(built("pps-relabeller", issued, &more), &steps.iter().map(scaled).collect::<Vec<_>>(), seed)
        };
        let base = out(1.0, 1000);
        prop_assert_eq!(&base, &out(unit, 1000));
        prop_assert_eq!(base.iter().map(|b| b * 8.0).collect::<Vec<_>>(), out(unit, 8000));
    }

    /// Two rates of the same events: their ratio is a weighted mean of the ratios of the events, from the first one on.
    #[test]
    fn a_pair_of_rates_is_a_mean(
        events in prop::collection::vec((0u64..20_000_000_000, 1.0..255.0f64, 40.0..1500.0f64), 1..200), window in 1u64..20,
    ) {
        let (mut tickets, mut bytes) = (EventRate::new(Span::from_s(window)), EventRate::new(Span::from_s(window)));
        let (mut now, mut least, mut most) = (Time::ZERO, f64::INFINITY, 0.0f64);
        for (gap, g, size) in events {
            now += Span::from_ns(gap);
            tickets.update(now, g);
            bytes.update(now, size);
            (least, most) = (least.min(g / size), most.max(g / size));
            let mean = tickets.rate() / bytes.rate();
            // 1e-12 for the roundings of 200 sums.
            prop_assert!(mean >= least * (1.0 - 1e-12) && mean <= most * (1.0 + 1e-12), "{} {} {}", least, mean, most);
            prop_assert!((tickets.decayed(now + Span::from_s(3)) / bytes.decayed(now + Span::from_s(3)) / mean - 1.0).abs() < 1e-12);
        }
    }
}

/// A warm start is over one window after the first event: that event is TSW's. 2 of them every 100 ms, W = 1 s.
#[test]
fn a_warm_start_lasts_one_window() {
    let mut rate = EventRate::new(Span::from_s(1)).warmed(Some(Span::from_ms(50)));
    let mut after = |ms: u64| {
        rate.update(Time::from_ns(ms * 1_000_000), 2.0);
        rate.rate()
    };
    let warm: Vec<f64> = (0..10).map(|i| after(100 * i)).collect();
    assert_eq!([warm[0], warm[1]], [2.0 / 0.05, 4.0 / 0.1]);
    assert_eq!(warm[9], 20.0 / 0.9);
    assert_eq!(after(1000), (warm[9] * 1.0 + 2.0) / (0.1 + 1.0));
}

/// Positive finite labels of packets as they leave.
fn labels(it: AnyConditioner, steps: &[Step], seed: u64) -> Vec<f32> {
    let (mut host, mut rng) = (Host::new(it), Rng::stream(seed, 0, "relabeller"));
    let leaves = |step: &Step| {
        let packet = host.step(step, |it, now, packet| call(it, step.event, (now, packet), &mut rng))?;
        packet.label().filter(|g| step.event == Event::Departs && *g > 0.0 && g.is_finite())
    };
    steps.iter().filter_map(leaves).collect()
}

/// Invariant 9: whatever is declared and whatever happens, a tag is a code's value: in [1, 255] for 8 bits.
#[test]
fn tags_are_within_their_codes() {
    for entry in LIST.iter().filter(|e| e.name.starts_with("pps-")) {
        let mut runner = TestRunner::new(Config { cases: 128, ..Config::default() });
        let input = (any_conditioner(entry, scope()), dialogues(200), any::<u64>());
        let check = |(params, steps, seed): (ConditionerParams, Vec<Step>, u64)| {
            let mut shown = Vec::new();
            params.show(&mut shown);
            let text = |key: &str| shown.iter().find(|s| s.0 == key).map(|s| s.1.clone());
            let Some(Tree::Integer(bits)) = text("bits") else { panic!("no bits") };
            let top = match text("tags") {
                Some(Tree::Text(scale)) if scale == "linear" => ((1 << bits) - 1) as f32,
                Some(Tree::Text(scale)) if scale == "log" => 1e6,
                _ => return Ok(()),
            };
            let least = if text("least-tag") == Some(Tree::Text("zero".into())) { 0.0 } else { 1.0 };
            let (mut host, mut rng) = (Host::new(params.build(&scope()).unwrap()), Rng::stream(seed, 0, "tags"));
            for step in &steps {
                let before = step.offered.packet;
                let Some(after) = host.step(step, |it, now, p| call(it, step.event, (now, p), &mut rng)) else {
                    continue;
                };
                let fresh =
                    |new: Option<f32>, old: Option<f32>| new.filter(|n| old.is_none_or(|o| o.to_bits() != n.to_bits()));
                let written = [fresh(after.label(), before.label()), fresh(after.ack_label(), before.ack_label())];
                if step.event != Event::Departs {
                    prop_assert!(written.iter().flatten().all(|tag| (least..=top).contains(tag)), "{:?}", written);
                }
            }
            Ok(())
        };
        runner.run(&input, check).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
    }
}

/// A source of `sent` packets/s of which `acked`/s are acknowledged, one ACK for one or two segments, for 100 s; tickets/s
/// put on them from 40 s on.
fn source(it: AnyConditioner, (sent, acked): (f64, f64), delayed: bool) -> f64 {
    let (mut host, mut rng) = (Host::new(it), Rng::stream(3, 0, "source"));
    let (mut segments, mut acks, mut tickets) = (0u32, 0u32, 0.0);
    for ms in 0..100_000u32 {
        let (now, due) = (Time::from_ns(u64::from(ms) * 1_000_000), f64::from(ms) / 1000.0);
        let mut does = |event, packet| {
            let step = Step { event, offered: Offered { at: now, packet } };
            host.step(&step, |it, now, packet| call(it, event, (now, packet), &mut rng)).unwrap()
        };
        if due * sent >= f64::from(segments) {
            segments += 1;
            let seq_end = segments.wrapping_mul(1000).wrapping_sub(500_000);
            let packet = Packet { size: 1040, payload: 1000, seq_end, flags: flags::ACK, ..Packet::default() };
            let tag = does(Event::Forward, packet).label().unwrap();
            tickets += if ms >= 40_000 { f64::from(tag) } else { 0.0 };
        }
        if due * acked >= f64::from(acks) && acks + 2 < segments {
            acks += if delayed { 2 } else { 1 };
            let ack = acks.wrapping_mul(1000).wrapping_sub(500_000);
            does(Event::Reverse, Packet { size: 40, ack, flags: flags::ACK, ..Packet::default() });
        }
    }
    tickets / 60.0
}

/// What a source issues in 1 s: all acknowledged, its tickets, with delayed ACKs too; of 1.5 times as many packets as are
/// acknowledged, sqrt(1.5) times its tickets (0.3 %: the window's end). Numbers pass 2^32 within the first segments.
#[test]
fn a_source_issues_its_tickets() {
    for (sent, acked, delayed) in [(50.0, 50.0, false), (50.0, 50.0, true), (60.0, 40.0, false), (40.0, 20.0, true)] {
        let got = source(built("pps-tagger", 1000, &[("tags", quantity("real"))]), (sent, acked), delayed);
        let wanted = 1000.0 * perhop_core::math::pow(sent / acked, 0.5);
        assert!((got / wanted - 1.0).abs() < 0.01, "{sent}/{acked} {delayed}: {got}, wanted {wanted}");
    }
}

/// The rate that `rate` names: of what is sent, sent; duplicates count where they are asked for.
#[test]
fn the_rate_of_a_source_is_the_one_it_states() {
    let more = |rate| [("tags", quantity("real")), ("rate", quantity(rate))];
    let got = source(built("pps-tagger", 1000, &more("sent")), (60.0, 20.0), false);
    assert!((got / 1000.0 - 1.0).abs() < 0.01, "{got}");
}

/// A sink's ACKs carry its tickets, however many they are.
#[test]
fn a_sink_issues_its_tickets() {
    for (rate, spacing) in [20.0, 100.0, 400.0].into_iter().flat_map(|r| SPACINGS.map(|s| (r, s))) {
        let mut it = built("pps-ack-tagger", 1000, &[("tags", quantity("real"))]);
        let load = Source::new(0, rate * 8000.0, spacing).packets(100.0, 4);
        let mut rng = Rng::stream(4, 0, "unused");
        let mut tickets = |o: &Offered| {
            let mut packet = Packet { size: 40, flags: flags::ACK, ..Packet::default() };
            call(&mut it, Event::Forward, (o.at, &mut packet), &mut rng);
            f64::from(packet.ack_label().unwrap())
        };
        let tags: Vec<f64> = load.iter().map(&mut tickets).collect();
        let got = rate_of(&load, &tags, None);
        // Poisson at 20/s: 1200 ACKs in 60 s are known to 3 %, of which policing takes half; the others less.
        assert!((got / 1000.0 - 1.0).abs() < 0.06, "{rate} {spacing:?}: {got}");
    }
}
