//! `stack` of `[tcp.X]`: the same as the preset of its name, altered where it may be, refused where it may not; `preset`: the
//! defaults of a release of ns-2.

use perhop_core::params::{Problems, Tree, read_table, show_table};
use perhop_core::units::Span;
use perhop_scenario::sections::preset;
use perhop_scenario::sections::stack::NAMES;
use perhop_scenario::sections::tcp::TcpSection;
use perhop_scenario::{Options, Scenario};
use perhop_sim::transport::{Config, CongestionLaw as _, PartialAckTimer, Recovery, RtoConfig};

/// The section of a table of texts, and what is said of it.
fn read(entries: &[(&str, &str)]) -> (Option<TcpSection>, Vec<String>) {
    let mut problems = Problems::default();
    let table = Tree::table(entries.iter().map(|&(key, value)| (key, Tree::Text(value.into()))).collect());
    let section = read_table(&table.into(), &mut problems);
    (section, problems.list.into_iter().map(|problem| problem.message).collect())
}

fn config(entries: &[(&str, &str)]) -> Config {
    let (section, problems) = read(entries);
    section.unwrap_or_else(|| panic!("{problems:?}")).config().unwrap()
}

#[test]
fn a_stack_and_the_preset_of_its_name_are_the_same() {
    for &name in NAMES {
        assert_eq!(config(&[("stack", name)]), TcpSection::preset(name).unwrap().config().unwrap(), "{name}");
    }
}

/// What is shown of a section states all it needs, and is no contradiction.
#[test]
fn what_is_shown_is_read_again() {
    for &name in NAMES {
        let (section, _) = read(&[("stack", name)]);
        let shown = show_table(section.as_ref().unwrap());
        let mut problems = Problems::default();
        assert_eq!(read_table::<TcpSection>(&shown.into(), &mut problems), section, "{:?}", problems.list);
    }
}

#[test]
fn a_classic_sender_is_that_without_a_stack() {
    assert_eq!(config(&[("stack", "classic")]), Config::default());
    assert_eq!(config(&[("stack", "classic"), ("recovery", "reno"), ("congestion", "cubic")]), {
        config(&[("recovery", "reno"), ("congestion", "cubic")])
    });
}

#[test]
fn contradictions_are_named() {
    let said = |key: &str, value: &str| read(&[("stack", "linux"), (key, value)]).1;
    assert_eq!(said("recovery", "newreno"), ["`recovery` is newreno, but stack \"linux\" has rack"]);
    assert_eq!(said("congestion", "reno"), ["`congestion` is reno, but stack \"linux\" has cubic"]);
    assert_eq!(said("rto", "era"), ["`rto` has a tick of 100ms, but stack \"linux\" has one of 1ms"]);
    assert!(said("hystart", "none").is_empty() && said("recovery", "rack").is_empty());
}

/// What `preset` alone is, beside ns-2.35's defaults: the dates of `sections/preset.rs`.
#[test]
fn a_preset_is_a_release() {
    let default = Config::default();
    let steady = Recovery::NewReno(PartialAckTimer::Each);
    let old = |rto, syn| Config { recovery: steady, mss: 960, rto, limited_transmit: false, syn, ..default };
    let of = |name| config(&[("preset", name)]);
    assert_eq!(of("ns2-2.1b7"), Config { initial_window: 1, ..old(RtoConfig::NS2_2_1B7, false) });
    assert_eq!(of("ns2-2.1b8"), old(RtoConfig::NS2_2_1B8, true));
    assert_eq!(of("ns2-2.26"), Config { recovery: steady, rto: RtoConfig::NS2_2_26, ..default });
    assert_eq!(of("ns2-2.35"), default);
    let timer = |name| of(name).rto;
    let ms = |RtoConfig { granularity, minimum, maximum, initial }: RtoConfig| {
        [granularity, minimum, maximum, initial].map(|span| span.ns() / 1_000_000)
    };
    assert_eq!(ms(timer("ns2-2.1b7")), [100, 200, 64_000, 6_000]);
    assert_eq!(ms(timer("ns2-2.1b8")), [100, 1_000, 64_000, 6_000]);
    assert_eq!(ms(timer("ns2-2.26")), [10, 1_000, 64_000, 6_000]);
    assert_eq!(ms(timer("ns2-2.35")), [10, 200, 60_000, 3_000]);
}

/// A key beside it wins; of `rto` what a table leaves out is the preset's; a stack keeps its own recovery.
#[test]
fn what_is_stated_beside_a_preset_wins() {
    let old = config(&[("preset", "ns2-2.1b7")]);
    let with = |more: &[(&str, &str)]| config(&[&[("preset", "ns2-2.1b7")], more].concat());
    let mss = 1000;
    assert_eq!(with(&[("segment", "1000B")]), Config { mss, ..old });
    assert_eq!(with(&[("rto", "ns2-2.26")]), Config { rto: RtoConfig::NS2_2_26, ..old });
    assert_eq!(with(&[("recovery", "reno")]), Config { recovery: Recovery::Reno, ..old });
    assert_eq!(with(&[("stack", "classic")]), old);
    assert_eq!(with(&[("stack", "reno")]), Config { recovery: Recovery::Reno, ..old });
    let impatient = Recovery::NewReno(PartialAckTimer::First);
    assert_eq!(with(&[("stack", "newreno")]), Config { recovery: impatient, ..old });
    let table = |entries: Vec<(&'static str, Tree)>| {
        let section: Option<TcpSection> = read_table(&Tree::table(entries).into(), &mut Problems::default());
        section.unwrap().config().unwrap()
    };
    let text = |text: &str| Tree::Text(text.into());
    let stated = table(vec![
        ("preset", text("ns2-2.1b7")),
        ("rto", Tree::table(vec![("minimum", text("500ms"))])),
        ("initial-window", Tree::Integer(2)),
        ("syn", Tree::Bool(true)),
        ("limited-transmit", Tree::Bool(true)),
    ]);
    let rto = RtoConfig { minimum: Span::from_ms(500), ..RtoConfig::NS2_2_1B7 };
    assert_eq!(stated, Config { rto, initial_window: 2, syn: true, limited_transmit: true, ..old });
}

/// What is shown of it states all it needs, and `explain` says which values are the preset's.
#[test]
fn a_preset_is_shown() {
    for name in preset::NAMES {
        let (section, _) = read(&[("preset", name)]);
        let shown = show_table(section.as_ref().unwrap());
        assert_eq!(read_table::<TcpSection>(&shown.into(), &mut Problems::default()), section);
    }
    let text = "[dumbbell]\nbottleneck = \"5Mbit/s\"\nrtt = \"40ms\"\n\
        tcp = { preset = \"ns2-2.1b8\", initial-window = 1 }\n";
    let (scenario, _) = Scenario::parse(text, &Options::new("x.toml")).unwrap_or_else(|d| panic!("{d}"));
    let said = perhop_scenario::explain(&scenario);
    let line = "  from preset ns2-2.1b8, of June 2001: recovery \"newreno-steady\", segment \"960B\", limited-transmit false, \
        syn true, rto \"ns2-2.1b8\"; altered: initial-window\n";
    assert!(said.contains(line), "{said}");
    assert!(said.contains("rto: granularity 100ms, minimum 1s, maximum 64s, initial 6s"), "{said}");
}

/// Repeats are ECN-capable where a file says so; without the key as RFC 3168 has it.
#[test]
fn ns2s_repeats() {
    let repeats = |stated: Option<bool>| {
        let entries = stated.map(|stated| ("ecn-retransmissions", Tree::Bool(stated))).into_iter().collect();
        let section: Option<TcpSection> = read_table(&Tree::table(entries).into(), &mut Problems::default());
        section.unwrap().config().unwrap().reaction.ecn_retransmissions
    };
    assert_eq!([None, Some(false), Some(true)].map(repeats), [false, false, true]);
}

/// A law names the stack that has it, which is the one that its part of the policer's table was measured with.
#[test]
fn laws_know_their_stacks() {
    let own: Vec<_> = NAMES.iter().map(|name| (*name, config(&[("stack", name)]))).collect();
    for (name, config) in own.iter().filter(|(_, config)| config.recovery == Recovery::Rack) {
        let law = config.congestion;
        assert_eq!([law.stack(), law.policed().map(|sender| sender.stack())], [Some(*name); 2]);
    }
}
