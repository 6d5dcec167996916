//! Tree -> TOML text.

use super::shown::steers;
use super::tree::{self, leaves};
use perhop_core::params::{Node, Table, Tree};
use std::fmt::Write;

/// Sections whose entries are written as one line each.
const LINES: [&str; 2] = ["links", "sweep"];

/// As a file: a section for each table, the sections of a kind one after another.
pub fn toml(tree: &Tree) -> String {
    let mut out = String::new();
    let Tree::Table(root) = tree else { return out };
    let is_section = |node: &Node| matches!(node.tree, Tree::Table(_)) || is_list_of_tables(node);
    let (sections, values): (Vec<_>, Vec<_>) = root.entries.iter().partition(|e| is_section(&e.2));
    values.iter().for_each(|e| pair(&mut out, &key(&e.0), &e.2));
    for (name, _, node) in sections {
        let Tree::Table(table) = &node.tree else {
            changes(&mut out, name, node);
            continue;
        };
        let all_tables = table.entries.iter().all(|e| matches!(e.2.tree, Tree::Table(_)));
        if LINES.contains(&name.as_str()) || table.entries.is_empty() || !all_tables {
            section(&mut out, &key(name), table);
            continue;
        }
        for (inner, _, node) in &table.entries {
            let Tree::Table(table) = &node.tree else { continue };
            section(&mut out, &format!("{}.{}", key(name), key(inner)), table);
        }
    }
    out
}

fn is_list_of_tables(node: &Node) -> bool {
    let table = |item: &Node| matches!(&item.tree, Tree::Table(table) if !table.entries.is_empty());
    matches!(&node.tree, Tree::List(items) if !items.is_empty() && items.iter().all(table))
}

/// A list of tables, each under a separate heading, with a line for each value in it.
fn changes(out: &mut String, name: &str, node: &Node) {
    let Tree::List(items) = &node.tree else { return };
    for item in items {
        let gap = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{gap}[[{}]]", key(name));
        for path in leaves(&item.tree) {
            let value = tree::get(item, &path).expect("a path of this tree");
            pair(out, &dotted(&path), value);
        }
    }
}

/// A path as a dotted key.
pub fn dotted(path: &[&str]) -> String {
    path.iter().map(|part| key(part)).collect::<Vec<_>>().join(".")
}

fn section(out: &mut String, heading: &str, table: &Table) {
    let gap = if out.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{gap}[{heading}]");
    for (name, _, node) in &table.entries {
        match &node.tree {
            Tree::Table(ports) if name == "at" => {
                ports.entries.iter().for_each(|e| pair(out, &format!("at.{}", key(&e.0)), &e.2));
            }
            _ => pair(out, &key(name), node),
        }
    }
}

/// `name` is a key as TOML writes it.
fn pair(out: &mut String, name: &str, node: &Node) {
    let _ = writeln!(out, "{name} = {}", inline(&node.tree));
}

/// A value on one line.
pub fn inline(tree: &Tree) -> String {
    match tree {
        Tree::Text(text) => quoted(text),
        Tree::List(items) => {
            let items: Vec<_> = items.iter().map(|n| inline(&n.tree)).collect();
            format!("[{}]", items.join(", "))
        }
        Tree::Table(table) if table.entries.is_empty() => "{}".into(),
        Tree::Table(table) => {
            let entries: Vec<_> =
                table.entries.iter().map(|(name, _, node)| format!("{} = {}", key(name), inline(&node.tree))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

/// A key, quoted if TOML requires it.
pub fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if bare { name.to_owned() } else { quoted(name) }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if steers(c) => _ = write!(out, "\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
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
