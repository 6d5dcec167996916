//! Scenarios: `check`, `explain`, `run`, `sweep`.

use super::Cluster;
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use perhop_scenario::bounds::JOBS;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// A file and what the command line changes in it.
#[derive(Args, Debug)]
pub struct Source {
    /// Scenario file (TOML); - is standard input
    pub file: PathBuf,
    /// What is changed in it.
    #[command(flatten)]
    pub settings: Settings,
}

/// What the command line changes in a file.
#[derive(Args, Debug, Default)]
pub struct Settings {
    /// Set a key before anything is checked, as in `-s traffic.bulk.flows=20`, or that of every section with an
    /// algorithm, as in `-s @red.max-p=0.1`
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Seed; with the replication's number, the key of every random stream
    #[arg(long)]
    pub seed: Option<String>,
    /// Simulated time, as in `60s`
    #[arg(long)]
    pub duration: Option<String>,
    /// Time at the start that is excluded from the statistics
    #[arg(long)]
    pub warmup: Option<String>,
    /// Independent runs behind each mean and interval
    #[arg(long)]
    pub replications: Option<String>,
}

/// `check`
#[derive(Args, Debug)]
pub struct Check {
    /// Scenario and policy files (TOML); - is standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// What is changed in each.
    #[command(flatten)]
    pub settings: Settings,
    /// Output as text or as JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// How problems are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// `explain`
#[derive(Args, Debug)]
pub struct Explain {
    /// What to explain.
    #[command(flatten)]
    pub source: Source,
    /// Write it in the words of another system: `tc`, the commands that make its nodes, links and ports on Linux
    #[arg(long = "as", value_name = "SYSTEM")]
    pub written_as: Option<System>,
}

/// Whose words a scenario is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum System {
    /// `ip`, `tc` and `sysctl` of Linux.
    Tc,
}

/// `lab`
#[derive(Args, Debug)]
pub struct Lab {
    /// What to run in both.
    #[command(flatten)]
    pub source: Source,
    /// Keep the kernel's console, commands and times in this directory
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

/// Where results go and how they are made.
#[derive(Args, Debug)]
pub struct Output {
    /// Directory for all runs; with --cluster also s3://BUCKET/PREFIX
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub out: PathBuf,
    /// Name of this run, with which its directories' names begin; `plot`, `report` and `compare` take DIR/SCENARIO/NAME
    #[arg(long)]
    pub name: Option<String>,
    /// Threads; 0 is one for each core. Results do not depend on it
    #[arg(short, long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(JOBS.range()))]
    pub jobs: usize,
    /// One JSON object per line instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Which results are shown.
#[derive(Args, Debug)]
pub struct Shown {
    /// Columns to show in place of the usual ones, as in `--show arrivals.delay_p999_ms,traffic.jain`
    #[arg(long, value_name = "TABLE.COLUMN", value_delimiter = ',')]
    pub show: Vec<String>,
    /// Write the rows as comma-separated values, to FILE or in place of the tables
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", conflicts_with = "json")]
    pub csv: Option<PathBuf>,
}

/// What is written beside the results.
#[derive(Args, Debug)]
pub struct Traced {
    /// Also write series of queue lengths and gauges (every 100 ms unless the scenario sets an interval), or a row for each
    /// packet at each port
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub trace: Vec<Trace>,
    /// Also say how far EF stays behind its rate at a port (RFC 3246: E_a, E_p), as in
    /// `--ef 'C -> E2,rate=2Mbit/s,for=EF+CS5'`; with `class=NAME` the packets of a class; repeat for more
    #[arg(long, value_name = "PORT[,rate=RATE][,for=DSCP]")]
    pub ef: Vec<String>,
}

/// What may be traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Trace {
    /// `series.parquet`, `flow_series.parquet`
    Series,
    /// `events.parquet`
    Events,
}

/// `run`
#[derive(Args, Debug)]
pub struct Run {
    /// What to run.
    #[command(flatten)]
    pub source: Source,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
    /// Which are shown.
    #[command(flatten)]
    pub shown: Shown,
    /// What else is written.
    #[command(flatten)]
    pub traced: Traced,
    /// Write the packets of the first replication that passed a link, as in `--pcap 'C -> E2'`
    #[arg(long, value_name = "LINK")]
    pub pcap: Vec<String>,
    /// Write the packets of the first replication that arrived at a link's port, before its conditioners
    #[arg(long, value_name = "LINK")]
    pub pcap_in: Vec<String>,
}

/// `sweep`
#[derive(Args, Debug)]
pub struct Sweep {
    /// What to sweep.
    #[command(flatten)]
    pub source: Source,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
    /// Which are shown.
    #[command(flatten)]
    pub shown: Shown,
    /// An axis of the grid, as in `--vary traffic.bulk.flows=5,10,20`; replaces the file's axis of that key
    #[arg(long, value_name = "KEY=A,B,C")]
    pub vary: Vec<String>,
    /// What else is written.
    #[command(flatten)]
    pub traced: Traced,
    /// Run part i of n: points i, i+n, i+2n, ... (from 1)
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Run nothing: say what is missing in DIR, and which parts of a job array of N (`--shard I/N`) have to run again; N is the
    /// number of points without one
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, conflicts_with_all = ["fresh", "shard"])]
    pub missing: Option<Option<NonZeroUsize>>,
    /// Run points again that already have results
    #[arg(long)]
    pub fresh: bool,
    /// Where else replications run.
    #[command(flatten)]
    pub cluster: Cluster,
}
