//! What a comparison of one cell says.

use crate::kernel::cells::{Cell, Left, Row};
use crate::kernel::replayed::{Fates, replayed};
use crate::kernel::spread::{Compared, Spread, repeated};
use std::fmt;

/// Times differ by less than the unit of the clock that user-mode Linux is shipped with: 256 ns.
pub const CLOCK_NS: u64 = 256;

/// Runs of a queue that draws random numbers.
pub const SEEDS: std::ops::RangeInclusive<u64> = 1..=20;

/// The verdict on a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every packet: its fate, its mark, and its departure to within [`CLOCK_NS`].
    Exact,
    /// Shares and delays agree.
    Within(Compared),
    /// They do not: what differs.
    Outside(String),
    /// perhop has no such port: its message.
    Absent(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => write!(to, "exact"),
            Self::Within(compared) => write!(to, "in distribution: {compared}"),
            Self::Outside(said) => write!(to, "not: {said}"),
            Self::Absent(said) => write!(to, "not: perhop refuses the port: {said}"),
        }
    }
}

/// What is said about a cell.
pub struct Judged {
    pub cell: Cell,
    pub verdict: Verdict,
    pub rows: Vec<Row>,
    /// What perhop did, with the first seed.
    pub ours: Option<Fates>,
    /// Arrivals within the clock's unit of another packet's departure.
    pub ties: usize,
}

/// Compares a cell.
pub fn judge(cell: Cell) -> Judged {
    let rows = cell.recorded();
    let (ours, verdict) = match replayed(&cell, &rows, 1) {
        Err(why) => (None, Verdict::Absent(why)),
        Ok(fates) if cell.exact => {
            let verdict = exactly(&rows, &fates);
            (Some(fates), verdict)
        }
        Ok(fates) => {
            let runs: Vec<_> = SEEDS.map(|seed| replayed(&cell, &rows, seed).unwrap()).collect();
            (Some(fates), in_distribution(&cell, &rows, &runs))
        }
    };
    Judged { ties: ties(&rows), cell, verdict, rows, ours }
}

/// Packet for packet.
pub fn exactly(rows: &[Row], ours: &Fates) -> Verdict {
    let pairs = || rows.iter().map(|row| row.left).zip(ours).enumerate();
    let fate = |(_, (theirs, ours)): &(usize, (Left, &Left))| theirs.is_some() != ours.is_some();
    let both = || pairs().filter_map(|(i, (theirs, ours))| Some((i, theirs?, (*ours)?)));
    let late: Vec<_> = both().filter(|(_, a, b)| a.0.abs_diff(b.0) > CLOCK_NS).collect();
    let (fates, marks) = (pairs().filter(fate).count(), both().filter(|(_, a, b)| a.1 != b.1).count());
    if fates + marks + late.len() == 0 {
        return Verdict::Exact;
    }
    let worst = late.iter().map(|(_, a, b)| a.0.abs_diff(b.0)).max().unwrap_or(0);
    let first = pairs().find(fate).map(|it| it.0).into_iter().chain(late.first().map(|it| it.0)).min();
    let from =
        first.map_or(String::new(), |i| format!("; the first is packet {i}, at {} ms", rows[i].came / 1_000_000));
    Verdict::Outside(format!(
        "{fates} packets have another fate, {marks} another mark, and {} leave at another time, by at most {worst} ns{from}",
        late.len()
    ))
}

fn in_distribution(cell: &Cell, rows: &[Row], runs: &[Fates]) -> Verdict {
    let theirs = repeated(cell);
    let ours: Vec<_> = runs.iter().map(|run| Spread::of(rows, run)).collect();
    let compared = Compared::of(&theirs, &ours);
    if compared.is_good() { Verdict::Within(compared) } else { Verdict::Outside(compared.to_string()) }
}

/// The largest distance between two departures of a packet, ns.
pub fn apart(it: &Judged) -> u64 {
    let both = it.rows.iter().zip(it.ours.iter().flatten());
    both.filter_map(|(row, ours)| Some(row.left?.0.abs_diff((*ours)?.0))).max().unwrap_or(0)
}

/// Arrivals so near to a departure of another packet that the clock decides which comes first.
pub fn ties(rows: &[Row]) -> usize {
    let mut departures: Vec<_> = rows.iter().filter_map(|row| row.left).map(|left| left.0).collect();
    departures.sort_unstable();
    let near = |row: &&Row| {
        let first = departures.partition_point(|at| at + CLOCK_NS < row.came);
        let same = |at: &&u64| row.left.is_some_and(|left| left.0 == **at);
        departures[first..].iter().take_while(|at| **at <= row.came + CLOCK_NS).any(|at| !same(&at))
    };
    rows.iter().filter(near).count()
}
