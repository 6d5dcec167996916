//! `runs`: what has been run, and how the runs differ.

use crate::request::Runs;
use crate::terminal::show::{complain, say};
use crate::{Exit, Failure};
use perhop_runs::delete::Doomed;
use perhop_runs::{inventory, inventory_table};
use perhop_scenario::text::printable::printable;
use serde_json::json;
use std::path::Path;

pub(crate) fn runs(args: &Runs) -> Result<Exit, Failure> {
    if args.delete.is_empty() { list(args) } else { delete(args) }
}

/// All addresses must be good before anything is deleted.
fn delete(args: &Runs) -> Result<Exit, Failure> {
    let doomed = args.delete.iter().map(|address| Doomed::at(address)).collect::<Result<Vec<_>, _>>();
    for run in doomed? {
        match args.dry_run {
            true => run.is_free()?,
            false => run.delete()?,
        }
        match args.json {
            true => say!("{}", json!({ "run": run, "deleted": !args.dry_run })),
            false => say_deleted(&run, args.dry_run),
        }
        run.left.iter().for_each(|path| complain!("note: {} stays: perhop did not write it", named(path)));
        run.kept
            .iter()
            .for_each(|path| complain!("note: {} stays: it is of results that are not deleted", named(path)));
    }
    Ok(Exit::Fine)
}

/// What was deleted, or each file that would be.
fn say_deleted(run: &Doomed, dry_run: bool) {
    let verb = if dry_run { "would be deleted" } else { "deleted" };
    say!("{verb}: {}", printable(&run.text()));
    run.files.iter().filter(|_| dry_run).for_each(|file| say!("  {}", named(file)));
}

/// A path as a terminal may show it.
fn named(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

fn list(args: &Runs) -> Result<Exit, Failure> {
    let found = inventory::list(&args.dir).map_err(|error| {
        let help = "name a directory that `perhop run` or `perhop sweep` has written";
        Failure::error("E024", format!("cannot read {}: {error}", args.dir.display()), help)
    })?;
    found.damaged.iter().for_each(|damaged| complain!("{damaged}"));
    match (args.json, found.runs.as_slice()) {
        (true, runs) => runs.iter().for_each(|run| say!("{}", json!(run))),
        (false, []) => say!("no finished replication below {}: `perhop run` makes one", args.dir.display()),
        (false, _) => say!("{}", inventory_table::text(&found)),
    }
    Ok(if found.damaged.is_empty() { Exit::Fine } else { Exit::Error })
}
