//! perhop's ports beside a Linux kernel's, packet for packet: the arrivals of every cell of `lab/cells/cells.toml` through the
//! same port, and what became of them in the vectors that `make lab` recorded.
//!
//! `make renew WHAT=kernel` writes `docs/reports/beside-linux.md`, the pages below it and their figures.

mod cells;
mod counters;
mod disciplines;
mod figure;
mod imported;
mod live;
mod page;
mod replayed;
mod spread;
mod verdict;

use cells::{Cell, Left, cells};
use rayon::prelude::*;
use verdict::{CLOCK_NS, Judged, Verdict, exactly, judge};

fn judged() -> Vec<Judged> {
    cells().into_par_iter().map(judge).collect()
}

/// With `CELLS=htb` in the environment the verdicts of cells whose names contain this are printed (`--nocapture`).
fn show(all: &[Judged]) {
    let Ok(wanted) = std::env::var("CELLS") else { return };
    for it in all.iter().filter(|it| it.cell.name().contains(&wanted)) {
        println!("{}: {}", it.cell.name(), it.verdict);
        if it.cell.exact {
            detail(it);
        }
    }
}

/// A cell outside the tolerance has an explanation, and one within has none.
#[test]
fn every_cell_is_as_the_kernel_or_explained() {
    let all = judged();
    show(&all);
    let wrong = |it: &Judged| match (&it.verdict, &it.cell.explained) {
        (Verdict::Exact | Verdict::Within(_), None) | (Verdict::Outside(_) | Verdict::Absent(_), Some(_)) => None,
        (verdict, None) => Some(format!("{}: {verdict}", it.cell.name())),
        (_, Some(_)) => Some(format!("{}: its explanation has become wrong", it.cell.name())),
    };
    let found: Vec<_> = all.iter().filter_map(wrong).collect();
    assert!(found.is_empty(), "{} of {}\n{}", found.len(), all.len(), found.join("\n"));
    page::check(&all);
}

/// The first packets with another fate or departure, the kernel's and ours.
fn detail(it: &Judged) {
    let Some(ours) = &it.ours else { return };
    let late = |a: Left, b: (u64, u8)| a.is_none_or(|a| a.0.abs_diff(b.0) > CLOCK_NS || a.1 != b.1);
    let differ = |(_, (row, ours)): &(usize, (&cells::Row, &Left))| match **ours {
        Some(ours) => late(row.left, ours),
        None => row.left.is_some(),
    };
    for (i, (row, ours)) in it.rows.iter().zip(ours).enumerate().filter(differ).take(12) {
        println!("  {i}: {row:?}, perhop {ours:?}");
    }
}

/// At most 1 in 1,000 arrivals is so near to a departure that the clock could decide a drop.
#[test]
fn arrivals_are_kept_off_ties() {
    let cells = cells();
    let recorded: Vec<_> = cells.iter().map(Cell::recorded).collect();
    let (ties, packets) = recorded.iter().fold((0, 0), |(n, of), rows| (n + verdict::ties(rows), of + rows.len()));
    assert!(ties * 1000 <= packets, "{ties} of {packets}");
}

#[test]
fn a_changed_packet_is_noticed() {
    let cell = cells().into_iter().find(|it| it.name() == "tbf/cbr-above").unwrap();
    let rows = cell.recorded();
    let same: Vec<_> = rows.iter().map(|row| row.left).collect();
    let changed = |alter: &dyn Fn(&mut Left)| {
        let mut fates = same.clone();
        alter(fates.iter_mut().filter(|it| it.is_some()).nth(100).unwrap());
        exactly(&rows, &fates)
    };
    assert_eq!(exactly(&rows, &same), Verdict::Exact);
    assert_eq!(changed(&|it| it.as_mut().unwrap().0 += CLOCK_NS), Verdict::Exact);
    for alter in [
        |it: &mut Left| *it = None,
        |it: &mut Left| it.as_mut().unwrap().0 += CLOCK_NS + 1,
        |it: &mut Left| it.as_mut().unwrap().1 = 3,
    ] {
        assert!(matches!(changed(&alter), Verdict::Outside(_)));
    }
}
