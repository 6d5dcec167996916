//! Objects of `tc -j` as statements in the words of commands.

use super::counters::{self, lines};
use super::early::told;
use super::json::Json;
use super::show_output::munged;
use super::words::{Device, Object, Statement, Token, Verb};
use crate::evidence::Counters;
use perhop_core::params::Place;

/// How a number is written as JSON.
#[derive(Clone, Copy)]
enum Unit {
    /// Bytes a second.
    Rate,
    /// Microseconds.
    Us,
    /// Microseconds, made of CoDel's units of 1024 ns.
    Codel,
    /// Nanoseconds.
    Ns,
}

/// Names whose numbers have a unit; all others are as a command has them.
const UNITS: [(&str, Unit); 17] = [
    ("rate", Unit::Rate),
    ("ceil", Unit::Rate),
    ("peakrate", Unit::Rate),
    ("bandwidth", Unit::Rate),
    ("maxrate", Unit::Rate),
    ("low_rate_threshold", Unit::Rate),
    ("defrate", Unit::Rate),
    ("lat", Unit::Us),
    ("rtt", Unit::Us),
    ("refill_delay", Unit::Us),
    ("horizon", Unit::Us),
    ("offload_horizon", Unit::Us),
    ("tupdate", Unit::Us),
    ("target", Unit::Codel),
    ("interval", Unit::Codel),
    ("ce_threshold", Unit::Codel),
    ("timer_slack", Unit::Ns),
];

/// Those of [`UNITS`] that count CoDel's units only at these.
const CODELS: [&str; 2] = ["codel", "fq_codel"];

/// Words of `cake`: name, value as JSON, word of a command; an empty word is none.
const CAKE: [(&str, &str, &str); 16] = [
    ("nat", "true", "nat"),
    ("nat", "false", "nonat"),
    ("wash", "true", "wash"),
    ("wash", "false", "nowash"),
    ("ingress", "true", "ingress"),
    ("ingress", "false", ""),
    ("autorate", "true", "autorate-ingress"),
    ("autorate", "false", ""),
    ("ack-filter", "disabled", "no-ack-filter"),
    ("ack-filter", "enabled", "ack-filter"),
    ("ack-filter", "aggressive", "ack-filter-aggressive"),
    ("split_gso", "true", "split-gso"),
    ("split_gso", "false", "no-split-gso"),
    ("raw", "true", "raw"),
    ("raw", "false", ""),
    ("bandwidth", "unlimited", "unlimited"),
];

/// A statement, and what it counts; `None`: it is no object of tc.
pub(super) fn statement<'a>(
    it: &Json<'a>,
    device: &Device<'a>,
    place: Option<&Token<'a>>,
) -> Option<(Statement<'a>, Vec<Counters>)> {
    let class = it.text("class");
    let kind = it.text("kind").or(class)?;
    let object = match (class.is_some(), it.get("protocol").is_some(), it.get("handle").is_some()) {
        (true, ..) => Object::Class,
        (_, true, _) => Object::Filter,
        (_, _, true) => Object::Qdisc,
        _ => return None,
    };
    let mut device = device.clone();
    if let Some(name) = it.text("dev") {
        device.name = Some(name.clone());
    }
    let mut out = Out { kind, words: Vec::new() };
    match object {
        Object::Filter => out.filter(it, place),
        _ => out.own(it, object),
    }
    let mut tokens = Vec::new();
    it.tokens(&mut tokens);
    let own = |value: &&&Token<'_>| value.line > 0;
    let mut lines: Vec<_> = tokens.iter().filter(own).map(|it| it.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let start = tokens.iter().filter(own).map(|it| it.place.start).min().unwrap_or_default();
    let end = tokens.iter().filter(own).map(|it| it.place.end).max().unwrap_or_default();
    let place = Place { start, end };
    let interface = device.name.as_ref().map(|name| name.text.to_string()).unwrap_or_default();
    let of = it.text("handle").filter(|_| object != Object::Filter).map(|it| it.text.to_string());
    let of = of.unwrap_or_else(|| format!("pref {}", it.text("pref").map_or("", |it| &it.text)));
    let whose = Counters { of, kind: kind.text.to_string(), interface, place, ..Counters::default() };
    let statement = Statement { object, verb: Verb::Shown, device, words: out.words, place, lines };
    Some((statement, counters::of_json(it, &whose)))
}

struct Out<'j, 'a> {
    kind: &'j Token<'a>,
    words: Vec<Token<'a>>,
}

impl<'a> Out<'_, 'a> {
    fn say(&mut self, text: impl Into<String>, at: &Token<'a>) {
        self.words.push(Token { text: text.into().into(), ..at.clone() });
    }

    fn pair(&mut self, name: &str, value: &Token<'a>) {
        self.say(name, value);
        self.words.push(value.clone());
    }

    /// Of a queueing discipline or a class.
    fn own(&mut self, it: &Json<'a>, object: Object) {
        let kind = self.kind.clone();
        if matches!(&*kind.text, "ingress" | "clsact") {
            return self.words.push(kind);
        }
        let root = it.get("root").is_some();
        if let Some(handle) = it.text("handle").filter(|handle| handle.text != "0:" || root) {
            self.pair(if object == Object::Class { "classid" } else { "handle" }, handle);
        }
        match it.text("parent") {
            Some(parent) => self.pair("parent", parent),
            None => self.say("root", &kind),
        }
        if let Some(stab) = it.get("stab") {
            self.say("stab", &kind);
            self.options(stab);
        }
        self.words.push(kind);
        let options = it.get("options").cloned().unwrap_or(Json::Object(Vec::new()));
        self.options(&options);
        if object == Object::Class {
            let head = ["class", "handle", "parent", "root", "dev", "options", "stats", "leaf"];
            let own =
                it.entries().iter().filter(|it| !head.contains(&&*it.0.text) && !lines::JSON.contains_key(&*it.0.text));
            self.options(&Json::Object(own.cloned().collect()));
        }
    }

    /// Names and values as words.
    fn options(&mut self, options: &Json<'a>) {
        for (name, value) in options.entries() {
            match value {
                _ if lines::STATES.split(' ').any(|state| state == name.text) => {}
                Json::One(value) if name.text.is_empty() => self.words.push(value.clone()),
                Json::One(value) => self.option(name, value),
                Json::List(items) => {
                    self.words.push(name.clone());
                    self.words.extend(items.iter().filter_map(|it| it.one().cloned()));
                }
                Json::Object(_) => self.group(name, value),
            }
        }
    }

    fn option(&mut self, name: &Token<'a>, value: &Token<'a>) {
        if self.kind.text == "cake" && self.cake(name, value) {
            return;
        }
        match (&*name.text, &*value.text) {
            ("pacing" | "ecn" | "bytemode" | "dq_rate_estimator", "false") if self.kind.text == "fq" => {
                self.say("nopacing", name)
            }
            (_, "false") => {}
            (_, "true" | "null") => self.words.push(name.clone()),
            _ => {
                self.words.push(name.clone());
                let text = self.with_unit(&name.text, &value.text);
                self.say(text, value);
            }
        }
    }

    fn cake(&mut self, name: &Token<'a>, value: &Token<'a>) -> bool {
        if let Some(row) = CAKE.iter().find(|row| row.0 == name.text && row.1 == value.text) {
            if !row.2.is_empty() {
                self.say(row.2, value);
            }
            return true;
        }
        let word = matches!(&*name.text, "diffserv" | "flowmode" | "atm");
        if word {
            self.words.push(value.clone());
        }
        word
    }

    fn with_unit(&self, name: &str, value: &str) -> String {
        let unit = UNITS.iter().find(|it| it.0 == name).map(|it| it.1);
        let (Some(unit), Ok(number)) = (unit, value.parse::<u64>()) else { return value.to_owned() };
        match unit {
            Unit::Rate => format!("{}bit", number.saturating_mul(8)),
            Unit::Codel if CODELS.contains(&&*self.kind.text) => format!("{}us", told(number).ns() / 1000),
            Unit::Us | Unit::Codel => format!("{number}us"),
            Unit::Ns => format!("{number}ns"),
        }
    }

    /// `"delay": { "delay": 0.01, "jitter": 0.002, "correlation": 0 }` of `netem`, and others in groups.
    fn group(&mut self, name: &Token<'a>, group: &Json<'a>) {
        let numbers = |names: &[&str]| -> Vec<(f64, Token<'a>)> {
            let number = |name: &&str| group.text(name).and_then(|it| Some((it.text.parse().ok()?, it.clone())));
            names.iter().filter_map(number).collect()
        };
        let (word, names): (&str, &[&str]) = match &*name.text {
            "delay" => {
                self.words.push(name.clone());
                for (i, (s, at)) in numbers(&["delay", "jitter"]).into_iter().enumerate() {
                    if i == 0 || s > 0.0 {
                        self.say(format!("{}us", (s * 1e6).round()), &at);
                    }
                }
                return self.correlation(&numbers(&["correlation"]));
            }
            "rate" => {
                self.words.push(name.clone());
                for (i, (number, at)) in
                    numbers(&["rate", "packetoverhead", "cellsize", "celloverhead"]).into_iter().enumerate()
                {
                    let text = if i == 0 { format!("{}bit", number * 8.0) } else { format!("{number}") };
                    self.say(text, &at);
                }
                return;
            }
            "loss-random" => ("loss", &["loss"]),
            "loss-state" => ("loss state", &["p13", "p31", "p32", "p23", "p14"]),
            "loss-gemodel" => ("loss gemodel", &["p", "r", "1-h", "1-k"]),
            "duplicate" => ("duplicate", &["duplicate"]),
            "reorder" => ("reorder", &["reorder"]),
            "corrupt" => ("corrupt", &["corrupt"]),
            "slot" => ("slot", &[]),
            _ => return self.words.push(name.clone()),
        };
        word.split(' ').for_each(|word| self.say(word, name));
        for (share, at) in numbers(names) {
            self.say(format!("{}%", share * 100.0), &at);
        }
        self.correlation(&numbers(&["correlation"]));
    }

    fn correlation(&mut self, numbers: &[(f64, Token<'a>)]) {
        for (share, at) in numbers.iter().filter(|it| it.0 > 0.0) {
            self.say(format!("{}%", share * 100.0), at);
        }
    }

    fn filter(&mut self, it: &Json<'a>, place: Option<&Token<'a>>) {
        let Some(options) = it.get("options") else { return };
        let words: Vec<_> =
            options.entries().iter().filter(|it| it.0.text.is_empty()).filter_map(|it| it.1.one()).collect();
        let after = |name: &str| words.iter().position(|it| it.text == name).and_then(|at| words.get(at + 1)).copied();
        let handle = options.text("handle").or_else(|| options.text("fh")).or_else(|| after("handle"));
        let Some(handle) = handle.filter(|it| !it.text.ends_with(':')) else { return };
        if let Some(parent) = it.text("parent").or(place) {
            self.pair("parent", parent);
        }
        for name in ["protocol", "pref"] {
            it.text(name).into_iter().for_each(|value| self.pair(name, value));
        }
        self.pair("handle", handle);
        self.words.push(self.kind.clone());
        for (name, value) in options.entries() {
            match (&*name.text, value) {
                ("handle" | "fh" | "order", _) => {}
                ("flowid" | "classid", Json::One(value)) => self.pair("flowid", value),
                ("keys", keys) => self.keys(keys),
                ("match", found) => self.matched(name, found),
                ("actions", Json::List(actions)) => actions.iter().for_each(|action| self.action(action)),
                _ => {}
            }
        }
        if let Some(class) = after("classid").or_else(|| after("flowid")) {
            self.pair("flowid", class);
        }
        if options.text("kind").is_some() {
            self.action(options);
        }
    }

    /// Of `flower`.
    fn keys(&mut self, keys: &Json<'a>) {
        for (name, value) in keys.entries() {
            if let (Some(first), Some(last)) = (value.text("start"), value.text("end")) {
                self.words.push(name.clone());
                self.say(format!("{}-{}", first.text, last.text), first);
            }
            let Some(value) = value.one().filter(|_| !name.text.ends_with("_mask")) else { continue };
            let mask = keys.text(&format!("{}_mask", name.text));
            self.words.push(name.clone());
            match mask {
                Some(mask) => self.say(format!("{}/0x{}", value.text, mask.text.trim_start_matches("0x")), value),
                None => self.words.push(value.clone()),
            }
        }
    }

    /// Of `u32`.
    fn matched(&mut self, name: &Token<'a>, found: &Json<'a>) {
        self.words.push(name.clone());
        match (found.text("value"), found.text("mask"), found.text("off")) {
            (Some(value), Some(mask), Some(off)) => {
                self.say(format!("{}/{}", value.text, mask.text), value);
                self.pair("at", off);
            }
            // With -p tc prints names, and two of them within each other.
            _ => self.say("as-printed-with-p", name),
        }
    }

    /// A key of `pedit`.
    fn pedit(&mut self, key: &Json<'a>, at: &Token<'a>) {
        let text = |name: &str| key.text(name).map_or("", |it| &*it.text);
        let hex = |name: &str| u32::from_str_radix(text(name), 16).ok();
        let words = match (text("htype"), text("offset"), hex("val"), hex("mask")) {
            ("ipv4" | "ip" | "network", "0", Some(value), Some(mask)) => munged([value, mask], 16, false),
            ("ipv6" | "ip6", "0", Some(value), Some(mask)) => munged([value, mask], 20, true),
            _ => "munge".to_owned(),
        };
        words.split(' ').for_each(|word| self.say(word, at));
    }

    fn action(&mut self, action: &Json<'a>) {
        let Some(kind) = action.text("kind") else { return };
        self.say("action", kind);
        self.words.push(kind.clone());
        let control: Vec<_> = action
            .entries()
            .iter()
            .filter(|it| it.0.text == "control_action")
            .filter_map(|it| it.1.text("type"))
            .collect();
        let named = [
            "index",
            "pkts_rate",
            "pkts_burst",
            "mtu",
            "burst",
            "overhead",
            "linklayer",
            "mark",
            "priority",
            "rate",
            "peakrate",
        ];
        if kind.text == "mirred" {
            for name in ["direction", "mirred_action", "to_dev"] {
                let word = if name == "to_dev" { "dev" } else { "" };
                let Some(value) = action.text(name) else { continue };
                if !word.is_empty() {
                    self.say(word, value);
                }
                self.words.push(value.clone());
            }
            return;
        }
        if let Some(Json::List(keys)) = action.get("keys").filter(|_| kind.text == "pedit") {
            keys.iter().for_each(|key| self.pedit(key, kind));
        }
        for (name, value) in action.entries() {
            if let Some(value) = value.one().filter(|_| {
                named.contains(&&*name.text) && (kind.text == "police" || matches!(&*name.text, "mark" | "priority"))
            }) {
                self.option(name, value);
            }
        }
        match (&*kind.text, &control[..]) {
            ("police", [exceed]) => {
                self.say("conform-exceed", exceed);
                self.words.push((*exceed).clone());
            }
            ("police", [exceed, conform, ..]) => {
                self.say("conform-exceed", exceed);
                self.say(format!("{}/{}", exceed.text, conform.text), exceed);
            }
            (_, [first, ..]) => self.words.push((*first).clone()),
            _ => {}
        }
    }
}
