//! `accounting` reaches every table that counts bytes: offered = delivered + lost + what is still in flight, exactly, in each of
//! the four; and what is at a link adds up there.

use perhop_core::units::{Span, Time};
use perhop_results::tables::columns::Table;
use perhop_results::tables::tables;
use perhop_scenario::{Options, Scenario};
use perhop_sim::Outcome;
use perhop_sim::plan::Plan;
use perhop_sim::record::{EventSink, PortEvent, PortFate};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const ALL: [(&str, u64); 4] = [("l3", 0), ("l2", 14), ("l2+fcs", 18), ("l1", 38)];

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let scenario = |path: &PathBuf| path.extension().is_some_and(|it| it == "toml") && holds(path, "[scenario]");
    let mut files: Vec<_> = files.filter(scenario).collect();
    files.sort();
    files
}

fn holds(path: &Path, word: &str) -> bool {
    std::fs::read_to_string(path).unwrap().contains(word)
}

/// What a run gave, with a row for each packet at each port.
struct Seen {
    plan: Plan,
    outcome: Outcome,
    tables: Vec<Table>,
    rows: Vec<PortEvent>,
}

impl Seen {
    fn new(plan: Plan) -> Self {
        let rows = Arc::new(Mutex::new(Vec::new()));
        let taken = rows.clone();
        let mut simulation = perhop_scenario::simulation::simulation(plan.clone()).unwrap();
        simulation.record_events(EventSink::new(move |batch| taken.lock().unwrap().extend_from_slice(batch)));
        let outcome = simulation.run(|_| true).unwrap();
        let tables = tables(&plan, &outcome);
        let rows = std::mem::take(&mut *rows.lock().unwrap());
        Self { plan, outcome, tables, rows }
    }

    fn table(&self, name: &str) -> &Table {
        self.tables.iter().find(|table| table.name == name).unwrap()
    }

    /// The sum of a column over the rows that `key` puts together.
    fn sums(&self, table: &str, key: &str, column: &str) -> BTreeMap<String, u64> {
        let table = self.table(table);
        let mut sums = BTreeMap::new();
        for (name, value) in table.texts(key).iter().zip(table.integers(column)) {
            *sums.entry(name.as_deref().unwrap().to_owned()).or_insert(0) += value.unwrap() as u64;
        }
        sums
    }

    /// Bytes of data, as `accounting` counts them, of the rows that `which` takes, by class.
    fn data(&self, which: impl Fn(&PortEvent) -> bool) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.packet.flow.0.is_multiple_of(2) && which(row)) {
            let class = self.plan.classes[usize::from(row.packet.class)].clone();
            *sums.entry(class).or_insert(0) += u64::from(row.packet.size);
        }
        sums
    }
}

fn small(path: &Path, accounting: &str) -> Plan {
    let mut options = Options::new(&path.display().to_string()).setting("accounting", accounting);
    if path.ends_with("drr.toml") {
        options = options.set("traffic.large.size=1400B"); // its quanta have room for the IP packet alone
    }
    let (scenario, _) = Scenario::load(path, &options).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut plan = Plan { duration: Span::from_s(2), warmup: Span::ZERO, ..scenario.plan(1, 0) };
    plan.changes.retain(|change| change.at < Time::ZERO + plan.duration);
    plan
}

fn of(all: &BTreeMap<String, u64>, class: &str) -> u64 {
    all.get(class).copied().unwrap_or(0)
}

/// Of every class: what came to its first ports is what reached its destination (`arrivals`), what was dropped, and what is
/// in flight at the end.
fn check_classes(seen: &Seen, what: &str) {
    let mut first = BTreeMap::<u64, &PortEvent>::new();
    for row in &seen.rows {
        let known = first.entry(row.number).or_insert(row);
        if row.came < known.came {
            *known = row;
        }
    }
    let entries: BTreeSet<_> = first.values().map(|row| (row.number, row.link)).collect();
    let offered = seen.data(|row| entries.contains(&(row.number, row.link)));
    let lost = seen.data(|row| matches!(row.fate, PortFate::Dropped(_)));
    let inside = seen.data(|row| matches!(row.fate, PortFate::Waiting | PortFate::InFlight));
    let delivered = seen.sums("arrivals", "class", "delivered_bytes");
    for class in seen.plan.classes.iter() {
        let ended = of(&delivered, class) + of(&lost, class) + of(&inside, class);
        assert_eq!(of(&offered, class), ended, "{what}: class {class}");
    }
}

/// Of every direction of a link: what came (`summary`) was dropped there, reached the other end, or is there still; and
/// `links` says the same.
fn check_links(seen: &Seen, what: &str) {
    let [arrived, dropped] = ["arrived_bytes", "dropped_bytes"].map(|column| seen.sums("summary", "hop", column));
    let packets = ["delivered_packets", "dropped_packets"].map(|column| seen.sums("links", "hop", column));
    let delivered = seen.sums("links", "hop", "delivered_bytes");
    for (i, link) in seen.plan.links.iter().enumerate() {
        let here = || seen.rows.iter().filter(|row| row.link as usize == i);
        let inside = |row: &&PortEvent| matches!(row.fate, PortFate::Waiting | PortFate::InFlight);
        let still: u64 = here().filter(inside).map(|row| u64::from(row.packet.size)).sum();
        let name = link.name.as_str();
        let ended = of(&delivered, name) + of(&dropped, name) + still;
        assert_eq!(of(&arrived, name), ended, "{what}: {name}");
        let ended = packets.iter().map(|of_link| of(of_link, name)).sum::<u64>();
        assert_eq!(here().count() as u64, ended + here().filter(inside).count() as u64, "{what}: {name}");
    }
}

/// Of every flow that lasts: sent = delivered + dropped + in flight; payload is what it is in any accounting.
fn check_flows(seen: &Seen, (what, overhead): (&str, u64)) {
    for flow in &seen.outcome.flows {
        let mine = |row: &&PortEvent| row.flow.table as usize == flow.table && row.flow.number == flow.number;
        let standing = seen.rows.iter().filter(|row| row.packet.flow.0.is_multiple_of(2)).filter(mine);
        let still: u64 = standing
            .filter(|row| matches!(row.fate, PortFate::Waiting | PortFate::InFlight))
            .map(|row| u64::from(row.packet.size))
            .sum();
        let of = &flow.counts;
        assert_eq!(of.sent.bytes, of.delivered.bytes + of.dropped.bytes + still, "{what}: flow {}", flow.number);
        let headers = (20 + 8 + overhead) * of.delivered.packets;
        assert!(flow.goodput_bytes + headers <= of.delivered.bytes, "{what}: {flow:?}");
    }
}

/// Every example in every accounting: nothing is counted in one unit here and in another there.
#[test]
fn every_example_adds_up_in_every_accounting() {
    let files = examples();
    assert!(files.len() > 50, "{files:?}");
    for path in &files {
        for (accounting, overhead) in ALL {
            let seen = Seen::new(small(path, accounting));
            let what = format!("{} in {accounting}", path.file_name().unwrap().display());
            assert_eq!(seen.outcome.faults.breaches, Vec::<String>::new(), "{what}");
            check_classes(&seen, &what);
            check_links(&seen, &what);
            check_flows(&seen, (&what, overhead));
        }
    }
}

fn scenario(text: &str, accounting: &str) -> Scenario {
    let options = Options::new("small.toml").setting("accounting", accounting);
    Scenario::parse(text, &options).unwrap_or_else(|e| panic!("{e}")).0
}

/// 1 Mbit/s of 100 B are 1.38 Mbit/s on the wire: at the first port, where they arrive, and of their flow, and nothing is lost;
/// the payload stays 0.72 Mbit/s, and the line is used for the IP packets.
#[test]
fn rates_are_the_same_everywhere() {
    let text = r#"
[scenario]
duration = "11s"
warmup = "1s"
[links]
"a - b" = { rate = "100Mbit/s", delay = "1ms" }
[traffic.x]
model = "cbr"
rate = "1Mbit/s"
size = "100B"
from = "a"
to = "b"
"#;
    for (accounting, overhead) in ALL {
        let seen = Seen::new(scenario(text, accounting).plan(1, 0));
        let bytes = 12_500 * (100 + overhead);
        assert_eq!(seen.sums("summary", "hop", "arrived_bytes")["a -> b"], bytes);
        assert_eq!(seen.sums("arrivals", "class", "delivered_bytes")["x"], bytes);
        assert_eq!(seen.sums("flows", "class", "sent_bytes")["x"], bytes);
        let real = |table: &str, column: &str| seen.table(table).reals(column)[0].unwrap();
        assert_eq!(real("arrivals", "throughput_bit_s"), bytes as f64 * 0.8);
        assert_eq!(real("flows", "throughput_bit_s"), bytes as f64 * 0.8);
        assert_eq!([real("flows", "goodput_bit_s"), real("traffic", "goodput_bit_s")], [720_000.0; 2]);
        assert_eq!(real("links", "utilisation"), 0.01);
    }
}

/// What the wire loses is not delivered: `links` says what `summary` says, and both add up to what arrived.
#[test]
fn what_the_wire_loses_is_not_delivered() {
    let text = r#"
[scenario]
duration = "20s"
warmup = "0s"
[links]
"a - b" = { rate = "100Mbit/s", delay = "1ms", loss = 0.05 }
[traffic.x]
model = "cbr"
rate = "20Mbit/s"
size = "500B"
from = "a"
to = "b"
"#;
    let seen = Seen::new(scenario(text, "l3").plan(1, 0));
    let [arrived, at_end, lost] = ["arrived_packets", "delivered_packets", "dropped_wire_packets"]
        .map(|column| seen.sums("summary", "hop", column)["a -> b"]);
    let [delivered, dropped] =
        ["delivered_packets", "dropped_packets"].map(|column| seen.sums("links", "hop", column)["a -> b"]);
    assert!(lost > 4_000, "{lost}");
    assert_eq!((delivered, dropped), (at_end, lost));
    let in_flight = arrived - delivered - dropped;
    assert!(in_flight <= 6, "a millisecond holds five packets: {in_flight}");
    let sending = seen.table("links").reals("utilisation")[0].unwrap();
    let sent = (delivered + dropped) as f64 * 4000.0;
    assert_eq!(sending, sent / 2e9, "the line sends what the wire loses");
}
