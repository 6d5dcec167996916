//! `stack` of `[tcp.X]`: the same as the preset of its name, altered where it may be, refused where it may not.

use perhop_core::params::{Problems, Tree, read_table, show_table};
use perhop_scenario::sections::stack::NAMES;
use perhop_scenario::sections::tcp::TcpSection;
use perhop_sim::transport::Config;

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
    assert_eq!(said("recovery", "newreno"), ["`recovery` is newreno, and stack \"linux\" has rack"]);
    assert_eq!(said("congestion", "reno"), ["`congestion` is reno, and stack \"linux\" has cubic"]);
    assert_eq!(said("rto", "era"), ["`rto` has a tick of 100ms, and stack \"linux\" one of 1ms"]);
    assert!(said("hystart", "none").is_empty() && said("recovery", "rack").is_empty());
}
