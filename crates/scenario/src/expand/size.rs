//! How much a file becomes, told before any of it is made: E270.

use super::series;
use perhop_core::params::{Node, Place, Problems, Tree};
use perhop_core::units::counted;

/// Most values of all series of a file: 100,000 flows over 200,000 links of their own have 2,200,000.
pub const MOST: u64 = 4_000_000;
/// What a copy's name counts, with the place that it has in all that is made of it.
const NAME: u64 = 2;
/// Most values of all points of a sweep, which are kept while it runs: about 300 B each.
pub const MOST_SWEPT: u64 = 20_000_000;
/// A longer text counts as several values.
const TEXT: usize = 64;

/// Values of a tree, tables and lists among them, as it is written.
pub fn stated(node: &Node) -> u64 {
    match &node.tree {
        Tree::Table(table) => table.entries.iter().fold(1, |sum, (_, _, inner)| sum + stated(inner)),
        Tree::List(items) => items.iter().fold(1, |sum, item| sum + stated(item)),
        Tree::Text(text) => 1 + (text.len() / TEXT) as u64,
        _ => 1,
    }
}

/// Values of a tree with its series expanded. A series with a fault counts once.
pub fn expanded(node: &Node) -> u64 {
    match &node.tree {
        Tree::Table(table) => table.entries.iter().fold(1, |sum, entry| sum + entry_of(&entry.0, &entry.2)),
        Tree::List(items) => items.iter().fold(1, |sum, item| sum + expanded(item)),
        Tree::Text(text) => series::entries(text).saturating_mul(stated(node)),
        _ => 1,
    }
}

fn entry_of(key: &str, node: &Node) -> u64 {
    match series::entries(key) {
        1 => expanded(node),
        copies => copies.saturating_mul(expanded(node) + NAME),
    }
}

/// Whether the series of a file are of a size that fits into memory; else E270 at the one with which they do not.
pub fn check_series(root: &Node, problems: &mut Problems) -> bool {
    let mut sum = 0;
    let over = first_over(root, &mut sum);
    if let Some(place) = over {
        let message = format!("the series of this file make {} or more", counted(sum as usize, ["value", "values"]));
        let help = format!("at most {MOST} are allowed: shorten the series, or put several `flows` in one [traffic]");
        problems.error("E270", place, message).help(help);
    }
    over.is_none()
}

/// The place of the entry with which the sum passes the bound.
fn first_over(node: &Node, sum: &mut u64) -> Option<Place> {
    let Tree::Table(table) = &node.tree else { return None };
    table.entries.iter().find_map(|(key, place, inner)| {
        if series::entries(key) == 1 && matches!(inner.tree, Tree::Table(_)) {
            return first_over(inner, sum);
        }
        *sum = sum.saturating_add(entry_of(key, inner));
        (*sum > MOST).then_some(*place)
    })
}
