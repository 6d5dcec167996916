//! Which of what arrives at a port reaches each node of its tree: schedulers send a packet to the first of their classes
//! whose `for` has its colour or code point, or whose `match` agrees, else to the last; flows may be those of any packet.

use super::arriving::{Arriving, Ends, Look, Takes, takes};
use super::topology::Direction;
use crate::sections::queue::{is_parent, parents};
use perhop_core::Scope;
use perhop_core::aqm::members::{Filter, Members};
use perhop_core::classify::Passed;
use perhop_core::params::{Node, Params as _, Place, Problems, Reader, Tree};
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
        let lists = Lists::find(shown, &direction.conditioners);
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
    /// What each takes.
    pub filters: Vec<Filter>,
    /// The conditioners of the port that each names.
    named: Vec<Passed>,
}

impl Lists {
    /// The parameter that has them: tables with a key `for` or `match`, wherever they are.
    pub fn stated(shown: Vec<(&'static str, Tree)>) -> Option<Self> {
        let is_direct = |(key, tree): &(&str, Tree)| *key == "unclassified" && *tree == Tree::Text("direct".into());
        let direct = shown.iter().any(is_direct);
        shown.into_iter().find_map(|(key, tree)| {
            let Tree::List(items) = tree else { return None };
            let parents = parents(&items);
            let leaves = items.iter().enumerate().filter(|(_, item)| !is_parent(item, &parents));
            let (numbers, leaves): (Vec<_>, Vec<_>) = leaves.unzip();
            let mut filters: Vec<_> = leaves.into_iter().map(filter).collect::<Option<_>>()?;
            // What none names: a list for no packets, after those of the file.
            filters.extend(direct.then(Filter::default));
            if filters.iter().all(|filter| filter.matches.is_none()) {
                Members::new(["", ""], &filters, &Scope::default()).ok()?;
            }
            let named = vec![Passed::default(); filters.len()];
            let known = Self { key, numbers, filters, named };
            known.filters.iter().any(|filter| !filter.is_empty()).then_some(known)
        })
    }

    /// As [`Lists::stated`], at a port of these conditioners.
    pub fn find(shown: Vec<(&'static str, Tree)>, conditioners: &[String]) -> Option<Self> {
        let stated = Self::stated(shown)?;
        let named = |filter: &Filter| match &filter.matches {
            Some(matches) => Passed::named("", matches, conditioners).ok(),
            None => Some(Passed::default()),
        };
        Some(Self { named: stated.filters.iter().map(named).collect::<Option<_>>()?, ..stated })
    }

    /// Those that packets of one direction of a traffic which look so may go to.
    pub fn of(&self, ends: &Ends, look: Look) -> Vec<usize> {
        let mut found = Vec::new();
        for i in 0..self.filters.len() - 1 {
            match self.takes(i, ends, look) {
                Takes::None => {}
                Takes::Some => found.push(i),
                Takes::All => return [found, vec![i]].concat(),
            }
        }
        [found, vec![self.filters.len() - 1]].concat()
    }

    /// Which of these packets the `i`-th takes of those that come to it.
    pub fn takes(&self, i: usize, ends: &Ends, look: Look) -> Takes {
        let (filter, packet) = (&self.filters[i], look.packet());
        match &filter.matches {
            Some(matches) if self.named[i].agrees(look.passed) => takes(matches, ends, look),
            None if filter.members.iter().any(|member| member.is_of(&packet)) => Takes::All,
            _ => Takes::None,
        }
    }

    /// What of all that arrives may go to the `i`-th.
    pub fn share(&self, i: usize, arriving: &[Arriving]) -> Vec<Arriving> {
        let own = |it: &Arriving| {
            let goes = |look: &Look| self.of(&it.ends, *look).contains(&i);
            let looks: BTreeSet<_> = it.looks.iter().copied().filter(goes).collect();
            (!looks.is_empty()).then(|| Arriving { looks: Arc::new(looks), ends: it.ends.clone(), ..*it })
        };
        arriving.iter().filter_map(own).collect()
    }
}

/// What a profile or class takes.
fn filter(item: &Node) -> Option<Filter> {
    let Tree::Table(table) = &item.tree else { return None };
    Filter::read(&mut Reader::new(table, Place::default(), &mut Problems::default()))
}
