//! `runs`.

use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `runs`
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Runs {
    /// Directory of all runs, or of the runs of one scenario
    #[arg(default_value = "runs")]
    pub dir: PathBuf,
    /// Delete a run, by its address in the list: its results, and the captures beside them; repeat for more
    #[arg(long, value_name = "ADDRESS")]
    pub delete: Vec<PathBuf>,
    /// Say what --delete would delete, and delete nothing
    #[arg(long, requires = "delete")]
    pub dry_run: bool,
    /// Print JSON: an object per line
    #[arg(long)]
    pub json: bool,
}
