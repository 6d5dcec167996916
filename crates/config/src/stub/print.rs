//! A draft as TOML.

use super::draft::{Cell, Draft, Entry, Form, Part, Remark, Section};
use perhop_core::params::{Node, Place, Tree, steers};
use std::fmt::Write as _;

/// Column of comments, as in the templates of `init`.
const COLUMN: usize = 39;
/// A longer line has its comment above it.
const WIDE: usize = 110;

impl Draft {
    /// The file.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut first = true;
        for part in &self.parts {
            match part {
                Part::Comment(lines) => out.push_str(lines),
                Part::Section(section) => {
                    out.push_str(if std::mem::take(&mut first) { "" } else { "\n" });
                    section.print(&mut out);
                }
            }
        }
        out
    }
}

impl Section {
    fn print(&self, out: &mut String) {
        let heading = match &self.name {
            Some(name) => format!("[{}.{}]", self.kind, key(name)),
            None => format!("[{}]", self.kind),
        };
        line(&heading, &self.comment, out);
        self.entries.iter().for_each(|entry| entry.print(out));
    }
}

impl Entry {
    fn print(&self, out: &mut String) {
        let Entry { key: name, cell, .. } = self;
        match &cell.form {
            Form::Rows(items) => {
                let classes = items.iter().any(|it| it.class.is_some());
                let (head, rows) = if classes { of_classes(items) } else { of_tables(cell, items) };
                line(&format!("{} = [", key(name)), &head, out);
                for (item, comment) in items.iter().zip(rows) {
                    line(&format!("  {},", item.inline()), &comment, out);
                }
                out.push_str("]\n");
            }
            _ => line(&format!("{} = {}", key(name), cell.inline()), &cell.remark.text(), out),
        }
    }
}

/// Comments of a list of classes: what is assumed of one is not said again of the next.
fn of_classes(items: &[Cell]) -> (String, Vec<String>) {
    let before = [None].into_iter().chain(items.iter().map(|it| Some(it.remark.within())));
    let comment = |(item, before): (&Cell, Option<&[_]>)| match before == Some(item.remark.within()) {
        true => item.remark.of_words().text(),
        false => item.remark.text(),
    };
    (String::new(), items.iter().zip(before).map(comment).collect())
}

/// Comments of a list of other tables: what is assumed of all stands behind the first line.
fn of_tables(list: &Cell, items: &[Cell]) -> (String, Vec<String>) {
    let mut sources: Vec<_> = items.iter().map(|it| it.remark.only_source()).collect();
    sources.dedup();
    let shared = if let [Some(source)] = sources.as_slice() { Some(*source) } else { None };
    let assumed = list.remark.own().or(shared);
    let of = |it: &Cell| if assumed.is_some() { it.remark.of_words() } else { it.remark.clone() };
    (Remark::default().assumed_by(assumed).text(), items.iter().map(|it| of(it).text()).collect())
}

/// A line with its comment.
fn line(words: &str, comment: &str, out: &mut String) {
    let above = words.len() > WIDE && !comment.is_empty();
    if above {
        let indent = words.len() - words.trim_start().len();
        _ = writeln!(out, "{:indent$}# {comment}", "");
    }
    out.push_str(words);
    if !above && !comment.is_empty() {
        let gap = COLUMN.saturating_sub(words.chars().count()).max(2);
        _ = write!(out, "{:gap$}# {comment}", "");
    }
    out.push('\n');
}

impl Cell {
    /// On one line.
    fn inline(&self) -> String {
        match &self.form {
            Form::One(tree) => toml(tree),
            Form::List(items) | Form::Rows(items) => {
                format!("[{}]", items.iter().map(Self::inline).collect::<Vec<_>>().join(", "))
            }
            Form::Table(entries) => {
                let entry = |it: &Entry| format!("{} = {}", key(&it.key), it.cell.inline());
                format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A tree as TOML writes it on one line.
pub fn toml(tree: &Tree) -> String {
    match tree {
        Tree::Text(text) => quoted(text),
        Tree::List(items) => {
            let items: Vec<_> = items.iter().map(|node| toml(&node.tree)).collect();
            format!("[{}]", items.join(", "))
        }
        Tree::Table(table) if table.entries.is_empty() => "{}".to_owned(),
        Tree::Table(table) => {
            let entry = |(name, _, node): &(String, Place, Node)| format!("{} = {}", key(name), toml(&node.tree));
            format!("{{ {} }}", table.entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        scalar => scalar.to_string(),
    }
}

/// A key, quoted if TOML requires it.
pub fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if bare { name.to_owned() } else { quoted(name) }
}

/// A basic string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if steers(c) => _ = write!(out, "\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
