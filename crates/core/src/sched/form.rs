//! The tree that a list of classes describes, and what is wrong with it.

use super::Outline;
use crate::aqm::members::Filter;
use crate::params::{ParamError, suggest};
use crate::units::BitRate;

/// A class of such a list.
pub(super) trait Listed {
    /// What its children and messages call it.
    fn name(&self) -> Option<&str>;
    /// The name of the class above it.
    fn parent(&self) -> Option<&str>;
    /// The packets it takes.
    fn filter(&self) -> &Filter;
    /// Whether it states a queue.
    fn has_queue(&self) -> bool;
}

/// Parents by index, leaves in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) parents: Vec<Option<usize>>,
    pub(super) leaves: Vec<usize>,
}

/// ``class 2 (`voice`)``
pub(super) fn called(classes: &[impl Listed], i: usize) -> String {
    let name = classes[i].name().map_or(String::new(), |name| format!(" (`{name}`)"));
    format!("class {}{name}", i + 1)
}

pub(super) fn fault(code: &'static str, message: String) -> ParamError {
    ParamError::new("classes", code, message)
}

impl Form {
    /// # Errors
    /// E002 for a name that two have; E006 for an unknown parent; E228 for a loop; E201 for too many levels; E229 for a
    /// parent that takes packets itself; E223 for a leaf that takes none.
    pub(super) fn of(classes: &[impl Listed], levels: usize) -> Result<Self, ParamError> {
        let mut names: Vec<&str> = Vec::new();
        for (i, name) in classes.iter().enumerate().filter_map(|(i, class)| Some((i, class.name()?))) {
            if names.contains(&name) {
                let message = format!("class {}: the name `{name}` is taken by a class before it", i + 1);
                return Err(fault("E002", message).help("give each class a name of its own"));
            }
            names.push(name);
        }
        let find = |i: usize| classes[i].parent().map(|name| parent(classes, &names, i, name)).transpose();
        let parents: Vec<_> = (0..classes.len()).map(find).collect::<Result<_, _>>()?;
        for i in 0..classes.len() {
            climb(classes, &parents, i, levels)?;
        }
        let is_leaf = |i: &usize| !parents.contains(&Some(*i));
        let form = Self { leaves: (0..classes.len()).filter(is_leaf).collect(), parents };
        (0..classes.len()).try_for_each(|i| form.takes_packets(classes, i))?;
        Ok(form)
    }

    /// A leaf says which packets it takes, a parent takes none.
    fn takes_packets(&self, classes: &[impl Listed], i: usize) -> Result<(), ParamError> {
        let (class, name) = (&classes[i], called(classes, i));
        if !self.leaves.contains(&i) {
            let key = class.filter().key().or(class.has_queue().then_some("queue"));
            return key.map_or(Ok(()), |key| {
                let message = format!("{name} has `{key}`, and other classes name it as their parent");
                let help = "packets wait in leaves only: move the key to one of its children, or to a new child";
                Err(fault("E229", message).help(help))
            });
        }
        if class.filter().is_empty() && self.leaves.last() != Some(&i) {
            let message = format!("{name} takes no packets: no `for`, no children, and not the last leaf");
            let help = "give the class a `for`, name it as the `parent` of another, or move it to the end";
            return Err(fault("E223", message).help(help));
        }
        Ok(())
    }

    /// How many classes are above one.
    pub(super) fn above(&self, class: usize) -> usize {
        std::iter::successors(self.parents[class], |&up| self.parents[up]).count()
    }

    /// The classes below one, or all, each before those below it.
    pub(super) fn in_order(&self, above: Option<usize>) -> Vec<usize> {
        let children = (0..self.parents.len()).filter(|&class| self.parents[class] == above);
        children.flat_map(|class| [vec![class], self.in_order(Some(class))].concat()).collect()
    }

    /// The places, among the leaves, of a leaf or of those below a parent.
    pub(super) fn places_below(&self, class: usize) -> Vec<usize> {
        let below = self.in_order(Some(class));
        let of = |leaf: &usize| *leaf == class || below.contains(leaf);
        (0..self.leaves.len()).filter(|&place| of(&self.leaves[place])).collect()
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
            has_classes: !self.leaves.contains(&class),
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
    pub(super) fn leaves_some(&self, classes: &[impl Listed], unclassified: &str) -> Result<(), ParamError> {
        let all = self.leaves.last().filter(|&&leaf| classes[leaf].filter().is_empty());
        all.map_or(Ok(()), |&leaf| {
            let name = called(classes, leaf);
            let message =
                format!("`unclassified = \"{unclassified}\"` has no effect: {name} takes all that no other does");
            let error = ParamError::new("unclassified", "E239", message);
            Err(error.help("give it a `for`, or remove `unclassified`"))
        })
    }
}

fn parent(classes: &[impl Listed], names: &[&str], i: usize, name: &str) -> Result<usize, ParamError> {
    let found = classes.iter().position(|class| class.name() == Some(name));
    found.ok_or_else(|| {
        let message = format!("{}: no class is called `{name}`, its `parent`", called(classes, i));
        let help = if names.is_empty() { "no class has a name".to_owned() } else { suggest(name, names) };
        fault("E006", message).help(help)
    })
}

/// Follows the parents of a class to the top.
fn climb(classes: &[impl Listed], parents: &[Option<usize>], i: usize, levels: usize) -> Result<(), ParamError> {
    let mut path = vec![i];
    while let Some(up) = parents[path[path.len() - 1]] {
        if up != i && path.contains(&up) {
            // A loop above it, which those in it report.
            return Ok(());
        }
        path.push(up);
        if up == i {
            let names: Vec<_> = path.iter().map(|&at| classes[at].name().unwrap_or_default()).collect();
            let message = format!("{} is its own ancestor: {}", called(classes, i), names.join(" -> "));
            return Err(fault("E228", message).help("remove the `parent` of one of them: it is the top of the tree"));
        }
        if path.len() > levels {
            let message = format!("{} is more than {levels} levels below the top", called(classes, i));
            return Err(fault("E201", message).help(format!("at most {levels} levels are allowed, as in Linux")));
        }
    }
    Ok(())
}
