//! `sweep`: every point of a grid; existing results are not run again.

/// `--missing`
mod missing;
/// The answer on a terminal.
mod print;

use crate::request::Sweep;
use crate::request::run::{Request, Terms, run_options};
use crate::selection::Selection;
use crate::terminal::watch;
use crate::terminal::watch::Terminal;
use crate::{Failure, ForPython, Outcome, reading, run};
use perhop_results::rows::Rows;
use perhop_results::tables::classes;
use perhop_results::{Replication, ef_shown};
use perhop_runs::run::{RunOptions, run as run_points};
use perhop_scenario::Point;
use serde_json::{json, to_value};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

pub use print::of_cluster;

/// What a cluster made of a request.
#[derive(Clone, Debug)]
pub struct Made {
    /// Directory in which all its results are.
    pub place: PathBuf,
    /// Points and replications that were run; the others were there before.
    pub replications: BTreeSet<(usize, u32)>,
    /// What it took.
    pub took: Duration,
}

pub(crate) fn sweep(args: &Sweep) -> Result<Outcome, Failure> {
    let (output, traced, fresh) = (args.output.clone(), args.traced.clone(), args.fresh);
    let asked = Terms { output, traced, fresh, ..Terms::default() };
    let source = reading::source(&args.source, &args.vary)?;
    let (mut request, sweep) = run::read(Request { source, asked, shown: args.shown.clone() }, reading::warn)?;
    let all = sweep.points();
    request.asked.points = shard(all.len(), args.shard.as_deref())?;
    let points = request.asked.chosen(&all)?;
    let view = Selection::new(&request, &points, &[classes::NAME])?;
    if args.cluster.cluster.is_some() && args.missing.is_none() {
        let request = to_value(&request).map_err(|error| Failure::of_call(error.to_string(), ""))?;
        let arguments = json!({ "request": request, "cluster": args.cluster });
        return Ok(Outcome::Python(ForPython { verb: "sweep", arguments }));
    }
    let options = run::options(&request, &sweep)?;
    let exit = match args.missing {
        Some(parts) => missing::say(&request, parts, &points, &options)?,
        None => print::print(&Ready { request: &request, view, points, options }, None)?,
    };
    Ok(Outcome::Done(exit))
}

/// A sweep that can begin.
struct Ready<'a> {
    request: &'a Request,
    view: Selection,
    points: Vec<Point>,
    options: RunOptions,
}

/// What a sweep gave.
#[derive(Clone, Debug)]
struct SweepAnswer {
    replications: Vec<Replication>,
    /// The rows that are shown, and those of the aggregates that `--ef` asks for.
    rows: Vec<Rows>,
    checked: Option<Rows>,
    /// What became of results that were there, and what was asked for and is not there.
    notes: Vec<String>,
    took: Duration,
}

impl<'a> Ready<'a> {
    /// What a cluster has run.
    fn of_cluster(request: &'a Request, made: &Made) -> Result<Self, Failure> {
        let (sweep, _) = reading::accepted(request.source.read(), "nothing was run")?;
        let sweep = request.asked.named(sweep)?;
        let points = request.asked.chosen(&sweep.points())?;
        let options = run_options(&request.asked, &sweep, &request.source.options, watch::now());
        let options = RunOptions { out: Some(made.place.clone()), resume: true, ..options };
        Ok(Self { request, view: Selection::new(request, &points, &[classes::NAME])?, points, options })
    }

    /// Runs what is not there yet.
    ///
    /// # Errors
    /// Results cannot be read or written; no row is left; it was interrupted.
    fn run(&self, made: Option<&Made>) -> Result<SweepAnswer, Failure> {
        let terminal = Terminal::new("replications");
        let mut replications = run_points(&self.points, &self.options, &terminal)?;
        terminal.clear();
        let mut took = terminal.elapsed();
        if let Some(made) = made {
            let is_new = |r: &Replication| made.replications.contains(&(self.points[r.point].index, r.replication));
            replications.iter_mut().for_each(|r| r.reused &= !is_new(r));
            took += made.took;
        }
        let notes = replications.iter().filter_map(|r| r.note.as_ref()).map(|note| format!("note: {note}"));
        let notes = notes.chain(ef_shown::missing(self.points.len(), &replications)).collect();
        let rows = self.view.rows(&self.points, &replications)?;
        let checked = self.view.checked(&self.points, &replications);
        Ok(SweepAnswer { replications, rows, checked, notes, took })
    }
}

/// Points i, i + n, i + 2 n, ... of the grid, for `i/n` counted from 1; all without.
fn shard(points: usize, shard: Option<&str>) -> Result<Option<Vec<usize>>, Failure> {
    let Some(text) = shard else { return Ok(None) };
    let parsed = text.split_once('/').and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse::<usize>().ok()?)));
    match parsed {
        Some((i, n)) if i >= 1 && i <= n => Ok(Some((i - 1..points).step_by(n).collect())),
        _ => Err(Failure::of_call(format!("`--shard {text}`: write I/N with 1 <= I <= N, as in 3/10"), "")),
    }
}
