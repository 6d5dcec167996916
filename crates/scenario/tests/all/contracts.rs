//! Contracts of a scenario and the ports that classes pass, as a report compares results with them.

use perhop_core::port::edge::Per;
use perhop_scenario::contracts::{contracts, passed};
use perhop_scenario::{Options, Sweep};

const TEXT: &str = r#"
scenario = { name = "n", duration = "20s" }
[links]
"a - E" = { rate = "10Mbit/s", delay = "1ms" }
"b - E" = { rate = "10Mbit/s", delay = "1ms" }
"E - D" = { rate = "10Mbit/s", delay = "1ms" }
[conditioner.gold]
kind = "token-bucket"
at = ["a -> E", "b -> E"]
cir = "1Mbit/s"
cbs = "9kB"
[conditioner.each]
kind = "token-bucket"
per = "flow"
at = "E -> D"
match = { traffic = "voice" }
cir = "300kbit/s"
cbs = "9kB"
[traffic]
one = { model = "ftp", class = "bulk", from = "a", to = "D" }
two = { model = "ftp", class = "bulk", from = "b", to = "D" }
[traffic.voice]
model = "cbr"
rate = "80kbit/s"
size = "200B"
from = "a"
to = "D"
"#;

#[test]
fn each_port_of_a_conditioner_names_the_classes_it_takes() {
    let (sweep, _) = Sweep::parse(TEXT, &Options::default()).unwrap_or_else(|found| panic!("{found}"));
    let found: Vec<_> = contracts(&sweep.base)
        .into_iter()
        .map(|c| (c.conditioner, c.hop, c.rate.bit_s(), c.per, c.classes.join(" ")))
        .collect();
    let row = |name: &str, hop: &str, rate, per, classes: &str| (name.into(), hop.into(), rate, per, classes.into());
    let expected: Vec<(String, String, u64, Per, String)> = vec![
        row("gold", "a -> E", 1_000_000, Per::Aggregate, "bulk voice"),
        row("gold", "b -> E", 1_000_000, Per::Aggregate, "bulk"),
        row("each", "E -> D", 300_000, Per::Flow, "voice"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_ports_that_a_class_passes_say_where_it_enters_and_where_its_acks_are() {
    let back = "[traffic.back]\nmodel = \"ftp\"\nclass = \"bulk\"\nfrom = \"D\"\nto = \"b\"\n";
    let (sweep, _) =
        Sweep::parse(&format!("{TEXT}{back}"), &Options::default()).unwrap_or_else(|found| panic!("{found}"));
    let found: Vec<_> = passed(&sweep.base)
        .into_iter()
        .map(|p| {
            format!(
                "{}: {}{}{}",
                p.class,
                p.hop,
                if p.entry { " entry" } else { "" },
                if p.acks { " acks" } else { "" }
            )
        })
        .collect();
    let expected = [
        "bulk: a -> E entry",
        "bulk: b -> E entry acks",
        "bulk: E -> b acks",
        "bulk: E -> D acks",
        "bulk: D -> E entry acks",
        "voice: a -> E entry",
        "voice: E -> D",
    ];
    assert_eq!(found, expected);
}

#[test]
fn requests_are_data_on_the_way_back() {
    let text = TEXT.split("[conditioner.gold]").next().unwrap();
    let web = "[traffic.web]\nmodel = \"web\"\nfrom = [\"a\", \"b\"]\nto = \"D\"\npages = 5\npage-gap = \"5s\"\nobjects = 1\nobject-gap = \"10ms\"\nsize = \"12kB\"\n";
    let (sweep, _) =
        Sweep::parse(&format!("{text}{web}"), &Options::default()).unwrap_or_else(|found| panic!("{found}"));
    let enters: Vec<_> = passed(&sweep.base).into_iter().filter(|p| p.entry).map(|p| (p.hop, p.acks)).collect();
    assert_eq!(enters, [("a -> E", false), ("b -> E", false), ("D -> E", true)].map(|(hop, acks)| (hop.into(), acks)));
}
