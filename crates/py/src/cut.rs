//! Work cut into tasks of a cluster.

use perhop_runs::cut;
use pyo3::prelude::*;

/// What is left of a work, and what a replication of it costs.
#[pyclass]
pub struct Cut(pub cut::Cut);

#[pymethods]
impl Cut {
    /// Replications that are in no task yet.
    #[getter]
    fn left(&self) -> usize {
        self.0.left()
    }

    /// A task of so many replications took so long.
    fn learn(&mut self, seconds: f64, replications: usize) {
        self.0.learn(seconds, replications);
    }

    /// The next task, of so many seconds, for one of so many workers: points; the first replication, and the one behind
    /// the last. None when nothing is left.
    fn next(&mut self, chunk_s: f64, workers: usize) -> Option<(Vec<usize>, (u32, u32))> {
        self.0.next(chunk_s, workers).map(|(points, numbers)| (points, (numbers.start, numbers.end)))
    }
}
