//! The command line.

use clap::builder::RangedU64ValueParser;
use clap::{Parser, ValueEnum};
use std::num::NonZeroU64;

/// Measure what simulations and decisions cost on this machine, beside ns-2 where it is installed
#[derive(Parser, Debug)]
#[command(name = "perhop-bench", max_term_width = 100)]
pub(super) struct Args {
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Measure these only
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART", conflicts_with = "growth")]
    pub(super) only: Vec<Part>,
    /// Simulated seconds of the workloads; of P(1000) a sixth, of larger ones a fortieth; of whole processes at least 1
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=70_000))]
    pub(super) seconds: u64,
    /// Packets of each loop of decisions
    #[arg(long, default_value_t = const { NonZeroU64::new(1_000_000).unwrap() })]
    pub(super) packets: NonZeroU64,
    /// Whole processes of each workload, each followed by one of ns-2 if it is installed; from P(1000) at most 3
    #[arg(long, default_value_t = 5, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    pub(super) pairs: usize,
    /// Also 100,000 flows
    #[arg(long)]
    pub(super) large: bool,
    /// Instead of all this: how CPU time grows with flows, links, tables, conditioners and samples
    #[arg(long)]
    pub(super) growth: bool,
    /// The largest scenario of --growth; the smallest is of 1000, each other one of twice as many as the one before
    #[arg(long, default_value_t = 8000, value_parser = RangedU64ValueParser::<usize>::new().range(2000..=1_000_000))]
    pub(super) most: usize,
    /// Say how much memory a simulation of so many flows takes, in a process of its own
    #[arg(long, hide = true, value_name = "FLOWS", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub(super) memory_of: Option<usize>,
}

/// A part of what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
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
