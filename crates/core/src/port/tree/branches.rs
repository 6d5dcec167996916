//! The nodes of a port's tree as results name them.
//!
//! The root is `root`, its second child `2`, the first child of that `2.1`; a class that has a name goes by it, and so do
//! those without a queue of their own that have other classes below them.

use super::{Kind, Tree};
use crate::needs::Needs;
use crate::sched::{Outline, Scheduler as _};
use crate::units::BitRate;

/// A node of a port's tree, or a class with classes below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Where it is: `root`, `2`, `2.1`.
    pub path: String,
    /// Its node in the specification; `None` if it is a class with classes below it.
    pub node: Option<usize>,
    /// The node in the specification of the scheduler above it.
    pub above: Option<usize>,
    /// Its name or number in that scheduler.
    pub name: String,
    /// How many nodes and classes are above it.
    pub depth: usize,
    /// The queues below it, by their index in the specification.
    pub queues: Vec<usize>,
    /// The rate beyond which the scheduler above never serves it; `None` if that is up to what is above.
    pub bound: Option<BitRate>,
}

impl<H: Copy> Tree<H> {
    /// Names its nodes, now that all of them are there.
    pub(in crate::port) fn name_branches(&mut self) {
        let mut walk = Walk { tree: self, found: Vec::new() };
        walk.node(0, Place::default());
        self.branches = walk.found;
    }

    /// Its nodes, each before those below it.
    pub(in crate::port) fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// Whether it is one scheduler over queues, none with a shaper, whose classes have no classes below them: what its
    /// branches do, its queues say.
    pub(in crate::port) fn is_flat(&self) -> bool {
        let shapers = self.numbers.iter().any(|it| it.shaper.is_some());
        !shapers && self.inners().count() == 1 && self.branches.iter().all(|it| it.node.is_some())
    }

    /// The classes of a scheduler, by its number in the specification; flows are one. `None` if it is a queue.
    fn outline(&self, spec: usize) -> Option<Vec<Outline>> {
        let Kind::Scheduler(inner) = &self.nodes.get(self.numbers[spec].node)?.kind else { return None };
        Some(match inner.needs.contains(Needs::FLOWS) {
            true => vec![Outline { name: Some("flows".into()), children: vec![0], ..Outline::default() }],
            false => inner.scheduler.outline(),
        })
    }
}

/// Where a branch is: its path, empty for the root, and what is above it.
#[derive(Clone, Debug, Default)]
struct Place {
    path: String,
    name: String,
    above: Option<usize>,
    depth: usize,
    bound: Option<BitRate>,
}

impl Place {
    /// A class of the scheduler here, which is `spec`.
    fn below(&self, spec: usize, name: String, class: &Outline) -> Self {
        let path = if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
        Self { path, name, above: Some(spec), depth: self.depth + 1 + class.depth, bound: class.bound }
    }
}

struct Walk<'a, H> {
    tree: &'a Tree<H>,
    found: Vec<Branch>,
}

impl<H: Copy> Walk<'_, H> {
    /// Adds a node and what is below it; its queues.
    fn node(&mut self, spec: usize, place: Place) -> Vec<usize> {
        let at = self.add(&place, Some(spec));
        let queues = match self.tree.outline(spec) {
            Some(classes) => self.children(spec, &place, classes),
            None => self.tree.numbers[spec].row.into_iter().collect(),
        };
        self.found[at].queues.clone_from(&queues);
        queues
    }

    fn children(&mut self, spec: usize, above: &Place, classes: Vec<Outline>) -> Vec<usize> {
        let numbers = &self.tree.numbers;
        let children: Vec<_> = (0..numbers.len()).filter(|&i| numbers[i].up == Some(spec)).collect();
        let (mut queues, mut parents) = (vec![Vec::new(); children.len()], Vec::new());
        for class in classes {
            let name = class.name.clone();
            if class.has_classes {
                let at = self.add(&above.below(spec, name.unwrap_or_default(), &class), None);
                parents.push((at, class.children));
            } else if let [place] = class.children[..] {
                let name = name.unwrap_or_else(|| (place + 1).to_string());
                queues[place] = self.node(children[place], above.below(spec, name, &class));
            }
        }
        for (at, places) in parents {
            self.found[at].queues = places.into_iter().flat_map(|place| queues[place].clone()).collect();
        }
        queues.concat()
    }

    fn add(&mut self, place: &Place, node: Option<usize>) -> usize {
        let path = if place.path.is_empty() { "root".into() } else { place.path.clone() };
        let Place { name, above, depth, bound, .. } = place.clone();
        self.found.push(Branch { path, node, above, name, depth, queues: Vec::new(), bound });
        self.found.len() - 1
    }
}
