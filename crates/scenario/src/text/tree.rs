//! The tree of a file: dotted keys, looking up places, setting values (`-s`, sweeps).

use crate::text::{items, toml};
use perhop_core::params::{Node, Place, Problems, Table, Tree, key, suggest, unit_code};
use perhop_core::units::UnitFault;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A dotted key, `links."C -> E2".rate`, part by part with the place of each.
pub type KeyPath = Vec<(String, Place)>;

/// The sections whose keys are names of what has to be complete: a link, a conditioner.
const SECTIONS: [&str; 5] = ["links", "conditioner", "traffic", "queue", "tcp"];

/// What a conditioner's table keeps when another one replaces it: where it sits and what it takes.
const KEPT: [&str; 3] = ["at", "match", "per"];

/// The value at `path`; a number names an item of a list.
pub fn get<'a>(root: &'a Node, path: &[&str]) -> Option<&'a Node> {
    path.iter().try_fold(root, |node, name| match &node.tree {
        Tree::Table(table) => table.get(name),
        Tree::List(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

/// As [`get`], to be altered.
pub fn get_mut<'a>(root: &'a mut Node, path: &[&str]) -> Option<&'a mut Node> {
    path.iter().try_fold(root, |node, name| match &mut node.tree {
        Tree::Table(table) => table.entries.iter_mut().find(|e| e.0 == *name).map(|e| &mut e.2),
        _ => None,
    })
}

/// The place of the key at `path`, if there is such a key.
pub fn key_place(root: &Node, path: &[&str]) -> Option<Place> {
    let (last, parents) = path.split_last()?;
    match &get(root, parents)?.tree {
        Tree::Table(table) => table.entries.iter().find(|e| e.0 == *last).map(|e| e.1),
        _ => None,
    }
}

/// The tree without one of its sections; copied only if it has that.
pub fn without<'a>(root: &'a Node, section: &str) -> Cow<'a, Node> {
    let Tree::Table(table) = &root.tree else { return Cow::Borrowed(root) };
    if table.get(section).is_none() {
        return Cow::Borrowed(root);
    }
    let entries = table.entries.iter().filter(|e| e.0 != section).cloned().collect();
    Cow::Owned(Node { place: root.place, tree: Tree::Table(Table { entries }) })
}

/// Lays one tree over another: tables are merged, anything else is replaced.
pub fn lay(under: &mut Node, over: &Node) {
    let (Tree::Table(table), Tree::Table(entries)) = (&mut under.tree, &over.tree) else {
        *under = over.clone();
        return;
    };
    for entry in &entries.entries {
        match table.entries.iter_mut().find(|e| e.0 == entry.0) {
            Some(known) => lay(&mut known.2, &entry.2),
            None => table.entries.push(entry.clone()),
        }
    }
}

/// The path of the key at `place`, or whose value is there (an item of a list counts as its list).
pub fn path_to(root: &Node, place: Place) -> Option<Vec<&str>> {
    match &root.tree {
        Tree::Table(table) => table.entries.iter().find_map(|(name, key, node)| {
            let below = path_to(node, place).or_else(|| (*key == place || node.place == place).then(Vec::new))?;
            Some([vec![name.as_str()], below].concat())
        }),
        Tree::List(items) => {
            let within = |item: &Node| item.place == place || path_to(item, place).is_some();
            items.iter().any(within).then(Vec::new)
        }
        _ => None,
    }
}

/// The place of the deepest value on `path` that the tree has; `None` if it has not even the first.
pub fn nearest(root: &Node, path: &[&str]) -> Option<Place> {
    (1..=path.len()).rev().find_map(|n| get(root, &path[..n])).map(|node| node.place)
}

/// The keys of the table at `kind`: all that the file declares, sound or not.
pub fn names<'a>(root: &'a Node, kind: &str) -> Vec<&'a str> {
    match get(root, &[kind]).map(|n| &n.tree) {
        Some(Tree::Table(table)) => table.entries.iter().map(|e| e.0.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// What differs in `after` from `before`.
pub fn difference(before: &Tree, after: &Tree) -> Option<Tree> {
    let (Tree::Table(old), Tree::Table(new)) = (before, after) else {
        return (before != after).then(|| after.clone());
    };
    let differs = |(name, place, node): &(String, Place, Node)| {
        let tree = match old.get(name) {
            Some(before) => difference(&before.tree, &node.tree)?,
            None => node.tree.clone(),
        };
        Some((name.clone(), *place, Node { place: node.place, tree }))
    };
    let entries: Vec<_> = new.entries.iter().filter_map(differs).collect();
    (!entries.is_empty()).then_some(Tree::Table(Table { entries }))
}

/// The paths of all values in a tree.
pub fn leaves(tree: &Tree) -> Vec<Vec<&str>> {
    match tree {
        Tree::Table(table) if !table.entries.is_empty() => {
            let below = |(name, _, node)| leaves(node).into_iter().map(move |path| [vec![name], path].concat());
            table.entries.iter().map(|(name, place, node)| (name.as_str(), place, &node.tree)).flat_map(below).collect()
        }
        _ => vec![Vec::new()],
    }
}

/// Reads a dotted key whose bytes begin at `base`.
pub fn parse_key(text: &str, base: usize, problems: &mut Problems) -> Option<KeyPath> {
    let whole = Place { start: base, end: base + text.len() };
    let mut ignored = Problems::default();
    let chain = toml::parse(&format!("{text}=0"), base, &mut ignored).and_then(|node| chain(&node));
    chain.or_else(|| {
        let help = "write a key as in traffic.bulk.flows or links.\"C -> E2\".rate";
        problems.error("E010", whole, format!("`{text}` is not a key")).help(help).none()
    })
}

/// The only path of a tree that has one leaf.
fn chain(node: &Node) -> Option<KeyPath> {
    let (mut path, mut at) = (KeyPath::new(), node);
    while let Tree::Table(table) = &at.tree {
        let [(name, place, inner)] = table.entries.as_slice() else { return None };
        path.push((name.clone(), *place));
        at = inner;
    }
    Some(path)
}

/// Reads a value as TOML; anything else is text, so that `rate=5Mbit/s` needs no quotes.
pub fn parse_value(text: &str, base: usize, problems: &mut Problems) -> Option<Node> {
    const LEAD: &str = "v=";
    let mut faults = Problems::default();
    let read = toml::parse(&format!("{LEAD}{text}"), base.saturating_sub(LEAD.len()), &mut faults);
    let read = read.filter(|node| matches!(&node.tree, Tree::Table(t) if t.entries.len() == 1));
    if let Some(node) = read.as_ref().and_then(|node| get(node, &["v"])) {
        return Some(node.clone());
    }
    let out_of_range = faults.list.iter().any(|fault| fault.code == unit_code(UnitFault::Range));
    if out_of_range || text.trim_start().starts_with(['{', '[', '"', '\'']) {
        problems.list.extend(faults.list);
        return None;
    }
    let place = Place { start: base, end: base + text.len() };
    Some(Node { place, tree: Tree::Text(text.trim().to_owned()) })
}

/// Splits `KEY=VALUE` at the first `=` outside quotes: the key, and where the value begins.
pub fn split(text: &str) -> Option<(&str, usize)> {
    let mut quote = None;
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(q), _) if q == c => quote = None,
            (None, '=') => return Some((&text[..i], i + 1)),
            _ => {}
        }
    }
    None
}

/// Puts `value` at `path`, making the tables on the way; a part of the path may name an item of a list. A whole
/// `conditioner.X` keeps `at`, `match` and `per`, an item of a list its name.
pub fn set(root: &mut Node, path: &[(String, Place)], value: Node, problems: &mut Problems) {
    let Some((last, parents)) = path.split_last() else { return };
    if let Some((name, place)) = misnamed(root, path) {
        let noun = path[0].0.trim_end_matches('s');
        problems.error("E006", place, format!("no {noun} `{}`", path[1].0)).help(format!("did you mean `{name}`?"));
        return;
    }
    let mut at = root;
    for (depth, part) in parents.iter().enumerate() {
        at = match step(at, part) {
            Ok(below) => below,
            Err(stuck) => return stuck.report(&path[..=depth], problems),
        };
    }
    let is_conditioner = parents.len() == 1 && parents[0].0 == "conditioner";
    let kept: &[&str] = match &at.tree {
        Tree::List(_) => &items::NAMING,
        _ if is_conditioner => &KEPT,
        _ => &[],
    };
    match step(at, last) {
        Ok(old) => *old = replaced(old, value, kept),
        Err(stuck) => stuck.report(path, problems),
    }
}

/// The section probably meant by a key of one that the file does not have: a key alone does not make a section.
fn misnamed(root: &Node, path: &[(String, Place)]) -> Option<(String, Place)> {
    let [(kind, _), (name, place), _, ..] = path else { return None };
    let known = names(root, kind);
    let ends =
        |link: &str| -> BTreeSet<String> { link.replace("->", " - ").split(" - ").map(|e| e.trim().into()).collect() };
    let is_known = |other: &&str| *other == name || kind == "links" && ends(other) == ends(name);
    if !SECTIONS.contains(&kind.as_str()) || known.iter().any(|other| is_known(other) || other.contains('{')) {
        return None;
    }
    let near = suggest(name, &known);
    let near = near.strip_prefix("did you mean `")?.strip_suffix("`?")?;
    Some((near.to_owned(), *place))
}

/// The value that a part of a path names, a new table if there is none.
fn step<'a>(at: &'a mut Node, (name, place): &(String, Place)) -> Result<&'a mut Node, Stuck> {
    match &mut at.tree {
        Tree::Table(table) => {
            let index = table.entries.iter().position(|e| e.0 == *name).unwrap_or_else(|| {
                let node = Node { place: *place, tree: Tree::Table(Table::default()) };
                table.entries.push((name.clone(), *place, node));
                table.entries.len() - 1
            });
            Ok(&mut table.entries[index].2)
        }
        Tree::List(list) => match items::find(list, name) {
            Some(index) => Ok(&mut list[index]),
            None => Err(Stuck::NoItem(items::choices(list, name))),
        },
        Tree::Text(text) => Err(Stuck::Value(Some(text.clone()))),
        _ => Err(Stuck::Value(None)),
    }
}

/// Why a path leads nowhere.
enum Stuck {
    /// A list has no such item; those it has.
    NoItem(String),
    /// A value is in the way; its text.
    Value(Option<String>),
}

impl Stuck {
    /// Reports that the last part of `path` could not be reached.
    fn report(self, path: &[(String, Place)], problems: &mut Problems) {
        let (last, before) = path.split_last().expect("a part was tried");
        let before: Vec<_> = before.iter().map(|part| key(&part.0)).collect();
        match self {
            Self::NoItem(choices) => {
                let message = format!("no item `{}` in `{}`", last.0, before.join("."));
                problems.error("E006", last.1, message).help(choices);
            }
            Self::Value(text) => {
                let place = Place { start: path[0].1.start, end: last.1.end };
                let message = format!("`{}.{}` leads into a value that is not a table", before.join("."), key(&last.0));
                let help = match (text, before.last().map(String::as_str)) {
                    (Some(name), Some(kind @ ("queue" | "tcp"))) => {
                        format!("it is {name:?}: set {kind}.{}.{} if that is a section", key(&name), key(&last.0))
                    }
                    _ => "name the key of a section".to_owned(),
                };
                problems.error("E010", place, message).help(help);
            }
        }
    }
}

/// A table put in another's place, with what it keeps of it.
fn replaced(old: &Node, mut new: Node, kept: &[&str]) -> Node {
    if let (Tree::Table(old), Tree::Table(new)) = (&old.tree, &mut new.tree) {
        let kept = old.entries.iter().filter(|e| kept.contains(&e.0.as_str()) && new.get(&e.0).is_none());
        let mut entries: Vec<_> = kept.cloned().collect();
        entries.append(&mut new.entries);
        new.entries = entries;
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, set: &str) -> (String, Problems) {
        let mut root = toml::parse(text, 0, &mut Problems::default()).unwrap();
        let mut problems = Problems::default();
        let (key, at) = split(set).unwrap();
        let path = parse_key(key, 1000, &mut problems);
        if let (Some(path), Some(value)) = (path, parse_value(&set[at..], 1000 + at, &mut problems)) {
            self::set(&mut root, &path, value, &mut problems);
        }
        (root.tree.to_string(), problems)
    }

    #[test]
    fn values_are_toml_or_else_text() {
        let set = |pair: &str| after("[a]\nb = 1", pair).0;
        assert_eq!(set("a.b=2"), "{ a = { b = 2 } }");
        assert_eq!(set("a.b=5Mbit/s"), "{ a = { b = \"5Mbit/s\" } }");
        assert_eq!(set("a.c=[1, 2]"), "{ a = { b = 1, c = [1, 2] } }");
        assert_eq!(set("x.\"C -> E2\".rate=true"), "{ a = { b = 1 }, x = { \"C -> E2\" = { rate = true } } }");
    }

    #[test]
    fn a_number_out_of_range_is_no_text() {
        let (_, problems) = after("[a]\nb = 1", "a.b=1e400");
        assert_eq!(problems.list[0].code, "E108");
        assert_eq!(problems.list[0].place.unwrap().start, 1004);
    }

    #[test]
    fn a_conditioner_keeps_its_place() {
        let text = "[conditioner.m]\nat = \"A -> B\"\nkind = \"pam\"\ncir = 1";
        let (tree, _) = after(text, "conditioner.m={ kind = \"tsw2cm\" }");
        assert_eq!(tree, "{ conditioner = { m = { at = \"A -> B\", kind = \"tsw2cm\" } } }");
    }

    #[test]
    fn a_key_of_a_section_with_nearly_the_name_of_another() {
        let text = "[conditioner.business]\ncir = 1\n[links]\n\"A - B2\" = { rate = 1 }";
        let error = |pair: &str| {
            let (_, problems) = after(text, pair);
            problems.list.first().map(|p| format!("{}: {} {}", p.code, p.message, p.help))
        };
        let busines = error("conditioner.busines.cir=2");
        assert_eq!(busines.as_deref(), Some("E006: no conditioner `busines` did you mean `business`?"));
        let link = error("links.\"A - B3\".rate=2");
        assert_eq!(link.as_deref(), Some("E006: no link `A - B3` did you mean `A - B2`?"));
        for fine in
            ["conditioner.business.cir=2", "links.\"A -> B2\".rate=2", "links.\"B2->A\".rate=2", "queue.q.aqm=1"]
        {
            assert_eq!(error(fine), None, "{fine}");
        }
        assert_eq!(error("conditioner.busines={ kind = 1 }"), None, "a whole section");
    }

    #[test]
    fn faults_stand_where_the_override_stands() {
        for (pair, start) in [("=1", 1000), ("a.b.c=1", 1000), ("a.b={x", 1004)] {
            let (tree, problems) = after("[a]\nb = 1", pair);
            assert_eq!(tree, "{ a = { b = 1 } }", "{pair}");
            assert!(problems.list[0].place.unwrap().start >= start, "{pair}: {problems:?}");
        }
    }
}
