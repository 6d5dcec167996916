//! `sweep`: every point of a grid; existing results are not run again.

use crate::args::Sweep;
use crate::watch::Terminal;
use crate::{Exit, Failure, check, complain, run, say};
use perhop_core::units::counted;
use perhop_scenario::Point;
use perhop_scenario::output::disk;
use perhop_scenario::output::run::{RunOptions, run as run_points};
use serde_json::json;

pub(crate) fn sweep(args: &Sweep) -> Result<Exit, Failure> {
    let options = args.vary.iter().fold(check::options(&args.source), |options, text| options.vary(text));
    let sweep = check::load(&args.source, &options)?;
    let all = sweep.points();
    let points = shard(&all, args.shard.as_deref())?;
    let terminal = Terminal::new("replications");
    let options = RunOptions { resume: !args.fresh, ..run::run_options(&sweep, &options, &args.output)? };
    let replications = run_points(&points, &options, &terminal)?;
    terminal.clear();
    for note in replications.iter().filter_map(|r| r.note.as_ref()) {
        complain!("note: {note}");
    }
    for (i, point) in points.iter().enumerate() {
        let dir = disk::point_dir(&args.output.out, point);
        let of: Vec<_> = replications.iter().filter(|r| r.point == i).cloned().collect();
        let (reused, hash) = (of.iter().filter(|r| r.reused).count(), run::hash_of(&of));
        if args.output.json {
            say!(
                "{}",
                json!({ "point": point.name, "run": dir, "replications": of.len(), "reused": reused, "result_hash": hash })
            );
        } else {
            say!(
                "{:60} {} ({reused} already there)  {hash}",
                dir.display().to_string(),
                counted(of.len(), ["replication", "replications"])
            );
        }
    }
    if !args.output.json {
        say!("{}, {:.1} s", counted(points.len(), ["point", "points"]), terminal.elapsed().as_secs_f64());
    }
    Ok(Exit::Fine)
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
