//! `@tred.n=3`: the same as setting every section.

use perhop_scenario::{Diagnostic, Diagnostics, Options, Policy, Sweep};
use proptest::prelude::*;

/// Every place where an algorithm's section may be written.
const NET: &str = include_str!("../good/selectors.toml");

fn read(text: &str, options: &Options) -> Result<Sweep, Diagnostics> {
    Sweep::parse(text, options).map(|found| found.0)
}

fn net() -> Options {
    Options::new("net.toml")
}

/// NET, with overrides.
fn with(overrides: &[&str]) -> Sweep {
    let options = overrides.iter().fold(net(), |options, text| options.set(text));
    read(NET, &options).unwrap_or_else(|found| panic!("{overrides:?}:\n{found}"))
}

/// Selector, how the sections that it sets state that key in NET and no others do, and other values.
const PAIRS: [(&str, &str, [&str; 3]); 9] = [
    ("@red.max-p", "max-p = 0.07", ["0.02", "0.05", "0.3"]),
    ("@drop-tail.limit", "limit = \"77p\"", ["\"20p\"", "\"300p\"", "\"64kB\""]),
    ("@tred.n", "n = 3.0", ["1.0", "2.0", "6.0"]),
    ("@trtcm.cir", "cir = \"2.5Mbit/s\"", ["\"1Mbit/s\"", "\"2Mbit/s\"", "\"3Mbit/s\""]),
    ("@trtcm.per", "per = \"class\"", ["\"flow\"", "\"pair\"", "\"aggregate\""]),
    ("@cbr.flows", "flows = 3", ["1", "2", "7"]),
    ("@*.mean-packet", "mean-packet = \"1001B\"", ["\"500B\"", "\"1000B\"", "\"1500B\""]),
    ("@msvb.classes.alpha", "alpha = 0.3", ["0.2", "0.5", "1.0"]),
    ("@rio.out.min?", "no section of RIO", ["\"5p\"", "\"6p\"", "\"7p\""]),
];

/// What `text` states of a key, at another value.
fn by_hand(text: &str, (_, stated, values): (&str, &str, [&str; 3]), value: usize) -> String {
    let key = stated.split(" = ").next().unwrap();
    text.replace(stated, &format!("{key} = {}", values[value]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_selector_is_every_section_by_hand(first in 0..PAIRS.len(), second in 0..PAIRS.len(), value in 0usize..3) {
        let [one, two] = [first, second].map(|which| format!("{}={}", PAIRS[which].0, PAIRS[which].2[value]));
        let text = by_hand(&by_hand(NET, PAIRS[first], value), PAIRS[second], value);
        prop_assert!(with(&[&one, &two]) == read(&text, &net()).unwrap(), "{one} {two}");
        prop_assert!(first == second || with(&[&two, &one]) == with(&[&one, &two]));
    }

    #[test]
    fn the_last_override_counts(which in 0..PAIRS.len() - 1, values in (0usize..3, 0usize..3)) {
        let (selector, _, possible) = PAIRS[which];
        let [first, last] = [values.0, values.1].map(|i| format!("{selector}={}", possible[i]));
        prop_assert!(with(&[&first, &last]) == with(&[&last]), "{first} {last}");
    }
}

#[test]
fn every_value_by_hand_makes_a_difference() {
    for (selector, _, values) in &PAIRS[..PAIRS.len() - 1] {
        assert!(with(&[&format!("{selector}={}", values[0])]) != with(&[]), "{selector}");
    }
    assert!(with(&["@rio.out.min?=5p"]) == with(&[]));
}

#[test]
fn a_key_after_a_selector_is_its_exception() {
    let sweep = with(&["@red.max-p=0.3", "queue.edge.max-p=0.4"]);
    let text = sweep.base.effective();
    assert_eq!((text.matches("max-p = 0.3").count(), text.matches("max-p = 0.4").count()), (2, 1), "{text}");
    assert!(with(&["queue.edge.max-p=0.4", "@red.max-p=0.3"]) == with(&["@red.max-p=0.3"]));
}

#[test]
fn a_key_may_ask_for_its_section() {
    assert!(with(&["queue.edge.max-p?=0.4"]) == with(&["queue.edge.max-p=0.4"]));
    assert!(with(&["scenario.warmup?=3s"]) == with(&["scenario.warmup=3s"]));
    assert!(with(&["queue.none.max-p?=0.4", "tcp.host.window? = 64"]) == with(&[]));
    assert_eq!(first_error("queue.edge.max_p?=0.4").code, "E004");
    assert_eq!(first_error("queue.edge.max-p?=x").spot.unwrap().column, 19);
    assert_eq!(first_error("?=x").code, "E010");
}

#[test]
fn a_port_keeps_what_is_its_own() {
    let text = with(&["@trtcm.pir=6Mbit/s"]).base.effective();
    assert!(text.contains("pir = \"5Mbit/s\"") && text.contains("pir = \"6Mbit/s\""), "{text}");
}

#[test]
fn a_selector_is_swept() {
    let text = NET.split("[sweep]").next().unwrap();
    let labels = |options: &Options, text: &str| {
        let points = read(text, options).unwrap().points();
        points.iter().map(|p| (p.name.clone(), p.labels.clone(), p.scenario.effective())).collect::<Vec<_>>()
    };
    let varied = labels(&net().vary("@tred.n?=1,2"), text);
    assert_eq!(varied, labels(&net(), &format!("{text}[sweep]\n\"@tred.n?\" = [1, 2]")));
    let (name, label, effective) = &varied[1];
    assert_eq!((&**name, &label[0]), ("n_2", &("@tred.n".to_owned(), "2".to_owned())));
    let by_hand = read(text, &net().set("@tred.n=2")).unwrap().base.effective();
    assert_eq!(*effective, by_hand);
    let hash = |options: &Options| read(text, options).unwrap().points()[0].hash.clone();
    assert_eq!(hash(&net().vary("@tred.n=2")), hash(&net().set("queue.tickets.n=2")));
}

#[test]
fn after_the_axes_before_it() {
    let options = net().vary("@trtcm.pbs=70kB,90kB");
    let points = read(NET, &options).unwrap().points();
    let found = points.iter().map(|point| point.scenario.effective().matches("pbs = \"90000B\"").count());
    assert_eq!(found.collect::<Vec<_>>(), [0, 1, 0, 1, 0, 2, 0, 2], "gold alone, or the swept marker too");
}

#[test]
fn a_policy_has_sections_too() {
    let policy = include_str!("../good/mark-af-policy.toml");
    let set = |text: &str| Policy::parse(policy, &Options::new("p.toml").set(text)).map(|found| found.0);
    let kind = policy.split("kind = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(set(&format!("@{kind}.cir=123kbit/s")).unwrap() != set("@cbr.rate?=1Mbit/s").unwrap());
    assert_eq!(set("@tred.n=1").unwrap_err().list[0].code, "E012");
}

fn first_error(text: &str) -> Diagnostic {
    let Err(found) = read(NET, &net().set(text)) else { panic!("{text} is accepted") };
    found.list.into_iter().find(|one| one.code.starts_with('E')).expect("an error")
}

#[test]
fn what_is_wrong_is_said_at_the_selector() {
    let error = |text: &str| {
        let found = first_error(text);
        let spot = found.spot.expect("a place");
        (found.code, format!("{}: {}", found.message, found.help), (spot.name, spot.column, spot.width))
    };
    let is = |text: &str, code: &str, words: &[&str]| {
        let (found, said, (name, column, width)) = error(text);
        assert_eq!((found, &*name, column), (code, "-s", 1), "{text}: {said}");
        assert_eq!(width, text.split('=').next().unwrap().len(), "{text}");
        words.iter().for_each(|word| assert!(said.contains(word), "{text}: {said}"));
    };
    is("@trad.n=3", "E006", &["unknown algorithm `trad`", "did you mean `tred`?"]);
    is("@trad.n?=3", "E006", &["unknown algorithm `trad`"]);
    is("@red.max_p=0.1", "E004", &["unknown key `max_p` of `red`", "did you mean `max-p`?"]);
    is("@rio.inn.min?=1p", "E004", &["unknown key `inn` of `rio`"]);
    is("@*.mean-paket=500B", "E004", &["unknown key `mean-paket` of any algorithm", "did you mean `mean-packet`?"]);
    is("@rio.wq=0.1", "E012", &["no section here has the algorithm `rio`", "red, tred", "`?`"]);
    is("@*.k-alpha=1s", "E012", &["no section here has an algorithm with a key `k-alpha`"]);
    is("@red.max-p.x=1", "E010", &["`max-p.x` leads into a value that is not a table"]);
    for text in ["@=1", "@red=1", "@red.=1", "@.n=1", "@ red n=1"] {
        let (code, words, _) = error(text);
        assert!(["E010", "E006"].contains(&code), "{text}: {words}");
    }
    let value = first_error("@red.max-p=2");
    assert_eq!((value.code, value.spot.unwrap().column), ("E216", 12), "a bad value is reported where it is written");
}

#[test]
fn a_value_is_refused_once() {
    let found = read(NET, &net().set("@red.max-p=x")).unwrap_err();
    assert_eq!(found.errors(), 1, "{found}");
}
