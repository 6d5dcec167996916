//! A scenario as it is made: keys and values in their order, each with the place in the configuration that it comes from and with
//! what its comment says.

use crate::value::{Origin, Settings, Value, WithOrigin};
use perhop_core::params::{Node, Place, Tree};

/// What stands in a scenario, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its parts.
    pub parts: Vec<Part>,
}

/// A part of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Lines of comments, with their ends.
    Comment(String),
    /// A table with a heading.
    Section(Section),
}

/// `[queue.X]` with its keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// `queue`
    pub kind: &'static str,
    /// `X`
    pub name: Option<String>,
    /// Where it comes from, and what is in it unless that is known better.
    pub from: Option<Place>,
    /// Whether these places are in the file of a load.
    pub of_load: bool,
    /// Behind its heading.
    pub comment: String,
    /// Its keys.
    pub entries: Vec<Entry>,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key comes from, unless from the same place as what it is in.
    pub from: Option<Place>,
    /// The value.
    pub cell: Cell,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Where it comes from, unless from the same place as what it is in.
    pub from: Option<Place>,
    /// The class of the device that it is.
    pub class: Option<String>,
    /// What its line says behind it.
    pub remark: Remark,
    /// What it is.
    pub form: Form,
}

/// What a value consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A text, a number, yes or no.
    One(Tree),
    /// Several, on one line.
    List(Vec<Cell>),
    /// Several, each on a line if it is the value of a section's key.
    Rows(Vec<Cell>),
    /// Keys and values.
    Table(Vec<Entry>),
}

/// What is said of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remark {
    /// In words.
    words: Vec<String>,
    /// The source by which the value itself is assumed.
    own: Option<&'static str>,
    /// By source, the keys within it that are assumed.
    within: Vec<Assumed>,
}

/// A source, and the keys that are assumed by it.
pub type Assumed = (&'static str, Vec<String>);

impl Draft {
    /// Lines of comments.
    pub fn comment(&mut self, lines: String) {
        self.parts.push(Part::Comment(lines));
    }

    /// A table.
    pub fn add(&mut self, section: Section) {
        self.parts.push(Part::Section(section));
    }
}

impl Section {
    /// An empty one.
    pub fn new(kind: &'static str, name: Option<&str>, from: Option<Place>) -> Self {
        Self { kind, name: name.map(str::to_owned), from, ..Self::default() }
    }

    /// A key.
    pub fn set(&mut self, key: &str, cell: impl Into<Cell>) {
        let cell = cell.into();
        self.entries.push(Entry { key: key.to_owned(), from: cell.from, cell });
    }

    /// `accounting`, if a device says it.
    pub fn count(&mut self, accounting: Option<&WithOrigin<&'static str>>) {
        accounting.into_iter().for_each(|it| {
            self.set("accounting", &WithOrigin { is: Value::Word(it.is.to_owned()), origin: it.origin })
        });
    }

    /// Keys of a device.
    pub fn extend<'a>(&mut self, settings: impl IntoIterator<Item = (&'static str, &'a WithOrigin<Value>)>) {
        settings.into_iter().for_each(|(key, value)| self.set(key, value));
    }
}

impl Cell {
    /// An empty table.
    pub fn table() -> Self {
        Form::Table(Vec::new()).into()
    }

    /// The same from a place.
    #[must_use]
    pub fn at(self, from: Option<Place>) -> Self {
        Self { from, ..self }
    }

    /// Adds words to what stands behind it; none if they are empty.
    pub fn note(&mut self, words: &str) {
        self.remark.words.extend(Some(words).filter(|it| !it.is_empty()).map(str::to_owned));
    }

    /// The same with something said behind it.
    #[must_use]
    pub fn with(mut self, words: &str) -> Self {
        self.note(words);
        self
    }

    /// A key of a table, which comes from where its value does.
    pub fn set(&mut self, key: &str, cell: impl Into<Self>) {
        let cell = cell.into();
        self.put(key, cell.from, cell);
    }

    /// A key of a table, which comes from elsewhere than its value.
    pub fn put(&mut self, key: &str, from: Option<Place>, cell: Self) {
        cell.remark.add_to(key, &mut self.remark.within);
        if let Form::Table(entries) = &mut self.form {
            entries.push(Entry { key: key.to_owned(), from, cell });
        }
    }

    /// A key of a table whose comment names the value's keys without it: `limit`, not `queue.limit`.
    pub fn hold(&mut self, key: &str, from: Option<Place>, cell: Self) {
        let all = cell.remark.within.iter().flat_map(|(source, keys)| keys.iter().map(move |key| (source, key)));
        all.for_each(|(source, key)| assume(&mut self.remark.within, source, key.clone()));
        let bare = Self { remark: Remark::default(), ..cell };
        self.put(key, from, bare);
    }

    /// Keys of a device in a table.
    pub fn extend(&mut self, settings: &Settings) {
        settings.iter().for_each(|(key, value)| self.set(key, value));
    }
}

impl Remark {
    /// What is assumed of a table that has this of a key.
    fn add_to(&self, key: &str, table: &mut Vec<Assumed>) {
        self.own.iter().for_each(|source| assume(table, source, key.to_owned()));
        let one = self.only_source().is_some() && self.own.is_none();
        for (source, keys) in &self.within {
            match one {
                true => assume(table, source, key.to_owned()),
                false => keys.iter().for_each(|inner| assume(table, source, format!("{key}.{inner}"))),
            }
        }
    }

    /// The only source of what is assumed within.
    pub fn only_source(&self) -> Option<&'static str> {
        if let [(source, _)] = self.within.as_slice() { Some(source) } else { None }
    }

    /// What is assumed within.
    pub fn within(&self) -> &[Assumed] {
        &self.within
    }

    /// The source of the value itself.
    pub const fn own(&self) -> Option<&'static str> {
        self.own
    }

    /// The same without what is assumed within.
    pub fn of_words(&self) -> Self {
        Self { words: self.words.clone(), ..Self::default() }
    }

    /// The same of a value that is assumed itself.
    pub fn assumed_by(&self, own: Option<&'static str>) -> Self {
        Self { own: own.or(self.own), ..self.clone() }
    }

    /// As a comment.
    pub fn text(&self) -> String {
        let mut assumed = self.within.clone();
        self.own.iter().for_each(|source| assume(&mut assumed, source, String::new()));
        let one = |(source, keys): &Assumed| match keys.as_slice() {
            [only] if only.is_empty() => (*source).to_owned(),
            keys => format!("{} ({source})", keys.join(", ")),
        };
        let assumed: Vec<_> = assumed.iter().map(one).collect();
        let assumed = (!assumed.is_empty()).then(|| format!("assumed: {}", assumed.join(", ")));
        self.words.iter().cloned().chain(assumed).collect::<Vec<_>>().join("; ")
    }
}

/// Adds a key to those of a source, unless it is there.
fn assume(list: &mut Vec<Assumed>, source: &'static str, key: String) {
    match list.iter_mut().find(|(known, _)| *known == source) {
        Some((_, keys)) if keys.contains(&key) => {}
        Some((_, keys)) => keys.push(key),
        None => list.push((source, vec![key])),
    }
}

impl From<Form> for Cell {
    fn from(form: Form) -> Self {
        Self { from: None, class: None, remark: Remark::default(), form }
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Self {
        Form::One(Tree::Text(words.to_owned())).into()
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Self {
        Form::One(Tree::Text(words)).into()
    }
}

impl From<&Tree> for Cell {
    fn from(tree: &Tree) -> Self {
        let entry =
            |(key, _, node): &(String, Place, Node)| Entry { key: key.clone(), from: None, cell: (&node.tree).into() };
        match tree {
            Tree::List(items) => Form::List(items.iter().map(|item| (&item.tree).into()).collect()),
            Tree::Table(table) => Form::Table(table.entries.iter().map(entry).collect()),
            scalar => Form::One(scalar.clone()),
        }
        .into()
    }
}

impl From<&Value> for Cell {
    fn from(value: &Value) -> Self {
        match value {
            Value::Table(settings) => {
                let mut table = Self::table();
                table.extend(settings);
                table
            }
            Value::List(items) => {
                let items: Vec<Self> = items.iter().map(Self::from).collect();
                let mut within = Vec::new();
                let all = items.iter().flat_map(|it| &it.remark.within);
                all.for_each(|(source, keys)| keys.iter().for_each(|key| assume(&mut within, source, key.clone())));
                let has_tables = items.iter().any(|it| matches!(it.form, Form::Table(_)));
                let form = if has_tables { Form::Rows(items) } else { Form::List(items) };
                Self { remark: Remark { within, ..Remark::default() }, ..form.into() }
            }
            scalar => Form::One(scalar.tree()).into(),
        }
    }
}

impl From<&WithOrigin<Value>> for Cell {
    fn from(value: &WithOrigin<Value>) -> Self {
        let mut cell = Self::from(&value.is).at(value.origin.place());
        if let Origin::Assumed(source) = value.origin {
            cell.remark.own = Some(source);
        }
        cell
    }
}
