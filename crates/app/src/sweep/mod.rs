//! `sweep`: every point of a grid; existing results are not run again.

use crate::ForPython;
use crate::answer::{self, Answer};
use crate::request::Sweep;
use crate::request::run::{Request, Terms, run_options};
use crate::terminal::show::{complain, say};
use crate::terminal::watch::Terminal;
use crate::terminal::{show, watch};
use crate::{Exit, Failure, Outcome, reading, run};
use perhop_core::units::counted;
use perhop_results::Replication;
use perhop_results::rows::{self, Rows};
use perhop_results::tables::classes;
use perhop_results::{ef_shown, listing, summary};
use perhop_runs::disk;
use perhop_runs::run::{RunOptions, run as run_points};
use perhop_scenario::Point;
use serde_json::{json, to_value};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// `--missing`
mod missing;

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
    let (mut request, sweep) = run::read(Request { source, asked, shown: args.shown.clone() })?;
    let all = sweep.points();
    request.asked.points = shard(all.len(), args.shard.as_deref())?;
    let points = request.asked.chosen(&all)?;
    let answer = Answer::new(&request, &points, &[classes::NAME])?;
    if args.cluster.cluster.is_some() && args.missing.is_none() {
        let request = to_value(&request).map_err(|error| Failure::of_call(error.to_string(), ""))?;
        let arguments = json!({ "request": request, "cluster": args.cluster });
        return Ok(Outcome::Python(ForPython { verb: "sweep", arguments }));
    }
    let options = run::options(&request, &sweep)?;
    let exit = match args.missing {
        Some(parts) => missing::say(&request, parts, &points, &options)?,
        None => ran(&request, &answer, &points, &options, None)?,
    };
    Ok(Outcome::Done(exit))
}

/// Prints the answer to a request that a cluster has carried out.
pub fn answer(request: &Request, made: &Made) -> Exit {
    let exit = answered(request, made).unwrap_or_else(|failure| failure.say());
    if show::printed() { exit } else { Exit::Error }
}

fn answered(request: &Request, made: &Made) -> Result<Exit, Failure> {
    let (sweep, _) = reading::accepted(request.source.read(), "nothing was run")?;
    let sweep = request.asked.named(sweep)?;
    let points = request.asked.chosen(&sweep.points())?;
    let options = run_options(&request.asked, &sweep, &request.source.options, watch::now());
    let options = RunOptions { out: Some(made.place.clone()), resume: true, ..options };
    ran(request, &Answer::new(request, &points, &[classes::NAME])?, &points, &options, Some(made))
}

/// Runs what is not there yet, and prints the answer.
fn ran(
    request: &Request,
    answer: &Answer,
    points: &[Point],
    options: &RunOptions,
    made: Option<&Made>,
) -> Result<Exit, Failure> {
    let terminal = Terminal::new("replications");
    let mut replications = run_points(points, options, &terminal)?;
    terminal.clear();
    let mut took = terminal.elapsed();
    if let Some(made) = made {
        let is_new = |r: &Replication| made.replications.contains(&(points[r.point].index, r.replication));
        replications.iter_mut().for_each(|r| r.reused &= !is_new(r));
        took += made.took;
    }
    for note in replications.iter().filter_map(|r| r.note.as_ref()) {
        complain!("note: {note}");
    }
    ef_shown::missing(points.len(), &replications).iter().for_each(|note| complain!("{note}"));
    let rows = answer.rows(points, &replications)?;
    let done = Done { request, answer, points, replications: &replications, rows: &rows };
    match request.asked.output.json {
        true => done.json(),
        false if answer.only_csv => {}
        false => done.print(took),
    }
    Ok(Exit::Fine)
}

/// A sweep that is complete.
struct Done<'a> {
    request: &'a Request,
    answer: &'a Answer,
    points: &'a [Point],
    replications: &'a [Replication],
    rows: &'a [Rows],
}

impl Done<'_> {
    fn json(&self) {
        let each = rows::by_point(self.points.len(), self.replications);
        for (i, (point, of)) in self.points.iter().zip(each).enumerate().filter(|(_, (it, _))| self.answer.shows(it)) {
            let dir = disk::point_dir(self.request.asked.output.dir(), point);
            let labels: serde_json::Map<_, _> = point.labels.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
            let mut said = json!({
                "point": point.name, "labels": labels, "run": dir, "replications": of.len(),
                "reused": of.iter().filter(|r| r.reused).count(), "result_hash": run::hash_of(of.iter().copied()),
                "rows": answer::json(self.rows, i)
            });
            answer::add_ef(&mut said, &of);
            say!("{said}");
        }
    }

    /// That of a run, if it is the same for all points.
    fn heading(&self, first: &Point) -> String {
        let each = self.replications.len() / self.points.len();
        let of = |point: &Point| summary::heading(&point.scenario, each);
        let heading = of(first);
        match self.points.iter().all(|point| of(point) == heading) {
            true => heading,
            false => {
                let runs = counted(each, ["replication", "replications"]);
                format!("{}: {runs} of each point; mean ± 95 % interval", first.scenario.name())
            }
        }
    }

    fn print(&self, took: Duration) {
        let Some(first) = self.points.first() else {
            return say!("this shard is empty: the grid has fewer points than shards");
        };
        say!("{}\n", self.heading(first));
        say!("{}\n", listing::text(self.points, self.rows));
        if let Some(rows) = self.answer.checked(self.points, self.replications) {
            say!("{}\n", listing::text(self.points, &[rows]));
        }
        let reused = self.replications.iter().filter(|r| r.reused).count();
        say!(
            "{}, {} ({reused} already there), {:.1} s; result hash {}; in {}",
            counted(self.points.len(), ["point", "points"]),
            counted(self.replications.len(), ["replication", "replications"]),
            took.as_secs_f64(),
            run::hash_of(self.replications),
            self.request.asked.output.dir().join(first.scenario.name()).display()
        );
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
