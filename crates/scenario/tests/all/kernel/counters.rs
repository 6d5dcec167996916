//! What perhop counts beside the kernel's `tc -s`, read at the same virtual time after the same packets: `lab/cells/counters.toml`
//! says at which cells and what, `lab/records/counters.csv` has the readings.

use crate::kernel::cells::{Cell, Row, cells, folder, ports};
use crate::kernel::replayed::read;
use crate::kernel::verdict::SEEDS;
use perhop_core::counter::Part;
use perhop_core::math::pow;
use std::collections::{BTreeMap, BTreeSet};
use toml_span::Value;

/// Margins of ports that draw: of counts, in parts of what arrived; of delays, in parts; of states, in standard errors.
const SHARE: f64 = 0.01;
const DELAY: f64 = 0.1;
const ERRORS: f64 = 4.0;
const DELAYS: [&str; 3] = ["peak_delay_us", "avg_delay_us", "base_delay_us"];
const STATES: [&str; 10] = [
    "prob",
    "delay",
    "backlog",
    "qlen",
    "maxq",
    "backlog_bytes",
    "sparse_flows",
    "bulk_flows",
    "unresponsive_flows",
    "max_pkt_len",
];
/// `tc` writes sizes of classes in text, to 16 bytes.
const TEXT_BYTES: f64 = 16.0;

/// What a command of the kernel showed: counters by object and name, and the times between which it ran.
#[derive(Default)]
struct Reading {
    times: [u64; 2],
    values: BTreeMap<(String, String), f64>,
}

impl Reading {
    /// A counter of an object that it shows; what its JSON leaves out is 0.
    fn get(&self, key: &(String, String)) -> Option<f64> {
        let known = self.values.keys().any(|(object, _)| *object == key.0);
        known.then(|| self.values.get(key).copied().unwrap_or(0.0))
    }
}

/// What the kernel showed in each cell, run by run, in the order of time.
fn recorded() -> BTreeMap<String, Vec<Vec<Reading>>> {
    let text = std::fs::read_to_string(folder().join("records/counters.csv")).unwrap();
    let mut found: BTreeMap<String, Vec<Vec<Reading>>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let [cell, run, from, to, of, counter, value] = fields[..] else { panic!("{line}") };
        let (runs, run) = (found.entry(cell.to_owned()).or_default(), run.parse::<usize>().unwrap());
        runs.resize_with(runs.len().max(run + 1), Vec::new);
        let times = [from, to].map(|time| time.parse().unwrap());
        if runs[run].last().is_none_or(|shown| shown.times != times) {
            runs[run].push(Reading { times, ..Reading::default() });
        }
        let shown = runs[run].last_mut().unwrap();
        shown.values.insert((of.to_owned(), counter.to_owned()), value.parse().unwrap());
    }
    found
}

/// `lab/cells/counters.toml`: the cells of a table, and what is compared of each kind.
struct Comparison {
    exact: Vec<String>,
    random: Vec<String>,
    compared: BTreeMap<String, BTreeSet<String>>,
    /// By cell the counters that are outside their margins, and why is written.
    explained: BTreeMap<String, BTreeSet<String>>,
}

fn asked() -> Comparison {
    let text = std::fs::read_to_string(folder().join("cells/counters.toml")).unwrap();
    let root = toml_span::parse(&text).unwrap();
    let keys = |table: &str| {
        root.pointer(&format!("/{table}")).unwrap().as_table().unwrap().keys().map(|key| key.name.to_string()).collect()
    };
    let texts =
        |value: &Value<'_>| value.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect();
    let lists = |table: &str, below: &str| {
        let entries = root.pointer(&format!("/{table}")).unwrap().as_table().unwrap().iter();
        let list = |value: &Value<'_>| texts(if below.is_empty() { value } else { value.pointer(below).unwrap() });
        entries.map(|(key, value)| (key.name.to_string(), list(value))).collect()
    };
    let (compared, explained) = (lists("compared", ""), lists("explained", "/counters"));
    Comparison { exact: keys("exact"), random: keys("random"), compared, explained }
}

/// A queueing discipline or a class that a cell's commands make: its parent and kind, by its name.
#[derive(Clone)]
struct Made {
    name: String,
    parent: String,
    kind: String,
}

fn made(commands: &[String]) -> Vec<Made> {
    let of = |command: &String| {
        let words: Vec<_> = command.split(' ').collect();
        let after = |word: &str| words.iter().position(|it| *it == word).map(|at| words[at + 1..].to_vec());
        let id = after("handle").or_else(|| after("classid"))?;
        let parent = after("parent").map_or(String::new(), |rest| rest[0].to_owned());
        let kind = id.get(1)?.to_string();
        (words[0] != "filter").then(|| Made { name: format!("{} {}", words[0], id[0]), parent, kind })
    };
    commands.iter().filter_map(of).collect()
}

fn number(name: &str) -> (u32, u32) {
    let (major, minor) = name.split_once(' ').unwrap().1.split_once(':').unwrap();
    let hex = |text: &str| u32::from_str_radix(text, 16).unwrap_or(0);
    (hex(major), hex(minor))
}

/// The queueing disciplines below a parent, each before those below it.
fn in_order(all: &[Made], parent: &str) -> Vec<Made> {
    let mut here: Vec<_> =
        all.iter().filter(|it| it.name.starts_with("qdisc") && it.parent == parent).cloned().collect();
    here.sort_by_key(|it| number(&it.name));
    here.into_iter().flat_map(|it| [vec![it.clone()], below(all, &it)].concat()).collect()
}

fn below(all: &[Made], qdisc: &Made) -> Vec<Made> {
    let major = number(&qdisc.name).0;
    let of_class = |it: &&Made| it.parent.split(':').next().is_some_and(|of| u32::from_str_radix(of, 16) == Ok(major));
    let mut parents: Vec<_> =
        all.iter().filter(|it| it.name.starts_with("qdisc")).filter(of_class).map(|it| it.parent.clone()).collect();
    parents.sort_by_key(|parent| number(&format!("class {parent}")).1);
    parents.dedup();
    parents.iter().flat_map(|parent| in_order(all, parent)).collect()
}

/// The name and the kind in the kernel of each of perhop's objects.
fn names(cell: &Cell, ours: &BTreeSet<(usize, Part)>) -> BTreeMap<(usize, Part), (String, String)> {
    let commands = ports().into_iter().find(|it| it.name == cell.port).unwrap().commands;
    let all = made(&commands);
    let qdiscs = in_order(&all, "");
    let nodes = ours.iter().filter(|it| matches!(it.1, Part::Shaper | Part::Whole));
    let mut found: BTreeMap<_, _> = nodes.copied().zip(qdiscs).map(|(node, it)| (node, (it.name, it.kind))).collect();
    for &(node, part) in ours {
        let whole = found.get(&(node, Part::Whole)).cloned();
        let named = match (part, whole) {
            (Part::Policer(i), _) => Some((format!("police {}", i + 1), "police".to_owned())),
            (Part::Tin(tin), Some((name, kind))) => Some((format!("{name} tin {tin}"), kind)),
            (Part::Class(i), Some((name, kind))) => {
                let major = number(&name).0;
                let mut classes: Vec<_> =
                    all.iter().filter(|it| it.name.starts_with("class")).map(|it| it.name.clone()).collect();
                classes.retain(|class| number(class).0 == major);
                classes.sort_by_key(|class| number(class));
                Some((classes.get(i).cloned().unwrap_or_else(|| format!("class {major:x}:{:x}", i + 1)), kind))
            }
            _ => None,
        };
        named.into_iter().for_each(|named| _ = found.insert((node, part), named));
    }
    found
}

/// A counter of perhop by the kernel's names, and the kind of its object.
type Ours = BTreeMap<(String, String), (String, f64)>;

/// What perhop has counted of a cell at a time.
fn counted(cell: &Cell, rows: &[Row], seed: u64, at: u64) -> Ours {
    let counters = read(cell, rows, seed, at).unwrap();
    let names = names(cell, &counters.iter().map(|it| (it.0, it.1)).collect());
    let named = |(node, part, counter, value): (usize, Part, &str, f64)| {
        let (name, kind) = names.get(&(node, part))?.clone();
        Some(((name, counter.to_owned()), (kind, value)))
    };
    counters.into_iter().filter_map(named).collect()
}

impl Comparison {
    fn compares(&self, kind: &str, counter: &str) -> bool {
        [kind, "all"].iter().any(|of| self.compared.get(*of).is_some_and(|names| names.contains(counter)))
    }
}

fn chosen(names: &[String]) -> Vec<Cell> {
    cells().into_iter().filter(|cell| names.contains(&cell.name())).collect()
}

/// A counter of the kernel lies between perhop's at the times between which it was read.
#[test]
fn counters_are_those_of_the_kernel() {
    let (asked, recorded) = (asked(), recorded());
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for cell in chosen(&asked.exact) {
        let rows = cell.recorded();
        for shown in &recorded[&cell.name()][0] {
            let [from, to] = shown.times.map(|at| counted(&cell, &rows, 1, at));
            for (key, (kind, first)) in from.iter().filter(|(key, (kind, _))| asked.compares(kind, &key.1)) {
                let Some(theirs) = shown.get(key) else { continue };
                let last = to.get(key).map_or(0.0, |it| it.1);
                let slack = if key.0.starts_with("class") && key.1 == "backlog" { TEXT_BYTES } else { 0.0 };
                seen += 1;
                if theirs < first.min(last) - slack || theirs > first.max(last) + slack {
                    let at = shown.times[0];
                    wrong.push(format!(
                        "{} at {at}: {kind} {key:?} {first} to {last}, the kernel's {theirs}",
                        cell.name()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {seen} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen > 1500, "{seen}");
}

/// Mean, and the square of its standard error.
fn mean(values: &[f64]) -> [f64; 2] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let spread = values.iter().map(|value| pow(value - mean, 2.0)).sum::<f64>() / (n - 1.0);
    [mean, spread / n]
}

/// By how much the means of a counter may differ; `arrived` are the packets and bytes that came until then.
fn margin(counter: &str, theirs: [f64; 2], ours: [f64; 2], arrived: [f64; 2]) -> f64 {
    match counter {
        _ if STATES.contains(&counter) => ERRORS * (theirs[1] + ours[1]).sqrt(),
        _ if DELAYS.contains(&counter) => DELAY * theirs[0],
        "bytes" | "sent_bytes" => SHARE * arrived[1],
        _ => SHARE * arrived[0],
    }
}

/// Ports that draw: the means over the kernel's runs and over perhop's.
#[test]
fn counters_of_random_ports_are_within_the_margins() {
    let (asked, recorded) = (asked(), recorded());
    let (mut wrong, mut seen, mut explained) = (Vec::new(), 0, BTreeMap::<_, BTreeSet<_>>::new());
    for cell in chosen(&asked.random) {
        let (rows, runs) = (cell.recorded(), &recorded[&cell.name()]);
        for (i, shown) in runs[0].iter().enumerate() {
            let at = shown.times[0];
            let came: Vec<_> = rows.iter().filter(|row| row.came <= at).map(|row| f64::from(row.bytes)).collect();
            let arrived = [came.len() as f64, came.iter().sum()];
            let each: Vec<_> = SEEDS.map(|seed| counted(&cell, &rows, seed, at)).collect();
            for (key, (kind, _)) in each[0].iter().filter(|(key, (kind, _))| asked.compares(kind, &key.1)) {
                let Some(theirs) = runs.iter().map(|run| run[i].get(key)).collect::<Option<Vec<_>>>() else { continue };
                let (theirs, ours) = (mean(&theirs), mean(&each.iter().map(|it| it[key].1).collect::<Vec<_>>()));
                seen += 1;
                if (theirs[0] - ours[0]).abs() <= margin(&key.1, theirs, ours, arrived) {
                    continue;
                }
                if asked.explained.get(&cell.name()).is_some_and(|counters| counters.contains(&key.1)) {
                    explained.entry(cell.name()).or_default().insert(key.1.clone());
                } else {
                    wrong.push(format!("{} at {at}: {kind} {key:?} {ours:?}, the kernel's {theirs:?}", cell.name()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {seen} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen > 300, "{seen}");
    assert_eq!(explained, asked.explained, "explanations that are needed, and those that are written");
}
