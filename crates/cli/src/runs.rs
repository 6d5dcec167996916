//! `runs`: what has been run, and how the runs differ.

use crate::args::Runs;
use crate::{Exit, Failure, complain, say};
use perhop_runs::{inventory, inventory_table};
use serde_json::json;

pub(crate) fn runs(args: &Runs) -> Result<Exit, Failure> {
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
