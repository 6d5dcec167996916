//! Keys of `[links]`: which nodes they join, and which of them override others.

use std::collections::{BTreeMap, HashSet};

/// The name of a direction, however its arrow is spaced.
pub fn direction_name(text: &str) -> Option<String> {
    ends(text).filter(|e| !e.both).map(|e| arrow(e.from, e.to))
}

/// What a key of `[links]` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends<'a> {
    /// Where it begins.
    pub from: &'a str,
    /// Where it ends.
    pub to: &'a str,
    /// Whether it is both directions.
    pub both: bool,
}

/// Reads a key: `A - B` or `A -> B`.
pub fn ends(key: &str) -> Option<Ends<'_>> {
    let (from, to, both) = match key.split_once("->") {
        Some((from, to)) => (from, to, false),
        None => key.split_once(" - ").map(|(from, to)| (from, to, true))?,
    };
    let (from, to) = (from.trim(), to.trim());
    (!from.is_empty() && !to.is_empty() && !to.contains("->") && !to.contains(" - ")).then_some(Ends { from, to, both })
}

/// `A -> B`
pub fn arrow(from: &str, to: &str) -> String {
    [from, " -> ", to].concat()
}

/// The keys of `[links]` by the ends they name.
pub struct Keys<'a> {
    /// Two-way links, in both directions.
    duplex: HashSet<(&'a str, &'a str)>,
    /// One-way keys; of several with the same ends, the first.
    pub(super) one_way: BTreeMap<(&'a str, &'a str), &'a str>,
}

impl<'a> Keys<'a> {
    /// The keys of a file.
    pub fn new(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut keys = Self { duplex: HashSet::new(), one_way: BTreeMap::new() };
        for key in names {
            match ends(key) {
                Some(Ends { from, to, both: true }) => keys.duplex.extend([(from, to), (to, from)]),
                Some(Ends { from, to, both: false }) => _ = keys.one_way.entry((from, to)).or_insert(key),
                None => {}
            }
        }
        keys
    }

    /// Whether a key overrides one direction of a two-way link.
    pub fn overrides(&self, key: &str) -> bool {
        ends(key).is_some_and(|e| !e.both && self.duplex.contains(&(e.from, e.to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_links() {
        assert_eq!(ends("s-1 - E1"), Some(Ends { from: "s-1", to: "E1", both: true }));
        assert_eq!(ends("C->E2"), Some(Ends { from: "C", to: "E2", both: false }));
        for bad in ["C", "C-E2", " -> E2", "A - B - C", "A -> B -> C", ""] {
            assert_eq!(ends(bad), None, "{bad}");
        }
        let keys = Keys::new(["A - B", "C -> B"]);
        assert!(keys.overrides("B -> A") && keys.overrides("A->B"));
        assert!(!keys.overrides("B -> C") && !keys.overrides("A -> C") && !keys.overrides("A - B"));
    }
}
