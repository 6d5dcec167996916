//! DRR, ETS and strict priority against what Linux 6.12 did with the same packets (`lab/vectors`), asked at the times at which
//! the kernel was. The token bucket above them looks at what is next whenever a packet has come or gone, and is not part of it.

use super::kernel::rows;
use super::line::{Line, members, read_table};
use perhop_core::Scope;
use perhop_core::params::{Node, Tree};
use perhop_core::units::Bytes;
use std::collections::VecDeque;

/// A port: its scheduler, the quantum (B; none: strict) of each class, packets that each holds, and the patterns it was sent.
struct Cell {
    port: &'static str,
    scheduler: &'static str,
    quanta: &'static [Option<u32>],
    limits: &'static [usize],
    patterns: &'static [&'static str],
}

const CELLS: &[Cell] = &[
    Cell {
        port: "drr",
        scheduler: "drr",
        quanta: &[Some(1514), Some(3028), Some(4542)],
        limits: &[30; 3],
        patterns: &[
            "classes-even",
            "classes-hog",
            "classes-idle-back",
            "classes-sizes",
            "classes-bursts",
            "classes-join",
        ],
    },
    Cell {
        port: "drr-small-quantum",
        scheduler: "drr",
        quanta: &[Some(300), Some(600), Some(700)],
        limits: &[30; 3],
        patterns: &["classes-even", "classes-sizes", "classes-bursts"],
    },
    Cell {
        port: "ets-strict",
        scheduler: "ets",
        quanta: &[None; 3],
        limits: &[30; 3],
        patterns: &["classes-even", "classes-hog", "classes-bursts"],
    },
    Cell {
        port: "ets-quanta",
        scheduler: "ets",
        quanta: &[Some(4542), Some(3028), Some(1514)],
        limits: &[30; 3],
        patterns: &["classes-even", "classes-idle-back", "classes-sizes", "classes-join"],
    },
    Cell {
        port: "ets-mixed",
        scheduler: "ets",
        quanta: &[None, Some(3000), Some(1600), Some(1000)],
        limits: &[20, 30, 30, 30],
        patterns: &[
            "classes-even",
            "classes-hog",
            "classes-idle-back",
            "classes-sizes",
            "classes-bursts",
            "classes-join",
        ],
    },
];

impl Cell {
    fn line(&self) -> Line {
        let class = |(i, quantum): (usize, &Option<u32>)| {
            let quantum = quantum.map(|bytes| ("quantum", Tree::Text(format!("{bytes}B"))));
            let of = members_tree(i, self.quanta.len()).map(|of| ("for", of));
            Node::from(Tree::table(quantum.into_iter().chain(of).collect()))
        };
        let classes = Tree::List(self.quanta.iter().enumerate().map(class).collect());
        let keys = vec![("classes", classes), ("arithmetic", Tree::Text("linux".into()))];
        let scope = Scope { largest_packet: Bytes::new(1514), ..Scope::default() };
        Line::of(read_table(self.scheduler, keys).unwrap().build(&scope).unwrap())
    }

    fn class(&self, dscp: u8) -> usize {
        let own = [46, 34, 18].iter().position(|&known| known == dscp);
        own.unwrap_or(usize::MAX).min(self.quanta.len() - 1)
    }
}

fn members_tree(i: usize, n: usize) -> Option<Tree> {
    perhop_core::params::Value::tree(&members(i, n))
}

fn follow(cell: &Cell, pattern: &str) {
    let (rows, mut line) = (rows(cell.port, pattern), cell.line());
    let mut waiting = vec![VecDeque::new(); cell.quanta.len()];
    let (mut kept, mut dropped) = (None, Vec::new());
    let arrivals = (0..).zip(&rows).map(|(id, row)| (row.came, false, id));
    let departures = (0..).zip(&rows).filter_map(|(id, row)| Some((row.left?.0, true, id)));
    let mut events: Vec<(u64, bool, usize)> = arrivals.chain(departures).collect();
    events.sort_unstable();
    for (at, leaves, id) in events {
        let class = cell.class(rows[id].dscp);
        if leaves {
            assert_eq!(kept.take(), Some(id), "{} {pattern} at {at} ns", cell.port);
        } else if waiting[class].len() < cell.limits[class] {
            waiting[class].push_back(id);
            line.arrive(class, rows[id].bytes as u32);
        } else {
            dropped.push(id);
        }
        if kept.is_none() {
            kept = line.send().and_then(|(class, _)| waiting[class].pop_front());
        }
    }
    let lost: Vec<_> = (0..).zip(&rows).filter(|(_, row)| row.left.is_none()).map(|(id, _)| id).collect();
    assert_eq!(dropped, lost, "{} {pattern}", cell.port);
}

#[test]
fn drr_and_ets_do_as_the_kernel_did() {
    CELLS.iter().for_each(|cell| cell.patterns.iter().for_each(|pattern| follow(cell, pattern)));
}
