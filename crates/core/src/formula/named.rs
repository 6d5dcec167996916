//! A table whose keys are names that the file gives.

use crate::params::{Kind, Node, Place, Problems, Tree, Value};

/// Names and values in the order of the file. Equality is that of names and values.
#[derive(Clone, Debug)]
pub struct Named<T> {
    /// Each with its place.
    pub list: Vec<(String, Place, T)>,
}

impl<T: PartialEq> PartialEq for Named<T> {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&(String, Place, T), &(String, Place, T))| a.0 == b.0 && a.2 == b.2;
        self.list.len() == other.list.len() && self.list.iter().zip(&other.list).all(same)
    }
}

impl<T: Value> Value for Named<T> {
    const KIND: Kind = Kind::Named(&T::KIND);
    const OPTIONAL: bool = true;

    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Tree::Table(table) = &node.tree else { return problems.wrong_type(node, &Self::KIND) };
        let mut one = |(name, place, node): &(String, Place, Node)| {
            Some((name.clone(), *place, problems.within(name, |problems| T::read(node, problems))?))
        };
        let read: Vec<_> = table.entries.iter().map(&mut one).collect();
        read.into_iter().collect::<Option<_>>().map(|list| Self { list })
    }

    fn absent() -> Option<Self> {
        Some(Self { list: Vec::new() })
    }

    fn tree(&self) -> Option<Tree> {
        let each = self.list.iter().filter_map(|(name, _, value)| Some((&**name, value.tree()?)));
        let entries: Vec<_> = each.collect();
        (!entries.is_empty()).then(|| Tree::table(entries))
    }
}
