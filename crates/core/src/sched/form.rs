//! The tree that a list of classes describes, and what is wrong with it.

use super::{Class, Classes, Outline, fault};
use crate::params::{CLASS, ParamError, suggest};
use crate::scope::Scope;
use crate::units::{BitRate, Bytes};
use std::collections::HashMap;

/// A class of such a list.
pub(super) trait Listed: Class {
    /// The name of the class above it.
    fn parent(&self) -> Option<&str>;
    /// Whether it states a queue.
    fn has_queue(&self) -> bool;
}

/// Parents by index, leaves in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) parents: Vec<Option<usize>>,
    pub(super) leaves: Vec<usize>,
    /// By class, those right below it.
    children: Vec<Vec<usize>>,
    /// By class, its place among the leaves.
    places: Vec<Option<usize>>,
}

impl Form {
    /// # Errors
    /// E006 for an unknown parent; E228 for a loop; E201 for too many levels; E229 for a parent that takes packets itself;
    /// E223 for a leaf that takes none.
    pub(super) fn of(classes: &Classes<impl Listed>, levels: usize) -> Result<Self, ParamError> {
        let named = classes.iter().enumerate().filter_map(|(i, class)| Some((class.name()?, i)));
        // Of two of one name the first is meant.
        let by_name: HashMap<_, _> = named.rev().collect();
        let find = |i: usize| classes[i].parent().map(|name| parent(classes, &by_name, i, name)).transpose();
        let parents: Vec<_> = (0..classes.len()).map(find).collect::<Result<_, _>>()?;
        for i in 0..classes.len() {
            climb(classes, &parents, i, levels)?;
        }
        let form = Self::below(parents);
        (0..classes.len()).try_for_each(|i| form.takes_packets(classes, i))?;
        Ok(form)
    }

    fn below(parents: Vec<Option<usize>>) -> Self {
        let mut children = vec![Vec::new(); parents.len()];
        parents.iter().enumerate().for_each(|(i, up)| up.iter().for_each(|&up| children[up].push(i)));
        let leaves: Vec<_> = (0..parents.len()).filter(|&i| children[i].is_empty()).collect();
        let mut places = vec![None; parents.len()];
        leaves.iter().enumerate().for_each(|(place, &leaf)| places[leaf] = Some(place));
        Self { parents, leaves, children, places }
    }

    /// The place of a class among the leaves, if it is one.
    pub(super) fn place(&self, class: usize) -> Option<usize> {
        self.places[class]
    }

    /// Whether a class is a leaf.
    pub(super) fn is_leaf(&self, class: usize) -> bool {
        self.places[class].is_some()
    }

    /// A leaf says which packets it takes, a parent takes none.
    fn takes_packets(&self, classes: &Classes<impl Listed>, i: usize) -> Result<(), ParamError> {
        let (class, name) = (&classes[i], classes.called(i));
        if !self.is_leaf(i) {
            let key = class.filter().key().or(class.has_queue().then_some("queue"));
            return key.map_or(Ok(()), |key| {
                let message = format!("{CLASS} has `{key}`, and other classes name it as their parent");
                let help = "packets wait in leaves only: move the key to one of its children, or to a new child";
                Err(fault("E229", name, message).help(help))
            });
        }
        let entry = |class: &usize| classes.layout().entry(*class);
        if class.filter().is_empty() && self.leaves.last().map(entry) != Some(entry(&i)) {
            let message = format!("{CLASS} takes no packets: no `for`, no children, and not the last leaf");
            let help = "give the class a `for`, name it as the `parent` of another, or move it to the end";
            return Err(fault("E223", name, message).help(help));
        }
        Ok(())
    }

    /// Whether what a class is promised counts: of the classes of a template those count that the load reaches.
    pub(super) fn counts(&self, classes: &Classes<impl Listed>, i: usize, scope: &Scope) -> bool {
        let reached = |place: usize| scope.classes.get(place).is_some_and(|largest| largest.packet > Bytes::new(0));
        classes.layout().template(i).is_none() || self.place(i).is_some_and(reached)
    }

    /// How many classes are above one.
    pub(super) fn above(&self, class: usize) -> usize {
        std::iter::successors(self.parents[class], |&up| self.parents[up]).count()
    }

    /// The classes below one, or all, each before those below it.
    pub(super) fn in_order(&self, above: Option<usize>) -> Vec<usize> {
        let mut found = Vec::new();
        let tops = (0..self.parents.len()).filter(|&class| above.is_none() && self.parents[class].is_none());
        let mut next: Vec<_> = above.map_or_else(|| tops.collect(), |above| self.children[above].clone());
        next.reverse();
        while let Some(class) = next.pop() {
            found.push(class);
            next.extend(self.children[class].iter().rev());
        }
        found
    }

    /// The places, among the leaves, of a leaf or of those below a parent.
    pub(super) fn places_below(&self, class: usize) -> Vec<usize> {
        let mut places: Vec<_> =
            self.in_order(Some(class)).into_iter().chain([class]).filter_map(|i| self.place(i)).collect();
        places.sort_unstable();
        places
    }

    /// The classes for results, each before those below it; `bound` is the rate beyond which one is never served.
    pub(super) fn outline(
        &self,
        names: &[Option<String>],
        bound: impl Fn(usize) -> Option<BitRate>,
    ) -> impl Iterator<Item = Outline> {
        let outline = move |class: usize| Outline {
            name: names[class].clone(),
            children: self.places_below(class),
            has_classes: !self.is_leaf(class),
            depth: self.above(class),
            bound: bound(class),
        };
        self.in_order(None).into_iter().map(outline)
    }

    /// # Errors
    /// E202 for new parameters with another tree.
    pub(super) fn same(&self, new: &Self) -> Result<(), ParamError> {
        if self == new {
            return Ok(());
        }
        let error = ParamError::new("classes", "E202", "the change would alter the form of the tree of classes".into());
        Err(error.help("the parents of classes are fixed when the run begins; a change may alter rates"))
    }

    /// # Errors
    /// E239 for an `unclassified` of this name where the last leaf takes all that no other does.
    pub(super) fn leaves_some(&self, classes: &Classes<impl Listed>, unclassified: &str) -> Result<(), ParamError> {
        let all = self.leaves.last().filter(|&&leaf| classes[leaf].filter().is_empty());
        all.map_or(Ok(()), |&leaf| {
            let message =
                format!("`unclassified = \"{unclassified}\"` has no effect: {CLASS} takes all that no other does");
            let error = ParamError::new("unclassified", "E239", message).of_class(classes.called(leaf));
            Err(error.help("give it a `for`, or remove `unclassified`"))
        })
    }
}

fn parent(
    classes: &Classes<impl Listed>,
    by_name: &HashMap<&str, usize>,
    i: usize,
    name: &str,
) -> Result<usize, ParamError> {
    by_name.get(name).copied().ok_or_else(|| {
        let message = format!("{CLASS}: no class is called `{name}`, its `parent`");
        let names: Vec<&str> = classes.iter().filter_map(|class| class.name()).collect();
        let help = if names.is_empty() { "no class has a name".to_owned() } else { suggest(name, &names) };
        fault("E006", classes.called(i), message).help(help)
    })
}

/// Follows the parents of a class to the top.
fn climb(classes: &Classes<impl Listed>, parents: &[Option<usize>], i: usize, levels: usize) -> Result<(), ParamError> {
    let mut path = vec![i];
    while let Some(up) = parents[path[path.len() - 1]] {
        if up != i && path.contains(&up) {
            // A loop above it, which those in it report.
            return Ok(());
        }
        path.push(up);
        if up == i {
            let names: Vec<_> = path.iter().map(|&at| classes[at].name().unwrap_or_default()).collect();
            let message = format!("{CLASS} is its own ancestor: {}", names.join(" -> "));
            let help = "remove the `parent` of one of them: it is the top of the tree";
            return Err(fault("E228", classes.called(i), message).help(help));
        }
        if path.len() > levels {
            let message = format!("{CLASS} is more than {levels} levels below the top");
            let help = format!("at most {levels} levels are allowed, as in Linux");
            return Err(fault("E201", classes.called(i), message).help(help));
        }
    }
    Ok(())
}
