//! `--missing`: what a second job array should run.

use crate::request::run::Request;
use crate::terminal::show::{complain, say};
use crate::terminal::watch::Terminal;
use crate::{Exit, Failure};
use perhop_core::units::counted;
use perhop_runs::run::{RunOptions, missing};
use perhop_scenario::Point;
use serde_json::json;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Prints the parts of a job array in which something is missing; as JSON, every point of which something is.
pub(super) fn say(
    request: &Request,
    parts: Option<NonZeroUsize>,
    points: &[Point],
    options: &RunOptions,
) -> Result<Exit, Failure> {
    let terminal = Terminal::new("points");
    let found = missing(points, options, &terminal)?;
    terminal.clear();
    if request.asked.output.json {
        let lacking = points.iter().zip(&found).filter(|(_, missing)| !missing.is_empty());
        lacking.for_each(|(point, missing)| {
            say!("{}", json!({ "point": point.name, "number": point.index + 1, "replications": spans(missing) }));
        });
        return Ok(Exit::Fine);
    }
    let parts = parts.map_or(points.len(), NonZeroUsize::get);
    let lacking = points.iter().zip(&found).filter(|(_, missing)| !missing.is_empty());
    let again: BTreeSet<_> = lacking.clone().map(|(point, _)| (point.index % parts + 1) as u32).collect();
    say!("{}", spans(&again.iter().copied().collect::<Vec<_>>()));
    let (lost, all) = (found.iter().map(Vec::len).sum::<usize>(), points.len() * options.replications.len());
    let missing = counted(lost, ["replication is", "replications are"]);
    match lost {
        0 => complain!("nothing is missing: {} are there", counted(all, ["replication", "replications"])),
        _ => complain!(
            "{missing} missing of {all}, at {} of {}: run these parts again, as `--shard I/{parts}`",
            lacking.count(),
            counted(points.len(), ["point", "points"])
        ),
    }
    Ok(Exit::Fine)
}

/// `3,17,40-42`, as job arrays take it.
fn spans(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = |run: &[u32]| match run {
        [one] => one.to_string(),
        several => format!("{}-{}", several[0], several[several.len() - 1]),
    };
    runs.map(text).collect::<Vec<_>>().join(",")
}
