//! Static shortest-path routes: fewest hops, then least delay, then the file's order of nodes, and of links between two.

use crate::plan::Link;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// From one node to another and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Index of the node where it begins.
    pub from: usize,
    /// Index of the node where it ends.
    pub to: usize,
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

/// The links of a network by the node they leave.
#[derive(Clone, Debug)]
pub struct Router<'a> {
    links: &'a [Link],
    leaving: Vec<Vec<u32>>,
}

impl<'a> Router<'a> {
    /// The router of a network of `nodes` nodes.
    pub fn new(links: &'a [Link], nodes: usize) -> Self {
        let mut leaving = vec![Vec::new(); nodes];
        for (i, link) in links.iter().enumerate() {
            leaving[link.from].push(i as u32);
        }
        Self { links, leaving }
    }

    /// The links from one node to another, in order; `None` when there is no route.
    pub fn route(&self, from: usize, to: usize) -> Option<Vec<u32>> {
        let mut reached_by: Vec<Option<u32>> = vec![None; self.leaving.len()];
        let mut best = vec![(u32::MAX, u64::MAX); self.leaving.len()];
        let mut open = BinaryHeap::from([Reverse(((0, 0), from))]);
        best[from] = (0, 0);
        while let Some(Reverse((cost, node))) = open.pop() {
            if node == to {
                break;
            }
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
        self.walk_back(&reached_by, [from, to])
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
