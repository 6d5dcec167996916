//! What is available, and how to begin: `list`, `init`.

use super::retired;
use crate::templates::Template;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `list`
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct List {
    /// A list: conditioners, aqms, schedulers, traffic, congestion, tcp, studies, units or diagnostics; or the page of an
    /// algorithm or code by its name
    pub what: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `init`
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[command(arg = retired::file(1))]
pub struct Init {
    /// Which scenario to write
    #[arg(short, long, value_enum, default_value_t = Template::First, value_name = "NAME")]
    pub template: Template,
    /// File to write; `-` is standard output
    #[arg(short, long, default_value = "scenario.toml", value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}
