//! How an axis of a sweep is written, in `[sweep]` and after `--vary`.
//!
//! | `[sweep]` | `--vary` | |
//! |---|---|---|
//! | `"a.b" = [1, 2]` | `a.b=1,2` | one key |
//! | `"[a.b, c]" = [[1, 2], [3, 4]]` | `[a.b, c]=[[1, 2], [3, 4]]` | linked keys: each row has a value for each |
//! | `"a.b" = { values = [1, 2], labels = ["low", "high"], as = "load" }` | the same | called otherwise |
//!
//! Decision: docs/decisions/075-items-have-names-and-values-are-toml.md

use super::tree;
use perhop_core::params::{Node, Place, Problems, Tree};

/// Key of the values, in an axis that is a table.
pub const VALUES: &str = "values";

/// The keys of an axis; several in brackets are linked.
pub fn keys(text: &str) -> Vec<&str> {
    let trimmed = text.trim();
    match trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => items(inner).into_iter().map(|(_, key)| key.trim()).collect(),
        None => vec![trimmed],
    }
}

/// Whether an axis has linked keys: rows of values.
pub fn is_linked(text: &str) -> bool {
    text.trim_start().starts_with('[')
}

/// The values of an axis, rows if it is linked.
pub fn values_mut(node: &mut Node) -> Option<&mut Vec<Node>> {
    match &mut node.tree {
        Tree::List(items) => Some(items),
        Tree::Table(table) => match &mut table.entries.iter_mut().find(|e| e.0 == VALUES)?.2.tree {
            Tree::List(items) => Some(items),
            _ => None,
        },
        _ => None,
    }
}

/// Reads `KEY=A,B,C`, whose bytes begin at `base`: the key and what `[sweep]` would have for it.
pub fn parse(text: &str, base: usize, problems: &mut Problems) -> Option<(String, Node)> {
    let Some((key, begin)) = tree::split(text) else {
        let place = Place { start: base, end: base + text.len() };
        return problems.error("E010", place, format!("`{text}` is not an axis")).help("write key=a,b,c").none();
    };
    let place = Place { start: base + begin, end: base + text.len() };
    let mut read = Vec::new();
    for (at, item) in items(&text[begin..]) {
        let at = base + begin + at;
        if item.trim().is_empty() {
            let place = Place { start: at.min(place.end.saturating_sub(1)), end: at + item.len().max(1) };
            let message = format!("value {} of axis `{}` is empty", read.len() + 1, key.trim());
            return problems.error("E240", place, message).help("write key=a,b,c; for an empty text write \"\"").none();
        }
        read.push(tree::parse_value(item, at, problems)?);
    }
    // A list alone is that of the values, and a table alone may say more about them: both as in [sweep].
    let whole = match read.as_slice() {
        [Node { tree: Tree::List(_), .. }] => true,
        [Node { tree: Tree::Table(table), .. }] => table.get(VALUES).is_some(),
        _ => false,
    };
    let node = if whole { read.remove(0) } else { Node { place, tree: Tree::List(read) } };
    Some((key.trim().to_owned(), node))
}

/// Parts between the commas outside quotes, brackets and braces, each with the byte it begins at.
fn items(text: &str) -> Vec<(usize, &str)> {
    let (mut out, mut begin, mut depth) = (Vec::new(), 0, 0usize);
    let (mut quote, mut escaped) = (None, false);
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(q), _) if q == c && !escaped => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                out.push((begin, &text[begin..i]));
                begin = i + 1;
            }
            _ => {}
        }
        escaped = false;
    }
    out.push((begin, &text[begin..]));
    out
}
