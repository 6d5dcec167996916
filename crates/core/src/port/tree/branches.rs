//! The nodes of a port's tree as results name them.
//!
//! The root is `root`, its second child `2`, the first child of that `2.1`; a class that has a name goes by it, and so do
//! those without a queue of their own that have other classes below them. A class of a template goes by the template's name
//! and the address that has it: `customers/10.0.1.7`.

use super::{Inner, Kind, Tree};
use crate::aqm::members::Members;
use crate::needs::Needs;
use crate::sched::{Held, Outline, Scheduler as _};
use crate::units::BitRate;

/// What a template's class for all addresses that found none of their own is called.
const OTHERS: &str = "others";

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
    /// Of a class of a template, how many addresses it has been for.
    pub addresses: Option<u64>,
}

impl Branch {
    /// Whether it is the class of a template's addresses that found no class.
    pub fn is_of_others(&self) -> bool {
        self.addresses.is_some() && (self.name == OTHERS || self.name.ends_with(&format!("/{OTHERS}")))
    }
}

impl<H: Copy> Tree<H> {
    /// Its nodes, each before those below it, as they are called now; those of free slots of templates are left out.
    pub(in crate::port) fn branches(&self) -> Vec<Branch> {
        let mut children = vec![Vec::new(); self.numbers.len()];
        let ups = self.numbers.iter().enumerate().filter_map(|(spec, numbers)| Some((spec, numbers.up?)));
        ups.for_each(|(spec, up)| children[up].push(spec));
        let mut walk = Walk { tree: self, children, found: Vec::new() };
        walk.node(0, Place::default());
        walk.found
    }

    /// Whether it is one scheduler over queues, none with a shaper, whose classes have neither names nor classes below them:
    /// what its branches do, its queues say.
    pub(in crate::port) fn is_flat(&self) -> bool {
        let shapers = self.numbers.iter().any(|it| it.shaper.is_some());
        let plain = |inner: &Inner| {
            let named = inner.scheduler.sorted().is_some_and(Members::has_names);
            !named && !inner.scheduler.outline().iter().any(|class| class.has_classes)
        };
        !shapers && self.schedulers.len() == 1 && self.inners().all(plain)
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
    addresses: Option<u64>,
}

impl Place {
    /// A class of the scheduler here, which is `spec`.
    fn below(&self, spec: usize, name: String, class: &Outline) -> Self {
        let path = if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
        let depth = self.depth + 1 + class.depth;
        Self { path, name, above: Some(spec), depth, bound: class.bound, addresses: None }
    }

    fn of(self, addresses: Option<u64>) -> Self {
        Self { addresses, ..self }
    }
}

struct Walk<'a, H> {
    tree: &'a Tree<H>,
    /// By node of the specification, those right below it.
    children: Vec<Vec<usize>>,
    found: Vec<Branch>,
}

impl<H: Copy> Walk<'_, H> {
    /// What a class of a template is called; `None` while no address has had it.
    fn named(&self, members: &Members, place: usize) -> Option<Option<String>> {
        let (name, held) = members.held(place)?;
        let held = match held {
            Held::Free => return Some(None),
            Held::By(address) => address.to_string(),
            Held::Others(_) => OTHERS.into(),
        };
        Some(Some(name.map_or_else(|| held.clone(), |name| format!("{name}/{held}"))))
    }

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
        let children = self.children[spec].clone();
        let (mut queues, mut parents) = (vec![Vec::new(); children.len()], Vec::new());
        for class in classes {
            let name = class.name.clone();
            if class.has_classes {
                let at = self.add(&above.below(spec, name.unwrap_or_default(), &class), None);
                parents.push((at, class.children));
            } else if let [place] = class.children[..] {
                let members = self.tree.inner(self.tree.numbers[spec].node).scheduler.sorted();
                let named = members.and_then(|members| self.named(members, place));
                let (is_free, before) = (named == Some(None), self.found.len());
                let name = named.flatten().or(name).unwrap_or_else(|| (place + 1).to_string());
                let addresses = members.and_then(|members| members.served(place));
                queues[place] = self.node(children[place], above.below(spec, name, &class).of(addresses));
                if is_free {
                    self.found.truncate(before);
                    queues[place].clear();
                }
            }
        }
        for (at, places) in parents {
            self.found[at].queues = places.into_iter().flat_map(|place| queues[place].clone()).collect();
        }
        queues.concat()
    }

    fn add(&mut self, place: &Place, node: Option<usize>) -> usize {
        let path = if place.path.is_empty() { "root".into() } else { place.path.clone() };
        let Place { name, above, depth, bound, addresses, .. } = place.clone();
        self.found.push(Branch { path, node, above, name, depth, queues: Vec::new(), bound, addresses });
        self.found.len() - 1
    }
}
