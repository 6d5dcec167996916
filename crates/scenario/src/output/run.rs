//! Points x replications on threads. A replication's results depend on (point, seed, replication) alone,
//! never on the number of threads or on what ran before.

use super::columns::Table;
use super::disk::{self, Manifest};
use super::tables::tables;
use crate::sweep::Point;
use perhop_core::units::counted;
use perhop_sim::plan::Tap;
use perhop_sim::{EngineOptions, Outcome, PlanError, Simulation};
use rayon::prelude::*;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What to run, and where results go.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Numbers of the replications.
    pub replications: Range<u32>,
    /// Seed; with the replication's number, the key of every random stream.
    pub seed: u64,
    /// Threads; 0 is one for each core.
    pub jobs: usize,
    /// Directory for all runs; `None` writes nothing.
    pub out: Option<PathBuf>,
    /// Skip what already exists, complete and of the same scenario and seed; its tables are then not returned.
    pub resume: bool,
    /// Links whose packets are recorded.
    pub taps: Vec<Tap>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Replications complete.
    pub done: usize,
    /// Replications in all.
    pub total: usize,
}

/// An observer that watches a run and may stop it. It supplies the clock: this crate reads none.
pub trait Watch: Sync {
    /// A replication is complete.
    fn progress(&self, _progress: Progress) {}

    /// Asked about a hundred times a replication; `true` ends the run.
    fn stop(&self) -> bool {
        false
    }

    /// Time since some fixed moment, for the manifest's wall time.
    fn clock(&self) -> Duration {
        Duration::ZERO
    }
}

/// No progress is shown.
pub struct Unwatched;

impl Watch for Unwatched {}

/// One replication of one point.
#[derive(Clone, Debug)]
pub struct Replication {
    /// Index of the point.
    pub point: usize,
    /// Its number.
    pub replication: u32,
    /// Its tables; empty if it was reused.
    pub tables: Vec<Table>,
    /// Of its tables.
    pub hash: String,
    /// Packets that left a link.
    pub packet_hops: u64,
    /// Wall time.
    pub wall: Duration,
    /// It already existed.
    pub reused: bool,
    /// The outcome itself if taps were requested.
    pub captured: Option<Box<Outcome>>,
}

/// Why a run ended early.
#[derive(Debug)]
pub enum RunError {
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
            Self::Interrupted { done, total } => {
                write!(f, "interrupted: {done} of {} complete", counted(total, ["replication is", "replications are"]))
            }
            Self::Write { path, error } => write!(
                f,
                "error[E020] cannot write {}: {error}\n   help: existing results are untouched; choose another directory with --out, or free some space",
                path.display()
            ),
            Self::Plan(error) => error.fmt(f),
            Self::Conservation { point, breaches } => write!(
                f,
                "error[E900] packets do not add up in {point}; this is a bug in perhop, please report it\n   {}",
                breaches.join("\n   ")
            ),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs every replication of every point; the result is ordered by point, then replication.
///
/// # Errors
/// The first error in that order; what was complete before is on disk.
pub fn run(points: &[Point], options: &RunOptions, watch: &dyn Watch) -> Result<Vec<Replication>, RunError> {
    let work: Vec<_> = (0..points.len())
        .flat_map(|point| options.replications.clone().map(move |replication| (point, replication)))
        .collect();
    if let Some(out) = &options.out {
        std::fs::create_dir_all(out).map_err(|error| RunError::Write { path: out.clone(), error })?;
    }
    let done = AtomicUsize::new(0);
    let total = work.len();
    let one = |(point, replication): (usize, u32)| {
        let result = Job { point: &points[point], replication, options, watch }.run();
        let done = done.fetch_add(usize::from(matches!(result, Ok(Some(_)))), Ordering::Relaxed);
        watch.progress(Progress { done: done + 1, total });
        result.map(|r| r.map(|r| Replication { point, ..r }))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().expect("threads can be had");
    let results: Vec<_> = pool.install(|| work.into_par_iter().with_max_len(1).map(one).collect());
    let mut replications = Vec::with_capacity(total);
    for result in results {
        replications.extend(result?);
    }
    if replications.len() < total {
        return Err(RunError::Interrupted { done: replications.len(), total });
    }
    Ok(replications)
}

struct Job<'a> {
    point: &'a Point,
    replication: u32,
    options: &'a RunOptions,
    watch: &'a dyn Watch,
}

impl Job<'_> {
    /// `None` when interrupted.
    fn run(&self) -> Result<Option<Replication>, RunError> {
        let dir = self.options.out.as_ref().map(|out| disk::replication_dir(out, self.point, self.replication));
        if let (Some(dir), true) = (&dir, self.options.resume)
            && let Some(manifest) = disk::existing(dir, self.point, self.options.seed)
        {
            return Ok(Some(self.reused(&manifest)));
        }
        if self.watch.stop() {
            return Ok(None);
        }
        let began = self.watch.clock();
        let mut plan = self.point.scenario.plan(self.options.seed, self.replication);
        plan.taps.extend_from_slice(&self.options.taps);
        let simulation =
            Simulation::new(plan.clone(), EngineOptions::default()).map_err(|e| RunError::Plan(Box::new(e)))?;
        let Some(outcome) = simulation.run(|_| !self.watch.stop()) else { return Ok(None) };
        self.check(&outcome)?;
        let tables = tables(&plan, &outcome);
        let files = disk::files(&tables);
        let (hash, wall) = (disk::hash(&files), self.watch.clock().saturating_sub(began));
        if let Some(dir) = dir {
            let manifest = Manifest {
                seed: self.options.seed,
                replication: self.replication,
                hash: hash.clone(),
                packet_hops: outcome.work.packet_hops,
                wall_s: wall.as_secs_f64(),
            };
            disk::write(&dir, self.point, &manifest, &files)
                .map_err(|(path, error)| RunError::Write { path, error })?;
        }
        Ok(Some(Replication {
            point: 0,
            replication: self.replication,
            tables,
            hash,
            packet_hops: outcome.work.packet_hops,
            wall,
            reused: false,
            captured: (!self.options.taps.is_empty()).then(|| Box::new(outcome)),
        }))
    }

    fn check(&self, outcome: &Outcome) -> Result<(), RunError> {
        if outcome.faults.refused > 0 {
            let most = perhop_sim::engine::MAX_COMPONENTS / 2;
            let message = format!(
                "error[E205] more than {most} connections at a time: {} transfers could not start\n   help: longer \
                 gaps, or a faster link",
                outcome.faults.refused
            );
            return Err(RunError::Plan(Box::new(PlanError::Other(message))));
        }
        debug_assert!(outcome.faults.breaches.is_empty(), "{:?}", outcome.faults.breaches);
        if outcome.faults.breaches.is_empty() {
            return Ok(());
        }
        let point = format!("{} {}, replication {}", self.point.scenario.name(), self.point.name, self.replication);
        Err(RunError::Conservation { point, breaches: outcome.faults.breaches.clone() })
    }

    fn reused(&self, manifest: &serde_json::Value) -> Replication {
        Replication {
            point: 0,
            replication: self.replication,
            tables: Vec::new(),
            hash: manifest["result_hash"].as_str().unwrap_or_default().to_owned(),
            packet_hops: manifest["packet_hops"].as_u64().unwrap_or(0),
            wall: Duration::ZERO,
            reused: true,
            captured: None,
        }
    }
}
