//! Interfaces: `forward`.

use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `forward`
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forward {
    /// Interface from which packets go through the policy
    #[arg(long = "in", value_name = "A")]
    pub inside: String,
    /// Interface on which they leave, and from which return traffic comes
    #[arg(long = "out", value_name = "B")]
    pub outside: String,
    /// Policy file: `[conditioner]` tables without `at`, `[queue]` tables. SIGHUP has it read again
    #[arg(long, value_name = "FILE")]
    pub policy: PathBuf,
    /// The queue and the line behind it.
    #[command(flatten)]
    pub line: Line,
    /// Seed of the conditioners' and the queue's random streams
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Forget a flow that is silent for longer; if it returns, it begins with a full bucket
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub flow_timeout: String,
    /// Beyond this many flows forget the one silent longest
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_flows: u32,
    /// Switch off what puts received segments together (gro, lro), and on again at the end
    #[arg(long)]
    pub fix_offloads: bool,
    /// Check interfaces and policy, say what would be done, and touch nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Run before all ordinary programs (SCHED_FIFO); needs CAP_SYS_NICE
    #[arg(long)]
    pub real_time: bool,
    /// How what passes is seen.
    #[command(flatten)]
    pub seen: Seen,
}

/// The queue and the line behind it.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Line {
    /// Send what passes the conditioners through this `[queue.X]` of the policy; needs --link
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// Rate of the line behind that queue, as in 10Mbit/s
    #[arg(long, value_name = "RATE")]
    pub link: Option<String>,
    /// Which bytes of a packet that rate counts: l3, l2, l2+fcs or l1 [default: what `accounting` says]
    #[arg(long, value_name = "BYTES")]
    pub framing: Option<String>,
}

/// How what passes is seen.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seen {
    /// Show a table of rates and counts, renewed each second
    #[arg(long)]
    pub watch: bool,
    /// Serve counts for Prometheus on this port of 127.0.0.1
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub metrics: Option<u16>,
    /// Record every packet, and what came of all, as a run in this directory: `plot`, `report` and `compare` read it
    #[arg(long, value_name = "DIR")]
    pub trace: Option<PathBuf>,
    /// Print the counts as JSON
    #[arg(long)]
    pub json: bool,
}
