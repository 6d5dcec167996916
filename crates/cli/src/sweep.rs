//! `sweep`: every point of a grid; existing results are not run again.

use crate::answer::{self, Asked};
use crate::args::Sweep;
use crate::watch::Terminal;
use crate::{Exit, Failure, Outcome, check, complain, run, say};
use perhop_core::units::counted;
use perhop_runs::rows::{self, Rows};
use perhop_runs::run::{Replication, RunOptions, run as run_points};
use perhop_runs::{disk, ef_shown, listing, summary};
use perhop_scenario::Point;
use serde_json::json;
use std::ffi::OsString;
use std::time::Duration;

/// What is handed over to Python for a cluster.
mod handed_over;
/// `--missing`
mod missing;

pub(crate) fn sweep(args: &Sweep, line: &[OsString]) -> Result<Outcome, Failure> {
    let options = args
        .vary
        .iter()
        .fold(check::options(&args.source.file, &args.source.settings), |options, text| options.vary(text));
    let options = run::sampled(options, &args.source.file, &args.traced);
    let sweep = run::named(check::load(&args.source, &options)?, &args.output)?;
    let all = sweep.points();
    let points = shard(&all, args.shard.as_deref())?;
    let asked = Asked::new(&args.shown, &args.output)?;
    let is_new = check::given().is_none();
    if is_new && args.cluster.cluster.is_some() && args.missing.is_none() {
        return handed_over::request(args, line, &options, &points).map(Outcome::Python);
    }
    let called = run::Called { output: &args.output, traced: &args.traced };
    let options = RunOptions { resume: !(args.fresh && is_new), ..run::run_options(&sweep, &options, &called)? };
    if let Some(parts) = args.missing {
        return missing::say(args, parts, &points, &options).map(Outcome::Done);
    }
    ran(args, &points, &asked, &options).map(Outcome::Done)
}

/// Runs what is not there yet, and prints the answer.
fn ran(args: &Sweep, points: &[Point], asked: &Asked, options: &RunOptions) -> Result<Exit, Failure> {
    let terminal = Terminal::new("replications");
    let mut replications = run_points(points, options, &terminal)?;
    terminal.clear();
    let mut took = terminal.elapsed();
    if let Some(given) = check::given() {
        let is_new = |r: &Replication| given.made.contains(&(points[r.point].index, r.replication));
        replications.iter_mut().for_each(|r| r.reused &= !is_new(r));
        took += given.took;
    }
    for note in replications.iter().filter_map(|r| r.note.as_ref()) {
        complain!("note: {note}");
    }
    ef_shown::missing(points.len(), &replications).iter().for_each(|note| complain!("{note}"));
    let rows = asked.rows(points, &replications)?;
    let done = Done { args, points, replications: &replications, rows: &rows };
    match args.output.json {
        true => done.json(),
        false if asked.only_csv => {}
        false => done.print(took),
    }
    Ok(Exit::Fine)
}

/// A sweep that is complete.
struct Done<'a> {
    args: &'a Sweep,
    points: &'a [Point],
    replications: &'a [Replication],
    rows: &'a [Rows],
}

impl Done<'_> {
    fn json(&self) {
        let each = rows::by_point(self.points.len(), self.replications);
        for (i, (point, of)) in self.points.iter().zip(each).enumerate() {
            let dir = disk::point_dir(&self.args.output.out, point);
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
            return say!("no points: the grid has fewer than the shards it is divided into");
        };
        say!("{}\n", self.heading(first));
        say!("{}\n", listing::text(self.points, self.rows));
        if let Some(rows) = ef_shown::rows(self.points.len(), self.replications) {
            say!("{}\n", listing::text(self.points, &[rows]));
        }
        let reused = self.replications.iter().filter(|r| r.reused).count();
        say!(
            "{}, {} ({reused} already there), {:.1} s; result hash {}; in {}",
            counted(self.points.len(), ["point", "points"]),
            counted(self.replications.len(), ["replication", "replications"]),
            took.as_secs_f64(),
            run::hash_of(self.replications),
            self.args.output.out.join(first.scenario.name()).display()
        );
    }
}

/// Points i, i + n, i + 2 n, ... of the grid, for `i/n` counted from 1.
fn shard(points: &[Point], shard: Option<&str>) -> Result<Vec<Point>, Failure> {
    let Some(text) = shard else { return Ok(points.to_vec()) };
    let parsed = text.split_once('/').and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse::<usize>().ok()?)));
    match parsed {
        Some((i, n)) if i >= 1 && i <= n => Ok(points.iter().skip(i - 1).step_by(n).cloned().collect()),
        _ => Err(Failure::Error(format!("`--shard {text}`: write I/N with 1 <= I <= N, as in 3/10"))),
    }
}
