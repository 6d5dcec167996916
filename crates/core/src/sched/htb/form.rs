//! The tree that a list of classes describes, and what is wrong with it.

use super::tree::{LEVELS, PRIOS};
use super::{Class, DEEPEST, Params};
use crate::params::{ParamError, suggest};
use crate::units::{BitRate, Bytes};

/// Parents by index, leaves in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) parents: Vec<Option<usize>>,
    pub(super) leaves: Vec<usize>,
}

/// ``class 2 (`voice`)``
pub(super) fn called(classes: &[Class], i: usize) -> String {
    let name = classes[i].name.as_ref().map_or(String::new(), |name| format!(" (`{name}`)"));
    format!("class {}{name}", i + 1)
}

fn fault(code: &'static str, message: String) -> ParamError {
    ParamError::new("classes", code, message)
}

impl Form {
    /// # Errors
    /// E002 for a name that two have; E006 for an unknown parent; E228 for a loop; E201 for too many levels; E229 for a
    /// parent that takes packets itself; E223 for a leaf that takes none.
    pub(super) fn of(classes: &[Class]) -> Result<Self, ParamError> {
        let mut names: Vec<&str> = Vec::new();
        for (i, name) in classes.iter().enumerate().filter_map(|(i, class)| Some((i, class.name.as_deref()?))) {
            if names.contains(&name) {
                let message = format!("class {}: the name `{name}` is taken by a class before it", i + 1);
                return Err(fault("E002", message).help("give each class a name of its own"));
            }
            names.push(name);
        }
        let find = |i: usize| classes[i].parent.as_ref().map(|name| parent(classes, &names, i, name)).transpose();
        let parents: Vec<_> = (0..classes.len()).map(find).collect::<Result<_, _>>()?;
        for i in 0..classes.len() {
            climb(classes, &parents, i)?;
        }
        let is_leaf = |i: &usize| !parents.contains(&Some(*i));
        let form = Self { leaves: (0..classes.len()).filter(is_leaf).collect(), parents };
        (0..classes.len()).try_for_each(|i| form.takes_packets(classes, i))?;
        Ok(form)
    }

    /// A leaf says which packets it takes, a parent takes none.
    fn takes_packets(&self, classes: &[Class], i: usize) -> Result<(), ParamError> {
        let (class, name) = (&classes[i], called(classes, i));
        if !self.leaves.contains(&i) {
            let key = class.filter.key().or(class.queue.map(|_| "queue"));
            return key.map_or(Ok(()), |key| {
                let message = format!("{name} has `{key}`, and other classes name it as their parent");
                let help = "packets wait in leaves only: move the key to one of its children, or to a new child";
                Err(fault("E229", message).help(help))
            });
        }
        if class.filter.is_empty() && self.leaves.last() != Some(&i) {
            let message = format!("{name} takes no packets: no `for`, no children, and not the last leaf");
            let help = "give the class a `for`, name it as the `parent` of another, or move it to the end";
            return Err(fault("E223", message).help(help));
        }
        Ok(())
    }

    /// Level of each class: 0 for leaves, one less than its parent's for others, from the highest.
    pub(super) fn levels(&self) -> Vec<usize> {
        let level = |i: usize| if self.leaves.contains(&i) { 0 } else { LEVELS - 1 - self.above(i) };
        (0..self.parents.len()).map(level).collect()
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

    /// The rate beyond which each class is never served: what it may borrow of what is above it up to its ceil, and its own
    /// rate at least. One with children passes their rates, too, whatever its own is.
    pub(super) fn bounds(&self, classes: &[Class]) -> Vec<BitRate> {
        let mut bounds: Vec<_> = (0..classes.len()).map(|i| self.lends(classes, i)).collect();
        self.promised(classes).into_iter().for_each(|(up, sum)| bounds[up] = bounds[up].max(BitRate::bps(sum)));
        bounds
    }

    /// The most that it sends itself, or lends.
    fn lends(&self, classes: &[Class], i: usize) -> BitRate {
        let Class { rate, ceil, .. } = classes[i];
        let borrowed = self.parents[i].map(|up| self.lends(classes, up).min(ceil.unwrap_or(rate)));
        borrowed.map_or(rate, |borrowed| borrowed.max(rate))
    }

    /// Parents whose children have rates that exceed their own: the parent and that sum, bit/s.
    pub(super) fn promised(&self, classes: &[Class]) -> Vec<(usize, u64)> {
        let sum = |up: usize| {
            let below = classes.iter().zip(&self.parents).filter(|(_, parent)| **parent == Some(up));
            below.map(|(class, _)| class.rate.bit_s()).sum::<u64>()
        };
        (0..classes.len()).map(|i| (i, sum(i))).filter(|&(i, sum)| sum > classes[i].rate.bit_s()).collect()
    }
}

fn parent(classes: &[Class], names: &[&str], i: usize, name: &str) -> Result<usize, ParamError> {
    let found = classes.iter().position(|class| class.name.as_deref() == Some(name));
    found.ok_or_else(|| {
        let message = format!("{}: no class is called `{name}`, its `parent`", called(classes, i));
        let help = if names.is_empty() { "no class has a name".to_owned() } else { suggest(name, names) };
        fault("E006", message).help(help)
    })
}

/// Follows the parents of a class to the top.
fn climb(classes: &[Class], parents: &[Option<usize>], i: usize) -> Result<(), ParamError> {
    let mut path = vec![i];
    while let Some(up) = parents[path[path.len() - 1]] {
        path.push(up);
        if up == i {
            let names: Vec<_> = path.iter().map(|&at| classes[at].name.as_deref().unwrap_or_default()).collect();
            let message = format!("{} is its own ancestor: {}", called(classes, i), names.join(" -> "));
            return Err(fault("E228", message).help("remove the `parent` of one of them: it is the top of the tree"));
        }
        if path.len() > LEVELS {
            let message = format!("{} is more than {LEVELS} levels below the top", called(classes, i));
            return Err(fault("E201", message).help(format!("at most {LEVELS} levels are allowed, as in Linux")));
        }
    }
    Ok(())
}

/// # Errors
/// E239 for `unclassified = "direct"` where the last leaf takes all that no other does.
pub(super) fn direct(params: &Params, form: &Form) -> Result<(), ParamError> {
    let all = form.leaves.last().filter(|&&leaf| params.is_direct() && params.classes[leaf].filter.is_empty());
    all.map_or(Ok(()), |&leaf| {
        let name = called(&params.classes, leaf);
        let message = format!("`unclassified = \"direct\"` has no effect: {name} takes all that no other does");
        let error = ParamError::new("unclassified", "E239", message);
        Err(error.help("give it a `for`, or remove `unclassified`"))
    })
}

/// Whether the numbers of a class make sense.
///
/// # Errors
/// E201 for a rate, burst or quantum of 0, a burst beyond the counters, an unknown priority; E213 for a ceil below the rate.
pub(super) fn numbers(params: &Params, i: usize) -> Result<(), ParamError> {
    let (class, name) = (&params.classes[i], called(&params.classes, i));
    let zero = [("rate", class.rate == BitRate::bps(0)), ("quantum", class.quantum == Some(Bytes::new(0)))];
    if let Some((key, _)) = zero.into_iter().find(|&(_, zero)| zero) {
        let help =
            "must be above 0; for a class that should get only what others leave, write a small `rate` and a `ceil`";
        return Err(fault("E201", format!("{name}: `{key}` is 0")).help(help));
    }
    if let Some(ceil) = class.ceil.filter(|&ceil| ceil < class.rate) {
        let message = format!("{name}: `ceil` {ceil} is below `rate` {}", class.rate);
        return Err(fault("E213", message)
            .help("`ceil` must be at least `rate`: it is the rate that the class may reach by borrowing"));
    }
    for (key, burst) in [("burst", class.burst), ("cburst", class.cburst)] {
        let Some(burst) = burst.filter(|&burst| burst == Bytes::new(0) || burst > DEEPEST) else { continue };
        return Err(
            fault("E201", format!("{name}: `{key}` is {burst}")).help(format!("must be between 1B and {DEEPEST}"))
        );
    }
    if let Some(prio) = class.prio.filter(|&prio| prio as usize >= PRIOS) {
        let message = format!("{name}: `prio` is {prio}");
        return Err(fault("E201", message).help(format!("must be between 0, the most urgent, and {}", PRIOS - 1)));
    }
    Ok(())
}
