//! What `tc -s` counts.

/// What it prints.
pub(crate) mod lines;

use self::lines::{DIRECT, JSON, JSON_TINS, NAMES, Names, SENT, TINS};
use super::json::Json;
use super::units;
use super::words::Token;
use crate::evidence::Counters;

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

/// Adds a number, if it is one and its name is known; whether it is.
fn add(out: &mut Counters, name: impl Into<Option<&'static str>>, number: &str) -> bool {
    let found = name.into().and_then(|name| Some((name, printed(number)?)));
    found.into_iter().for_each(|(name, number)| _ = out.counts.insert(name, number));
    found.is_some()
}

/// Adds the numbers behind names that are known; whether there are any.
fn add_pairs(out: &mut Counters, words: &[Token<'_>], names: &Names) -> bool {
    words.windows(2).filter(|pair| add(out, names.get(lines::name(&pair[0].text)).copied(), &pair[1].text)).count() > 0
}

/// A line; whether it is one of counters.
pub(super) fn line(counters: &mut Counters, tins: &mut Vec<Counters>, words: &[Token<'_>]) -> bool {
    match &*words[0].text {
        "Sent" => _ = add_pairs(counters, words, &SENT),
        "backlog" if words.iter().any(|it| it.text == "requeues") => backlog(counters, words),
        "rate" => backlog(counters, words),
        "Bulk" | "Tin" | "Best" => name(counters, tins, words),
        _ if !tins.is_empty() && tin(tins, words) => {}
        "memory" | "capacity" | "min/max" | "average" | "Action" => {}
        "match" | "police" | "action" | "ref" | "index" => return false,
        _ => return add_pairs(counters, words, &NAMES),
    }
    true
}

/// `rate 0bit 0pps backlog 0b 0p requeues 0`
fn backlog(counters: &mut Counters, words: &[Token<'_>]) {
    let numbers = words.iter().skip_while(|it| it.text != "backlog").skip(1);
    for (name, number) in ["backlog_bytes", "backlog_packets"].into_iter().zip(numbers) {
        add(counters, name, &number.text);
    }
}

/// A word of a first line, behind others: `direct_packets_stat 5`.
pub(super) fn first_line(counters: &mut Counters, word: &Token<'_>, before: &[Token<'_>]) {
    if before.last().is_some_and(|it| it.text == DIRECT) {
        add(counters, DIRECT, &word.text);
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
    let Some([.., name]) = TINS.iter().find(|it| it[0] == words[0].text) else { return false };
    for (tin, word) in tins.iter_mut().zip(&words[1..]) {
        add(tin, *name, &word.text);
    }
    true
}

/// Adds the counters of an object of JSON whose names are known.
fn add_entries(out: &mut Counters, json: &Json<'_>, names: &Names) {
    for (name, value) in json.entries() {
        value.one().into_iter().for_each(|it| _ = add(out, names.get(&*name.text).copied(), &it.text));
    }
}

/// What an object of JSON counts, and its tins.
pub(super) fn of_json(json: &Json<'_>, whose: &Counters) -> Vec<Counters> {
    let mut own = whose.clone();
    if let Some(direct) = json.get("options").and_then(|it| it.text(DIRECT)) {
        add(&mut own, DIRECT, &direct.text);
    }
    [Some(json), json.get("stats")].into_iter().flatten().for_each(|it| add_entries(&mut own, it, &JSON));
    let tins = if let Some(Json::List(tins)) = json.get("tins") { &tins[..] } else { &[] };
    let of_tin = |(i, tin)| {
        let mut it = Counters { of: format!("{} tin {i}", whose.of), ..whose.clone() };
        add_entries(&mut it, tin, &JSON_TINS);
        it
    };
    let mut all: Vec<_> = tins.iter().enumerate().map(of_tin).collect();
    all.extend((!own.counts.is_empty()).then_some(own));
    all
}
