//! PPS's tags: where values go, what is counted, what rounding does to the mean.

use crate::common::generate::{conditioner, quantity};
use perhop_core::conditioner::pps::first_tag::FirstTag;
use perhop_core::conditioner::pps::tags::{LeastTag, Rounding, Scale, Tagging, Tags};
use perhop_core::conditioner::{Conditioner, Passage};
use perhop_core::math::{ln, pow};
use perhop_core::packet::{FlowId, Packet};
use perhop_core::params::Tree;
use perhop_core::port::Turn;
use perhop_core::units::Time;
use perhop_core::{Rng, Scope};
use proptest::prelude::*;

const BITS: std::ops::RangeInclusive<u32> = 4..=17;
const ROUNDINGS: [Rounding; 3] = [Rounding::Nearest, Rounding::Floor, Rounding::Stochastic];
const SCALES: [Scale; 2] = [Scale::Linear, Scale::Log];

fn tagging(bits: u32, tags: Scale, rounding: Rounding) -> Tagging {
    Tags { bits, tags, rounding, least_tag: LeastTag::One }.tagging().unwrap()
}

fn any_tags() -> impl Strategy<Value = Tags> {
    let (tags, rounding) = (prop::sample::select(SCALES.to_vec()), prop::sample::select(ROUNDINGS.to_vec()));
    (BITS, tags, rounding).prop_map(|(bits, tags, rounding)| Tags { bits, tags, rounding, least_tag: LeastTag::One })
}

/// The value of code c, by the table of the specification.
fn value(tags: &Tags, code: u32) -> f64 {
    match tags.tags {
        Scale::Log => pow(1e6, f64::from(code - 1) / (pow(2.0, f64::from(tags.bits)) - 2.0)),
        _ => f64::from(code),
    }
}

fn last(bits: u32) -> u32 {
    (1 << bits) - 1
}

fn tallies(it: &Tagging) -> [u64; 3] {
    let mut all = Vec::new();
    it.tallies(&mut |_, n| all.push(n));
    all.try_into().unwrap()
}

proptest! {
    /// Between two codes a value goes to one of them: the one that the rounding names.
    #[test]
    fn a_tag_is_one_of_the_two_codes_around(rules in any_tags(), place in 0.0..1.0f64, share in 0.0..1.0f64, seed: u64) {
        let code = 1 + (place * f64::from(last(rules.bits) - 1)) as u32;
        let (low, high) = (value(&rules, code), value(&rules, code + 1));
        let v = low + (high - low) * share;
        let tag = rules.tagging().unwrap().tag(v, &mut Rng::stream(seed, 0, "tag"));
        // Half up where the scale is linear; in the middle of the logarithms where it is logarithmic.
        let middle = if rules.tags == Scale::Log { pow(low * high, 0.5) } else { 0.5 * (low + high) };
        let wanted = match rules.rounding {
            // As a label it is the upper code itself.
            Rounding::Floor if v as f32 == high as f32 => [high, high],
            Rounding::Floor => [low, low],
            Rounding::Nearest if (v / middle - 1.0).abs() < 1e-12 => [low, high],
            Rounding::Nearest => [if v < middle { low } else { high }; 2],
            Rounding::Stochastic => [low, high],
        };
        prop_assert!(wanted.map(|w| w as f32).contains(&tag), "{} to {} of {:?}", v, tag, wanted);
    }

    /// A code's value goes to that code, whatever the rounding: an exchange at a rate of 1 changes no tag.
    #[test]
    fn codes_stay(rules in any_tags(), place in 0.0..=1.0f64, seed: u64) {
        let code = 1 + (place * f64::from(last(rules.bits) - 1)) as u32;
        let sent = value(&rules, code) as f32;
        let mut it = rules.tagging().unwrap();
        let mut rng = Rng::stream(seed, 0, "tag");
        for hop in 0..8 {
            prop_assert_eq!(it.tag(f64::from(sent), &mut rng), sent, "code {}, hop {}", code, hop);
        }
        prop_assert_eq!(tallies(&it), [8, 0, 0]);
    }

    /// Numbers, not codes: any positive one unchanged, in 24 bits.
    #[test]
    fn real_tags_are_the_number(exponent in -8.0..9.0f64, bits in BITS) {
        let v = pow(10.0, exponent);
        let mut it = tagging(bits, Scale::Real, Rounding::Floor);
        prop_assert_eq!(it.tag(v, &mut Rng::stream(0, 0, "unused")), v as f32);
        prop_assert_eq!(tallies(&it), [1, 0, 0]);
    }
}

/// Mean of n tags of one value between codes d apart: each is one of two, so its standard deviation is at most d/2, that
/// of the mean d/(2 sqrt n). 5 of them: 6e-7 for each of 224 values, 1.3e-4 for all. Rounding to the nearest is off by
/// up to 20 times as much, and a share taken on the logarithm by up to 5 times (4 bits).
#[test]
fn stochastic_rounding_keeps_the_mean() {
    let n = 10_000;
    let mut rng = Rng::stream(5, 0, "tags");
    for (bits, scale) in BITS.flat_map(|bits| SCALES.map(|scale| (bits, scale))) {
        for i in 0..8 {
            let mut it = tagging(bits, scale, Rounding::Stochastic);
            let code = 1 + (f64::from(last(bits) - 1) * rng.uniform()) as u32;
            let (low, high) = (value(it.rules(), code), value(it.rules(), code + 1));
            let v = low + (high - low) * (f64::from(i) + rng.uniform()) / 8.0;
            let mean = (0..n).map(|_| f64::from(it.tag(v, &mut rng))).sum::<f64>() / f64::from(n);
            let bound = 5.0 * (high - low) / (2.0 * f64::from(n).sqrt());
            assert!((mean - v).abs() <= bound, "{bits} bits, {scale:?}: {mean}, wanted {v} +- {bound}");
        }
    }
}

/// Linear tags of values k/8: how many wanted more than the last code, how many less than the first, in whole numbers.
#[test]
fn saturation_is_counted_exactly() {
    for bits in BITS {
        let top = u64::from(last(bits));
        // k/8 up to two codes beyond the last.
        let count = |rounding| {
            let mut it = tagging(bits, Scale::Linear, rounding);
            let mut rng = Rng::stream(0, 0, "unused");
            let tags: Vec<f32> = (0..8 * (top + 2)).map(|k| it.tag(k as f64 / 8.0, &mut rng)).collect();
            assert!(tags.iter().all(|t| (1.0..=top as f32).contains(t) && t.fract() == 0.0));
            tallies(&it)
        };
        let all = 8 * (top + 2);
        assert_eq!(count(Rounding::Floor), [all, 8, 8], "from top + 1 on; below 1");
        assert_eq!(count(Rounding::Nearest), [all, 12, 4], "from top + 1/2 on; below 1/2");
        let [_, saturated, raised] = count(Rounding::Stochastic);
        assert!((8..=15).contains(&saturated) && (1..=8).contains(&raised), "{saturated} {raised}");
    }
}

/// The same at the ends of logarithmic tags, half a step and two steps beyond them.
#[test]
fn saturation_of_logarithmic_tags() {
    for bits in BITS {
        let step = ln(1e6) / f64::from(last(bits) - 1);
        let count = |rounding, tickets| {
            let mut it = tagging(bits, Scale::Log, rounding);
            it.tag(tickets, &mut Rng::stream(0, 0, "unused"));
            tallies(&it)
        };
        let beyond = |steps: f64| 1e6 * perhop_core::math::exp(steps * step);
        let below = |steps: f64| perhop_core::math::exp(-steps * step);
        for (rounding, steps, saturates) in [
            (Rounding::Nearest, 0.4, 0),
            (Rounding::Nearest, 0.6, 1),
            (Rounding::Floor, 0.9, 0),
            (Rounding::Floor, 1.1, 1),
            (Rounding::Stochastic, 1.1, 1),
        ] {
            assert_eq!(count(rounding, beyond(steps)), [1, saturates, 0], "{bits} {rounding:?} {steps}");
        }
        for (rounding, steps, raised) in [
            (Rounding::Nearest, 0.4, 0),
            (Rounding::Nearest, 0.6, 1),
            (Rounding::Floor, 0.1, 1),
            (Rounding::Stochastic, 1.1, 1),
        ] {
            assert_eq!(count(rounding, below(steps)), [1, 0, raised], "{bits} {rounding:?} {steps}");
        }
    }
}

/// The first packet of a source: 131071 tickets with 17 bits, and with `first-tag` 8 what 8 bits hold; linear tags hold no more than
/// their own bits.
#[test]
fn a_first_tag_is_the_most_or_as_stated() {
    let tags = |bits, tags| Tags { bits, tags, rounding: Rounding::Nearest, least_tag: LeastTag::One };
    let first = |first: FirstTag, tags: &Tags| first.tickets(tags).map_err(|e| (e.field, e.message));
    for (bits, most) in [(8, 255.0), (17, 131_071.0)] {
        assert_eq!(first(FirstTag::Most, &tags(bits, Scale::Linear)), Ok(most));
        assert_eq!(first(FirstTag::Bits(8), &tags(bits, Scale::Linear)), Ok(255.0));
    }
    assert_eq!(first(FirstTag::Most, &tags(8, Scale::Log)), Ok(1e6));
    assert_eq!(first(FirstTag::Bits(17), &tags(8, Scale::Log)), Ok(131_071.0));
    assert_eq!(first(FirstTag::Bits(17), &tags(8, Scale::Real)), Ok(131_071.0));
    let refused = |bits: u32| Err(("first-tag", format!("`first-tag` is {bits} bits")));
    assert_eq!(first(FirstTag::Bits(9), &tags(8, Scale::Linear)), refused(9));
    assert_eq!(first(FirstTag::Bits(3), &tags(8, Scale::Real)), refused(3));
    assert_eq!(first(FirstTag::Bits(18), &tags(17, Scale::Log)), refused(18));
}

/// It is on the packets: of a source that has heard of no ACK, and policed as any other.
#[test]
fn the_first_packet_carries_it() {
    let tag = |first: &[(&'static str, Tree)]| {
        let mut entries = vec![("tickets", quantity("1000t/s")), ("bits", Tree::Integer(17))];
        entries.extend_from_slice(first);
        let mut it = conditioner("pps-tagger", &entries).build(&Scope::default()).unwrap();
        let mut packet = Packet { size: 1000, payload: 960, ..Packet::default() };
        let (at, mut rng) = (Passage::of(Time::ZERO, FlowId(0)), Rng::stream(1, 0, "tag"));
        let _ = it.forward(Turn::testing(&at), &mut packet, &mut rng);
        packet.label()
    };
    assert_eq!(tag(&[]), Some(131_071.0));
    assert_eq!(tag(&[("first-tag", quantity("most"))]), Some(131_071.0));
    assert_eq!(tag(&[("first-tag", Tree::Integer(8))]), Some(255.0));
}
