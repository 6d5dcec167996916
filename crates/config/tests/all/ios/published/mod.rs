//! Published outputs of `show policy-map interface` and its relatives: what each states is read without loss.
//!
//! A text of `published/` has the structure and the numbers of an output, with other names, addresses and interfaces, and fewer classes
//! where they are alike. Behind `! facts` stands what it states, made from the output by another program than the reader.

use crate::ios::hand::{given, try_read};
use perhop_config::account::Verdict;
use perhop_config::dialect::Read;
use perhop_config::model::{Conditioner, Filter, Kind, Port, Queue};
use perhop_config::value::{Settings, Value, WithOrigin};
use std::collections::BTreeMap;
use std::path::PathBuf;

mod judged;
mod table;

fn text(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ios/published").join(format!("{name}.txt"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The facts that a text has behind it.
fn stated(text: &str) -> Vec<&str> {
    let (_, facts) = text.split_once("! facts\n").unwrap();
    facts.lines().filter_map(|line| line.strip_prefix("! ")).collect()
}

#[test]
fn what_is_published_is_read() {
    let mut wrong = String::new();
    for (name, _) in table::OUTPUTS {
        let text = text(name);
        let read = try_read(&text, &given()).unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        let mut found = facts(&read);
        found.sort();
        let stated = stated(&text);
        let more = found.iter().filter(|it| !stated.contains(&it.as_str())).map(|it| format!("read: {it}"));
        let less = stated.iter().filter(|it| !found.iter().any(|found| found == *it)).map(|it| format!("stated: {it}"));
        let lines = || text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('!'));
        let verdict = |number: usize| read.account.lines.get(&number).map(|entry| entry.verdict.clone());
        // The address of a far end is not shown.
        let is_lost = |(line, number): &(&str, usize)| match verdict(*number) {
            None => !line.contains("<-->"),
            Some(verdict) => verdict == Verdict::NotModelled,
        };
        let lost = lines().filter(is_lost).map(|(line, _)| format!("lost: {}", line.trim()));
        let count = (found.len() != stated.len()).then(|| format!("{} facts, not {}", found.len(), stated.len()));
        for fault in more.chain(less).chain(lost).chain(count) {
            wrong += &format!("{name}: {fault}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The table has every text, and every address once for each.
#[test]
fn every_text_is_in_the_table() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ios/published");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".txt")?.to_owned()))
        .collect();
    files.sort();
    let mut names: Vec<_> = table::OUTPUTS.iter().map(|it| it.0.to_owned()).collect();
    names.sort();
    assert_eq!(files, names);
    assert!(names.len() >= 40);
}

/// What a device states, a line each.
fn facts(read: &Read) -> Vec<String> {
    let mut all = Vec::new();
    for port in &read.device.ports {
        of_port(port, &mut all);
    }
    for counters in &read.evidence {
        let of = last(&counters.of);
        if let (Some(offered), Some(dropped)) = (counters.counts.get("offered_bps"), counters.counts.get("drop_bps")) {
            all.push(format!("rates {of}: {offered} {dropped}"));
        }
        if let Some(drops) = counters.counts.get("total_drops") {
            all.push(format!("drops {of}: {drops}"));
        }
    }
    all
}

fn of_port(port: &Port, all: &mut Vec<String>) {
    all.push(format!("port {} {}", port.interface.is, port.way.name()));
    let mut matches: BTreeMap<&str, String> = BTreeMap::new();
    for meter in &port.conditioners {
        matches.entry(last(&meter.name.is)).or_insert_with(|| takes(&meter.takes));
        if meter.kind != "marker" {
            all.push(format!("meter {}: {} {}", last(&meter.name.is), meter.kind, said(&meter.settings)));
        }
        all.extend(marks(meter));
    }
    port.queue.iter().for_each(|queue| of_queue(queue, &mut matches, all));
    let known = matches.iter().filter(|(name, takes)| **name != "class-default" && !takes.is_empty());
    all.extend(known.map(|(name, takes)| format!("match {name}: {takes}")));
}

fn of_queue<'a>(queue: &'a Queue, matches: &mut BTreeMap<&'a str, String>, all: &mut Vec<String>) {
    if !queue.shape.is_empty() {
        all.push(format!("shape: {}", said(&queue.shape)));
    }
    match queue.kind {
        Some(Kind::Aqm(kind)) | Some(Kind::Scheduler(kind @ "fq-codel")) => all.push(format!("queue: {kind}")),
        _ => {}
    }
    if let Some(limit) = queue.settings.get("limit").filter(|it| it.origin.place().is_some()) {
        all.push(format!("limit: {}", number(limit)));
    }
    for class in &queue.classes {
        if !class.takes.is_empty() && class.takes.iter().all(|it| it.matches.is.conditioner.is_empty()) {
            matches.entry(&class.name.is).or_insert_with(|| takes(&class.takes));
        }
        let is_strict = queue.kind == Some(Kind::Scheduler("strict-priority")) && !class.rest;
        if is_strict {
            let same = if class.settings.get("same-level").is_some() { " same-level" } else { "" };
            all.push(format!("priority {}: {}{same}", class.name.is, said(&class.settings)));
        }
        class.queue.iter().for_each(|queue| of_queue(queue, matches, all));
    }
}

/// Code points that a conditioner writes.
fn marks(meter: &Conditioner) -> Vec<String> {
    let mut codes: Vec<u8> = Vec::new();
    for act in meter.actions.iter().flat_map(|it| &it.1.is) {
        if let perhop_config::model::Act::Mark(code) = act {
            codes.push(code.get());
        }
    }
    codes.dedup();
    codes.iter().map(|code| format!("mark {}: {code}", last(&meter.name.is))).collect()
}

/// Code points, and names of traffic.
fn takes(filters: &[Filter]) -> String {
    let mut codes: Vec<u8> = filters.iter().flat_map(|it| it.matches.is.dscp.iter().map(|code| code.get())).collect();
    codes.sort_unstable();
    let mut names: Vec<String> = codes.iter().map(u8::to_string).collect();
    let parts = |name: &String| name.split('+').next_back().unwrap_or_default().to_owned();
    let mut traffic: Vec<_> = filters.iter().flat_map(|it| it.matches.is.traffic.iter().map(parts)).collect();
    traffic.sort();
    let protocols = filters.iter().flat_map(|it| it.matches.is.protocol.iter().map(|it| format!("protocol-{}", it.0)));
    names.extend(traffic.into_iter().chain(protocols));
    names.join(" ")
}

/// What the text states of some keys.
fn said(settings: &Settings) -> String {
    let said = settings.iter().filter(|(_, said)| said.origin.place().is_some());
    let mut list: Vec<_> = said.map(|(key, said)| format!("{key} {}", number(said))).collect();
    list.sort();
    list.join(" ")
}

fn number(said: &WithOrigin<Value>) -> String {
    match &said.is {
        Value::Rate(rate) => rate.bit_s().to_string(),
        Value::PacketRate(rate) => format!("{}p/s", rate.packets_s()),
        Value::Bytes(bytes) => format!("{}B", bytes.get()),
        Value::Packets(packets) => format!("{}p", packets.get()),
        Value::Time(span) => format!("{}ns", span.ns()),
        Value::Word(word) => word.clone(),
        other => format!("{other:?}"),
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
