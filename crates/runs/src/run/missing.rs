//! What a run would have to simulate: everything that is not on disk yet.

use super::job::Job;
use super::{Progress, RunError, RunOptions, Watch, begin};
use perhop_scenario::sweep::Point;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The replications of each point that are not on disk, complete and undamaged, with all that is asked for. Nothing is
/// written.
///
/// # Errors
/// What is asked of the run cannot be answered, or the observer stopped it.
pub fn missing(points: &[Point], options: &RunOptions, watch: &dyn Watch) -> Result<Vec<Vec<u32>>, RunError> {
    let (points, each) = (begin(points, options)?, options.replications.len());
    let (total, done) = (points.len(), AtomicUsize::new(0));
    let looked = || watch.progress(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
    let is_missing = |at, replication| !Job { at, replication, options, watch }.is_there();
    let of = |at| match watch.stop() {
        true => Err(RunError::Interrupted { done: 0, total: each }),
        false => {
            let lacking = options.replications.clone().filter(|&replication| is_missing(at, replication)).collect();
            looked();
            Ok(lacking)
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().expect("threads can be had");
    pool.install(|| points.par_iter().map(of).collect())
}
