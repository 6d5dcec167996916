//! A request cut into tasks: as much in one as a chunk of time takes, by what the tasks before took.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// The parts of a chunk of which a task has at least one: what a task costs in addition stays small beside it.
const SMALLEST: usize = 20;

/// Points of which the same replications are to be run.
pub type Piece = (Vec<usize>, Range<u32>);

/// What is left of a request, and what a replication of it costs.
#[derive(Clone, Debug)]
pub struct Cut {
    pieces: VecDeque<Piece>,
    /// Replications that are in no task yet.
    left: usize,
    seconds: f64,
    done: usize,
}

impl Cut {
    /// Of what is lacking of each point: those that lack the same are together, in the order of the first of them.
    pub fn new(lacking: impl IntoIterator<Item = (usize, Vec<u32>)>) -> Self {
        let (mut known, mut found) = (HashMap::new(), Vec::<(Vec<usize>, Vec<u32>)>::new());
        for (point, numbers) in lacking {
            let at = *known.entry(numbers.clone()).or_insert(found.len());
            if at == found.len() {
                found.push((Vec::new(), numbers));
            }
            found[at].0.push(point);
        }
        let each = |(points, numbers): &(Vec<usize>, Vec<u32>)| spans(numbers, points);
        let pieces: VecDeque<Piece> = found.iter().flat_map(each).collect();
        Self { left: pieces.iter().map(size).sum(), pieces, seconds: 0.0, done: 0 }
    }

    /// Replications that are in no task yet.
    pub fn left(&self) -> usize {
        self.left
    }

    /// A task of so many replications took so long.
    pub fn learn(&mut self, seconds: f64, replications: usize) {
        self.seconds += seconds;
        self.done += replications;
    }

    /// The next task for one of several workers: one replication while nothing is known, and at the end no more than a
    /// worker's share. `None` when nothing is left.
    pub fn next(&mut self, chunk_s: f64, workers: usize) -> Option<Piece> {
        let (mut points, numbers) = self.pieces.pop_front()?;
        let most = self.most(chunk_s, workers);
        let taken = if most < numbers.len() {
            let rest = points.split_off(1);
            let end = numbers.start + most as u32;
            self.put_back(rest, numbers.clone());
            self.put_back(points.clone(), end..numbers.end);
            (points, numbers.start..end)
        } else {
            let rest = points.split_off((most / numbers.len()).min(points.len()));
            self.put_back(rest, numbers.clone());
            (points, numbers)
        };
        self.left -= size(&taken);
        Some(taken)
    }

    fn put_back(&mut self, points: Vec<usize>, numbers: Range<u32>) {
        if !points.is_empty() {
            self.pieces.push_front((points, numbers));
        }
    }

    fn most(&self, chunk_s: f64, workers: usize) -> usize {
        if self.done == 0 {
            return 1;
        }
        let whole = ((chunk_s * self.done as f64 / self.seconds.max(1e-9)) as usize).max(1);
        let share = self.left.div_ceil(2 * workers.max(1));
        whole.min(share.max(whole / SMALLEST).max(1))
    }
}

/// Replications of a piece.
fn size((points, numbers): &Piece) -> usize {
    points.len() * numbers.len()
}

/// Successive numbers, each time with the points.
fn spans(numbers: &[u32], points: &[usize]) -> Vec<Piece> {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| (points.to_vec(), run[0]..run[run.len() - 1] + 1)).collect()
}
