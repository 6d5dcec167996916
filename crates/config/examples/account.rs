//! What became of a text: `account --from tc|ios [--link 100Mbit/s] [--interface X] [--direction output] [--platform ios]`
//! reads a configuration from standard input and prints its account, model and counters as JSON.

use perhop_config::dialect::Read;
use perhop_config::import_options::{ImportOptions, Platform};
use perhop_config::model::{Act, Conditioner, Filter, Kind, Port, Queue, Way};
use perhop_config::text::Text;
use perhop_config::value::{Origin, Settings, WithOrigin};
use perhop_core::params::{Tree, show_table};
use serde_json::{Map, Value, json};
use std::io::Read as _;

fn main() {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).expect("standard input");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1].as_str());
    let from = option("--from").expect("--from NAME");
    let dialect = perhop_config::import::DIALECTS.iter().find(|dialect| dialect.name == from).expect("a dialect");
    let text = Text::new(&bytes);
    if arguments.iter().any(|argument| argument == "--counts") {
        let read = (dialect.read)(&text, &given(option));
        let counts =
            read.map(|it| (it.account.lines.len(), it.device.ports.len(), it.evidence.len(), it.findings.len()));
        return println!("lines, ports, counters, findings: {counts:?}");
    }
    let mut answer = said(&text, (dialect.read)(&text, &given(option)));
    if arguments.iter().any(|argument| argument == "--stubs") {
        answer["stubs"] = stubs((dialect.read)(&text, &given(option)));
    }
    println!("{answer}");
}

fn given<'a>(option: impl Fn(&str) -> Option<&'a str>) -> ImportOptions {
    let way = |name: &str| if name == "input" { Way::Input } else { Way::Output };
    let platform = |name: &str| Platform::NAMED.iter().find(|(known, _)| *known == name).map(|(_, platform)| *platform);
    ImportOptions {
        link: option("--link").map(|rate| rate.parse().expect("a rate")),
        interface: option("--interface").map(str::to_owned),
        way: option("--direction").map(way),
        platform: option("--platform").and_then(platform).unwrap_or_default(),
        ..ImportOptions::default()
    }
}

fn said(text: &Text, read: Result<Read, perhop_config::finding::Fault>) -> Value {
    match read {
        Ok(read) => json!({
            "account": account(text, &read),
            "device": { "ports": read.device.ports.iter().map(port).collect::<Vec<_>>() },
            "evidence": evidence(&read),
            "findings": read.findings.iter().map(|it| json!({ "code": it.code, "message": it.message, "instead": it.instead }))
                .collect::<Vec<_>>(),
        }),
        Err(fault) => json!({ "fault": { "code": fault.code, "message": fault.message, "help": fault.help,
            "line": fault.place.map(|place| text.line_of(place)) } }),
    }
}

/// What is wrong with the scenario of each port.
fn stubs(read: Result<Read, perhop_config::finding::Fault>) -> Value {
    let ports = read.map(|read| read.device.ports).unwrap_or_default();
    let errors = |port: &Port| {
        let text = perhop_config::stub::stub(port, perhop_core::units::BitRate::mbps(1_000)).text;
        match perhop_scenario::Sweep::parse(&text, &perhop_scenario::Options::new("stub.toml")) {
            Ok(_) => Value::Null,
            Err(found) => json!({
                "port": port.interface.is,
                "errors": found.list.iter().filter(|it| it.severity == perhop_core::params::Severity::Error)
                    .map(ToString::to_string).collect::<Vec<_>>(),
                "text": text,
            }),
        }
    };
    Value::Array(ports.iter().map(errors).filter(|it| !it.is_null()).collect())
}

fn account(text: &Text, read: &Read) -> Value {
    let lines: Vec<_> = text.lines().collect();
    let entry = |(number, entry): (&usize, &perhop_config::account::Entry)| {
        let line = lines.get(number - 1).map_or("", |line| line.text.trim());
        (number.to_string(), json!({ "verdict": entry.verdict.name(), "notes": entry.notes, "text": line }))
    };
    Value::Object(read.account.lines.iter().map(entry).collect())
}

fn evidence(read: &Read) -> Value {
    let one = |it: &perhop_config::evidence::Counters| json!({ "of": it.of, "kind": it.kind, "interface": it.interface, "way": it.way.map(Way::name), "counts": it.counts });
    Value::Array(read.evidence.iter().map(one).collect())
}

fn port(port: &Port) -> Value {
    json!({
        "interface": port.interface.is,
        "way": port.way.name(),
        "accounting": port.accounting.as_ref().map(|it| it.is),
        "link": settings(&port.link),
        "conditioners": port.conditioners.iter().map(conditioner).collect::<Vec<_>>(),
        "queue": port.queue.as_ref().map(queue),
    })
}

fn conditioner(it: &Conditioner) -> Value {
    let acts = |acts: &WithOrigin<Vec<Act>>| acts.is.iter().map(act).collect::<Vec<_>>();
    let actions: Map<_, _> =
        it.actions.iter().map(|(colour, list)| (colour.name().to_owned(), json!(acts(list)))).collect();
    json!({ "name": it.name.is, "takes": filters(&it.takes), "kind": it.kind, "settings": settings(&it.settings), "actions": actions })
}

fn act(act: &Act) -> String {
    match act {
        Act::Transmit => "transmit".into(),
        Act::Drop => "drop".into(),
        Act::Mark(dscp) => format!("mark {dscp}"),
        Act::Colour(colour) => format!("colour {}", colour.name()),
        Act::Next => "next".into(),
    }
}

fn queue(it: &Queue) -> Value {
    let kind = it.kind.map(|kind| match kind {
        Kind::Aqm(name) => json!({ "aqm": name }),
        Kind::Scheduler(name) => json!({ "scheduler": name }),
    });
    let class = |class: &perhop_config::model::Class| {
        json!({
            "name": class.name.is,
            "parent": class.parent,
            "takes": filters(&class.takes),
            "rest": class.rest,
            "settings": settings(&class.settings),
            "queue": class.queue.as_ref().map(queue),
        })
    };
    let classes: Vec<_> = it.classes.iter().map(class).collect();
    json!({ "name": it.name.is, "kind": kind, "settings": settings(&it.settings), "shape": settings(&it.shape), "classes": classes })
}

fn filters(list: &[Filter]) -> Value {
    let one = |filter: &Filter| json!({ "order": filter.order, "match": tree(&show_table(&filter.matches.is)) });
    Value::Array(list.iter().map(one).collect())
}

fn settings(settings: &Settings) -> Value {
    let one = |(key, said): (&'static str, &WithOrigin<perhop_config::value::Value>)| {
        let value = match said.origin {
            Origin::Text(_) => json!({ "value": tree(&said.is.tree()) }),
            Origin::Assumed(source) => json!({ "value": tree(&said.is.tree()), "assumed": source }),
        };
        (key.to_owned(), value)
    };
    Value::Object(settings.iter().map(one).collect())
}

fn tree(it: &Tree) -> Value {
    match it {
        Tree::Text(text) => json!(text),
        Tree::Integer(number) => json!(number),
        Tree::Float(number) => json!(number),
        Tree::Bool(flag) => json!(flag),
        Tree::List(items) => Value::Array(items.iter().map(|item| tree(&item.tree)).collect()),
        Tree::Table(table) => {
            Value::Object(table.entries.iter().map(|(key, _, node)| (key.clone(), tree(&node.tree))).collect())
        }
    }
}
