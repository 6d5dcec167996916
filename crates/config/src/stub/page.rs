//! TOML as it is written, with the place in the text that each stretch of it comes from.

use crate::value::{Origin, Settings, Value, WithOrigin};
use perhop_core::params::{Place, Tree, steers};
use std::fmt::Write as _;

/// Column of comments, as in the templates of `init`.
const COLUMN: usize = 39;
/// A longer line has its comment above it.
const WIDE: usize = 110;

/// A stretch of a page, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of the page.
    pub page: Place,
    /// Bytes of the configuration.
    pub text: Place,
}

/// What is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The characters.
    pub text: String,
    /// Where they come from; an inner stretch stands before the ones around it.
    pub map: Vec<Piece>,
    /// Lists of classes.
    pub lists: Vec<List>,
}

/// A list of classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// The byte of the page at which it begins.
    pub at: usize,
    /// The device's name of each class, and where the configuration says it.
    pub rows: Vec<(String, Option<Place>)>,
}

impl Page {
    /// Adds characters that come from nowhere.
    pub fn add(&mut self, words: &str) {
        self.text.push_str(words);
    }

    /// What `write` adds comes from `place`.
    pub fn from(&mut self, place: Option<Place>, write: impl FnOnce(&mut Self)) {
        let start = self.text.len();
        write(self);
        self.around(start, place);
    }

    /// What was added since a byte comes from a place, unless something within knows better.
    pub fn around(&mut self, start: usize, place: Option<Place>) {
        if let Some(text) = place.filter(|place| place.end > place.start) {
            self.map.push(Piece { page: Place { start, end: self.text.len() }, text });
        }
    }

    /// Another page behind this one.
    pub fn append(&mut self, other: &Self) {
        let by = self.text.len();
        self.text.push_str(&other.text);
        self.lists.extend(other.lists.iter().map(|list| List { at: list.at + by, rows: list.rows.clone() }));
        self.map.extend(other.moved(by));
    }

    /// Where its stretches come from once `by` bytes are in front of it.
    pub fn moved(&self, by: usize) -> impl Iterator<Item = Piece> {
        let moved = move |place: Place| Place { start: place.start + by, end: place.end + by };
        self.map.iter().map(move |piece| Piece { page: moved(piece.page), text: piece.text })
    }

    /// A blank line and a heading, `[queue.X]`.
    pub fn section(&mut self, kind: &str, name: Option<&str>, from: Option<Place>, comment: &str) {
        let mut line = Row::default();
        line.page.from(from, |page| match name {
            Some(name) => page.add(&format!("[{kind}.{}]", key(name))),
            None => page.add(&format!("[{kind}]")),
        });
        self.add("\n");
        self.row(line.with(comment));
    }

    /// A line whose comment is not said again where the line before had the same.
    pub fn row_of_list(&mut self, mut row: Row, before: &mut Vec<(&'static str, Vec<String>)>) {
        let assumed = std::mem::take(&mut row.assumed);
        if assumed != *before {
            row.assumed.clone_from(&assumed);
        }
        *before = assumed;
        self.row(row);
    }

    /// A line with its comment.
    pub fn row(&mut self, row: Row) {
        let comment = row.comment();
        let above = row.page.text.len() > WIDE && !comment.is_empty();
        if above {
            let indent = row.page.text.len() - row.page.text.trim_start().len();
            self.add(&format!("{:indent$}# {comment}\n", ""));
        }
        self.append(&row.page);
        if !above && !comment.is_empty() {
            let gap = COLUMN.saturating_sub(row.page.text.chars().count()).max(2);
            self.add(&format!("{:gap$}# {comment}", ""));
        }
        self.add("\n");
    }

    /// `key = value`, with the source of what is assumed; a list of tables has a line for each.
    pub fn entry(&mut self, name: &str, value: &WithOrigin<Value>) {
        if let Value::List(items) = &value.is
            && items.iter().any(|item| matches!(item, Value::Table(_)))
        {
            return self.tables(name, value, items);
        }
        let mut row = Row::default();
        row.page.add(&format!("{} = ", key(name)));
        row.value(&value.is);
        row.page.around(0, value.origin.place());
        if let Origin::Assumed(source) = value.origin {
            row.assume("", source);
        }
        self.row(row);
    }

    fn tables(&mut self, name: &str, value: &WithOrigin<Value>, items: &[Value]) {
        let rows: Vec<_> = items.iter().map(|item| Row::of("  ", item)).collect();
        let mut sources: Vec<_> = rows.iter().map(Row::only_source).collect();
        sources.dedup();
        let mut head = Row::default();
        head.page.from(value.origin.place(), |page| page.add(&format!("{} = [", key(name))));
        let shared = if let [Some(source)] = sources.as_slice() { Some(*source) } else { None };
        let assumed = if let Origin::Assumed(source) = value.origin { Some(source) } else { shared };
        assumed.iter().for_each(|source| head.assume("", source));
        self.row(head);
        for mut row in rows {
            if assumed.is_some() {
                row.assumed.clear();
            }
            row.page.add(",");
            self.row(row);
        }
        self.add("]\n");
    }
}

/// A line before it has its comment.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What is left of the comment.
    pub page: Page,
    said: Vec<String>,
    /// By source, the keys that it is assumed for.
    assumed: Vec<(&'static str, Vec<String>)>,
}

impl Row {
    /// A value after an indent.
    fn of(indent: &str, value: &Value) -> Self {
        let mut row = Self::default();
        row.page.add(indent);
        row.value(value);
        row
    }

    /// The only source of what is assumed in it.
    fn only_source(&self) -> Option<&'static str> {
        if let [(source, _)] = self.assumed.as_slice() { Some(source) } else { None }
    }

    /// The same with something said in its comment.
    pub fn with(mut self, comment: &str) -> Self {
        self.say(comment);
        self
    }

    /// Says something in the comment.
    pub fn say(&mut self, comment: &str) {
        if !comment.is_empty() {
            self.said.push(comment.to_owned());
        }
    }

    fn assume(&mut self, key: &str, source: &'static str) {
        match self.assumed.iter_mut().find(|(known, _)| *known == source) {
            Some((_, keys)) if keys.iter().any(|known| known == key) => {}
            Some((_, keys)) => keys.push(key.to_owned()),
            None => self.assumed.push((source, vec![key.to_owned()])),
        }
    }

    /// `key = value, ` of each, the first without a comma before it.
    pub fn entries(&mut self, settings: &Settings) {
        settings.iter().for_each(|(name, value)| self.inner(name, value));
    }

    /// `, key = value` within a table.
    pub fn inner(&mut self, name: &str, value: &WithOrigin<Value>) {
        self.comma();
        let mut inside = Self::default();
        inside.value(&value.is);
        let one = inside.only_source().is_some() && !matches!(value.origin, Origin::Assumed(_));
        let page = inside.page;
        self.page.from(value.origin.place(), |to| {
            to.add(&format!("{} = ", key(name)));
            to.append(&page);
        });
        if let Origin::Assumed(source) = value.origin {
            self.assume(name, source);
        }
        for (source, keys) in inside.assumed {
            match one {
                true => self.assume(name, source),
                false => keys.iter().for_each(|inner| self.assume(&format!("{name}.{inner}"), source)),
            }
        }
    }

    /// A comma, unless a table has just begun.
    pub fn comma(&mut self) {
        let begun = self.page.text.ends_with("{ ");
        self.page.add(if begun { "" } else { ", " });
    }

    /// A value as TOML.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Table(settings) => {
                self.page.add("{ ");
                self.entries(settings);
                self.page.add(" }");
            }
            Value::List(items) => {
                self.page.add("[");
                for (i, item) in items.iter().enumerate() {
                    self.page.add(if i > 0 { ", " } else { "" });
                    self.value(item);
                }
                self.page.add("]");
            }
            scalar => self.page.add(&toml(&scalar.tree())),
        }
    }

    fn comment(&self) -> String {
        let one = |(source, keys): &(&str, Vec<String>)| match keys.as_slice() {
            [only] if only.is_empty() => (*source).to_owned(),
            keys => format!("{} ({source})", keys.join(", ")),
        };
        let assumed: Vec<_> = self.assumed.iter().map(one).collect();
        let assumed = (!assumed.is_empty()).then(|| format!("assumed: {}", assumed.join(", ")));
        self.said.iter().cloned().chain(assumed).collect::<Vec<_>>().join("; ")
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
            let entry = |(name, _, node): &(String, Place, perhop_core::params::Node)| {
                format!("{} = {}", key(name), toml(&node.tree))
            };
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
