//! `runs`: what has been run, and how the runs differ.

use crate::args::Runs;
use crate::{Exit, Failure, complain, say};
use perhop_runs::delete::Doomed;
use perhop_runs::{inventory, inventory_table};
use serde_json::json;

pub(crate) fn runs(args: &Runs) -> Result<Exit, Failure> {
    if args.delete.is_empty() { list(args) } else { delete(args) }
}

/// All addresses must be good before anything is deleted.
fn delete(args: &Runs) -> Result<Exit, Failure> {
    let doomed = args.delete.iter().map(|address| Doomed::at(address)).collect::<Result<Vec<_>, _>>();
    for run in doomed.map_err(Failure::Error)? {
        if !args.dry_run {
            run.delete().map_err(Failure::Error)?;
        }
        let verb = if args.dry_run { "would be deleted" } else { "deleted" };
        match args.json {
            true => say!("{}", json!({ "run": run, "deleted": !args.dry_run })),
            false => say!("{verb}: {}", run.text()),
        }
        for file in &run.left {
            complain!("note: {} stays: perhop did not write it", file.display());
        }
    }
    Ok(Exit::Fine)
}

fn list(args: &Runs) -> Result<Exit, Failure> {
    let found = inventory::list(&args.dir).map_err(|error| {
        let help = "name a directory that `perhop run` or `perhop sweep` has written";
        Failure::Error(format!("error[E024] cannot read {}: {error}\n   help: {help}", args.dir.display()))
    })?;
    found.damaged.iter().for_each(|damaged| complain!("{damaged}"));
    match (args.json, found.runs.as_slice()) {
        (true, runs) => runs.iter().for_each(|run| say!("{}", json!(run))),
        (false, []) => say!("no finished replication below {}: `perhop run` makes one", args.dir.display()),
        (false, _) => say!("{}", inventory_table::text(&found)),
    }
    Ok(if found.damaged.is_empty() { Exit::Fine } else { Exit::Error })
}
