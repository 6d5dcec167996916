//! `completions`, `man`.

use clap::Args;
use std::path::PathBuf;

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
