//! Series in names: `"S{1..30} - P"` means thirty links. Expanded before anything is read.
//!
//! A key of a section of names, a port of `at` and a name in `match.traffic` may hold one `{a..b}`. In its copies that
//! is `a`, `a` + 1 ... `b`, and so is `i` in the other braces of the key and of every string below it. A copy keeps the
//! places of its original.
//!
//! Decision: docs/decisions/073-series-are-expanded-first.md

use super::expression::{Fault, beyond, evaluate};
use crate::sections::link::LinkSection;
use crate::sections::traffic::TrafficCommon;
use perhop_core::classify::Match;
use perhop_core::params::{Field, Kind, Node, Params, Place, Problems, Spanned, Table, Tree};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// Most entries of a series.
const MOST: u64 = 10_000;

/// The sections whose keys are names.
const NAMED: [&str; 6] = ["links", "nodes", "traffic", "conditioner", "queue", "tcp"];

type Entry = (String, Place, Node);

/// The tree with every series expanded. Entries with a fault (E250, E002) are reported and skipped.
pub fn expand(root: &Node, problems: &mut Problems) -> Node {
    Expansion { problems }.node(root, &[])
}

/// Whether the keys at `path` may be series.
fn keys_are_names(path: &[&str]) -> bool {
    matches!(path, ["conditioner", _, "at"]) || matches!(path, [section] if NAMED.contains(section))
}

/// Whether the items of a list at `path` may be series.
fn items_are_names(path: &[&str]) -> bool {
    matches!(path, ["conditioner", _, "at"] | [.., "match", "traffic" | "conditioner"])
}

/// Whether a name is required at `key`, and never a number.
fn takes_name(key: &str) -> bool {
    let name = |kind: &Kind| matches!(kind, Kind::Text | Kind::Any | Kind::OneOrMany(Kind::Text));
    let mut fields = [LinkSection::FIELDS, TrafficCommon::FIELDS, Match::FIELDS].into_iter().flat_map(Field::all);
    fields.any(|field| field.name == key && name(&field.kind))
}

struct Expansion<'p> {
    problems: &'p mut Problems,
}

impl Expansion<'_> {
    fn fault(&mut self, place: Place, [message, help]: Fault) {
        self.problems.error("E250", place, message).help(help);
    }

    /// Whether nothing was skipped since `found` problems were known.
    fn sound_since(&self, found: usize) -> bool {
        self.problems.list[found..].iter().all(|p| p.code != "E250")
    }

    /// The entries outside any series.
    fn node(&mut self, node: &Node, path: &[&str]) -> Node {
        let tree = match &node.tree {
            Tree::Table(table) => Tree::Table(self.table(table, path)),
            Tree::List(items) if items_are_names(path) => {
                Tree::List(items.iter().flat_map(|n| self.items(n)).collect())
            }
            Tree::List(items) => Tree::List(items.iter().map(|n| self.node(n, path)).collect()),
            Tree::Text(text) if items_are_names(path) && is_series(text) => Tree::List(self.items(node)),
            other => other.clone(),
        };
        Node { place: node.place, tree }
    }

    fn table(&mut self, table: &Table, path: &[&str]) -> Table {
        let mut entries = Vec::new();
        for (key, place, node) in &table.entries {
            let found = self.problems.list.len();
            if !is_series(key) {
                let node = self.node(node, &[path, &[key]].concat());
                // A section that lacks what was skipped is skipped itself, or it would be reported again.
                if path.len() != 1 || self.sound_since(found) {
                    entries.push((key, (key.clone(), *place, node)));
                }
            } else if keys_are_names(path) {
                let copy = |it: &mut Self, name, i| (key, (name, *place, it.copy(node, key, i)));
                entries.extend(self.each(&Spanned::new(*place, key), copy));
            } else {
                let help = "series are allowed in names of links, nodes, traffic, conditioners, queues and tcp, and \
                    in ports of `at`";
                self.fault(*place, [format!("a series in the key `{key}`"), help.into()]);
            }
        }
        self.distinct(entries)
    }

    /// The items that one of a list expands to.
    fn items(&mut self, node: &Node) -> Vec<Node> {
        match &node.tree {
            Tree::Text(text) if is_series(text) => self
                .each(&Spanned::new(node.place, text), |_, name, _| Node { place: node.place, tree: Tree::Text(name) }),
            _ => vec![node.clone()],
        }
    }

    /// A copy for each number of a series, with its name; none if one has a fault, which is reported once.
    fn each<T>(&mut self, key: &Spanned<&str>, copy: impl Fn(&mut Self, String, u64) -> T) -> Vec<T> {
        let (mut copies, found) = (Vec::new(), self.problems.list.len());
        let numbers = range(key).unwrap_or_else(|fault| {
            self.fault(key.place, fault);
            RangeInclusive::new(1, 0)
        });
        for i in numbers {
            let name = self.text(key, i);
            copies.push(copy(self, name, i));
            if !self.sound_since(found) {
                return Vec::new();
            }
        }
        copies
    }

    /// The values below `key`, for the number `i`.
    fn copy(&mut self, node: &Node, key: &str, i: u64) -> Node {
        let tree = match &node.tree {
            Tree::Table(table) => {
                let mut entries = Vec::with_capacity(table.entries.len());
                for (key, place, node) in &table.entries {
                    entries.push((key, (self.inner(&Spanned::new(*place, key), i), *place, self.copy(node, key, i))));
                }
                Tree::Table(self.distinct(entries))
            }
            Tree::List(items) => Tree::List(items.iter().map(|n| self.copy(n, key, i)).collect()),
            Tree::Text(text) => match whole(text).filter(|_| !takes_name(key)) {
                Some(expression) => self.number(&Spanned::new(node.place, expression), i),
                None => Tree::Text(self.inner(&Spanned::new(node.place, text), i)),
            },
            other => other.clone(),
        };
        Node { place: node.place, tree }
    }

    /// A text below the key of a series.
    fn inner(&mut self, text: &Spanned<&str>, i: u64) -> String {
        if is_series(text) {
            let help = "write {i} for the number of the outer series, or list the inner names one by one";
            self.fault(text.place, [format!("a series within a series: `{}`", text.value), help.into()]);
            return text.value.to_owned();
        }
        self.text(text, i)
    }

    fn text(&mut self, text: &Spanned<&str>, i: u64) -> String {
        fill(text, i).unwrap_or_else(|fault| {
            self.fault(text.place, fault);
            text.value.to_owned()
        })
    }

    fn number(&mut self, expression: &Spanned<&str>, i: u64) -> Tree {
        let value = evaluate(expression, i).and_then(|value| value.tree().ok_or_else(|| beyond(expression, i)));
        value.unwrap_or_else(|fault| {
            self.fault(expression.place, fault);
            Tree::Integer(0)
        })
    }

    /// Entries, each with the key it came from, as a table; a repeated name is reported.
    fn distinct(&mut self, entries: Vec<(&String, Entry)>) -> Table {
        let mut last = HashMap::with_capacity(entries.len());
        let before: Vec<_> =
            entries.iter().map(|(origin, entry)| last.insert(entry.0.as_str(), origin.as_str())).collect();
        let mut table = Table { entries: Vec::with_capacity(entries.len()) };
        for ((_, entry), before) in entries.into_iter().zip(before) {
            let Some(before) = before else {
                table.entries.push(entry);
                continue;
            };
            let message = format!("duplicate name `{}`", entry.0);
            let help = "keep only one of the two, or end the series before it";
            let label = format!("the first comes from `{before}`");
            self.problems.error("E002", entry.1, message).label(label).help(help);
        }
        table
    }
}

/// How many a name becomes; 1 without a series, or with one that has a fault.
pub fn entries(text: &str) -> u64 {
    let numbers = is_series(text).then(|| range(text).ok()).flatten();
    numbers.map_or(1, |numbers| numbers.end() - numbers.start() + 1)
}

/// Whether a string is intended as a series, well formed or not.
fn is_series(text: &str) -> bool {
    text.split('{').skip(1).any(|group| group.split('}').next().is_some_and(|inner| inner.contains("..")))
}

/// The expression that is all of a text.
fn whole(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}').filter(|inner| !inner.contains(['{', '}']) && !inner.contains(".."))
}

enum Piece<'a> {
    Plain(&'a str),
    Braces(&'a str),
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Fault> {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some((plain, opened)) = rest.split_once('{') {
        let Some((inner, after)) = opened.split_once('}') else {
            return Err([format!("`{{` without `}}` in `{text}`"), "close it, as in {i}".into()]);
        };
        out.extend([Piece::Plain(plain), Piece::Braces(inner)]);
        rest = after;
    }
    out.push(Piece::Plain(rest));
    Ok(out)
}

/// The numbers of the series in a key.
fn range(key: &str) -> Result<RangeInclusive<u64>, Fault> {
    let stated = |piece| if let Piece::Braces(inner) = piece { inner.split_once("..") } else { None };
    let stated: Vec<_> = pieces(key)?.into_iter().filter_map(stated).collect();
    let [(first, last)] = stated[..] else {
        let help = "a key may hold one series: write {i} for the same number again, or a line for each of the others";
        return Err([format!("two series in `{key}`"), help.into()]);
    };
    let number = |text: &str| text.trim().parse::<u64>().ok().filter(|_| !text.contains('+'));
    let Some((a, b)) = number(first).zip(number(last)) else {
        let message = format!("`{{{first}..{last}}}` is not a series");
        return Err([message, "write two whole numbers, both included, as in {1..30}".into()]);
    };
    if a > b {
        return Err([format!("series `{{{a}..{b}}}` runs backwards"), format!("write {{{b}..{a}}}")]);
    }
    if b - a >= MOST {
        return Err([format!("series `{{{a}..{b}}}` is too long"), format!("at most {MOST} entries are allowed")]);
    }
    Ok(a..=b)
}

/// A text with `i` in its series and the values of its expressions.
fn fill(text: &str, i: u64) -> Result<String, Fault> {
    if !text.contains('{') {
        return Ok(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text)? {
        let _ = match piece {
            Piece::Plain(plain) => out.write_str(plain),
            Piece::Braces(inner) if inner == "i" || inner.contains("..") => write!(out, "{i}"),
            Piece::Braces(inner) => write!(out, "{}", evaluate(inner, i)?),
        };
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that takes a name in one section is not that of a number in an algorithm.
    #[test]
    fn no_number_stands_at_a_key_of_names() {
        let lists = [
            perhop_core::conditioner::LIST,
            perhop_core::aqm::LIST,
            perhop_core::sched::LIST,
            perhop_sim::traffic::LIST,
        ];
        for field in lists.concat().iter().flat_map(|entry| Field::all(entry.fields)) {
            assert!(!takes_name(field.name) || matches!(field.kind, Kind::Text), "{}", field.name);
        }
        assert!(["from", "to", "class", "tcp", "queue", "traffic"].iter().all(|key| takes_name(key)));
    }
}
