//! Points x replications on threads. A replication's results depend on (point, seed, replication) alone,
//! never on the number of threads or on what ran before.

use super::columns::Table;
use super::disk::home::{Home, Homes};
use super::disk::manifest::Labels;
use super::disk::write::Draft;
use super::disk::{self, Effort, Identity, Manifest, Stored};
use super::ef::{self, Found};
use super::events::{self, Writer};
use super::tables::tables;
use crate::simulation::simulation;
use crate::sweep::Point;
use perhop_core::units::counted;
use perhop_sim::plan::{EfCheck, Plan, Tap};
use perhop_sim::{Outcome, PlanError};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
    /// Write a row for each packet at each port (`events.parquet`), where results are written.
    pub events: bool,
    /// Aggregates to hold against their rates, as [`ef::checks`] reads them.
    pub ef: Vec<String>,
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
    /// Its tables.
    pub tables: Vec<Table>,
    /// What was found of the aggregates that were asked for, in their order.
    pub ef: Vec<Found>,
    /// Of its tables.
    pub hash: String,
    /// Packets that left a link.
    pub packet_hops: u64,
    /// Wall time.
    pub wall: Duration,
    /// It already existed.
    pub reused: bool,
    /// What existed was damaged, and how; it was made again.
    pub note: Option<String>,
    /// The outcome itself if taps were requested.
    pub captured: Option<Box<Outcome>>,
}

/// Why a run ended early.
#[derive(Debug)]
pub enum RunError {
    /// What is asked of the run cannot be answered.
    Asked(String),
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
            Self::Asked(message) => f.write_str(message),
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
    let ef: Result<Vec<_>, _> = points.iter().map(|point| ef::checks(&options.ef, &point.scenario)).collect();
    let ef = ef.map_err(RunError::Asked)?;
    let homes = Homes::new(homes(points, options)?, watch.clock());
    let done = AtomicUsize::new(0);
    let total = work.len();
    let one = |(point, replication): (usize, u32)| {
        let result = Job { point: &points[point], replication, options, ef: &ef[point], watch }.run();
        let done = done.fetch_add(usize::from(matches!(result, Ok(Some(_)))), Ordering::Relaxed);
        watch.progress(Progress { done: done + 1, total });
        if result.as_ref().is_ok_and(|made| made.as_ref().is_some_and(|made| !made.reused)) {
            homes.completed(watch.clock()).map_err(written)?;
        }
        result.map(|r| r.map(|r| Replication { point, ..r }))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().expect("threads can be had");
    let results: Vec<_> = pool.install(|| work.into_par_iter().with_max_len(1).map(one).collect());
    homes.sync().map_err(written)?;
    let mut replications = Vec::with_capacity(total);
    for result in results {
        replications.extend(result?);
    }
    if replications.len() < total {
        return Err(RunError::Interrupted { done: replications.len(), total });
    }
    Ok(replications)
}

/// The scenarios' directories, entered for the time of the run.
fn homes(points: &[Point], options: &RunOptions) -> Result<Vec<Home>, RunError> {
    let Some(out) = &options.out else { return Ok(Vec::new()) };
    let names: BTreeSet<_> = points.iter().map(|point| point.scenario.name()).collect();
    let enter = |name| Home::enter(out.join(name)).map_err(|error| RunError::Write { path: out.clone(), error });
    names.into_iter().map(enter).collect()
}

fn written((path, error): (PathBuf, std::io::Error)) -> RunError {
    RunError::Write { path, error }
}

fn begin_events(draft: &Draft, plan: &Plan) -> Result<Writer, RunError> {
    Writer::begin(&draft.file(events::NAME), plan).map_err(|error| written((draft.dir().to_owned(), error)))
}

struct Job<'a> {
    point: &'a Point,
    replication: u32,
    options: &'a RunOptions,
    ef: &'a [EfCheck],
    watch: &'a dyn Watch,
}

impl Job<'_> {
    /// `None` when interrupted.
    fn run(&self) -> Result<Option<Replication>, RunError> {
        let dir = self.options.out.as_ref().map(|out| disk::replication_dir(out, self.point, self.replication));
        let usable = |dir: &&PathBuf| !self.options.events || disk::events_file(dir).exists();
        let kept = dir.as_ref().filter(|_| self.options.resume).filter(usable);
        let existing = kept.and_then(|dir| disk::existing(dir, self.point));
        let damaged = match (existing, &dir) {
            (Some(Ok(stored)), Some(dir)) => match self.found_in(&stored) {
                Some(found) => return self.reused(dir, stored, found).map(Some),
                None => None,
            },
            (Some(Err(damaged)), _) => Some(damaged),
            _ => None,
        };
        if self.watch.stop() {
            return Ok(None);
        }
        let began = self.watch.clock();
        let mut plan = self.point.scenario.plan(self.seed(), self.replication);
        plan.probes.taps.extend_from_slice(&self.options.taps);
        plan.probes.ef = self.ef.to_vec();
        let mut simulation = simulation(plan.clone()).map_err(|e| RunError::Plan(Box::new(e)))?;
        let draft = dir.as_ref().map(|dir| Draft::begin(dir)).transpose().map_err(written)?;
        let events = draft.as_ref().filter(|_| self.options.events).map(|draft| begin_events(draft, &plan));
        let events = events.transpose()?;
        events.iter().for_each(|events| simulation.record_events(events.sink()));
        let failed = || events.as_ref().is_some_and(Writer::failed);
        let outcome = simulation.run(|_| !self.watch.stop() && !failed());
        if let (Some(events), Some(dir)) = (events, &dir) {
            events.finish().map_err(|error| written((disk::events_file(dir), error)))?;
        }
        let Some(outcome) = outcome else { return Ok(None) };
        self.check(&outcome)?;
        let mut tables = tables(&plan, &outcome);
        let files = disk::files(&tables);
        let ef: Vec<_> = outcome.ports.ef.iter().map(|row| Found::new(&plan, row)).collect();
        tables.extend((!ef.is_empty()).then(|| ef::table(&ef)));
        let (hash, wall) = (disk::hash(&files), self.watch.clock().saturating_sub(began));
        if let Some(draft) = draft {
            let manifest = Manifest {
                result_hash: hash.clone(),
                effort: Effort { packet_hops: outcome.work.packet_hops, wall_s: wall.as_secs_f64() },
                ef: ef.clone(),
                ..self.manifest()
            };
            draft.complete(&manifest, &files).map_err(written)?;
        }
        Ok(Some(Replication {
            point: 0,
            replication: self.replication,
            tables,
            ef,
            hash,
            packet_hops: outcome.work.packet_hops,
            wall,
            reused: false,
            note: damaged.map(|d| format!("{} was made again: {}", d.dir.display(), d.what)),
            captured: (!self.options.taps.is_empty()).then(|| Box::new(outcome)),
        }))
    }

    fn check(&self, outcome: &Outcome) -> Result<(), RunError> {
        if outcome.faults.refused > 0 {
            let most = perhop_sim::engine::most_components(*self.point.scenario.settings().duration) / 2;
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

    fn seed(&self) -> u64 {
        self.point.scenario.settings().seed
    }

    /// What is known of a replication before it runs.
    fn manifest(&self) -> Manifest {
        Manifest {
            scenario: self.point.scenario.name().to_owned(),
            point: Labels(self.point.labels.clone()),
            point_hash: self.point.hash.clone(),
            seed: self.seed(),
            replication: self.replication,
            result_hash: String::new(),
            effort: Effort::default(),
            perhop: env!("CARGO_PKG_VERSION").to_owned(),
            effective: self.point.scenario.effective(),
            index: Some(self.point.index),
            ef: Vec::new(),
            identity: self.options.identity.clone(),
        }
    }

    /// The answers to what is asked, if those that already exist have all of them.
    fn found_in(&self, stored: &Stored) -> Option<Vec<Found>> {
        Found::among(&stored.manifest.ef, &self.point.scenario.plan(0, 0), self.ef)
    }

    /// A replication that already existed. If another sweep made it, it belongs to this one from now on: its manifest
    /// gets this one's base and position, so that what is read from disk is what this run returns.
    fn reused(&self, dir: &Path, stored: Stored, found: Vec<Found>) -> Result<Replication, RunError> {
        let Stored { manifest, mut tables } = stored;
        let Manifest { result_hash, effort, ef, .. } = manifest.clone();
        let ours = Manifest { result_hash, effort, ef, ..self.manifest() };
        let place = |m: &Manifest| (m.point.clone(), m.index, m.identity.base_hash.clone());
        if place(&ours) != place(&manifest) {
            disk::write::rewrite(dir, &ours).map_err(written)?;
        }
        tables.retain(|table| table.name != ef::NAME);
        tables.extend((!found.is_empty()).then(|| ef::table(&found)));
        Ok(Replication {
            point: 0,
            replication: self.replication,
            tables,
            ef: found,
            hash: manifest.result_hash,
            packet_hops: manifest.effort.packet_hops,
            wall: Duration::ZERO,
            reused: true,
            note: None,
            captured: None,
        })
    }
}
