//! Which of what arrives at a port reaches each node of its tree: schedulers send a packet to the first of their classes
//! whose `for` has its colour or code point, else to the last; flows may be those of any packet.

use super::arriving::{Arriving, Look};
use super::topology::Direction;
use crate::sections::queue::{is_parent, parents};
use perhop_core::aqm::members::{Member, Members};
use perhop_core::params::{Node, Problems, Tree, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What arrives at each node of a direction's tree, of what arrives at the direction.
pub fn at_nodes<'a>(direction: &Direction, arriving: &'a [Arriving]) -> Vec<Cow<'a, [Arriving]>> {
    let mut at = vec![Cow::Borrowed(arriving); direction.nodes.len()];
    for (node, stated) in direction.nodes.iter().enumerate() {
        let Some(scheduler) = &stated.scheduler else { continue };
        let mut shown = Vec::new();
        scheduler.show(&mut shown);
        let lists = Lists::find(shown);
        for (i, child) in children(direction, node).enumerate() {
            at[child] = lists.as_ref().map_or_else(|| at[node].clone(), |lists| lists.share(i, &at[node]).into());
        }
    }
    at
}

/// What arrives at each queue of a direction, of what arrives at its nodes; without nodes, of what arrives there.
pub fn at_queues<'a>(
    direction: &Direction,
    nodes: &[Cow<'a, [Arriving]>],
    all: &'a [Arriving],
) -> Vec<Cow<'a, [Arriving]>> {
    let mut queues = vec![Cow::Borrowed(all); direction.queues.len()];
    for (node, arriving) in direction.nodes.iter().zip(nodes) {
        node.queue.into_iter().for_each(|queue| queues[queue] = arriving.clone());
    }
    queues
}

/// The nodes right below one, in the order of its scheduler.
pub fn children(direction: &Direction, node: usize) -> impl Iterator<Item = usize> {
    (0..direction.nodes.len()).filter(move |&child| direction.nodes[child].parent == Some(node))
}

/// Profiles or classes, each with the packets it is for.
pub struct Lists {
    /// `profiles` or `classes`.
    pub key: &'static str,
    /// Which of the tables each is: those above others are for no packets themselves.
    pub numbers: Vec<usize>,
    /// What each is for.
    pub members: Vec<Vec<Member>>,
    table: Members,
}

impl Lists {
    /// The parameter that has them: tables with a key `for`.
    pub fn find(shown: Vec<(&'static str, Tree)>) -> Option<Self> {
        let is_direct = |(key, tree): &(&str, Tree)| *key == "unclassified" && *tree == Tree::Text("direct".into());
        let direct = shown.iter().any(is_direct);
        shown.into_iter().find_map(|(key, tree)| {
            let Tree::List(items) = tree else { return None };
            let parents = parents(&items);
            let leaves = items.iter().enumerate().filter(|(_, item)| !is_parent(item, &parents));
            let (numbers, leaves): (Vec<_>, Vec<_>) = leaves.unzip();
            let mut members: Vec<_> = leaves.into_iter().map(members).collect::<Option<_>>()?;
            // What none names: a list for no packets, after those of the file.
            members.extend(direct.then(Vec::new));
            let table = Members::new(["", ""], members.iter().map(Vec::as_slice)).ok()?;
            members.iter().any(|list| !list.is_empty()).then_some(Self { key, numbers, members, table })
        })
    }

    /// Which of them a packet that looks so goes to.
    pub fn of(&self, look: Look) -> usize {
        self.table.of(&look.packet())
    }

    /// What of all that arrives goes to the `i`-th.
    pub fn share(&self, i: usize, arriving: &[Arriving]) -> Vec<Arriving> {
        let own = |it: &Arriving| {
            let looks: BTreeSet<_> = it.looks.iter().copied().filter(|look| self.of(*look) == i).collect();
            (!looks.is_empty()).then(|| Arriving { looks: Arc::new(looks), ..*it })
        };
        arriving.iter().filter_map(own).collect()
    }
}

/// What a profile or class is for.
fn members(item: &Node) -> Option<Vec<Member>> {
    let Tree::Table(table) = &item.tree else { return None };
    table.get("for").map_or(Some(Vec::new()), |stated| Vec::read(stated, &mut Problems::default()))
}
