//! One replication of one point: read where it exists, else simulated.

use super::faults::check;
use super::{RunError, RunOptions, Watch, written};
use crate::disk::gather::{Gathered, Made, is_small};
use crate::disk::manifest::Labels;
use crate::disk::stock::{Stock, StoredReplication};
use crate::disk::write::{self, Draft};
use crate::disk::{self, Common, Damaged, Effort, Entry};
use crate::ef::{self, EfResult};
use crate::events::{self, Writer};
use perhop_config::tc_stats;
use perhop_results::Replication;
use perhop_results::hash::hash;
use perhop_results::tables::columns::Table;
use perhop_results::tables::tables;
use perhop_scenario::simulation::simulation;
use perhop_scenario::sweep::Point;
use perhop_sim::Outcome;
use perhop_sim::plan::{EfCheck, Plan};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A point of a run, with what its replications share.
pub(super) struct AtPoint<'a> {
    pub(super) point: &'a Point,
    pub(super) ef: Vec<EfCheck>,
    /// Replications that are not complete yet.
    pub(super) open: AtomicUsize,
    /// Those that are small.
    pub(super) gathered: Gathered,
    /// Where its results go, if they are written.
    dir: Option<PathBuf>,
    kept: Option<Stock>,
    common: OnceLock<Common>,
    /// Directories of other sweeps that belong to this one from now on.
    claimed: Mutex<BTreeSet<PathBuf>>,
}

impl<'a> AtPoint<'a> {
    /// # Errors
    /// What is asked of the run cannot be answered.
    pub(super) fn new(point: &'a Point, options: &RunOptions) -> Result<Self, RunError> {
        let dir = options.out.as_ref().map(|out| disk::point_dir(out, point));
        Ok(Self {
            point,
            ef: ef::checks(&options.probes.ef, &point.scenario).map_err(RunError::Asked)?,
            open: AtomicUsize::new(options.replications.len()),
            gathered: Gathered::default(),
            kept: dir.clone().filter(|_| options.resume).map(Stock::new),
            dir,
            common: OnceLock::new(),
            claimed: Mutex::default(),
        })
    }

    /// Writes what is gathered; `false` if there is nothing.
    pub(super) fn write(&self, options: &RunOptions) -> Result<bool, disk::Failed> {
        let Some(dir) = &self.dir else { return Ok(false) };
        self.gathered.write(dir, || self.common(options).clone())
    }

    /// What its manifests have in common.
    fn common(&self, options: &RunOptions) -> &Common {
        self.common.get_or_init(|| Common {
            scenario: self.point.scenario.name().to_owned(),
            point: Labels(self.point.labels.clone()),
            point_hash: self.point.hash.clone(),
            seed: self.seed(),
            perhop: env!("CARGO_PKG_VERSION").to_owned(),
            effective: self.point.scenario.effective(),
            index: self.point.index,
            identity: options.identity.clone(),
        })
    }

    fn seed(&self) -> u64 {
        self.point.scenario.settings().seed
    }

    /// Whether its small replications are written together. One that has no others is not, and what may be large is not.
    fn gathers(&self, options: &RunOptions) -> bool {
        options.replications.len() > 1 && !options.probes.events && self.point.scenario.settings().sample.is_none()
    }
}

/// One replication of it.
pub(super) struct Job<'a> {
    pub(super) at: &'a AtPoint<'a>,
    pub(super) replication: u32,
    pub(super) options: &'a RunOptions,
    pub(super) watch: &'a dyn Watch,
}

impl Job<'_> {
    /// `None` when interrupted.
    pub(super) fn run(&self) -> Result<Option<Replication>, RunError> {
        let damaged = match self.existing() {
            Some(Ok(found)) => match self.answers(&found.entry) {
                Some(answers) => return self.reused(found, answers).map(Some),
                None => None,
            },
            Some(Err(damaged)) => Some(damaged),
            None => None,
        };
        if self.watch.stop() {
            return Ok(None);
        }
        let made = self.make()?;
        let note = damaged.map(|d| format!("{} was made again: {}", d.dir.display(), d.what));
        Ok(made.map(|made| Replication { note, ..made }))
    }

    /// The replication if it is on disk, with all that is asked for.
    fn existing(&self) -> Option<Result<StoredReplication, Damaged>> {
        let found = self.at.kept.as_ref()?.find(self.replication, self.at.common(self.options))?;
        let probes = &self.options.probes;
        let has_events = |found: &StoredReplication| !probes.events || disk::events_file(&found.dir).exists();
        let has_counters = |found: &StoredReplication| !probes.counters || tc_stats::find(&found.tables).is_some();
        let has_all = |found: &StoredReplication| has_events(found) && has_counters(found);
        Some(found).filter(|found| found.as_ref().map_or(true, has_all))
    }

    /// Whether a run would find it, with all that is asked for.
    pub(super) fn is_there(&self) -> bool {
        matches!(self.existing(), Some(Ok(found)) if self.answers(&found.entry).is_some())
    }

    /// Simulates it, and writes or gathers it; `None` when interrupted.
    fn make(&self) -> Result<Option<Replication>, RunError> {
        let began = self.watch.clock();
        let mut plan = self.at.point.scenario.plan(self.at.seed(), self.replication);
        plan.probes.taps.extend_from_slice(&self.options.taps);
        plan.probes.ef = self.at.ef.clone();
        plan.probes.counters = self.options.probes.counters;
        let dir = self.at.dir.as_ref().map(|dir| disk::directory(dir, &(self.replication..=self.replication)));
        let with_events = dir.as_deref().filter(|_| self.options.probes.events);
        let draft = with_events.map(Draft::begin).transpose().map_err(written)?;
        let Some(mut outcome) = self.simulate(&plan, draft.as_ref())? else { return Ok(None) };
        check(self.at.point, self.replication, &outcome)?;
        let mut tables = tables(&plan, &outcome);
        tc_stats::fill(&mut tables, &plan, &outcome);
        // They are in the tables, and may be large.
        (outcome.transfers, outcome.series) = Default::default();
        let (hash, wall) = (hash(&tables), self.watch.clock().saturating_sub(began));
        let found: Vec<_> = outcome.ports.ef.iter().map(|row| EfResult::new(&plan, row)).collect();
        let effort = Effort { packet_hops: outcome.work.packet_hops, wall_s: wall.as_secs_f64() };
        let entry = Entry { replication: self.replication, result_hash: hash, effort, ef: found };
        let dir = match dir {
            Some(_) if self.at.gathers(self.options) && is_small(outcome.work.packet_hops, &tables) => {
                self.at.gathered.add(Made { entry: entry.clone(), tables: tables.clone() });
                None
            }
            Some(dir) => self.keep(dir, draft, &entry, &tables).map(Some)?,
            None => None,
        };
        tables.extend((!entry.ef.is_empty()).then(|| ef::table(&entry.ef).table));
        let captured = (!self.options.taps.is_empty()).then(|| Box::new(outcome));
        Ok(Some(Replication { wall, dir, captured, ..entry.with_tables(tables) }))
    }

    /// The outcome; packets at ports go to the draft's file. `None` when interrupted.
    fn simulate(&self, plan: &Plan, draft: Option<&Draft>) -> Result<Option<Outcome>, RunError> {
        let mut simulation = simulation(plan.clone()).map_err(|e| RunError::Plan(Box::new(e)))?;
        let labels = write::constants(&self.at.common(self.options).point, Some(self.replication));
        let begin = |draft: &Draft| {
            let events = Writer::begin(&draft.file(events::NAME), plan, labels.clone());
            events.map_err(|error| written((draft.dir().to_owned(), error)))
        };
        let events = draft.map(begin).transpose()?;
        events.iter().for_each(|events| simulation.record_events(events.sink()));
        let failed = || events.as_ref().is_some_and(Writer::failed);
        let outcome = simulation.run(|_| !self.watch.stop() && !failed());
        // A hook that was ended is no fault of its algorithm.
        let outcome = outcome.filter(|outcome| outcome.faults.algorithm.is_none() || !self.watch.stop());
        if let (Some(events), Some(draft)) = (events, draft) {
            events.finish().map_err(|error| written((disk::events_file(draft.dir()), error)))?;
        }
        Ok(outcome)
    }

    /// Writes it to its own directory.
    fn keep(&self, dir: PathBuf, draft: Option<Draft>, entry: &Entry, tables: &[Table]) -> Result<PathBuf, RunError> {
        let draft = draft.map_or_else(|| Draft::begin(&dir), Ok).map_err(written)?;
        draft.complete(self.at.common(self.options), vec![entry.clone()], tables).map_err(written)?;
        Ok(dir)
    }

    /// The answers to what is asked, if those that already exist have all of them.
    fn answers(&self, entry: &Entry) -> Option<Vec<EfResult>> {
        EfResult::among(&entry.ef, &self.at.point.scenario.plan(0, 0), &self.at.ef)
    }

    /// A replication that already existed. If another sweep made it, it belongs to this one from now on: its manifest
    /// gets this one's base and position, so that what is read from disk is what this run returns.
    fn reused(&self, found: StoredReplication, answers: Vec<EfResult>) -> Result<Replication, RunError> {
        let StoredReplication { dir, is_ours, entry, mut tables } = found;
        let is_first = || {
            let mut claimed = self.at.claimed.lock().unwrap_or_else(PoisonError::into_inner);
            claimed.insert(dir.clone())
        };
        if !is_ours && is_first() {
            write::claim(&dir, self.at.common(self.options)).map_err(written)?;
        }
        tables.retain(|table| table.name != ef::NAME);
        tables.extend((!answers.is_empty()).then(|| ef::table(&answers).table));
        let made = Entry { ef: answers, ..entry }.with_tables(tables);
        Ok(Replication { reused: true, dir: Some(dir), ..made })
    }
}
