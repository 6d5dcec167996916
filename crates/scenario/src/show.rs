//! Model -> tree -> TOML text: the way back, exact.

use crate::at::Shown;
use crate::model::{Model, Named};
use crate::sections::{ConditionerSection, Queue, TrafficSection};
use perhop_core::params::{Node, Params, Table, Tree, show_table};
use std::fmt::Write;

/// Sections whose entries are written as one line each.
const LINES: [&str; 2] = ["links", "sweep"];

type Entries = Vec<(&'static str, Tree)>;

/// The whole model with every effective value.
pub fn model(model: &Model) -> Tree {
    let mut root = vec![("scenario", show_table(&model.settings))];
    let mut add = |name, tree: Tree| {
        if matches!(&tree, Tree::Table(table) if !table.entries.is_empty()) {
            root.push((name, tree));
        }
    };
    add("nodes", named(&model.nodes, show_table));
    add("links", named(&model.links, show_table));
    add("queue", named(&model.queues, queue));
    add("conditioner", named(&model.conditioners, conditioner));
    add("traffic", named(&model.traffic, traffic));
    add("tcp", named(&model.tcp, show_table));
    Tree::table(root)
}

/// Sections of one kind.
pub fn named<T>(sections: &Named<T>, show: impl Fn(&T) -> Tree) -> Tree {
    Tree::table(sections.iter().map(|(name, section)| (name.as_str(), show(section))).collect())
}

/// `[queue.X]`
pub fn queue(queue: &Queue) -> Tree {
    let mut entries: Entries = vec![("aqm", Tree::Text(queue.aqm.name().into()))];
    queue.common.show(&mut entries);
    queue.aqm.show(&mut entries);
    Tree::table(entries)
}

/// `[conditioner.X]`
pub fn conditioner(section: &ConditionerSection) -> Tree {
    let (mut entries, shown) = (Entries::new(), Shown::new(&section.ports));
    entries.extend(shown.at(&section.ports).map(|at| ("at", at)));
    section.placement.show(&mut entries);
    entries.extend(section.ports.first().map(|port| ("kind", Tree::Text(port.params.name().into()))));
    entries.extend(shown.common);
    section.actions.show(&mut entries);
    Tree::table(entries)
}

fn traffic(section: &TrafficSection) -> Tree {
    let mut entries: Entries = vec![("model", Tree::Text(section.model.name().into()))];
    section.model.show(&mut entries);
    section.common.show(&mut entries);
    Tree::table(entries)
}

/// As a file: a section for each table, the sections of a kind one after another.
pub fn toml(tree: &Tree) -> String {
    let mut out = String::new();
    let Tree::Table(root) = tree else { return out };
    let (sections, values): (Vec<_>, Vec<_>) = root.entries.iter().partition(|e| matches!(e.2.tree, Tree::Table(_)));
    values.iter().for_each(|e| pair(&mut out, &key(&e.0), &e.2));
    for (name, _, node) in sections {
        let Tree::Table(table) = &node.tree else { continue };
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

/// A key, quoted where TOML asks for it.
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
            c if c.is_control() => _ = write!(out, "\\u{:04X}", u32::from(c)),
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
        let read = crate::toml::parse(&toml(&tree), 0, &mut Vec::new()).unwrap();
        assert_eq!(read.tree.to_string(), tree.to_string());
    }
}
