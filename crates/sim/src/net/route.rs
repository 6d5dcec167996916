//! Static shortest-path routes: fewest hops, then least delay, then the file's order of nodes, and of links between two.

use crate::plan::Link;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// From one node to another and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Index of the node where it begins.
    pub from: u32,
    /// Index of the node where it ends.
    pub to: u32,
    /// Where its routes out and back begin in the table of hops.
    pub routes: [u32; 2],
}

impl Way {
    /// The route from its other end.
    pub fn reversed(&self) -> Self {
        let [out, back] = self.routes;
        Self { from: self.to, to: self.from, routes: [back, out] }
    }
}

/// By node, the link over which the best route from some node comes to it.
type Tree = Vec<Option<u32>>;

/// Most entries of all trees that are kept.
const KEPT: usize = 1 << 24;

/// The links of a network by the node they leave, and the trees of routes found so far by the node where they begin.
#[derive(Clone, Debug)]
pub struct Router<'a> {
    links: &'a [Link],
    leaving: Vec<Vec<u32>>,
    trees: RefCell<BTreeMap<usize, Tree>>,
}

impl<'a> Router<'a> {
    /// The router of a network of `nodes` nodes.
    pub fn new(links: &'a [Link], nodes: usize) -> Self {
        let mut leaving = vec![Vec::new(); nodes];
        for (i, link) in links.iter().enumerate() {
            leaving[link.from].push(i as u32);
        }
        Self { links, leaving, trees: RefCell::default() }
    }

    /// The links from one node to another, in order; `None` when there is no route.
    pub fn route(&self, from: usize, to: usize) -> Option<Vec<u32>> {
        let (mut path, at) = self.without_choice(from, to)?;
        let mut trees = self.trees.borrow_mut();
        if trees.len() * self.leaving.len() > KEPT {
            trees.clear();
        }
        let tree = trees.entry(at).or_insert_with(|| self.tree(at));
        path.extend(self.walk_back(tree, [at, to])?);
        Some(path)
    }

    /// Along the only links that leave `from` and its followers, so that hosts share the tree of their router: the links,
    /// and the first node with a choice, or `to`. `None` when they lead in a circle.
    fn without_choice(&self, from: usize, to: usize) -> Option<(Vec<u32>, usize)> {
        let (mut path, mut at) = (Vec::new(), from);
        while let (true, [only]) = (at != to, self.leaving[at].as_slice()) {
            path.push(*only);
            at = self.links[*only as usize].to;
            if path.len() > self.leaving.len() {
                return None;
            }
        }
        Some((path, at))
    }

    /// The best routes from one node.
    fn tree(&self, from: usize) -> Tree {
        let mut reached_by = vec![None; self.leaving.len()];
        let mut best = vec![(u32::MAX, u64::MAX); self.leaving.len()];
        let mut open = BinaryHeap::from([Reverse(((0, 0), from))]);
        best[from] = (0, 0);
        while let Some(Reverse((cost, node))) = open.pop() {
            if cost > best[node] {
                continue;
            }
            for &i in &self.leaving[node] {
                let link = &self.links[i as usize];
                let next = (cost.0 + 1, cost.1 + link.delay.ns());
                if next < best[link.to] {
                    best[link.to] = next;
                    reached_by[link.to] = Some(i);
                    open.push(Reverse((next, link.to)));
                }
            }
        }
        reached_by
    }

    fn walk_back(&self, reached_by: &[Option<u32>], [from, to]: [usize; 2]) -> Option<Vec<u32>> {
        let (mut path, mut at) = (Vec::new(), to);
        while at != from {
            let link = reached_by[at]?;
            path.push(link);
            at = self.links[link as usize].from;
        }
        path.reverse();
        Some(path)
    }
}
