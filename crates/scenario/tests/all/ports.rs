//! `at` as a table: what holds at each port.

use perhop_core::params::Tree;
use perhop_core::units::{BitRate, Bytes};
use perhop_scenario::{Diagnostics, Options, Scenario, Sweep, explain};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn parse(text: &str) -> Result<Scenario, Diagnostics> {
    Scenario::parse(text, &Options::new("file.toml")).map(|s| s.0)
}

fn good(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|d| panic!("{d}\n{text}"))
}

const NET: &str = "[links]\n\"A - B\" = { rate = \"10Mbit/s\" }\n\"B - C\" = { rate = \"5Mbit/s\" }\n\"C - D\" = { rate = \"5Mbit/s\" }\n\
                   [traffic.t]\nmodel = \"ftp\"\nfrom = \"A\"\nto = \"D\"\n";
const PORTS: [&str; 3] = ["A -> B", "B -> C", "C -> D"];

/// `cir` and `cbs` at each port, in the plan's order of links.
fn in_force(scenario: &Scenario) -> Vec<[String; 2]> {
    let value = |shown: &[(&str, Tree)], key: &str| match &shown.iter().find(|s| s.0 == key).unwrap().1 {
        Tree::Text(text) => text.clone(),
        other => panic!("{other}"),
    };
    let plan = scenario.plan(1, 0);
    let stages = plan.links.iter().flat_map(|link| &link.edge);
    stages
        .map(|stage| {
            let mut shown = Vec::new();
            stage.params.show(&mut shown);
            ["cir", "cbs"].map(|key| value(&shown, key))
        })
        .collect()
}

#[test]
fn a_list_is_a_table_of_empty_tables() {
    let keys = "kind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"20kB\"\n";
    let list = good(&format!("{NET}[conditioner.m]\nat = [\"A -> B\", \"B -> C\"]\n{keys}"));
    for at in ["at = { \"A -> B\" = {}, \"B -> C\" = {} }", "at.\"A -> B\" = {}\nat.\"B -> C\".cir = \"1000kbit/s\""] {
        let table = good(&format!("{NET}[conditioner.m]\n{at}\n{keys}"));
        assert_eq!(table, list);
        assert!(table.effective().contains("at = [\"A -> B\", \"B -> C\"]\n"), "{}", table.effective());
    }
}

#[test]
fn what_a_port_has_alone_is_shown() {
    let text = format!(
        "{NET}[conditioner.m]\nkind = \"token-bucket\"\ncbs = \"20kB\"\nat.\"A -> B\".cir = \"1Mbit/s\"\n\
         at.\"B->C\" = {{ cir = \"2Mbit/s\", cbs = \"30kB\" }}\n"
    );
    let scenario = good(&text);
    assert_eq!(in_force(&scenario), [["1Mbit/s", "20000B"], ["2Mbit/s", "30000B"]]);
    let said = explain(&scenario);
    for line in [
        "at.\"A -> B\" = { cir = \"1Mbit/s\", cbs = \"20000B\" }\nat.\"B->C\" = { cir = \"2Mbit/s\", cbs = \"30000B\" }\n",
        "m at B -> C: token-bucket takes t; largest packet 1040B\n  of this port alone: { cir = \"2Mbit/s\", cbs = \"30000B\" }\n",
        "  cbs 30000B = 28 largest packets, full in 120 ms at cir 2Mbit/s\n",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert_eq!(good(&scenario.to_toml()), scenario, "{}", scenario.to_toml());
}

#[test]
fn what_becomes_of_each_colour_is_shown() {
    let bucket = |name, actions| {
        format!(
            "[conditioner.{name}]\nat = \"A -> B\"\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"20kB\"\n{actions}\n"
        )
    };
    let first = bucket("first", "green = \"mark AF11\"\nred = \"next, colour yellow\"");
    let scenario = good(&format!("{NET}{first}{}", bucket("second", "red = \"drop\"")));
    let said = explain(&scenario);
    for line in ["\n  green: mark AF11; red: colour yellow, next, to `second`\n", "\n  red: drop\n"] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(!said.contains("nothing is dropped here"), "{said}");
    let effective = scenario.effective();
    assert!(effective.contains("red = \"colour yellow, next\"\n"), "{effective}");
    assert_eq!(good(&scenario.to_toml()), scenario);
}

#[test]
fn a_swept_kind_keeps_ports_whose_keys_it_has() {
    let table = "kind = \"srtcm\", cbs = \"20kB\", ebs = \"20kB\"";
    let text = format!(
        "{NET}[conditioner.m]\nkind = \"token-bucket\"\ncbs = \"20kB\"\nat.\"A -> B\".cir = \"1Mbit/s\"\n\
         [sweep]\n\"conditioner.m\" = [{{ {table} }}]\n\"conditioner.m.at.'A -> B'.cir\" = [\"2Mbit/s\"]\n"
    );
    let point = Sweep::parse(&text, &Options::new("file.toml")).unwrap().0.points().remove(0).scenario;
    assert_eq!(in_force(&point), [["2Mbit/s", "20000B"]]);
}

/// Errors of an algorithm, and advice, point to the value in force: the port's if it states one.
#[test]
fn faults_stand_at_the_port_that_states_the_value() {
    let at = |text: &str| {
        let list = Scenario::parse(text, &Options::new("x")).map_or_else(|d| d, |s| s.1).list;
        list.into_iter().map(|d| (d.code, d.spot.unwrap().text)).collect::<Vec<_>>()
    };
    let file = |section: &str, port: &str| {
        format!(
            "{NET}[conditioner.m]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\n{section}\nat.\"A -> B\" = {{}}\nat.\"B -> C\".{port}\n"
        )
    };
    assert_eq!(at(&file("cbs = \"20kB\"", "cbs = \"10B\"")), [("E212", "at.\"B -> C\".cbs = \"10B\"".into())]);
    assert_eq!(at(&file("cbs = \"10B\"", "cbs = \"20kB\"")), [("E212", "cbs = \"10B\"".into())]);
    assert_eq!(at(&file("cbs = \"10B\"", "cir = \"2Mbit/s\"")), [("E212", "cbs = \"10B\"".into())]);
    let far = |text: String| text.replace("\"5Mbit/s\"", "\"5Mbit/s\", delay = \"100ms\"");
    let eager = |text: String| text.replace("to = \"D\"", "to = \"D\"\ntcp = { window = 100 }");
    let advice = at(&eager(far(file("cbs = \"600kB\"\nred = \"drop\"", "cbs = \"20kB\""))));
    assert_eq!(advice, [("W301", "at.\"B -> C\".cbs = \"20kB\"".into())]);
}

/// The same in bit/s and bytes.
fn numbers(scenario: &Scenario) -> Vec<[u64; 2]> {
    let number =
        |[cir, cbs]: &[String; 2]| [cir.parse::<BitRate>().unwrap().bit_s(), cbs.parse::<Bytes>().unwrap().get()];
    in_force(scenario).iter().map(number).collect()
}

fn stated(text: &str, value: Option<u64>, unit: &str) -> String {
    value.map_or(String::new(), |v| format!("{text} = \"{v}{unit}\"\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// At each port its own value applies, or else the section's; a key that is in neither is an error at that port
    /// alone.
    #[test]
    fn ports_lie_over_the_section(
        section in prop::array::uniform2(prop::option::of(2000u64..100_000)),
        ports in prop::array::uniform3(prop::array::uniform2(prop::option::of(2000u64..100_000))),
    ) {
        let mut text = format!("{NET}[conditioner.m]\nkind = \"token-bucket\"\n");
        text += &(stated("cir", section[0], "bit/s") + &stated("cbs", section[1], "B"));
        for (port, own) in PORTS.iter().zip(&ports) {
            text += &format!("[conditioner.m.at.\"{port}\"]\n");
            text += &(stated("cir", own[0], "bit/s") + &stated("cbs", own[1], "B"));
        }
        let effective = [0, 1].map(|k| ports.map(|own| own[k].or(section[k])));
        let missing = |p: usize| (0..2).filter(move |&k| effective[k][p].is_none());
        let everywhere = |k: usize| effective[k] == [None; 3];
        // A port says what it alone lacks; what no port states is missing in the section.
        let faults = (0..3).flat_map(|p| {
            let section = if missing(p).all(everywhere) { String::new() } else { format!(".at.{}", PORTS[p]) };
            missing(p).map(move |k| format!("missing key `{}` in [conditioner.m{section}]", ["cir", "cbs"][k]))
        });
        let faults: BTreeSet<_> = faults.collect();
        match parse(&text) {
            Ok(scenario) => {
                let value = |p: usize, k: usize| effective[k][p].unwrap();
                let expected: Vec<_> = (0..3).map(|p| [0, 1].map(|k| value(p, k))).collect();
                prop_assert_eq!(numbers(&scenario), expected);
                prop_assert_eq!(&good(&scenario.effective()), &scenario);
                prop_assert_eq!(&good(&scenario.to_toml()), &scenario);
            }
            Err(refused) => {
                let said: BTreeSet<_> = refused.list.iter().map(|d| d.message.clone()).collect();
                prop_assert_eq!(&said, &faults);
                prop_assert!(refused.list.len() == faults.len() && !faults.is_empty(), "{}", refused);
            }
        }
    }
}

/// Readers of labels are told the weights of all the file's labellers, at all their ports; other files have none.
#[test]
fn readers_know_the_weights() {
    use perhop_core::scope::Weights;
    let labelled = format!(
        "{NET}[queue.fair]\naqm = \"csfq\"\n[conditioner.label]\nkind = \"rate-labeller\"\nweight = 2.0\nper = \"flow\"\n\
         at = {{ \"A -> B\" = {{ weight = 0.25 }}, \"D -> C\" = {{}}, \"C -> B\" = {{ weight = 8.0 }} }}\n\
         [conditioner.m]\nat = \"B -> C\"\nkind = \"f-sam\"\ncir = \"1Mbit/s\"\ncbs = \"20kB\"\n"
    )
    .replace("\"C - D\" = { rate = \"5Mbit/s\" }", "\"C - D\" = { rate = \"5Mbit/s\", queue = \"fair\" }");
    let plan = good(&labelled).plan(1, 0);
    let link = |name: &str| plan.links.iter().find(|link| link.name == name).unwrap();
    let known = Some(Weights { lightest: 0.25, heaviest: 8.0 });
    assert_eq!(link("C -> D").queues[0].scope.weights, known);
    assert_eq!(link("B -> C").edge[0].scope.weights, known);
    assert!(good(NET).plan(1, 0).links.iter().all(|link| link.queues[0].scope.weights.is_none()));
}
