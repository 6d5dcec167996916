//! perhop's keys for the words of tc.

use super::actions::POLICE;
use super::options::{Discipline, Does, Fixed, Row, Takes};
use super::table::{DISCIPLINES, STAB};
use crate::equivalents::{self, Equivalent};
use crate::model::Kind;
use perhop_core::params::Tree;

/// Filters and their actions: which no table of options reads.
const FILTERS: &[(&str, &str, &str)] = &[
    ("filter", "clsact", "the place of conditioners at a port"),
    ("filter", "egress", "conditioners of packets that go out"),
    ("filter", "ingress", "conditioners of packets that come in"),
    ("filter", "matchall", "every packet"),
    ("filter", "flower", "`match`, of the fields below"),
    (
        "filter",
        "fw",
        "`match` by `conditioner`, if a filter before it marks so; else a `traffic` called after the mark",
    ),
    ("filter", "u32", "`match`, of the fields that perhop has"),
    ("filter", "basic", "`match`, of the fields that perhop has"),
    ("filter", "protocol", "the version of IP"),
    ("filter", "prio", "the order of filters"),
    ("filter", "handle", "the mark of `fw`"),
    ("filter", "flowid", "the class, or the conditioner, that takes the packet"),
    ("flower", "ip_proto", "`protocol`"),
    ("flower", "src_ip", "`source`"),
    ("flower", "dst_ip", "`destination`"),
    ("flower", "src_port", "`source-port`"),
    ("flower", "dst_port", "`destination-port`"),
    ("flower", "ip_tos", "`dscp` and `ecn`"),
    ("action", "police", "a conditioner `token-bucket`"),
    ("action", "conform-exceed", "`red` and `green`: `drop`, `ok` is `transmit`, `pipe` and `continue` are `next`"),
    ("action", "pedit", "`mark X`, of a code point set in `dsfield` or `traffic_class`"),
    ("action", "csum", "nothing: perhop's packets have no checksum"),
    ("action", "skbedit", "what a packet has passed: `match` by `conditioner`"),
];

/// What perhop's schedulers and conditioners are, where a key is no option.
const fn equivalent(of: &'static str, key: &'static str, line: &'static str, note: &'static str) -> Equivalent {
    Equivalent { of, key, line, note }
}

const FILTER: &str = "tc filter .. flower .. flowid CLASS";
const BANDS: &str = "prio bands N priomap ..";
const CLASSFUL: &str = "ets|drr|htb|hfsc";
const LIMITED: &str = "action police rate BPS burst BYTES conform-exceed drop/ok";

/// Keys that are separate commands.
pub const EQUIVALENTS: &[Equivalent] = &[
    equivalent("strict-priority", "classes[].name", BANDS, "a number"),
    equivalent(CLASSFUL, "classes[].name", "tc class .. classid CLASS", "a number"),
    equivalent("htb|hfsc", "classes[].parent", "tc class .. parent CLASS", "a number"),
    equivalent("strict-priority|ets", "classes[].for", FILTER, "or `priomap`"),
    equivalent("drr|htb|hfsc", "classes[].for", FILTER, ""),
    equivalent("strict-priority|ets|drr|htb|hfsc", "classes[].match", FILTER, ""),
    equivalent("strict-priority", "classes[].rate", LIMITED, "of its filter; `always` only"),
    equivalent("strict-priority", "classes[].burst", LIMITED, "bytes"),
    equivalent("strict-priority", "classes[].queue", BANDS, "a queueing discipline below the band"),
    equivalent(CLASSFUL, "classes[].queue", "tc qdisc .. parent CLASS", ""),
    equivalent("[queue]", "limit", "tc qdisc .. limit", "packets or bytes by the queueing discipline"),
    equivalent("[queue]", "drop", "pfifo_head_drop limit N", "packets"),
    equivalent(
        "marker",
        "colour",
        "action pedit ex munge ip dsfield set X retain 0xfc pipe action csum ip4h",
        "the code point of the colour's action",
    ),
    equivalent("actions", "green", "conform-exceed DROP/OK", "the second word"),
    equivalent("actions", "red", "conform-exceed DROP/OK", "the first word"),
    equivalent("match", "dscp", "flower ip_tos X/0xfc", "the octet"),
    equivalent("match", "ecn", "flower ip_tos X/0x03", "the octet"),
    equivalent("match", "protocol", "flower ip_proto X", ""),
    equivalent("match", "source", "flower src_ip A/N", ""),
    equivalent("match", "destination", "flower dst_ip A/N", ""),
    equivalent("match", "source-port", "flower src_port N", ""),
    equivalent("match", "destination-port", "flower dst_port N", ""),
    equivalent("match", "conditioner", "handle MARK/MARK fw", "the mark is `action skbedit` of the conditioner"),
    equivalent("[links]", "queue", "tc qdisc add dev DEV root ..", ""),
    equivalent("[links]", "rate", "htb rate BPS", "a class above all, unless something else holds the port to it"),
];

/// Every word that is read.
pub fn rows() -> Vec<equivalents::Row> {
    let of = |it: &'static Discipline| {
        let class = format!("{} class", it.name);
        let own = it.rows.iter().map(|row| shown(it.name.to_owned(), row));
        own.chain(it.class_rows.iter().map(move |row| shown(class.clone(), row))).collect::<Vec<_>>()
    };
    let all = DISCIPLINES.iter().copied().flat_map(of);
    let police = POLICE.iter().map(|row| shown("police".to_owned(), row));
    let stab = STAB.iter().map(|row| shown("stab".to_owned(), row));
    let filters = FILTERS.iter().map(|&(of, word, means)| equivalents::Row {
        of: of.to_owned(),
        word: word.to_owned(),
        value: String::new(),
        means: means.to_owned(),
    });
    all.chain(police).chain(stab).chain(filters).collect()
}

/// The words of tc for a key of an algorithm or section: discipline, word and value.
pub fn words(of: &str, key: &str) -> Vec<equivalents::Row> {
    let last = key.rsplit("[].").next().unwrap_or(key);
    let quoted = format!("`{last}`");
    let says = move |row: &&Row| match row.does {
        Does::Sets(it) | Does::Says(it, _) => it == last,
        Does::Makes(how) | Does::Parts(.., how) => how.contains(&quoted),
        _ => false,
    };
    let tables: Vec<(String, &[Row])> = match of {
        "shape" => discipline("tbf"),
        "token-bucket" => vec![("police".to_owned(), POLICE)],
        "[links]" => discipline("netem"),
        // `limit` of a queue, whatever its AQM.
        "[queue]" => {
            let queues =
                DISCIPLINES.iter().filter(|it| !matches!(it.kind, Some(Kind::Scheduler(_))) && it.name != "netem");
            queues.flat_map(|it| discipline(it.name)).collect()
        }
        of => DISCIPLINES.iter().filter(|it| kind(it) == Some(of)).flat_map(|it| discipline(it.name)).collect(),
    };
    let in_class = key.contains("[].");
    let fits = |(name, _): &(String, &[Row])| !in_class || name.ends_with(" class") || name == "ets";
    tables
        .into_iter()
        .filter(fits)
        .flat_map(|(name, rows)| rows.iter().filter(&says).map(move |row| shown(name.clone(), row)).collect::<Vec<_>>())
        .collect()
}

fn kind(it: &Discipline) -> Option<&'static str> {
    it.kind.map(|kind| match kind {
        Kind::Aqm(name) | Kind::Scheduler(name) => name,
    })
}

fn discipline(name: &str) -> Vec<(String, &'static [Row])> {
    let found = DISCIPLINES.iter().find(|it| it.name == name);
    found.map_or_else(Vec::new, |it| vec![(it.name.to_owned(), it.rows), (format!("{} class", it.name), it.class_rows)])
}

fn shown(of: String, row: &Row) -> equivalents::Row {
    equivalents::Row { of, word: row.word.to_owned(), value: unit(row.takes).to_owned(), means: means(row.does) }
}

const fn unit(takes: Takes) -> &'static str {
    match takes {
        Takes::Nothing => "",
        Takes::Rate => "RATE",
        Takes::Size | Takes::Burst | Takes::Bytes | Takes::Signed => "BYTES",
        Takes::Packets | Takes::SizeInPackets | Takes::Count | Takes::Real => "N",
        Takes::Time => "TIME",
        Takes::TimeNs => "NS",
        Takes::Percent => "SHARE",
        Takes::Word | Takes::Words(_) | Takes::Several => "WORD",
        Takes::Numbers => "N ..",
    }
}

fn means(does: Does) -> String {
    match does {
        Does::Sets(key) => format!("`{key}`"),
        Does::Says(key, value) => format!("`{key} = {}`", literal(value)),
        Does::Clears(key) => format!("no `{key}`"),
        Does::Makes(how) | Does::Parts(.., how) => how.to_owned(),
        Does::Same(why) => format!("nothing: {why}"),
        Does::Nearly(how) => format!("approximated: {how}"),
        Does::Lost(why) => format!("not modelled: {why}"),
    }
}

fn literal(value: Fixed) -> String {
    match value.value().tree() {
        Tree::Text(text) => format!("\"{text}\""),
        tree => tree.to_string(),
    }
}
