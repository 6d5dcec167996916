//! The answer of `sweep` on a terminal.

use super::{Made, Ready, SweepAnswer};
use crate::request::run::Request;
use crate::run::hash_of;
use crate::terminal::show;
use crate::terminal::show::{complain, say};
use crate::{Exit, Failure, selection};
use perhop_core::units::counted;
use perhop_results::{listing, rows, summary};
use perhop_runs::disk;
use perhop_scenario::Point;
use serde_json::json;

/// Prints the answer to a request that a cluster has carried out.
pub fn of_cluster(request: &Request, made: &Made) -> Exit {
    let ready = Ready::of_cluster(request, made);
    let exit = ready.and_then(|ready| print(&ready, Some(made))).unwrap_or_else(|failure| failure.say());
    if show::printed() { exit } else { Exit::Error }
}

/// Runs what is not there yet, and prints the answer.
pub(super) fn print(ready: &Ready<'_>, made: Option<&Made>) -> Result<Exit, Failure> {
    let answer = ready.run(made)?;
    answer.notes.iter().for_each(|note| complain!("{note}"));
    ready.view.write_csv(&ready.points, &answer.rows, answer.checked.as_ref())?;
    match ready.request.asked.output.json {
        true => json(ready, &answer),
        false if ready.view.only_csv => {}
        false => text(ready, &answer),
    }
    Ok(Exit::Fine)
}

fn json(ready: &Ready<'_>, answer: &SweepAnswer) {
    let each = rows::by_point(ready.points.len(), &answer.replications);
    for (i, (point, of)) in ready.points.iter().zip(each).enumerate().filter(|(_, (it, _))| ready.view.shows(it)) {
        let dir = disk::point_dir(ready.request.asked.output.dir(), point);
        let labels: serde_json::Map<_, _> = point.labels.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        let mut whole = json!({
            "point": point.name, "labels": labels, "run": dir, "replications": of.len(),
            "reused": of.iter().filter(|r| r.reused).count(), "result_hash": hash_of(of.iter().copied()),
            "rows": selection::json(&answer.rows, i)
        });
        selection::add_ef(&mut whole, &of);
        say!("{whole}");
    }
}

fn text(ready: &Ready<'_>, answer: &SweepAnswer) {
    let (points, SweepAnswer { replications, rows, checked, took, .. }) = (&ready.points, answer);
    let Some(first) = points.first() else {
        return say!("this shard is empty: the grid has fewer points than shards");
    };
    say!("{}\n", heading(points, first, replications.len() / points.len()));
    say!("{}\n", listing::text(points, rows));
    if let Some(rows) = checked {
        say!("{}\n", listing::text(points, std::slice::from_ref(rows)));
    }
    let reused = replications.iter().filter(|r| r.reused).count();
    say!(
        "{}, {} ({reused} already there), {:.1} s; result hash {}; in {}",
        counted(points.len(), ["point", "points"]),
        counted(replications.len(), ["replication", "replications"]),
        took.as_secs_f64(),
        hash_of(replications),
        ready.request.asked.output.dir().join(first.scenario.name()).display()
    );
}

/// That of a run of so many replications, if it is the same for all points.
fn heading(points: &[Point], first: &Point, each: usize) -> String {
    let of = |point: &Point| summary::heading(&point.scenario, each);
    let heading = of(first);
    match points.iter().all(|point| of(point) == heading) {
        true => heading,
        false => {
            let runs = counted(each, ["replication", "replications"]);
            format!("{}: {runs} of each point; mean ± 95 % interval", first.scenario.name())
        }
    }
}
