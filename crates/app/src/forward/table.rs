//! Counts of a forwarder.

use crate::Failure;
use crate::mark;
use perhop_core::packet::Colour;
use perhop_live::{AfPacket, Counts, Dropped, Forwarder, Protocols};
use serde_json::{Map, Value, json};
use std::fmt::Write;

const WAYS: [&str; 2] = ["forward", "reverse"];

/// As a table.
pub(super) fn text(forwarder: &Forwarder<AfPacket>, counts: &[Counts; 2]) -> String {
    let mut out = format!("{:<12} {:>14} {:>14}\n", "frames", WAYS[0], WAYS[1]);
    let mut row = |name: &str, values: [u64; 2]| _ = writeln!(out, "{name:<12} {:>14} {:>14}", values[0], values[1]);
    for (name, value) in FIELDS {
        let values = counts.each_ref().map(value);
        if ALWAYS.contains(name) || values != [0, 0] {
            row(name, values);
        }
    }
    for why in Dropped::ALL {
        let values = counts.each_ref().map(|it| it.lost(why));
        if values != [0, 0] {
            row(why.name(), values);
        }
    }
    for (colour, count) in Colour::ALL.into_iter().zip(forwarder.colours()).filter(|it| it.1.packets > 0) {
        row(colour.name(), [count.packets, 0]);
    }
    protocols(&mut out, forwarder.protocols());
    if let Some(line) = forwarder.host().line() {
        _ = writeln!(out, "{}", line.counts());
    }
    if let Some(way) = counts.iter().position(|it| !it.is_closed()) {
        _ = writeln!(out, "error: the counts of {} do not close: this is a fault of perhop's", WAYS[way]);
    }
    out.trim_end().to_owned()
}

/// Frames that are not IP, if there are any: by EtherType and direction.
fn protocols(out: &mut String, of: &[Protocols; 2]) {
    for (way, protocols) in WAYS.iter().zip(of) {
        for (name, count) in protocols.counts() {
            _ = writeln!(out, "not IP, {way}: {name}: {} frames, {} B", count.packets, count.bytes);
        }
    }
}

/// A name, and what it counts.
type Field = (&'static str, fn(&Counts) -> u64);

const FIELDS: &[Field] = &[
    ("came", |it| it.came),
    ("sent", |it| it.sent),
    ("dropped", |it| Dropped::ALL.into_iter().map(|why| it.lost(why)).sum()),
    ("held", Counts::held),
    ("errors", |it| it.errors),
    ("plain", |it| it.plain),
    ("finished", |it| it.finished),
    ("unfinished", |it| it.unfinished),
    ("marked", |it| it.marked),
];

const ALWAYS: [&str; 5] = ["came", "sent", "dropped", "held", "errors"];

/// As a line of JSON.
pub(super) fn json(forwarder: &Forwarder<AfPacket>, counts: &[Counts; 2]) -> Result<String, Failure> {
    let mut all = Map::new();
    for (way, counts) in WAYS.iter().zip(counts) {
        all.insert((*way).to_owned(), of(counts));
    }
    let protocols = WAYS.iter().zip(forwarder.protocols()).map(|(way, it)| ((*way).to_owned(), by_protocol(it)));
    all.insert("not_ip".into(), Value::Object(protocols.collect()));
    let colours = Colour::ALL.into_iter().map(Colour::name).chain(["dropped"]).zip(forwarder.colours());
    let colours = colours.map(|(name, count)| (name.to_owned(), json!([count.packets, count.bytes])));
    all.insert("colours".into(), Value::Object(colours.collect()));
    if let Some(line) = forwarder.host().line() {
        all.insert("link".into(), json!({ "bit_s": line.rate.bit_s(), "framing": line.framing.name() }));
    }
    mark::json(&all)
}

/// Frames and their bytes.
fn by_protocol(protocols: &Protocols) -> Value {
    Value::Object(protocols.counts().map(|(name, count)| (name, json!([count.packets, count.bytes]))).collect())
}

fn of(counts: &Counts) -> Value {
    let mut all: Map<_, _> = FIELDS.iter().map(|(name, value)| ((*name).to_owned(), value(counts).into())).collect();
    let reasons = Dropped::ALL.into_iter().map(|why| (why.name().to_owned(), counts.lost(why).into()));
    all.insert("dropped".into(), Value::Object(reasons.collect()));
    all.insert("received".into(), counts.received.into());
    all.insert("received_bytes".into(), counts.received_bytes.into());
    all.insert("sent_bytes".into(), counts.sent_bytes.into());
    all.insert("closed".into(), counts.is_closed().into());
    Value::Object(all)
}
