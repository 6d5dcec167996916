//! A queueing discipline as a command makes it: the words of its rows that say what is stated.

use super::numbers::{exact_rate, time};
use super::options::{Does, Row, Takes};
use super::table::discipline;
use perhop_core::params::Tree;
use perhop_core::units::{BitRate, Bytes, Packets, Span};

/// Words that one key alone does not say, with their values; an empty one is no value.
pub(crate) type Joint = (&'static str, String);

/// `fq_codel limit 10240p flows 1024 ..`: of the words that its commands have, those that keys or `joint` say.
pub(crate) fn words(name: &str, keys: &[(&'static str, Tree)], joint: &[Joint]) -> String {
    let Some(of) = discipline(name) else { unreachable!("`{name}` is in the table of disciplines") };
    let said = |word: &str| match joint.iter().find(|it| it.0 == word) {
        Some((_, value)) => Some(value.clone()),
        None => value(of.rows.iter().find(|row| row.word == word)?, keys),
    };
    let words = of.typed.split(' ').filter_map(|word| Some((word, said(word)?)));
    words.fold(of.name.to_owned(), |all, (word, value)| {
        format!("{all} {word}{}{value}", if value.is_empty() { "" } else { " " })
    })
}

/// What follows the word of a row, if a key says it.
fn value(row: &Row, keys: &[(&'static str, Tree)]) -> Option<String> {
    let get = |key: &str| keys.iter().find(|it| it.0 == key).map(|it| &it.1);
    match row.does {
        Does::Sets(key) => Some(quantity(row.takes, get(key)?)),
        Does::Parts(key, of, _) => match get(key)? {
            Tree::Float(number) => Some((number * of).round().to_string()),
            other => Some(other.to_string()),
        },
        Does::Says(key, value) => (*get(key)? == value.value().tree()).then(String::new),
        Does::Clears(key) => get(key).is_none().then(String::new),
        Does::Makes(_) | Does::Same(_) | Does::Nearly(_) | Does::Lost(_) => None,
    }
}

/// A value without rounding, in a unit that tc has.
fn quantity(takes: Takes, value: &Tree) -> String {
    let Tree::Text(text) = value else {
        return if let Tree::Float(number) = value { number.to_string() } else { value.to_string() };
    };
    let known = match takes {
        Takes::Rate => text.parse::<BitRate>().ok().map(exact_rate),
        Takes::Time => text.parse::<Span>().ok().map(time),
        Takes::TimeNs => text.parse::<Span>().ok().map(|it| format!("{}ns", it.ns())),
        Takes::Size | Takes::Bytes | Takes::Burst => text.parse::<Bytes>().ok().map(|it| it.get().to_string()),
        Takes::Packets | Takes::SizeInPackets => text.parse::<Packets>().ok().map(|it| it.get().to_string()),
        _ => None,
    };
    known.unwrap_or_else(|| text.clone())
}
