//! Tree -> TOML text.

use super::printable::steers;
use super::tree::{self, leaves};
use perhop_core::params::{Node, Tree};
use std::borrow::{Borrow, Cow};
use std::fmt::Write;

/// Sections whose entries are written as one line each.
const LINES: [&str; 2] = ["links", "sweep"];

/// As a file: a section for each table, the sections of a kind one after another.
pub fn toml(tree: &Tree) -> String {
    let mut out = String::new();
    let Tree::Table(root) = tree else { return out };
    let is_section = |node: &Node| matches!(node.tree, Tree::Table(_)) || is_list_of_tables(node);
    let (sections, values): (Vec<_>, Vec<_>) = root.entries.iter().partition(|e| is_section(&e.2));
    values.iter().for_each(|e| pair(&mut out, &key(&e.0), &e.2.tree));
    for (name, _, node) in sections {
        let Tree::Table(table) = &node.tree else {
            let Tree::List(items) = &node.tree else { continue };
            changes(&mut out, name, items.iter());
            continue;
        };
        let entries = || table.entries.iter().map(|e| (e.0.as_str(), &e.2.tree));
        if !table.entries.is_empty() && entries().all(|(_, tree)| matches!(tree, Tree::Table(_))) {
            named(&mut out, name, entries());
        } else {
            section(&mut out, &key(name), entries());
        }
    }
    out
}

/// A section whose entries are all tables, one by one: a line for each of some kinds, a heading for each of the others.
pub fn named<'a, T: Borrow<Tree>>(out: &mut String, kind: &str, entries: impl Iterator<Item = (&'a str, T)>) {
    if LINES.contains(&kind) {
        return section(out, &key(kind), entries);
    }
    for (name, tree) in entries {
        let Tree::Table(table) = tree.borrow() else { continue };
        let heading = format!("{}.{}", key(kind), key(name));
        section(out, &heading, table.entries.iter().map(|e| (e.0.as_str(), &e.2.tree)));
    }
}

fn is_list_of_tables(node: &Node) -> bool {
    let table = |item: &Node| matches!(&item.tree, Tree::Table(table) if !table.entries.is_empty());
    matches!(&node.tree, Tree::List(items) if !items.is_empty() && items.iter().all(table))
}

/// A list of tables, each under a separate heading, with a line for each value in it.
pub fn changes<T: Borrow<Node>>(out: &mut String, name: &str, items: impl Iterator<Item = T>) {
    for item in items {
        let gap = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{gap}[[{}]]", key(name));
        for path in leaves(&item.borrow().tree) {
            let value = tree::get(item.borrow(), &path).expect("a path of this tree");
            pair(out, &dotted(&path), &value.tree);
        }
    }
}

/// A path as a dotted key.
pub fn dotted(path: &[&str]) -> String {
    path.iter().map(|part| key(part)).collect::<Vec<_>>().join(".")
}

fn section<'a, T: Borrow<Tree>>(out: &mut String, heading: &str, entries: impl Iterator<Item = (&'a str, T)>) {
    let gap = if out.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{gap}[{heading}]");
    for (name, tree) in entries {
        match tree.borrow() {
            Tree::Table(ports) if name == "at" => {
                ports.entries.iter().for_each(|e| pair(out, &format!("at.{}", key(&e.0)), &e.2.tree));
            }
            tree => pair(out, &key(name), tree),
        }
    }
}

/// `name` is a key as TOML writes it.
fn pair(out: &mut String, name: &str, tree: &Tree) {
    out.push_str(name);
    out.push_str(" = ");
    add(out, tree);
    out.push('\n');
}

/// A value on one line.
pub fn inline(tree: &Tree) -> String {
    let mut out = String::new();
    add(&mut out, tree);
    out
}

fn add(out: &mut String, tree: &Tree) {
    match tree {
        Tree::Text(text) => quoted(out, text),
        Tree::List(items) => {
            out.push('[');
            each(out, items, |out, item| add(out, &item.tree));
            out.push(']');
        }
        Tree::Table(table) if table.entries.is_empty() => out.push_str("{}"),
        Tree::Table(table) => {
            out.push_str("{ ");
            each(out, &table.entries, |out, (name, _, node)| {
                out.push_str(&key(name));
                out.push_str(" = ");
                add(out, &node.tree);
            });
            out.push_str(" }");
        }
        scalar => _ = write!(out, "{scalar}"),
    }
}

/// Items with commas between them.
fn each<T>(out: &mut String, items: &[T], add: impl Fn(&mut String, &T)) {
    for (i, item) in items.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        add(out, item);
    }
}

/// A key, quoted if TOML requires it.
pub fn key(name: &str) -> Cow<'_, str> {
    let bare = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(bare) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 2);
    quoted(&mut out, name);
    Cow::Owned(out)
}

/// A basic string of TOML.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    if text.chars().any(|c| matches!(c, '"' | '\\') || steers(c)) {
        text.chars().for_each(|c| escaped(out, c));
    } else {
        out.push_str(text);
    }
    out.push('"');
}

fn escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        c if steers(c) => _ = write!(out, "\\u{:04X}", u32::from(c)),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_needs_care_survives() {
        let odd = "a \"quote\", a \\ and \u{7f} \n ü";
        let tree = Tree::table(vec![("s", Tree::table(vec![(odd, Tree::Text(odd.into()))]))]);
        let read = crate::text::toml::parse(&toml(&tree), 0, &mut perhop_core::params::Problems::default()).unwrap();
        assert_eq!(read.tree.to_string(), tree.to_string());
    }
}
