//! What holds of any input: nothing panics, and text and scenario are inverse.

use perhop_scenario::{Diagnostics, Options, Policy, Sweep};
use proptest::prelude::*;

const GOOD: [&str; 7] = [
    include_str!("../good/explicit.toml"),
    include_str!("../good/protected-tcp.toml"),
    include_str!("../good/every-key.toml"),
    include_str!("../good/dumbbell.toml"),
    include_str!("../good/changes.toml"),
    include_str!("../good/series.toml"),
    include_str!("../good/selectors.toml"),
];
const POLICIES: [&str; 2] = [include_str!("../good/mark-af-policy.toml"), include_str!("../good/labels-policy.toml")];

fn options() -> Options {
    Options::new("file.toml")
}

fn parse(text: &str) -> Result<Sweep, Diagnostics> {
    Sweep::parse(text, &options()).map(|s| s.0)
}

/// What a mutation puts into a good file.
const WORDS: [&str; 30] = [
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "-1",
    "1e30s",
    "\"5MB\"",
    "\"0B\"",
    "\u{0}",
    "ü",
    "true",
    "[]",
    "{}",
    "\"\"",
    ".",
    "\"A -> B\"",
    "99999999999999999999",
    "nan",
    "#",
    "\"50%\"",
    "\"mark EF\"",
    "{1..3}",
    "{i}",
    "{2*i-0.5}",
    "{i",
    "..",
    "{1..9999}",
];

fn mutated() -> impl Strategy<Value = String> {
    let change = (0.0..1.0f64, 0usize..30, prop::sample::select(WORDS.to_vec()));
    (prop::sample::select(GOOD.to_vec()), prop::collection::vec(change, 1..4)).prop_map(|(text, changes)| {
        let mut text = text.to_owned();
        for (at, cut, word) in changes {
            let floor = |i: usize| (0..=i.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap();
            let start = floor((at * text.len() as f64) as usize);
            let end = floor(start + cut).max(start);
            text.replace_range(start..end, word);
        }
        text
    })
}

/// A good file with some of its lines omitted or repeated.
fn shuffled() -> impl Strategy<Value = String> {
    (prop::sample::select(GOOD.to_vec()), prop::collection::vec(0u8..12, 200)).prop_map(|(text, dice)| {
        let line = |(line, die): (&str, &u8)| match die {
            0 => String::new(),
            1 => format!("{line}\n{line}\n"),
            _ => format!("{line}\n"),
        };
        text.lines().zip(&dice).map(line).collect()
    })
}

/// A refusal has an error, every place lies within the file, and both forms can be written.
fn sound(result: Result<Sweep, Diagnostics>, text: &str) {
    let Err(diagnostics) = result else { return };
    assert!(diagnostics.errors() > 0, "{text}");
    let lines = text.lines().count().max(1);
    for diagnostic in &diagnostics.list {
        assert!(diagnostic.spot.as_ref().is_none_or(|s| s.line <= lines + 1 && s.column >= 1));
    }
    assert_eq!(diagnostics.to_json().as_array().unwrap().len(), diagnostics.list.len());
    assert!(!diagnostics.to_string().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,200}") {
        sound(parse(&text), &text);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        sound(parse(&text), &text);
        let _ = Policy::parse(&text, &options());
    }

    #[test]
    fn mutated_files_are_read_without_panic(text in mutated()) {
        sound(parse(&text), &text);
    }

    #[test]
    fn lines_left_out_or_said_twice(text in shuffled()) {
        sound(parse(&text), &text);
    }

    #[test]
    fn any_override_is_read_without_panic(pair in "[@*?a-z.\"= {}\\[\\]0-9-]{0,30}", vary in "[@*?a-z.=,{}0-9]{0,20}") {
        let _ = Sweep::parse(GOOD[0], &options().set(&pair).vary(&vary));
    }

    #[test]
    fn any_selector_is_read_without_panic(name in "(red|cbr|\\*|trtcm)", key in "[a-z.?*-]{0,12}", value in "[a-z0-9.=,{}\\[\\]]{0,12}") {
        let _ = Sweep::parse(GOOD[6], &options().set(&format!("@{name}.{key}={value}")));
    }

    /// A file that was accepted comes back from its text, whatever was changed in it.
    #[test]
    fn text_and_scenario_are_inverse(text in prop_oneof![mutated(), shuffled()]) {
        if let Ok(sweep) = parse(&text) {
            prop_assert_eq!(&parse(&sweep.to_toml()).unwrap(), &sweep, "{}", sweep.to_toml());
            for point in sweep.points().iter().take(5) {
                let again = parse(&point.scenario.effective()).unwrap();
                prop_assert_eq!(again.base.effective(), point.scenario.effective());
                prop_assert_eq!(&again.points()[0].hash, &point.hash);
            }
        }
    }

    /// Values chosen at random, written into a file, are the values in force.
    #[test]
    fn values_survive(
        rate in 1u64..10_000_000_000, delay in 0u64..1_000_000_000, cbs in 1040u64..10_000_000, flows in 1u32..1000,
        p in 0.0..=1.0f64, seed in 0u64..=i64::MAX as u64,
    ) {
        let text = format!(
            "[scenario]\nseed = {seed}\n[links]\n\"A - B\" = {{ rate = \"{rate}bit/s\", delay = \"{delay}ns\", loss = {p:?} }}\n\
             [conditioner.m]\nat = \"A -> B\"\nkind = \"token-bucket\"\ncir = \"{rate}bit/s\"\ncbs = \"{cbs}B\"\n\
             [traffic.t]\nmodel = \"ftp\"\nfrom = \"A\"\nto = \"B\"\nflows = {flows}\n"
        );
        let scenario = parse(&text).unwrap().base;
        let plan = parse(&scenario.effective()).unwrap().base.plan(seed, 0);
        prop_assert_eq!(scenario.settings().seed, seed);
        let link = &plan.links[0];
        prop_assert_eq!((link.rate.bit_s(), link.delay.ns(), link.loss.get()), (rate, delay, p));
        prop_assert_eq!(plan.traffic[0].flows, flows);
    }
}

#[test]
fn good_files_are_their_own_inverse() {
    for text in GOOD {
        let (sweep, said) = Sweep::parse(text, &options()).unwrap_or_else(|d| panic!("{d}"));
        assert_eq!(said.list, [], "{said}");
        assert_eq!(parse(&sweep.to_toml()).unwrap(), sweep);
        assert_eq!(parse(&sweep.base.effective()).unwrap().base.effective(), sweep.base.effective());
    }
    for text in POLICIES {
        let (policy, said) = Policy::parse(text, &options()).unwrap_or_else(|d| panic!("{d}"));
        assert_eq!(said.list, [], "{said}");
        assert_eq!(Policy::parse(&policy.effective(), &options()).unwrap().0, policy);
    }
}

/// Every accepted plan is one the simulator takes.
#[test]
fn good_files_run() {
    for text in GOOD {
        for point in parse(text).unwrap().points().iter().take(4) {
            let plan = point.scenario.plan(1, 0);
            perhop_sim::Simulation::new(plan, perhop_sim::EngineOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}
