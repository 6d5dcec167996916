//! What is available, what it costs, and how to begin: `list`, `bench`, `init`, `completions`, `man`.

use clap::Args;
use std::num::NonZeroU64;
use std::path::PathBuf;

/// `bench`
#[derive(Args, Debug)]
pub struct Bench {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Simulated seconds of the workloads; of the largest, a sixth
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=70_000))]
    pub seconds: u64,
    /// Packets of each loop of decisions
    #[arg(long, default_value_t = const { NonZeroU64::new(1_000_000).unwrap() })]
    pub packets: NonZeroU64,
}

/// `list`
#[derive(Args, Debug)]
pub struct List {
    /// conditioners, aqms, traffic, tcp, studies, units, diagnostics; or the name of one, or a code, for its page
    pub what: Option<String>,
}

/// `init`
#[derive(Args, Debug)]
pub struct Init {
    /// File to write; one that exists is left alone
    #[arg(default_value = "scenario.toml")]
    pub file: PathBuf,
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
