//! HTB against what Linux 6.12 did with the same packets (`lab/vectors`): which leave, and when, behind queues of the cells'
//! limits and before a line that takes no time.

use super::driven::{Fast, Host as _};
use super::htb_settings::class;
use super::kernel::rows;
use super::line::read_table;
use perhop_core::params::Tree;
use std::collections::VecDeque;

/// Of a recorded time, ns.
const ROUNDING: u64 = 1;

/// A port: its classes, packets that each leaf holds, and the patterns it was sent.
struct Cell {
    port: &'static str,
    classes: &'static [&'static str],
    limit: usize,
    patterns: &'static [&'static str],
}

const ROOT: &str = "name=root rate=10Mbit/s burst=15000B cburst=15000B";
const CELLS: &[Cell] = &[
    Cell {
        port: "htb-one",
        classes: &["rate=10Mbit/s burst=15000B cburst=15000B quantum=1514B"],
        limit: 40,
        patterns: &["cbr-above", "bursts", "mixed-sizes", "on-off", "poisson", "burst-after-idle", "small-packets"],
    },
    Cell {
        port: "htb-small-burst",
        classes: &["rate=10Mbit/s burst=1000B cburst=1000B quantum=1514B"],
        limit: 40,
        patterns: &["above-burst", "cbr-above", "mixed-sizes", "bursts"],
    },
    Cell {
        port: "htb-ceil",
        classes: &["rate=5Mbit/s ceil=10Mbit/s burst=20000B cburst=4000B quantum=1514B"],
        limit: 40,
        patterns: &["cbr-above", "bursts", "burst-after-idle"],
    },
    Cell {
        port: "htb-borrow",
        classes: &[
            ROOT,
            "parent=root for=EF rate=5Mbit/s ceil=10Mbit/s burst=10000B cburst=5000B quantum=3028B",
            "parent=root for=AF41 rate=3Mbit/s ceil=10Mbit/s burst=6000B cburst=5000B quantum=3028B",
            "parent=root rate=2Mbit/s ceil=10Mbit/s burst=4000B cburst=5000B quantum=3028B",
        ],
        limit: 30,
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
        port: "htb-prio",
        classes: &[
            "name=root rate=10Mbit/s burst=10000B cburst=10000B",
            "parent=root for=EF rate=2Mbit/s ceil=10Mbit/s burst=4000B cburst=4000B quantum=1514B",
            "parent=root for=AF41 prio=1 rate=2Mbit/s ceil=10Mbit/s burst=4000B cburst=4000B quantum=1514B",
            "parent=root prio=2 rate=2Mbit/s ceil=10Mbit/s burst=4000B cburst=4000B quantum=1514B",
        ],
        limit: 30,
        patterns: &["classes-even", "classes-hog", "classes-idle-back", "classes-bursts", "classes-join"],
    },
    Cell {
        port: "htb-quantum",
        classes: &[
            "name=root rate=10Mbit/s burst=6000B cburst=6000B",
            "parent=root for=EF rate=1Mbit/s ceil=10Mbit/s burst=2000B cburst=4000B quantum=1514B",
            "parent=root for=AF41 rate=1Mbit/s ceil=10Mbit/s burst=2000B cburst=4000B quantum=3028B",
            "parent=root rate=1Mbit/s ceil=10Mbit/s burst=2000B cburst=4000B quantum=6056B",
        ],
        limit: 30,
        patterns: &["classes-even", "classes-hog", "classes-sizes", "classes-bursts"],
    },
    Cell {
        port: "htb-no-borrowing",
        classes: &[
            ROOT,
            "parent=root for=EF rate=4Mbit/s burst=8000B cburst=8000B quantum=1514B",
            "parent=root for=AF41 rate=3Mbit/s burst=6000B cburst=6000B quantum=1514B",
            "parent=root rate=2Mbit/s burst=4000B cburst=4000B quantum=1514B",
        ],
        limit: 30,
        patterns: &["classes-even", "classes-hog", "classes-idle-back"],
    },
    Cell {
        port: "htb-nested",
        classes: &[
            "name=root rate=10Mbit/s burst=10000B cburst=10000B",
            "name=left parent=root rate=6Mbit/s ceil=8Mbit/s burst=6000B cburst=6000B",
            "parent=left for=EF rate=4Mbit/s ceil=8Mbit/s burst=4000B cburst=4000B quantum=1514B",
            "parent=left for=AF41 rate=2Mbit/s ceil=8Mbit/s burst=4000B cburst=4000B quantum=3028B",
            "parent=root rate=4Mbit/s ceil=10Mbit/s burst=4000B cburst=4000B quantum=3028B",
        ],
        limit: 30,
        patterns: &["classes-even", "classes-hog", "classes-idle-back", "classes-bursts", "classes-join"],
    },
];

/// When each packet leaves (ns), `None` if its queue was full.
fn run(cell: &Cell, arrivals: &[(u64, u32, u8)]) -> Vec<Option<u64>> {
    let classes = Tree::List(cell.classes.iter().map(|text| class(text)).collect());
    let keys = vec![("classes", classes), ("arithmetic", Tree::Text("linux".into()))];
    let mut host = Fast::new(&read_table("htb", keys).unwrap());
    let leaves = cell.classes.iter().filter(|text| text.contains("quantum")).count();
    let child = |dscp: u8| match dscp {
        46 => 0,
        34 => 1.min(leaves - 1),
        _ => leaves - 1,
    };
    let mut waiting = vec![VecDeque::new(); leaves];
    let mut left = vec![None; arrivals.len()];
    let (mut next, mut wakes) = (0, None::<u64>);
    while next < arrivals.len() || wakes.is_some() {
        let comes = arrivals.get(next).map(|arrival| arrival.0);
        let now = comes.into_iter().chain(wakes).min().unwrap();
        if comes == Some(now) {
            let (_, bytes, dscp) = arrivals[next];
            if waiting[child(dscp)].len() < cell.limit {
                waiting[child(dscp)].push_back(next);
                host.arrive(now, child(dscp), bytes);
            }
            next += 1;
        }
        while let Some((child, _)) = host.send(now) {
            left[waiting[child].pop_front().unwrap()] = Some(now);
        }
        wakes = host.wakes(now);
    }
    left
}

#[test]
fn htb_does_as_the_kernel_did() {
    for (cell, pattern) in CELLS.iter().flat_map(|cell| cell.patterns.iter().map(move |pattern| (cell, pattern))) {
        let rows = rows(cell.port, pattern);
        let arrivals: Vec<_> = rows.iter().map(|row| (row.came, row.bytes as u32, row.dscp)).collect();
        for (i, (ours, row)) in run(cell, &arrivals).iter().zip(&rows).enumerate() {
            let same = match (ours, row.left) {
                (None, None) => true,
                (Some(ours), Some((theirs, _))) => ours.abs_diff(theirs) <= ROUNDING,
                _ => false,
            };
            assert!(same, "{} {pattern}, packet {i}: {ours:?}, the kernel's {:?}", cell.port, row.left);
        }
    }
}
