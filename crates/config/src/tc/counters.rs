//! What `tc -s` counts.

use super::json::Json;
use super::units;
use super::words::Token;
use crate::evidence::Counters;

/// Counters that are printed as a name and a number: as printed, as they are called here.
const NAMED: [(&str, &str); 58] = [
    ("requeues", "requeues"),
    ("lended", "lended"),
    ("borrowed", "borrowed"),
    ("giants", "giants"),
    ("tokens", "tokens"),
    ("ctokens", "ctokens"),
    ("period", "period"),
    ("level", "level"),
    ("deficit", "deficit"),
    ("direct_packets_stat", "direct_packets_stat"),
    ("maxpacket", "maxpacket"),
    ("drop_overlimit", "drop_overlimit"),
    ("new_flow_count", "new_flow_count"),
    ("ecn_mark", "ecn_mark"),
    ("ce_mark", "ce_mark"),
    ("drop_overmemory", "drop_overmemory"),
    ("new_flows_len", "new_flows_len"),
    ("old_flows_len", "old_flows_len"),
    ("memory_used", "memory_used"),
    ("count", "count"),
    ("lastcount", "lastcount"),
    ("ldelay", "ldelay_us"),
    ("drop_next", "drop_next_us"),
    ("marked", "marked"),
    ("early", "early"),
    ("pdrop", "pdrop"),
    ("other", "other"),
    ("matched", "matched"),
    ("delay", "delay_us"),
    ("avg_dq_rate", "avg_dq_rate"),
    ("pkts_in", "pkts_in"),
    ("overlimit", "overlimit"),
    ("overmemory", "overmemory"),
    ("dropped", "dropped_by_aqm"),
    ("maxq", "maxq"),
    ("flows", "flows"),
    ("inactive", "inactive"),
    ("throttled", "throttled"),
    ("gc", "gc"),
    ("highprio", "highprio"),
    ("flows_plimit", "flows_plimit"),
    ("horizon_drops", "horizon_drops"),
    ("fastpath", "fastpath"),
    ("latency", "latency_us"),
    ("prob_mark", "prob_mark"),
    ("prob_mark_head", "prob_mark_head"),
    ("prob_drop", "prob_drop"),
    ("forced_mark", "forced_mark"),
    ("forced_mark_head", "forced_mark_head"),
    ("forced_drop", "forced_drop"),
    ("step_marked", "step_marked"),
    ("credit", "credit"),
    ("packets_in_c", "packets_in_c"),
    ("packets_in_l", "packets_in_l"),
    ("pkts_in_c", "packets_in_c"),
    ("pkts_in_l", "packets_in_l"),
    ("alloc_errors", "alloc_errors"),
    ("pkts_too_long", "pkts_too_long"),
];

/// Rows of the table of `cake`, one number for each tin.
const TINS: [(&str, &str); 20] = [
    ("thresh", "thresh"),
    ("target", "target_us"),
    ("interval", "interval_us"),
    ("pk_delay", "pk_delay_us"),
    ("av_delay", "av_delay_us"),
    ("sp_delay", "sp_delay_us"),
    ("backlog", "backlog_bytes"),
    ("pkts", "sent_packets"),
    ("bytes", "sent_bytes"),
    ("way_inds", "way_inds"),
    ("way_miss", "way_miss"),
    ("way_cols", "way_cols"),
    ("drops", "dropped"),
    ("marks", "ecn_mark"),
    ("ack_drop", "ack_drop"),
    ("sp_flows", "sp_flows"),
    ("bk_flows", "bk_flows"),
    ("un_flows", "un_flows"),
    ("max_len", "max_len"),
    ("quantum", "quantum"),
];

/// A number as tc prints it, with its unit: bytes, us, bit/s.
fn printed(text: &str) -> Option<i64> {
    let text = text.trim_matches(['(', ')', ',']);
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let token = Token { text: text.strip_suffix('p').unwrap_or(text).to_owned().into(), ..Token::default() };
    let time = || units::time(&token).ok().map(|it| it.ns() / 1000);
    let rate = || units::rate(&token).ok().map(|it| it.bit_s());
    let found = units::size(&token).ok().map(|it| it.get()).or_else(time).or_else(rate)?;
    i64::try_from(found).ok()
}

/// A line; whether it is one of counters.
pub(super) fn line(counters: &mut Counters, tins: &mut Vec<Counters>, words: &[Token<'_>]) -> bool {
    let first = &*words[0].text;
    match first {
        "Sent" => sent(counters, words),
        "backlog" if words.iter().any(|it| it.text == "requeues") => backlog(counters, &words[1..]),
        "rate" => {
            let from = words.iter().position(|it| it.text == "backlog");
            from.into_iter().for_each(|at| backlog(counters, &words[at + 1..]));
        }
        "Bulk" | "Tin" | "Best" => name(counters, tins, words),
        _ if !tins.is_empty() && tin(tins, words) => {}
        "memory" | "capacity" | "min/max" | "average" | "Action" => {}
        "match" | "police" | "action" | "ref" | "index" => return false,
        _ => return named(counters, words),
    }
    true
}

/// `Sent 70 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)`
fn sent(counters: &mut Counters, words: &[Token<'_>]) {
    let at = |i: usize| words.get(i).and_then(|it| printed(&it.text));
    let after =
        |name: &str| words.iter().position(|it| it.text.trim_matches(['(', ',']) == name).and_then(|i| at(i + 1));
    let found = [
        ("sent_bytes", at(1)),
        ("sent_packets", at(3)),
        ("dropped", after("dropped")),
        ("overlimits", after("overlimits")),
        ("requeues", after("requeues")),
    ];
    for (name, number) in found {
        number.into_iter().for_each(|number| _ = counters.counts.insert(name, number));
    }
}

/// `0b 0p requeues 0`
fn backlog(counters: &mut Counters, words: &[Token<'_>]) {
    for (i, name) in [(0, "backlog_bytes"), (1, "backlog_packets")] {
        if let Some(number) = words.get(i).and_then(|it| printed(&it.text)) {
            counters.counts.insert(name, number);
        }
    }
}

/// Names and numbers.
fn named(counters: &mut Counters, words: &[Token<'_>]) -> bool {
    let mut any = false;
    for pair in words.windows(2) {
        any |= put(counters, &pair[0], &pair[1]);
    }
    any
}

fn put(counters: &mut Counters, name: &Token<'_>, value: &Token<'_>) -> bool {
    let bare = name.text.trim_matches(['(', ',', ':']);
    let known = NAMED.iter().find(|it| it.0 == bare).map(|it| it.1);
    let found = known.and_then(|name| Some((name, printed(&value.text)?)));
    found.into_iter().for_each(|(name, number)| _ = counters.counts.insert(name, number));
    found.is_some()
}

/// A word of a first line, behind others: `direct_packets_stat 5`.
pub(super) fn add(counters: &mut Counters, word: &Token<'_>, before: &[Token<'_>]) {
    if let Some(name) = before.last().filter(|it| it.text == "direct_packets_stat") {
        put(counters, name, word);
    }
}

/// The names of tins.
fn name(counters: &Counters, tins: &mut Vec<Counters>, words: &[Token<'_>]) {
    let mut names = Vec::new();
    let mut words = words.iter().map(|it| &*it.text);
    while let Some(word) = words.next() {
        match word {
            "Best" | "Tin" => names.push(format!("{word} {}", words.next().unwrap_or_default())),
            word => names.push(word.to_owned()),
        }
    }
    let of = |name: String| Counters {
        of: format!("{} {name}", counters.of),
        counts: Default::default(),
        ..counters.clone()
    };
    *tins = names.into_iter().map(of).collect();
}

/// A row of their table.
fn tin(tins: &mut [Counters], words: &[Token<'_>]) -> bool {
    let Some((_, name)) = TINS.iter().find(|it| it.0 == words[0].text) else { return false };
    for (tin, word) in tins.iter_mut().zip(&words[1..]) {
        printed(&word.text).into_iter().for_each(|number| _ = tin.counts.insert(name, number));
    }
    true
}

/// Counters of JSON that all objects have: as they are named there, and here.
const JSON: [(&str, &str); 7] = [
    ("bytes", "sent_bytes"),
    ("packets", "sent_packets"),
    ("drops", "dropped"),
    ("overlimits", "overlimits"),
    ("requeues", "requeues"),
    ("backlog", "backlog_bytes"),
    ("qlen", "backlog_packets"),
];

/// Counters of a tin of `cake` in JSON.
const JSON_TINS: [(&str, &str); 13] = [
    ("sent_bytes", "sent_bytes"),
    ("sent_packets", "sent_packets"),
    ("backlog_bytes", "backlog_bytes"),
    ("target_us", "target_us"),
    ("interval_us", "interval_us"),
    ("peak_delay_us", "pk_delay_us"),
    ("avg_delay_us", "av_delay_us"),
    ("base_delay_us", "sp_delay_us"),
    ("drops", "dropped"),
    ("ecn_mark", "ecn_mark"),
    ("ack_drops", "ack_drop"),
    ("sparse_flows", "sp_flows"),
    ("bulk_flows", "bk_flows"),
];

/// Whether a name of JSON is that of a counter.
pub(super) fn is_one(name: &str) -> bool {
    JSON.iter().chain(&NAMED).any(|it| it.0 == name)
}

fn from(json: &Json<'_>, table: &[(&str, &'static str)], out: &mut Counters) {
    for (name, value) in json.entries() {
        let known = table.iter().find(|it| it.0 == name.text).map(|it| it.1);
        let number = value.one().and_then(|it| printed(&it.text));
        known.zip(number).into_iter().for_each(|(name, number)| _ = out.counts.insert(name, number));
    }
}

/// What an object of JSON counts, and its tins.
pub(super) fn of_json(json: &Json<'_>, whose: &Counters) -> Vec<Counters> {
    let mut own = whose.clone();
    for part in [Some(json), json.get("stats"), json.get("options")].into_iter().flatten() {
        from(part, &NAMED[9..10], &mut own);
    }
    for part in [Some(json), json.get("stats")].into_iter().flatten() {
        from(part, &NAMED, &mut own);
        from(part, &JSON, &mut own);
    }
    let mut all = Vec::new();
    if let Some(Json::List(tins)) = json.get("tins") {
        for (i, tin) in tins.iter().enumerate() {
            let mut it = Counters { of: format!("{} tin {i}", whose.of), ..whose.clone() };
            from(tin, &JSON_TINS, &mut it);
            all.push(it);
        }
    }
    if !own.counts.is_empty() {
        all.push(own);
    }
    all
}
