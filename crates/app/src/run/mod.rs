//! `run`: one point, all its replications, tables on the terminal and Parquet on disk.

/// The answer on a terminal.
mod print;

use crate::request::Run;
use crate::request::run::{Request, Terms, Trace, run_options};
use crate::selection::Selection;
use crate::terminal::watch::Terminal;
use crate::terminal::{show, watch};
use crate::{Failure, pcap, places, reading};
use perhop_results::rows::Rows;
use perhop_results::{Replication, ef_shown, summary};
use perhop_runs::disk;
use perhop_runs::run::{Probes, RunOptions, run as run_points};
use perhop_scenario::{Diagnostics, Point, Scenario, Sweep};
use perhop_sim::plan::{Tap, TapPoint};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use print::run;

/// A request with its scenario, which is read and has its name. What is traced is a key of the scenario where that says what is
/// recorded. `warn` is given the warnings.
///
/// # Errors
/// Everything that is wrong in the scenario; a name that is unfit for a directory.
pub(crate) fn read(mut request: Request, warn: impl FnOnce(&Diagnostics)) -> Result<(Request, Sweep), Failure> {
    let mut read = request.source.read();
    if let Ok((sweep, _)) = &read {
        let (settings, traced) = (sweep.base.settings(), &request.asked.traced);
        let asked = [
            (settings.sample.is_none() && traced.has(Trace::Series), "scenario.sample=\"100ms\""),
            (traced.has(Trace::Delays), "scenario.delay-histogram=true"),
        ];
        for (_, key) in asked.into_iter().filter(|it| it.0) {
            request.source.options = request.source.options.set(key);
            read = request.source.read();
        }
    }
    let (sweep, warnings) = reading::accepted(read, "nothing was run")?;
    warn(&warnings);
    let sweep = request.asked.named(sweep)?;
    Ok((request, sweep))
}

/// What the engine is told to do.
///
/// # Errors
/// JSON is asked for, and the directory of the runs is not UTF-8; it is no directory.
pub(crate) fn options(request: &Request, sweep: &Sweep) -> Result<RunOptions, Failure> {
    let out = request.asked.output.dir();
    if request.asked.output.json {
        show::text(out)?;
    }
    if out.to_string_lossy().contains("://") {
        let help = "`perhop sweep --cluster tcp://HOST:8786` writes there; else name a directory";
        let what = format!("cannot write {}: it is an address, not a directory", out.display());
        return Err(Failure::error("E020", what, help));
    }
    Ok(run_options(&request.asked, sweep, &request.source.options, watch::now()))
}

/// A run that can begin.
struct Ready {
    request: Request,
    point: Point,
    options: RunOptions,
    taps: Vec<Tap>,
    view: Selection,
}

/// What a run gave.
#[derive(Clone, Debug)]
struct RunAnswer {
    replications: Vec<Replication>,
    /// The rows that are shown, and those of the aggregates that `--ef` asks for.
    rows: Vec<Rows>,
    checked: Option<Rows>,
    /// The captures that were written.
    captures: Vec<PathBuf>,
    /// What was asked for and is not there.
    notes: Vec<String>,
    took: Duration,
}

impl Ready {
    /// Of a request whose scenario is read; nothing is run.
    ///
    /// # Errors
    /// An unknown link, column, key or value; a place where nothing can be written.
    fn new(args: &Run, request: Request, sweep: &Sweep) -> Result<Self, Failure> {
        let point = sweep.base_point();
        let taps = taps(&sweep.base, args)?;
        let dir = disk::point_dir(request.asked.output.dir(), &point);
        pcap::paths(&taps, &sweep.base, &dir).iter().try_for_each(|to| places::refuse(to, &[&args.source.file]))?;
        let view = Selection::new(&request, std::slice::from_ref(&point), &summary::TABLES)?;
        let options = options(&request, sweep)?;
        Ok(Self { request, point, options, taps, view })
    }

    fn points(&self) -> &[Point] {
        std::slice::from_ref(&self.point)
    }

    /// The directory of its results.
    fn dir(&self) -> PathBuf {
        disk::point_dir(self.request.asked.output.dir(), &self.point)
    }

    /// Runs it.
    ///
    /// # Errors
    /// Results or captures cannot be written; no row is left; it was interrupted.
    fn run(&self) -> Result<RunAnswer, Failure> {
        let recorded = record(&self.point, &self.options, &self.taps)?;
        let terminal = Terminal::new("replications");
        let replications = run_points(self.points(), &self.options, &terminal)?;
        terminal.clear();
        let captures = pcap::write(&recorded, &self.taps, &self.point.scenario, &self.dir())?;
        let notes = ef_shown::missing(1, &replications);
        let rows = self.view.rows(self.points(), &replications)?;
        let checked = self.view.checked(self.points(), &replications);
        Ok(RunAnswer { replications, rows, checked, captures, notes, took: terminal.elapsed() })
    }
}

/// The request of a run.
fn request(args: &Run) -> Result<Request, Failure> {
    let asked = Terms { output: args.output.clone(), traced: args.traced.clone(), fresh: true, ..Terms::default() };
    Ok(Request { source: reading::source(&args.source, &[])?, asked, shown: args.shown.clone() })
}

/// The links named by `--pcap` and `--pcap-in`.
fn taps(scenario: &Scenario, args: &Run) -> Result<Vec<Tap>, Failure> {
    let plan = scenario.plan(0, 0);
    let find = |name: &String, point| {
        let link = plan.links.iter().position(|l| l.name == *name);
        link.map(|link| Tap { link, point }).ok_or_else(|| {
            let names: Vec<_> = plan.links.iter().map(|l| l.name.as_str()).collect();
            let help = perhop_core::params::suggest(name, &names);
            Failure::error("E006", format!("no link `{name}` in this scenario"), help)
        })
    };
    let outputs = args.pcap.iter().map(|name| find(name, TapPoint::Output));
    outputs.chain(args.pcap_in.iter().map(|name| find(name, TapPoint::Input))).collect()
}

/// The first replication with taps, if there are any; it is not written, the run itself writes it.
fn record(point: &Point, options: &RunOptions, taps: &[Tap]) -> Result<Option<Replication>, Failure> {
    if taps.is_empty() {
        return Ok(None);
    }
    let (taps, probes) = (taps.to_vec(), Probes::default());
    let options = RunOptions { replications: 0..1, out: None, taps, probes, ..options.clone() };
    let terminal = Terminal::new("capture");
    let mut first = run_points(std::slice::from_ref(point), &options, &terminal)?;
    terminal.clear();
    Ok(first.pop())
}

/// One hash for all replications.
pub(crate) fn hash_of<'a>(replications: impl IntoIterator<Item = &'a Replication>) -> String {
    let each: Vec<_> = replications.into_iter().map(|r| ("", r.hash.clone().into_bytes())).collect();
    disk::hash_files(&each)
}
