//! Drops that outputs print beside those of a run with the rates that they print.
//!
//! A class is judged where its counters agree with each other: its packets have 40 to 1514 bytes, what left it and what was
//! dropped are what came, within a tenth, and it came with a rate. The load is that rate, in packets of the mean size, without bursts. The
//! share that is dropped is then within five points of the printed one, or the difference is explained.

use super::{last, table, text};
use crate::ios::hand::try_read;
use perhop_config::evidence::Counters;
use perhop_config::import_options::ImportOptions;
use perhop_config::load::Load;
use perhop_config::model::{Filter, Port, Queue};
use perhop_config::stub::with_load;
use perhop_config::value::Value;
use perhop_core::accounting::Accounting;
use perhop_core::params::Problems;
use perhop_core::units::BitRate;
use perhop_scenario::text::toml;
use perhop_scenario::{Options, Scenario};
use perhop_sim::Simulation;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How far a share may be off.
const POINTS: f64 = 0.05;

/// Rates of links that an output states: percentages beside kbit/s.
const LINKS: &[(&str, u64)] = &[("36", 1_000), ("b2", 1)];

/// Classes whose drops are others, and why.
const OTHERS: &[(&str, &str, &str)] = &[
    ("06", "VOICE", "18 kbit/s are within 64 kbit/s: only bursts beyond the bucket of 8000 bytes are dropped"),
    ("07", "VIDEO", "the same counters as in 06"),
    (
        "52",
        "VOICE",
        "packets of 68 and of 1518 bytes: the bucket of 1000 lets none of the large ones pass, and all of a mean size",
    ),
    ("a2", "class-default", "no action drops: the output contradicts itself"),
    ("a7", "VOICE", "ping waits for each answer and two seconds for a lost one: it is slower than its average says"),
    ("a9", "VIDEO", "a sender of bursts: the bucket of 3750 bytes holds two packets of the mean size"),
];

/// A class with its load.
#[derive(Debug)]
struct Offered {
    class: String,
    /// Its table in the load.
    name: String,
    dscp: Option<String>,
    rate: f64,
    size: f64,
    /// What is printed of its drops; `None` where its counters are not to be judged.
    share: Option<f64>,
}

#[test]
fn drops_are_those_of_a_run() {
    let (mut judged, mut far, mut all) = (0, Vec::new(), String::new());
    for (name, _) in table::OUTPUTS {
        let link = LINKS.iter().find(|it| it.0 == *name).map_or(BitRate::mbps(100), |it| BitRate::mbps(it.1));
        let read = try_read(&text(name), &ImportOptions { link: Some(link), ..ImportOptions::default() }).unwrap();
        for port in &read.device.ports {
            let mut port = port.clone();
            if port.interface.is.contains("Ethernet") {
                let counted = Value::Word(Accounting::L1.name().into());
                port.link.assume("framing", "Ethernet: with preamble and gap", counted);
            }
            let port = &port;
            let load = offered(port, &read.evidence);
            if load.iter().all(|it| it.share.is_none()) {
                continue;
            }
            let predicted = shares(port, link, &load);
            for (it, predicted) in load.iter().zip(predicted) {
                let Some(printed) = it.share else { continue };
                judged += 1;
                all += &format!("{name} {}: printed {printed:.3}, predicted {predicted:.3}\n", it.class);
                if (predicted - printed).abs() > POINTS {
                    far.push((*name, it.class.clone()));
                }
            }
        }
    }
    let explained: Vec<_> = OTHERS.iter().map(|it| (it.0, it.1.to_owned())).collect();
    assert!(OTHERS.iter().all(|it| !it.2.is_empty()));
    assert_eq!(far, explained, "{all}");
    assert_eq!(judged, JUDGED, "{all}");
}

/// How many classes could be judged.
const JUDGED: usize = 32;

/// The classes of a port that have no others below them, with the rates at which their packets came.
fn offered(port: &Port, evidence: &[Counters]) -> Vec<Offered> {
    let mut filters: BTreeMap<&str, &[Filter]> = BTreeMap::new();
    port.queue.iter().for_each(|queue| of_queue(queue, &mut filters));
    port.conditioners.iter().for_each(|it| _ = filters.insert(last(&it.name.is), &it.takes));
    let mine: Vec<_> =
        evidence.iter().filter(|it| it.interface == port.interface.is && it.way == Some(port.way)).collect();
    let is_leaf = |of: &str| !mine.iter().any(|it| it.of.starts_with(&format!("{of}/")));
    let mut all = Vec::new();
    for counters in mine.iter().filter(|it| it.kind == "class" && is_leaf(&it.of)) {
        let count = |name: &str| counters.counts.get(name).map(|count| *count as f64);
        let [Some(rate), Some(packets), Some(bytes)] = ["offered_bps", "packets", "bytes"].map(count) else { continue };
        let class = last(&counters.of).to_owned();
        let takes = filters.get(class.as_str()).copied().unwrap_or_default();
        if rate == 0.0 || packets == 0.0 || (takes.is_empty() && class != "class-default") {
            continue;
        }
        let first = takes.first().map(|it| &it.matches.is);
        let traffic = first.and_then(|it| it.traffic.first()).map(|name| name.to_owned());
        let dscp = first.and_then(|it| it.dscp.first()).map(ToString::to_string);
        let size = bytes / packets;
        let sound = (40.0..=1514.0).contains(&size) && sums_agree(&mine, &counters.of, packets);
        let share = count("drop_bps").filter(|_| sound).map(|drop| drop / rate);
        all.push(Offered {
            name: traffic.unwrap_or_else(|| class.clone()),
            class,
            dscp,
            rate,
            size: size.clamp(60.0, 1514.0),
            share,
        });
    }
    all
}

/// Whether what left a class and what was dropped are what came, where that is counted.
fn sums_agree(mine: &[&Counters], of: &str, packets: f64) -> bool {
    let sum = |kind: &str, names: &[&str]| {
        let counters = mine.iter().find(|it| it.of == of && it.kind == kind)?;
        let counts: Option<Vec<_>> = names.iter().map(|name| counters.counts.get(name)).collect();
        Some(counts?.into_iter().sum::<i64>() as f64)
    };
    let queue = sum("queue", &["pkts_output", "total_drops"]);
    let police = sum("police", &["conformed_packets", "exceeded_packets", "violated_packets"])
        .or_else(|| sum("police", &["conformed_packets", "exceeded_packets"]));
    queue.into_iter().chain(police).all(|sum| (sum - packets).abs() <= 0.1 * packets)
}

fn of_queue<'a>(queue: &'a Queue, filters: &mut BTreeMap<&'a str, &'a [Filter]>) {
    for class in &queue.classes {
        filters.insert(&class.name.is, &class.takes);
        class.queue.iter().for_each(|queue| of_queue(queue, filters));
    }
}

/// The share of each class that is dropped in a run of as many packets as show it.
fn shares(port: &Port, link: BitRate, load: &[Offered]) -> Vec<f64> {
    let mut text = String::new();
    for it in load {
        // The device counts a header of 14 bytes.
        let (rate, size) = (it.rate * (it.size - 14.0) / it.size, (it.size - 14.0).round());
        let _ =
            write!(text, "[traffic.\"{}\"]\nmodel = \"cbr\"\nrate = \"{rate:.0}bit/s\"\nsize = \"{size}B\"\n", it.name);
        text += "jitter = 0.5\nfrom = \"lan\"\nto = \"world\"\n";
        it.dscp.iter().for_each(|code| text += &format!("dscp = \"{code}\"\n"));
    }
    let root = toml::parse(&text, 0, &mut Problems::default()).unwrap();
    let load_of_port = Load::stated(&root).unwrap();
    let scenario = with_load(port, link, &load_of_port).text;
    let packets: f64 = load.iter().map(|it| it.rate / it.size / 8.0).sum();
    let slowest = load.iter().map(|it| it.rate / it.size / 8.0).fold(f64::INFINITY, f64::min);
    let duration = (400.0 / slowest).clamp(20.0, 400.0).min((1e6 / packets).max(1.0));
    let options = Options::new("output.toml")
        .setting("duration", &format!("{:.0}ms", 1250.0 * duration))
        .setting("warmup", &format!("{:.0}ms", 250.0 * duration));
    let (scenario, _) = Scenario::parse(&scenario, &options).unwrap_or_else(|found| panic!("{found}\n{scenario}"));
    let outcome = Simulation::new(scenario.plan(1, 0), Default::default()).unwrap().run(|_| true).unwrap();
    let mut shares = vec![0.0; load.len()];
    for flow in &outcome.flows {
        let (sent, dropped) = (flow.counts.sent.packets as f64, flow.counts.dropped.packets as f64);
        shares[flow.table] = dropped / sent.max(1.0);
    }
    shares
}
