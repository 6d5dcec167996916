//! What a run would have to simulate: everything that is not on disk yet.

use super::job::Job;
use super::{RunError, RunOptions, Watch, begin};
use crate::sweep::Point;
use rayon::prelude::*;

/// The replications of each point that are not on disk, complete and undamaged, with all that is asked for. Nothing is
/// written.
///
/// # Errors
/// What is asked of the run cannot be answered, or the observer stopped it.
pub fn missing(points: &[Point], options: &RunOptions, watch: &dyn Watch) -> Result<Vec<Vec<u32>>, RunError> {
    let (points, each) = (begin(points, options)?, options.replications.len());
    let is_missing = |at, replication| !Job { at, replication, options, watch }.is_there();
    let of = |at| match watch.stop() {
        true => Err(RunError::Interrupted { done: 0, total: each }),
        false => Ok(options.replications.clone().filter(|&replication| is_missing(at, replication)).collect()),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().expect("threads can be had");
    pool.install(|| points.par_iter().map(of).collect())
}
