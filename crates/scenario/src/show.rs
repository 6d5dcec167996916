//! Model -> tree -> TOML text: the way back, exact.

use crate::at::Shown;
use crate::change::leaves;
use crate::classes;
use crate::model::{Change, Model, Named};
use crate::sections::{ConditionerSection, Port, Queue, QueueSection, TrafficSection};
use crate::tree;
use perhop_core::params::{Node, Params, Table, Tree, Value, show_table};
use std::fmt::Write;

/// Sections whose entries are written as one line each.
const LINES: [&str; 2] = ["links", "sweep"];

type Entries<'a> = Vec<(&'a str, Tree)>;

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
    add("queue", named(&model.queues, queue_section));
    add("conditioner", named(&model.conditioners, conditioner));
    add("traffic", named(&model.traffic, traffic));
    add("tcp", named(&model.tcp, show_table));
    if !model.changes.is_empty() {
        root.push(("change", Tree::List(model.changes.iter().map(|it| change(it).into()).collect())));
    }
    Tree::table(root)
}

fn change(change: &Change) -> Tree {
    let mut entries: Entries = change.at.tree().map(|at| ("at", at)).into_iter().collect();
    if let Tree::Table(what) = &change.what {
        entries.extend(what.entries.iter().map(|(name, _, node)| (name.as_str(), node.tree.clone())));
    }
    Tree::table(entries)
}

/// Sections of one kind.
pub fn named<T>(sections: &Named<T>, show: impl Fn(&T) -> Tree) -> Tree {
    Tree::table(sections.iter().map(|(name, section)| (name.as_str(), show(section))).collect())
}

/// `[queue.X]`
pub fn queue_section(section: &QueueSection) -> Tree {
    match section {
        QueueSection::One(one) => queue(one),
        QueueSection::Several(scheduled) => classes::show(scheduled),
    }
}

fn queue(queue: &Queue) -> Tree {
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

/// As [`conditioner`], all that holds at each of several ports stated there.
pub fn conditioner_by_port(section: &ConditionerSection) -> Tree {
    if section.ports.len() <= 1 {
        return conditioner(section);
    }
    let port = |port: &Port| {
        let mut entries = Entries::new();
        port.params.show(&mut entries);
        Some((port.name.clone()?, Tree::table(entries)))
    };
    let ports: Vec<_> = section.ports.iter().filter_map(port).collect();
    let at = Tree::table(ports.iter().map(|(name, own)| (name.as_str(), own.clone())).collect());
    let mut entries: Entries = vec![("at", at)];
    section.placement.show(&mut entries);
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

/// A list of tables, each under a heading of its own, with a line for each value in it.
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
