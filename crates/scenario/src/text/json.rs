//! Tree -> JSON.

use super::toml;
use perhop_core::params::{Problems, Tree};
use serde_json::{Value, json};

/// The same values; quantities stay text with their unit.
pub fn json(tree: &Tree) -> Value {
    match tree {
        Tree::Text(text) => json!(text),
        Tree::Integer(n) => json!(n),
        Tree::Float(x) => json!(x),
        Tree::Bool(b) => json!(b),
        Tree::List(items) => items.iter().map(|item| json(&item.tree)).collect(),
        Tree::Table(table) => table.entries.iter().map(|(key, _, node)| (key.clone(), json(&node.tree))).collect(),
    }
}

/// The values of a file that perhop wrote.
pub fn of_toml(text: &str) -> Value {
    toml::parse(text, 0, &mut Problems::default()).map_or(Value::Null, |root| json(&root.tree))
}
