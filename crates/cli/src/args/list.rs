//! What is available, and how to begin: `list`, `init`, `completions`, `man`.

use clap::Args;
use std::path::PathBuf;

/// `list`
#[derive(Args, Debug)]
pub struct List {
    /// conditioners, aqms, traffic, tcp, studies, units, diagnostics; or the name of one, or a code, for its page
    pub what: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `init`
#[derive(Args, Debug)]
pub struct Init {
    /// File to write
    #[arg(default_value = "scenario.toml")]
    pub file: PathBuf,
    /// Replace it if it exists
    #[arg(long)]
    pub force: bool,
}

/// `completions`
#[derive(Args, Debug)]
pub struct Completions {
    /// For which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `man`
#[derive(Args, Debug)]
pub struct Man {
    /// Directory to write to, made if it is missing: a `man1` of MANPATH
    pub dir: PathBuf,
}
