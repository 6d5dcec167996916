//! Values with their places, so that a problem found later needs no search for where it is.

use super::{Kind, Node, Params, Place, Problems, Table, Tree, Value, read_table, show_table};
use std::ops::{Deref, DerefMut};

/// A value and where it is in the file; a default is where its table is. Equality is that of the values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spanned<T> {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub value: T,
}

impl<T> Spanned<T> {
    /// `value`, which is at `place`.
    pub fn new(place: Place, value: T) -> Self {
        Self { place, value }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Spanned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: PartialEq> PartialEq<T> for Spanned<T> {
    fn eq(&self, other: &T) -> bool {
        self.value == *other
    }
}

impl<T: Value> Value for Spanned<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = T::OPTIONAL;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        T::read(node, problems).map(|value| Self::new(node.place, value))
    }
    fn absent() -> Option<Self> {
        T::absent().map(|value| Self::new(Place::default(), value))
    }
    fn tree(&self) -> Option<Tree> {
        self.value.tree()
    }
}

/// Where a table is, and each of its keys: for what names a parameter only by its key, as a
/// [`super::ParamError`] does.
#[derive(Clone, Debug, Default)]
pub struct Places {
    whole: Place,
    /// Items of a list are called by their number from 0.
    keys: Vec<(String, Places)>,
}

impl Places {
    /// Those of a value.
    pub fn of(node: &Node) -> Self {
        let keys = match &node.tree {
            Tree::Table(table) => return Self::of_table(node.place, table),
            Tree::List(items) => items.iter().enumerate().map(|(i, node)| (i.to_string(), Self::of(node))).collect(),
            _ => Vec::new(),
        };
        Self { whole: node.place, keys }
    }

    /// Those of a table at `place`.
    pub fn of_table(place: Place, table: &Table) -> Self {
        let keys = table.entries.iter().map(|(key, _, node)| (key.clone(), Self::of(node)));
        Self { whole: place, keys: keys.collect() }
    }

    /// A value without keys.
    pub fn whole(place: Place) -> Self {
        Self { whole: place, keys: Vec::new() }
    }

    /// The place of the value at a dotted key (`in.min`), or of the nearest table around it.
    pub fn at(&self, key: &str) -> Place {
        let (first, rest) = key.split_once('.').unwrap_or((key, ""));
        // An item of a list is at its number.
        let item = first.parse().ok().and_then(|item: usize| self.keys.get(item)).filter(|(name, _)| name == first);
        let found = item.or_else(|| self.keys.iter().find(|(name, _)| name == first));
        found.map_or(self.whole, |(_, below)| below.at(rest))
    }
}

/// Parameters with the place of each. Equality is that of the parameters.
#[derive(Clone, Debug)]
pub struct Located<P> {
    /// What holds.
    pub value: P,
    /// Where it is stated.
    pub places: Places,
}

impl<P> Located<P> {
    /// The place of a parameter: [`Places::at`].
    pub fn place(&self, key: &str) -> Place {
        self.places.at(key)
    }
}

impl<P> Deref for Located<P> {
    type Target = P;
    fn deref(&self) -> &P {
        &self.value
    }
}

impl<P: PartialEq> PartialEq for Located<P> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<P: Params> Value for Located<P> {
    const KIND: Kind = Kind::Table(P::FIELDS);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        read_table(node, problems).map(|value| Self { value, places: Places::of(node) })
    }
    fn tree(&self) -> Option<Tree> {
        Some(show_table(&self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_place_is_found() {
        let node = |start, tree| Node { place: Place { start, end: start + 1 }, tree };
        let Tree::Table(mut inner) = Tree::table(vec![("min", Tree::Integer(1))]) else { unreachable!() };
        inner.entries[0].2.place.start = 7;
        let Tree::Table(mut outer) = Tree::table(vec![("in", Tree::Table(inner)), ("list", Tree::List(vec![]))]) else {
            unreachable!()
        };
        outer.entries[0].2.place.start = 5;
        outer.entries[1].2 = node(8, Tree::List(vec![node(9, Tree::Bool(true))]));
        let places = Places::of(&node(1, Tree::Table(outer)));
        let found = ["in.min", "in.max", "in", "list.0", "list.1", "wq", ""].map(|key| places.at(key).start);
        assert_eq!(found, [7, 5, 5, 9, 8, 1, 1]);
    }
}
