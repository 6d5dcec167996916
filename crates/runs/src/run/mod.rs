//! Points x replications on threads. A replication's results depend on (point, seed, replication) alone,
//! never on the number of threads or on what ran before.

use super::disk::home::{Home, Homes};
use super::disk::leftovers::Leftover;
use super::disk::{Failed, Identity};
use job::{AtPoint, Job};
use perhop_core::fault::Fault;
use perhop_core::units::counted;
use perhop_results::Replication;
use perhop_scenario::Diagnostic;
use perhop_scenario::bounds::{JOBS, REPLICATIONS, RUNS};
use perhop_scenario::sweep::Point;
use perhop_sim::PlanError;
use perhop_sim::plan::Tap;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Why an outcome is no result.
mod faults;
/// One replication of one point.
mod job;
/// What is still to be run.
mod missing;

pub(crate) use faults::check;
pub use missing::missing;

/// What to run, and where results go.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Numbers of the replications.
    pub replications: Range<u32>,
    /// Threads; 0 is one for each core.
    pub jobs: usize,
    /// Directory for all runs; `None` writes nothing.
    pub out: Option<PathBuf>,
    /// Read what already exists, complete and of the same scenario and seed, instead of running it.
    pub resume: bool,
    /// How the run was called, for its manifests.
    pub identity: Identity,
    /// Links whose packets are recorded.
    pub taps: Vec<Tap>,
    /// What else is recorded.
    pub probes: Probes,
}

/// What a run records beside its results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// A row for each packet at each port, where results are written.
    pub events: bool,
    /// Aggregates to be held against their rates, as [`super::ef::checks`] reads them.
    pub ef: Vec<String>,
    /// What `tc -s` would show of each port at the end.
    pub counters: bool,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Replications complete; of [`missing`], points looked at.
    pub done: usize,
    /// Those in all.
    pub total: usize,
}

/// An observer that watches a run and may stop it. It supplies the clock: this crate reads none.
pub trait Watch: Sync {
    /// The run begins, or a replication is complete.
    fn progress(&self, _progress: Progress) {}

    /// Asked about a hundred times a replication; `true` ends the run.
    fn stop(&self) -> bool {
        false
    }

    /// Something half-written stays in the directory of results, for its writer is unknown or it is protected.
    fn stays(&self, _leftover: &Leftover) {}

    /// Time since some fixed moment, for the manifest's wall time.
    fn clock(&self) -> Duration {
        Duration::ZERO
    }
}

/// No progress is shown.
pub struct Unwatched;

impl Watch for Unwatched {}

/// Why a run ended early.
#[derive(Debug)]
pub enum RunError {
    /// What is asked of the run cannot be answered.
    Asked(Diagnostic),
    /// It came to no valid end.
    Failed(Diagnostic),
    /// The observer stopped it; complete replications are on disk.
    Interrupted {
        /// How many.
        done: usize,
        /// Of how many.
        total: usize,
    },
    /// A directory could not be written.
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The plan could not be built.
    Plan(Box<PlanError>),
    /// An algorithm could not go on.
    Algorithm {
        /// Where.
        point: String,
        /// Which, when and why.
        fault: Fault,
    },
    /// Counts do not add up: a bug in perhop.
    Conservation {
        /// Where.
        point: String,
        /// All breaches.
        breaches: Vec<String>,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked(what) | Self::Failed(what) => what.fmt(f),
            Self::Interrupted { done, total } => {
                write!(f, "interrupted: {done} of {} complete", counted(total, ["replication is", "replications are"]))
            }
            Self::Write { path, error } => unwritten(path, error, "`out`").fmt(f),
            Self::Plan(error) => error.fmt(f),
            Self::Algorithm { point, fault } => Diagnostic::error("E901", format!("{point}: {fault}"), "").fmt(f),
            Self::Conservation { point, breaches } => conservation(point, breaches).fmt(f),
        }
    }
}

impl RunError {
    /// As everything that perhop finds, where the directory is asked for as `out`.
    pub fn diagnostic(self, out: &str) -> Diagnostic {
        match self {
            Self::Asked(what) | Self::Failed(what) => what,
            Self::Write { path, error } => unwritten(&path, &error, out),
            Self::Conservation { point, breaches } => conservation(&point, &breaches),
            Self::Algorithm { point, fault } => Diagnostic::error("E901", format!("{point}: {fault}"), ""),
            other => Diagnostic::of_call(other.to_string(), ""),
        }
    }
}

fn unwritten(path: &Path, error: &std::io::Error, out: &str) -> Diagnostic {
    let help = format!("existing results are untouched; choose another directory with {out}, or free some space");
    Diagnostic::error("E020", format!("cannot write {}: {error}", path.display()), help)
}

fn conservation(point: &str, breaches: &[String]) -> Diagnostic {
    let what = format!("packets do not add up in {point}; this is a bug in perhop, please report it");
    Diagnostic::error("E900", format!("{what}\n   {}", breaches.join("\n   ")), "")
}

impl std::error::Error for RunError {}

/// Runs every replication of every point; the result is ordered by point, then replication.
///
/// # Errors
/// The first error in that order; what was complete before is on disk.
pub fn run(points: &[Point], options: &RunOptions, watch: &dyn Watch) -> Result<Vec<Replication>, RunError> {
    let points = begin(points, options)?;
    let work: Vec<_> = (0..points.len())
        .flat_map(|point| options.replications.clone().map(move |replication| (point, replication)))
        .collect();
    let (total, done) = (work.len(), AtomicUsize::new(0));
    let running =
        Running { points: &points, options, watch, homes: Homes::new(homes(&points, options, watch)?, watch.clock()) };
    watch.progress(Progress { done: 0, total });
    let one = |(point, replication): (usize, u32)| {
        let result = Job { at: &points[point], replication, options, watch }.run();
        let done = done.fetch_add(usize::from(matches!(result, Ok(Some(_)))), Ordering::Relaxed);
        watch.progress(Progress { done: done + 1, total });
        let made = result?;
        running.ended(&points[point], made.as_ref()).map_err(written)?;
        Ok(made.map(|made| Replication { point, ..made }))
    };
    // One thread is the caller's: Python has one of its own for each thread that calls it.
    let results: Vec<_> = match options.jobs {
        1 => work.into_iter().map(one).collect(),
        jobs => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build().expect("threads can be had");
            pool.install(|| work.into_par_iter().with_max_len(1).map(one).collect())
        }
    };
    running.write_all().and_then(|()| running.homes.sync()).map_err(written)?;
    let mut replications = Vec::with_capacity(total);
    for result in results {
        replications.extend(result?);
    }
    if replications.len() < total {
        return Err(RunError::Interrupted { done: replications.len(), total });
    }
    complete(&mut replications, &points);
    Ok(replications)
}

/// What is asked is within its bounds and can be answered: the points, with what their replications share.
fn begin<'a>(points: &'a [Point], options: &RunOptions) -> Result<Vec<AtPoint<'a>>, RunError> {
    let RunOptions { replications, jobs, .. } = options;
    let runs = points.len() as u64 * replications.len() as u64;
    let asked = [(JOBS, *jobs as u64), (REPLICATIONS, u64::from(replications.end)), (RUNS, runs)];
    asked.into_iter().try_for_each(|(bound, given)| bound.check(given)).map_err(RunError::Asked)?;
    points.iter().map(|point| AtPoint::new(point, options)).collect()
}

/// A run in progress.
struct Running<'a> {
    points: &'a [AtPoint<'a>],
    options: &'a RunOptions,
    watch: &'a dyn Watch,
    homes: Homes,
}

impl Running<'_> {
    /// A replication has ended: what is gathered is written when its point is complete, and once a second.
    fn ended(&self, at: &AtPoint<'_>, made: Option<&Replication>) -> Result<(), Failed> {
        if made.is_some_and(|made| !made.reused && made.dir.is_some()) {
            self.homes.written();
        }
        if at.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.write(at)?;
        }
        self.homes.completed(self.watch.clock(), || self.write_all())
    }

    fn write_all(&self) -> Result<(), Failed> {
        self.points.iter().try_for_each(|at| self.write(at))
    }

    fn write(&self, at: &AtPoint<'_>) -> Result<(), Failed> {
        if at.write(self.options)? {
            self.homes.written();
        }
        Ok(())
    }
}

/// States where those are that were written together, and says of a damaged directory once that it was made again.
fn complete(replications: &mut [Replication], points: &[AtPoint<'_>]) {
    let mut said = None;
    for it in replications {
        it.dir = it.dir.take().or_else(|| points[it.point].gathered.place(it.replication));
        if it.note == said {
            it.note = None;
        } else if it.note.is_some() {
            said.clone_from(&it.note);
        }
    }
}

/// The scenarios' directories, entered for the time of the run.
fn homes(points: &[AtPoint<'_>], options: &RunOptions, watch: &dyn Watch) -> Result<Vec<Home>, RunError> {
    let Some(out) = &options.out else { return Ok(Vec::new()) };
    let names: BTreeSet<_> = points.iter().map(|at| at.point.scenario.name()).collect();
    let enter = |name| Home::enter(out, name).map_err(|error| RunError::Write { path: out.clone(), error });
    let entered: Vec<_> = names.into_iter().map(enter).collect::<Result<_, _>>()?;
    // each has looked at all of `out`
    entered.iter().take(1).flat_map(|(_, stays)| stays).for_each(|leftover| watch.stays(leftover));
    Ok(entered.into_iter().map(|(home, _)| home).collect())
}

fn written((path, error): Failed) -> RunError {
    RunError::Write { path, error }
}
