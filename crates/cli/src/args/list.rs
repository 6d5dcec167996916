//! What is available, what it costs, and how to begin: `list`, `bench`, `init`, `completions`, `man`.

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use std::num::NonZeroU64;
use std::path::PathBuf;

/// `bench`
#[derive(Args, Debug)]
pub struct Bench {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Measure these only
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART", conflicts_with = "growth")]
    pub only: Vec<BenchPart>,
    /// Simulated seconds of the workloads; of P(1000) a sixth, of larger ones a fortieth; of whole processes at least 1
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=70_000))]
    pub seconds: u64,
    /// Packets of each loop of decisions
    #[arg(long, default_value_t = const { NonZeroU64::new(1_000_000).unwrap() })]
    pub packets: NonZeroU64,
    /// Whole processes of each workload, each followed by one of ns-2 if it is installed; from P(1000) at most 3
    #[arg(long, default_value_t = 5, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    pub pairs: usize,
    /// Also 100,000 flows
    #[arg(long)]
    pub large: bool,
    /// Instead of all this: how CPU time grows with flows, links, tables, conditioners and samples
    #[arg(long)]
    pub growth: bool,
    /// The largest scenario of --growth; the smallest is of 1000, each other one of twice as many as the one before
    #[arg(long, default_value_t = 8000, value_parser = RangedU64ValueParser::<usize>::new().range(2000..=1_000_000))]
    pub most: usize,
    /// Say how much memory a simulation of so many flows takes, in a process of its own
    #[arg(long, hide = true, value_name = "FLOWS", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub memory_of: Option<usize>,
}

/// A part of what `bench` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchPart {
    /// What a packet-hop costs in each workload, and its set-up.
    Workloads,
    /// Whole processes, beside ns-2.
    Processes,
    /// Memory of a flow.
    Memory,
    /// A packet's way through each conditioner, AQM and scheduler.
    Decisions,
    /// Decisions alone, beside DPDK.
    Bare,
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
