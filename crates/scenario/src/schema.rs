//! JSON Schema of scenario and policy files, made from the declarations of all sections and algorithms.

use crate::expand::dumbbell::Dumbbell;
use crate::sections::conditioner::{Actions, Placement};
use crate::sections::link::{LinkSection, NodeSection};
use crate::sections::queue::{QueueCommon, Shaped, Telling, has_classes};
use crate::sections::rto::{RtoPreset, RtoSection};
use crate::sections::settings::{PolicySettings, Settings};
use crate::sections::stack;
use crate::sections::tcp::TcpSection;
use crate::sections::traffic::TrafficCommon;
use perhop_core::params::{Field, Gives, Kind, Literal, Params};
use perhop_core::registry::Entry;
use perhop_core::{aqm, conditioner as conditioners, sched};
use serde_json::{Map, Value, json};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
const NUMBER: &str = r"[0-9][0-9_]*(\.[0-9_]+)?([eE][+-]?[0-9]+)?\s*";
const TICKETS: &str = "(t/s|kt/s|Mt/s)";
const RATE: &str = "(bit/s|kbit/s|Mbit/s|Gbit/s|bps|kbps|Mbps|Gbps)";
const METER_RATE: &str = "(bit/s|kbit/s|Mbit/s|Gbit/s|bps|kbps|Mbps|Gbps|p/s|kp/s|Mp/s)";
const BURST: &str = "(p|B|kB|MB|GB|KiB|MiB|GiB|ns|us|ms|s|min|h)";
const SIZE: &str = "(B|kB|MB|GB|KiB|MiB|GiB)";
const TIME: &str = "(ns|us|ms|s|min|h)";
/// A key of `[links]`.
const LINK: &str = "^.+( - |->).+$";
/// What a series fills in.
const BRACES: &str = r"\{[^{}]+\}";
const LENGTH: &str = "(p|%|B|kB|MB|GB|KiB|MiB|GiB|ns|us|ms|s|min|h)";

/// Schema of a scenario file.
pub fn schema() -> Value {
    let mut sections = json!({
        "scenario": object(Settings::FIELDS),
        "nodes": { "type": "object", "additionalProperties": object(NodeSection::FIELDS) },
        "links": { "type": "object", "additionalProperties": false,
            "patternProperties": { LINK: object(LinkSection::FIELDS) } },
        "queue": { "type": "object", "additionalProperties": { "$ref": "#/$defs/queue" } },
        "conditioner": { "type": "object", "additionalProperties": { "$ref": "#/$defs/conditioner" } },
        "traffic": { "type": "object", "additionalProperties": { "$ref": "#/$defs/traffic" } },
        "tcp": { "type": "object", "additionalProperties": { "$ref": "#/$defs/tcp" } },
        "dumbbell": object(Dumbbell::FIELDS),
        "sweep": { "type": "object", "additionalProperties": axis(),
            "description": "A key in quotes, as in \"traffic.bulk.flows\", and the list of its values." },
    });
    let mut definitions = json!({
        "queue": queue(),
        "conditioner": conditioner_at_ports(),
        "traffic": chosen("model", None, &perhop_sim::traffic::entries(), &[TrafficCommon::FIELDS]),
        "tcp": object(TcpSection::FIELDS),
    });
    [&mut definitions, &mut sections["links"]].into_iter().for_each(allow_series);
    sections["change"] = change();
    definitions["marker"] = conditioner();
    definitions["marker"]["description"] = json!("A conditioner without `at`.");
    shared(json!({
        "$schema": DRAFT, "title": "perhop scenario", "type": "object", "additionalProperties": false,
        "properties": sections, "$defs": definitions,
    }))
}

/// Makes definitions of the tables that many places have.
fn shared(mut schema: Value) -> Value {
    for name in ["match", "shape"] {
        let mut tables = Vec::new();
        share(&mut schema, name, &mut tables);
        for (i, table) in tables.into_iter().enumerate() {
            schema["$defs"][definition(name, i)] = table;
        }
    }
    schema
}

fn definition(name: &str, i: usize) -> String {
    if i == 0 { name.to_owned() } else { format!("{name}-{}", i + 1) }
}

/// Replaces each table called `name` by a reference, and collects those that differ in more than their description.
fn share(schema: &mut Value, name: &str, tables: &mut Vec<Value>) {
    let Some(map) = schema.as_object_mut() else {
        return schema.as_array_mut().into_iter().flatten().for_each(|it| share(it, name, tables));
    };
    for (key, it) in map {
        match it.as_object_mut().filter(|_| key == name) {
            Some(table) if table.contains_key("properties") => {
                let description = table.remove("description");
                let table = it.take();
                let i = tables.iter().position(|other| *other == table).unwrap_or(tables.len());
                tables.extend((i == tables.len()).then_some(table));
                *it = json!({ "$ref": format!("#/$defs/{}", definition(name, i)), "description": description });
            }
            _ => share(it, name, tables),
        }
    }
}

/// An axis: its values, or a table of values, labels and a name.
fn axis() -> Value {
    let values = json!({ "type": "array", "minItems": 1 });
    json!({ "anyOf": [values, {
        "type": "object",
        "properties": {
            "values": values,
            "labels": { "type": "array", "items": { "type": "string", "minLength": 1 } },
            "as": { "type": "string", "minLength": 1 },
        },
        "required": ["values"],
        "additionalProperties": false,
    }] })
}

/// A queue with its AQM, or a scheduler whose classes have one each.
fn queue() -> Value {
    let mut schema = chosen("aqm", Some("drop-tail"), &aqm::entries(), &[QueueCommon::FIELDS, Shaped::FIELDS]);
    let mut schedulers = chosen("scheduler", None, &sched::entries(), &[Shaped::FIELDS, Telling::FIELDS]);
    let variants = schema["oneOf"].as_array_mut().expect("a list");
    let of_schedulers = schedulers["oneOf"].as_array_mut().expect("a list");
    for (variant, _) in of_schedulers.iter_mut().zip(&sched::entries()).filter(|(_, entry)| !has_classes(entry)) {
        let properties = variant["properties"].as_object_mut().expect("a table");
        Telling::FIELDS.iter().for_each(|field| _ = properties.remove(field.name));
    }
    variants.append(of_schedulers);
    schema
}

/// `[[change]]`: parameters of running algorithms, all optional.
fn change() -> Value {
    let of = |section: &str, list: &[Entry]| {
        let variant = |(i, entry): (usize, &Entry)| {
            let definition = format!("#/$defs/{section}/oneOf/{i}/properties");
            let same = |f: &&Field| (f.name.to_owned(), json!({ "$ref": format!("{definition}/{}", f.name) }));
            let mut properties: Map<_, _> = Field::all(entry.fields).iter().map(same).collect();
            if section == "conditioner" {
                properties.insert("at".into(), json!({ "$ref": format!("{definition}/at/oneOf/2") }));
            }
            json!({ "type": "object", "additionalProperties": false, "properties": properties })
        };
        json!({ "anyOf": list.iter().enumerate().map(variant).collect::<Vec<_>>() })
    };
    let queue = of("queue", &[aqm::entries(), sched::entries()].concat());
    let mut rate = kind(&Kind::Rate);
    allow_series(&mut rate);
    let link =
        json!({ "type": "object", "additionalProperties": false, "properties": { "rate": rate, "queue": queue } });
    let properties = json!({
        "at": quantity(TIME),
        "links": { "type": "object", "additionalProperties": false, "patternProperties": { LINK: link } },
        "queue": { "type": "object", "additionalProperties": queue },
        "conditioner": { "type": "object",
            "additionalProperties": of("conditioner", &conditioners::entries()) },
        "traffic": { "type": "object", "additionalProperties": of("traffic", &perhop_sim::traffic::entries()) },
    });
    json!({ "type": "array", "description": "Changes at a given time: keys as in the sections.", "items":
        { "type": "object", "additionalProperties": false, "required": ["at"], "properties": properties } })
}

/// Allows a series' expressions for quantities and numbers.
fn allow_series(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return schema.as_array_mut().into_iter().flatten().for_each(allow_series);
    };
    if let Some(pattern) = map.get("pattern").and_then(Value::as_str) {
        let either = json!(format!("{pattern}|{BRACES}"));
        map.insert("pattern".into(), either);
    } else if map.get("type").is_some_and(|kind| kind == "integer" || kind == "number") {
        let number: Map<_, _> =
            ["type", "minimum", "maximum"].into_iter().filter_map(|k| map.remove_entry(k)).collect();
        map.insert("anyOf".into(), json!([number, { "type": "string", "pattern": format!("^{BRACES}$") }]));
    } else {
        map.values_mut().for_each(allow_series);
    }
}

/// Schema of a policy file.
pub fn policy_schema() -> Value {
    shared(json!({
        "$schema": DRAFT, "title": "perhop policy", "type": "object", "additionalProperties": false,
        "anyOf": [{ "required": ["conditioner"] }, { "required": ["queue"] }],
        "properties": {
            "policy": object(PolicySettings::FIELDS),
            "conditioner": { "type": "object", "additionalProperties": conditioner() },
            "queue": { "type": "object", "additionalProperties": { "$ref": "#/$defs/queue" } },
        },
        "$defs": { "queue": queue() },
    }))
}

fn conditioner() -> Value {
    chosen("kind", None, &conditioners::entries(), &[Placement::FIELDS, Actions::FIELDS])
}

/// With `at`, which may be a table of ports: then the keys that the kind requires may be there.
fn conditioner_at_ports() -> Value {
    let mut schema = conditioner();
    let variants = schema["oneOf"].as_array_mut().into_iter().flatten();
    for (i, (variant, entry)) in variants.zip(conditioners::entries()).enumerate() {
        let fields = Field::all(entry.fields);
        let same = |f: &&Field| {
            (f.name.to_owned(), json!({ "$ref": format!("#/$defs/conditioner/oneOf/{i}/properties/{}", f.name) }))
        };
        let port: Map<_, _> = fields.iter().map(same).collect();
        let needed: Vec<_> = needed(&fields);
        let required = variant["required"].as_array_mut().expect("a list");
        required.retain(|key| needed.iter().all(|name| key != name));
        required.insert(0, json!("at"));
        variant["anyOf"] = json!([{ "required": needed }, { "properties": { "at": { "type": "object" } } }]);
        variant["properties"]["at"] = json!({
            "description": "The port it sits at, as in \"E1 -> C\", a list, or a table of ports with what differs there.",
            "oneOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                { "type": "object", "minProperties": 1, "additionalProperties":
                    { "type": "object", "additionalProperties": false, "properties": port } },
            ]
        });
    }
    schema
}

/// One variant for each algorithm, distinguished by `key`.
fn chosen(key: &str, default: Option<&str>, list: &[Entry], common: &[&'static [Field]]) -> Value {
    let variant = |entry: &Entry| {
        let fields = common.iter().flat_map(|f| Field::all(f)).chain(Field::all(entry.fields));
        let mut schema = table(&fields.collect::<Vec<_>>());
        schema["properties"][key] = json!({ "const": entry.name });
        schema["description"] = json!(entry.summary.trim());
        if default != Some(entry.name) {
            schema["required"].as_array_mut().expect("a list").push(json!(key));
        }
        schema
    };
    json!({ "oneOf": list.iter().map(variant).collect::<Vec<_>>() })
}

fn object(fields: &'static [Field]) -> Value {
    table(&Field::all(fields))
}

fn table(fields: &[&Field]) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|f| (f.name.to_owned(), property(f))).collect();
    let needed = needed(fields);
    let mut schema =
        json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": needed });
    for (instead, of) in INSTEAD.iter().filter(|(instead, _)| fields.iter().any(|f| f.name == *instead)) {
        let is_of = |name: &&str| of.is_empty() || of.contains(name);
        let (of, others): (Vec<&str>, Vec<&str>) = needed.iter().copied().partition(is_of);
        if !of.is_empty() {
            schema["required"] = json!(others);
            schema["anyOf"] = json!([{ "required": of }, { "required": [instead] }]);
        }
    }
    schema
}

/// Keys that may stand in the place of others: of RED's thresholds, and, as each plan of a template states them, of all that
/// a class needs.
const INSTEAD: [(&str, &[&str]); 2] = [("curve", &["min", "max"]), ("plans", &[])];

fn needed(fields: &[&Field]) -> Vec<&'static str> {
    fields.iter().filter(|f| f.default.is_none() && !f.optional).map(|f| f.name).collect()
}

fn property(field: &Field) -> Value {
    let mut schema = by_hand(field.name).unwrap_or_else(|| kind(&field.kind));
    schema["description"] = json!(field.doc);
    if let Some(default) = field.default {
        schema["default"] = match default {
            Literal::Text(text) => json!(text),
            Literal::Integer(n) => json!(n),
            Literal::Float(x) => json!(x),
            Literal::Bool(b) => json!(b),
        };
    }
    schema
}

fn quantity(units: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^{NUMBER}{units}$") })
}

fn kind(kind: &Kind) -> Value {
    match kind {
        Kind::Rate => quantity(RATE),
        Kind::MeterRate => quantity(METER_RATE),
        Kind::Burst => quantity(BURST),
        Kind::Tickets => quantity(TICKETS),
        Kind::Size => quantity(SIZE),
        Kind::SignedSize => json!({ "type": "string", "pattern": format!("^-?{NUMBER}{SIZE}$") }),
        Kind::Time => quantity(TIME),
        Kind::Count => quantity("p"),
        Kind::Length => quantity(LENGTH),
        Kind::Probability => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Kind::Integer => json!({ "type": "integer", "minimum": 0 }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Dscp => json!({ "anyOf": [{ "type": "string" }, { "type": "integer", "minimum": 0, "maximum": 63 }] }),
        Kind::Choice(names) => json!({ "enum": names }),
        Kind::Table(fields) => object(fields),
        Kind::List(of) => list(&self::kind(of)),
        Kind::OneOrMany(of) => one_or_many(&self::kind(of)),
        Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(self::kind).collect::<Vec<_>>() }),
        Kind::Formula(Gives::Value | Gives::Constant) => json!({ "type": ["string", "number"] }),
        Kind::Formula(Gives::Condition | Gives::Decision) => json!({ "type": "string" }),
        Kind::Named(of) => json!({ "type": "object", "additionalProperties": self::kind(of) }),
        Kind::Flat(_) | Kind::Any => json!({}),
    }
}

fn list(one: &Value) -> Value {
    json!({ "type": "array", "minItems": 1, "items": one })
}

fn one_or_many(one: &Value) -> Value {
    json!({ "anyOf": [one, list(one)] })
}

/// Keys with their own reader: most are a name, or a table.
fn by_hand(name: &str) -> Option<Value> {
    let named_or = |table: Value| json!({ "oneOf": [{ "type": "string" }, table] });
    match name {
        "queue" => Some(named_or(json!({ "$ref": "#/$defs/queue" }))),
        "tcp" => {
            let mut schema = named_or(json!({ "$ref": "#/$defs/tcp" }));
            schema["examples"] = json!(stack::NAMES);
            Some(schema)
        }
        "marker" => Some(json!({ "$ref": "#/$defs/marker" })),
        "rto" => Some(json!({ "oneOf": [{ "enum": RtoPreset::NAMES }, object(RtoSection::FIELDS)] })),
        "protocol" => Some(one_or_many(&json!({ "type": ["string", "integer"] }))),
        _ => None,
    }
}
