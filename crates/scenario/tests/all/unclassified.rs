//! `unclassified = "direct"` of HTB: what no class names passes unshaped, here and in what is written for Linux.

use perhop_config::as_tc::as_tc;
use perhop_scenario::{Options, Scenario, explain};
use perhop_sim::{EngineOptions, Simulation};

const NET: &str = r#"
[scenario]
duration = "5s"
warmup = "1s"

[links]
"z - a" = { rate = "1Gbit/s", delay = "1us" }
"a - b" = { rate = "10Mbit/s", delay = "1ms" }
"a -> b" = { queue = "q" }

[queue.q]
scheduler = "htb"
arithmetic = "linux"
classes = [
  { for = "EF", rate = "1Mbit/s", quantum = "1500B", queue = { limit = "20p" } },
  { for = "AF11", rate = "2Mbit/s", quantum = "1500B", queue = { limit = "20p" } },
]

[traffic.ef]
model = "cbr"
rate = "3Mbit/s"
size = "1500B"
dscp = "EF"
from = "z"
to = "b"

[traffic.rest]
model = "cbr"
rate = "5Mbit/s"
size = "1500B"
from = "z"
to = "b"
"#;

fn read(unclassified: Option<&str>) -> Scenario {
    let options = Options::new("net.toml");
    let options = match unclassified {
        Some(value) => options.set(&format!("queue.q.unclassified={value}")),
        None => options,
    };
    Scenario::parse(NET, &options).unwrap_or_else(|found| panic!("{found}")).0
}

/// Mbit/s of `ef` and of `rest` behind the port.
fn rates(unclassified: Option<&str>) -> [f64; 2] {
    let plan = read(unclassified).plan(1, 0);
    let port = plan.links.iter().position(|link| link.name == "a -> b").unwrap();
    let outcome = Simulation::new(plan, EngineOptions::default()).unwrap().run(|_| true).unwrap();
    [0, 1].map(|class| {
        let rows = outcome.ports.hops.iter().filter(|row| (row.link, row.class) == (port, class));
        rows.map(|row| row.delivered.bytes as f64 * 8.0 / 4e6).sum()
    })
}

fn near(found: [f64; 2], right: [f64; 2]) -> bool {
    found.iter().zip(right).all(|(found, right)| (found - right).abs() < 0.02 * right)
}

#[test]
fn what_no_class_names_is_shaped_by_the_last_or_by_none() {
    for last in [rates(None), rates(Some("last"))] {
        assert!(near(last, [1.0, 2.0]), "{last:?}");
    }
    assert!(near(rates(Some("direct")), [1.0, 5.0]), "{:?}", rates(Some("direct")));
}

/// For the last class Linux needs a filter that takes all; without it what is left is direct.
#[test]
fn linux_is_told_which() {
    let filters = |unclassified| {
        let linux = as_tc(&read(unclassified)).unwrap();
        let all = linux.lines().filter(|it| it.contains("parent 2: protocol all prio 2 matchall")).count();
        (all, linux.notes.iter().any(|note| note.contains("direct_packets_stat")))
    };
    assert_eq!(filters(None), (1, false));
    assert_eq!(filters(Some("last")), (1, false));
    assert_eq!(filters(Some("direct")), (0, true));
    assert!(!as_tc(&read(Some("direct"))).unwrap().lines().any(|it| it.contains("classid 2:3")));
}

#[test]
fn explain_has_a_line_for_it() {
    let (direct, last) = (explain(&read(Some("direct"))), explain(&read(None)));
    assert!(direct.contains("    direct all others, unshaped: drop-tail 1000p"), "{direct}");
    assert!(!last.contains("all others"), "{last}");
}

/// Read again, what is in force is the same scenario.
#[test]
fn it_is_written_back() {
    let direct = read(Some("direct"));
    let again =
        Scenario::parse(&direct.effective(), &Options::new("net.toml")).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(direct, again.0);
}

/// What falls to none is meant to: W322 is about a last class that names others.
#[test]
fn direct_traffic_is_no_surprise() {
    let codes = |set: Option<&str>| {
        let options = Options::new("net.toml");
        let options = set.map_or(options.clone(), |value| options.set(&format!("queue.q.unclassified={value}")));
        let found = Scenario::parse(NET, &options).unwrap_or_else(|found| panic!("{found}")).1;
        found.list.iter().map(|it| it.code).collect::<Vec<_>>()
    };
    assert!(codes(None).contains(&"W322"), "{:?}", codes(None));
    assert!(!codes(Some("direct")).contains(&"W322"), "{:?}", codes(Some("direct")));
}
