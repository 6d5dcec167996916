//! What a file says: values that know their place.

use std::fmt;

/// A stretch of the file, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub tree: Tree,
}

/// What a file can say.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `"5Mbit/s"`
    Text(String),
    /// `5`
    Integer(i64),
    /// `0.002`
    Float(f64),
    /// `true`
    Bool(bool),
    /// `[1, 2]`
    List(Vec<Node>),
    /// `{ min = "5p" }` or `[section]`
    Table(Table),
}

/// Keys and values in the file's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Key, its place, its value.
    pub entries: Vec<(String, Place, Node)>,
}

impl Table {
    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entries.iter().find(|e| e.0 == name).map(|e| &e.2)
    }
}

impl Tree {
    /// What it is, for messages.
    pub fn noun(&self) -> &'static str {
        match self {
            Tree::Text(_) => "text",
            Tree::Integer(_) => "an integer",
            Tree::Float(_) => "a number",
            Tree::Bool(_) => "true or false",
            Tree::List(_) => "a list",
            Tree::Table(_) => "a table",
        }
    }

    /// A tree without places, from values.
    pub fn table(entries: Vec<(&str, Tree)>) -> Self {
        let place = Place::default();
        Tree::Table(Table {
            entries: entries.into_iter().map(|(k, tree)| (k.to_owned(), place, Node { place, tree })).collect(),
        })
    }
}

impl From<Tree> for Node {
    fn from(tree: Tree) -> Self {
        Node { place: Place::default(), tree }
    }
}

/// As inline TOML.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Text(text) => write!(f, "{text:?}"),
            Tree::Integer(n) => write!(f, "{n}"),
            Tree::Float(x) => write!(f, "{x:?}"),
            Tree::Bool(b) => write!(f, "{b}"),
            Tree::List(items) => {
                let items: Vec<_> = items.iter().map(|n| n.tree.to_string()).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Tree::Table(table) => {
                let entries: Vec<_> =
                    table.entries.iter().map(|(k, _, n)| format!("{} = {}", key(k), n.tree)).collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
        }
    }
}

/// A key as TOML writes it: bare where possible.
pub fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if bare { name.to_owned() } else { format!("{name:?}") }
}
