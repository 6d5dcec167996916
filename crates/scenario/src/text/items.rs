//! Items of a list by name: `queue.af.profiles.AF31` is the item of `profiles` with `for = "AF31"`.
//!
//! A table of a list is called by the value of its identifying key (`for`, `name`, `class`, `at`), by any of them if that
//! is a list. Every item also has its position, from 1; a name comes before a position.
//!
//! Decision: docs/decisions/075-items-have-names-and-values-are-toml.md

use perhop_core::dscp::Dscp;
use perhop_core::params::{Node, Tree, suggest};

/// Keys that tell the tables of a list apart, and that a table put in their place keeps.
pub const NAMING: [&str; 4] = ["for", "name", "class", "at"];

/// Index of the item that is called `name`.
pub fn find(items: &[Node], name: &str) -> Option<usize> {
    let called = items.iter().position(|item| names(item).iter().any(|word| same(word, name)));
    called.or_else(|| name.parse::<usize>().ok()?.checked_sub(1).filter(|&i| i < items.len()))
}

/// What the items are called: names, or else positions.
pub fn choices(items: &[Node], name: &str) -> String {
    let names: Vec<_> = items.iter().flat_map(names).collect();
    let positions = match items.len() {
        0 => "the list is empty".to_owned(),
        1 => "its only item is 1".to_owned(),
        n => format!("its items are 1 to {n}"),
    };
    if names.is_empty() {
        return positions;
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    format!("{}; by position {positions}", suggest(name, &names))
}

fn names(item: &Node) -> Vec<String> {
    let Tree::Table(table) = &item.tree else { return Vec::new() };
    match NAMING.into_iter().find_map(|key| table.get(key)).map(|node| &node.tree) {
        Some(Tree::List(words)) => words.iter().filter_map(|node| word(&node.tree)).collect(),
        Some(tree) => word(tree).into_iter().collect(),
        None => Vec::new(),
    }
}

fn word(tree: &Tree) -> Option<String> {
    match tree {
        Tree::Text(text) => Some(text.clone()),
        Tree::Integer(n) => Some(n.to_string()),
        _ => None,
    }
}

/// The same text, or the same code point: `AF31`, `af31`, `0x1a`. A decimal number is itself alone.
fn same(word: &str, name: &str) -> bool {
    let point = |text: &str| text.parse::<Dscp>().ok();
    let number = name.bytes().all(|b| b.is_ascii_digit());
    word == name || (!number && point(word).is_some() && point(word) == point(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::toml;
    use perhop_core::params::Problems;

    fn found(list: &str, name: &str) -> Option<usize> {
        let node = toml::parse(&format!("v = {list}"), 0, &mut Problems::default()).unwrap();
        let Tree::Table(table) = node.tree else { unreachable!() };
        let Tree::List(items) = &table.get("v").unwrap().tree else { unreachable!() };
        find(items, name)
    }

    #[test]
    fn items_have_names_and_positions() {
        let list = r#"[{ for = "AF31" }, { for = ["AF32", "yellow"] }, { for = 2 }, { weight = 1 }]"#;
        let cases =
            [("AF31", 0), ("0x1a", 0), ("AF32", 1), ("yellow", 1), ("2", 2), ("1", 0), ("3", 2), ("4", 3), ("af31", 0)];
        for (name, index) in cases {
            assert_eq!(found(list, name), Some(index), "{name}");
        }
        for name in ["AF33", "0", "5", "weight", "-1"] {
            assert_eq!(found(list, name), None, "{name}");
        }
        assert_eq!(found("[\"a\", \"b\"]", "2"), Some(1), "a list of values has positions alone");
    }
}
