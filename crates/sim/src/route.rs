//! Static shortest-path routes: fewest hops, then least delay, then the file's order.

use crate::plan::Link;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The links from one node to another, in order; `None` when there is no way.
pub fn route(links: &[Link], nodes: usize, from: usize, to: usize) -> Option<Vec<u32>> {
    let mut reached_by: Vec<Option<u32>> = vec![None; nodes];
    let mut best = vec![(u32::MAX, u64::MAX); nodes];
    let mut open = BinaryHeap::from([Reverse(((0, 0), from))]);
    best[from] = (0, 0);
    while let Some(Reverse((cost, node))) = open.pop() {
        if cost > best[node] {
            continue;
        }
        for (i, link) in links.iter().enumerate().filter(|(_, link)| link.from == node) {
            let next = (cost.0 + 1, cost.1 + link.delay.ns());
            if next < best[link.to] {
                best[link.to] = next;
                reached_by[link.to] = Some(i as u32);
                open.push(Reverse((next, link.to)));
            }
        }
    }
    walk_back(links, &reached_by, (from, to))
}

fn walk_back(links: &[Link], reached_by: &[Option<u32>], (from, to): (usize, usize)) -> Option<Vec<u32>> {
    let (mut path, mut at) = (Vec::new(), to);
    while at != from {
        let link = reached_by[at]?;
        path.push(link);
        at = links[link as usize].from;
    }
    path.reverse();
    Some(path)
}
