//! What is available, and how to begin: `list`, `init`, `completions`, `man`.

use super::retired;
use crate::templates::Template;
use clap::Args;
use std::path::PathBuf;

/// `list`
#[derive(Args, Debug)]
pub struct List {
    /// A list: conditioners, aqms, schedulers, traffic, congestion, tcp, studies, units or diagnostics; or the page of an
    /// algorithm or code by its name
    pub what: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `init`
#[derive(Args, Debug)]
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

/// `completions`
#[derive(Args, Debug)]
pub struct Completions {
    /// Shell that runs the script
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `man`
#[derive(Args, Debug)]
pub struct Man {
    /// Directory to write to, created if it is missing: a `man1` of MANPATH
    pub dir: PathBuf,
}
