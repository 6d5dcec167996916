//! Formulas: built-in conditioners written as formulas are those conditioners; how near floats come.

use super::scope;
use crate::common::generate::{conditioner, quantity, read_conditioner};
use crate::common::load::{Offered, Source, Spacing, arrivals, merged, run};
use perhop_core::Rng;
use perhop_core::conditioner::{Conditioner as _, ConditionerParams, Writes};
use perhop_core::fault;
use perhop_core::packet::{Colour, Packet};
use perhop_core::params::Tree;
use proptest::prelude::*;

/// The colours that a load gets.
fn colours(params: &ConditionerParams, load: &[Offered]) -> Vec<Colour> {
    marked(params, load).iter().map(|packet| packet.colour).collect()
}

fn marked(params: &ConditionerParams, load: &[Offered]) -> Vec<Packet> {
    let mut built = params.build(&scope()).unwrap();
    let out = run(&mut built, load, &mut Rng::stream(4, 0, "marker"));
    assert_eq!(fault::take(), None);
    out
}

fn table(entries: &[(&'static str, &str)]) -> Tree {
    Tree::table(entries.iter().map(|(key, value)| (*key, quantity(value))).collect())
}

/// A bucket c for green packets.
fn one_bucket(cir: &str, cbs: &str) -> ConditionerParams {
    let c = table(&[("rate", cir), ("burst", cbs), ("pays", "green")]);
    conditioner("formula", &[("sets", quantity("if(c >= size, green, red)")), ("buckets", Tree::table(vec![("c", c)]))])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Packet for packet: buckets of formulas are those of meters.
    #[test]
    fn a_token_bucket_as_a_formula_is_one(load in arrivals(400), kbps in 10u32..100_000, depth in 1500u32..100_000) {
        let (cir, cbs) = (format!("{kbps}kbit/s"), format!("{depth}B"));
        let built_in = conditioner("token-bucket", &[("cir", quantity(&cir)), ("cbs", quantity(&cbs))]);
        prop_assert_eq!(colours(&one_bucket(&cir, &cbs), &load), colours(&built_in, &load));
    }

    /// RFC 2697, colour-blind and colour-aware.
    #[test]
    fn srtcm_as_a_formula_is_srtcm(
        load in arrivals(400), kbps in 10u32..100_000, depths in [1500u32..50_000, 1500u32..50_000], aware: bool,
    ) {
        let (cir, [cbs, ebs]) = (format!("{kbps}kbit/s"), depths.map(|depth| format!("{depth}B")));
        let built_in = conditioner("srtcm", &[
            ("cir", quantity(&cir)), ("cbs", quantity(&cbs)), ("ebs", quantity(&ebs)), ("colour-aware", Tree::Bool(aware)),
        ]);
        let sets = if aware {
            "if(colour != yellow and colour != red and c >= size, green, colour != red and e >= size, yellow, red)"
        } else {
            "if(c >= size, green, e >= size, yellow, red)"
        };
        let c = table(&[("rate", &cir), ("burst", &cbs), ("pays", "green")]);
        let e = table(&[("burst", &ebs), ("from", "c"), ("pays", "yellow")]);
        let own = conditioner("formula", &[("sets", quantity(sets)), ("buckets", Tree::table(vec![("c", c), ("e", e)]))]);
        prop_assert_eq!(colours(&own, &load), colours(&built_in, &load));
    }

    /// Draw for draw.
    #[test]
    fn tsw2cm_as_a_formula_is_tsw2cm(load in arrivals(400), kbps in 10u32..100_000, window in 1u32..2000) {
        let (cir, window) = (format!("{kbps}kbit/s"), format!("{window}ms"));
        let built_in = conditioner("tsw2cm", &[("cir", quantity(&cir)), ("window", quantity(&window))]);
        let sets = format!("if(avg > {cir} and chance(1 - {cir} / avg), red, green)");
        let avg = table(&[("window", &window), ("start", &cir)]);
        let own = conditioner("formula", &[("sets", quantity(&sets)), ("rates", Tree::table(vec![("avg", avg)]))]);
        prop_assert_eq!(colours(&own, &load), colours(&built_in, &load));
    }
}

/// A bucket whose tokens are a number of `state`, in bytes and seconds, beside bits x ns: of two million random packets at twice
/// the rate at most two differ.
#[test]
fn a_bucket_in_floats_differs_in_at_most_one_packet_in_a_million() {
    let sources = [
        Source { size: 1000, ..Source::new(0, 4e6, Spacing::Poisson) },
        Source { size: 337, ..Source::new(1, 4e6, Spacing::Poisson) },
    ];
    let load = merged(&sources, 1020.0, 7);
    assert!(load.len() >= 2_000_000, "{}", load.len());
    let rules = |start: &str, rule: &str| table(&[("start", start), ("arrival", rule)]);
    let state = Tree::table(vec![
        ("tokens", rules("10kB", "min(10kB, tokens - paid + gap * 4Mbit/s)")),
        ("paid", rules("0B", "if(tokens >= size, size, 0B)")),
    ]);
    let own = conditioner("formula", &[("sets", quantity("if(paid > 0B, green, red)")), ("state", state)]);
    let (own, want) = (
        marked(&own, &load),
        marked(&conditioner("token-bucket", &[("cir", quantity("4Mbit/s")), ("cbs", quantity("10kB"))]), &load),
    );
    let differ = own.iter().zip(&want).filter(|(a, b)| a != b).count();
    let green = want.iter().filter(|packet| packet.colour == Colour::Green).count();
    assert!(green > want.len() / 3 && green < want.len() * 2 / 3, "{green}");
    assert!(differ * 1_000_000 <= load.len(), "{differ} of {}", load.len());
}

/// A rate is the label; as a labeller with the same constant, once the first packet is over.
#[test]
fn a_rate_is_the_label() {
    let load = merged(&[Source::new(0, 2e6, Spacing::Poisson)], 2.0, 3);
    let k = table(&[("k", "100ms")]);
    let own = conditioner("formula", &[("sets", quantity("r")), ("rates", Tree::table(vec![("r", k)]))]);
    assert_eq!(own.build(&scope()).unwrap().writes(), Writes::Rate);
    let built_in = conditioner("rate-labeller", &[("k", quantity("100ms"))]);
    let labels = |params| marked(params, &load).iter().map(|packet| packet.label()).collect::<Vec<_>>();
    assert_eq!(labels(&own), labels(&built_in));
}

#[test]
fn what_is_wrong_is_refused() {
    let code = |entries: &[(&'static str, Tree)]| match read_conditioner("formula", &Tree::table(entries.to_vec())) {
        Ok(params) => params.build(&scope()).err().map(|error| error.code),
        Err(problems) => Some(problems.list[0].code),
    };
    let sets = |text: &str| ("sets", quantity(text));
    let bucket = |entries: &[(&'static str, &str)]| ("buckets", Tree::table(vec![("c", table(entries))]));
    let rate = |entries: &[(&'static str, &str)]| ("rates", Tree::table(vec![("r", table(entries))]));
    assert_eq!(code(&[sets("if(size > 1kB, red, green)")]), None);
    assert_eq!(code(&[sets("size")]), Some("E341"));
    assert_eq!(code(&[sets("if(chance(size), red, green)")]), Some("E341"));
    assert_eq!(code(&[sets("if(sojourn > 1s, red, green)")]), Some("E006"));
    assert_eq!(code(&[sets("green"), bucket(&[("burst", "1000B"), ("pays", "green")])]), Some("E212"));
    assert_eq!(code(&[sets("green"), bucket(&[("burst", "2000B"), ("from", "d")])]), Some("E006"));
    assert_eq!(code(&[sets("green"), rate(&[])]), Some("E005"));
    assert_eq!(code(&[sets("green"), rate(&[("k", "1s"), ("window", "1s")])]), Some("E239"));
    assert_eq!(code(&[sets("green"), rate(&[("k", "0s")])]), Some("E201"));
}

/// A packet that pays what is not there, and a chance that is none, end the run.
#[test]
fn what_has_no_value_stops_it() {
    let load = merged(&[Source::new(0, 2e6, Spacing::Strict)], 1.0, 3);
    let why = |params: ConditionerParams| {
        let mut built = params.build(&scope()).unwrap();
        run(&mut built, &load, &mut Rng::stream(4, 0, "marker"));
        fault::take().expect("it stops").to_string()
    };
    let c = table(&[("rate", "1Mbit/s"), ("burst", "2000B"), ("pays", "green")]);
    let broke = why(conditioner("formula", &[("sets", quantity("green")), ("buckets", Tree::table(vec![("c", c)]))]));
    assert!(broke.contains("a green packet of 1000 B pays from `c`, which has less"), "{broke}");
    let avg = table(&[("window", "1s")]);
    let sets = quantity("if(chance(avg / 1Mbit/s), red, green)");
    let chance = why(conditioner("formula", &[("sets", sets), ("rates", Tree::table(vec![("avg", avg)]))]));
    assert!(chance.contains("`chance(avg / 1Mbit/s)` of 1."), "{chance}");
    let rule = |start, rule| table(&[("start", start), ("arrival", rule)]);
    let state = Tree::table(vec![("x", rule("2", "x^8")), ("y", rule("1", "1 / if(x > 1e300, 0, 1)"))]);
    let first = why(conditioner("formula", &[("sets", quantity("green")), ("state", state)]));
    assert!(first.contains("`x^8` is inf"), "what is wrong first is told: {first}");
    let sets = quantity("max(0bit/s, size / 1e-300s * exp(size / 100B))");
    let infinite = why(conditioner("formula", &[("sets", sets)]));
    assert!(infinite.contains("the label is 2"), "beyond a label's 32 bits: {infinite}");
    let sets = quantity("if(size / 0.5B * 1e306 > 1, red, green)");
    let infinite = why(conditioner("formula", &[("sets", sets)]));
    assert!(infinite.contains("`size / 0.5B * 1e306` is inf"), "{infinite}");
}
