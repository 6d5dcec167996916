//! Captures: `mark`, `meter`.

use super::retired;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use perhop_capture::mark::By;
use perhop_core::door::Door;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What packets are grouped by, by its name.
fn by() -> impl TypedValueParser<Value = By> {
    let of_name = |name: String| By::ALL.into_iter().find(|by| by.name() == name).expect("clap knows the names");
    PossibleValuesParser::new(By::ALL.map(By::name)).map(of_name)
}

/// How a capture is read and what is shown.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Through {
    /// Seed of the conditioners' random streams
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Keep the complete packets of a truncated capture
    #[arg(long)]
    pub partial: bool,
    /// Take each packet once, also where the capture holds it twice: from a mirror of both directions, or from `-i any`
    #[arg(long)]
    pub once: bool,
    /// Forget a flow that is silent for longer, as in 60s; if it returns, it begins with a full bucket. By default none
    /// is forgotten
    #[arg(long, value_name = "TIME")]
    pub flow_timeout: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Show this many flows in a table, the largest first
    #[arg(long, default_value_t = 10)]
    pub flows: usize,
    /// In whose words options are named.
    #[arg(skip)]
    #[serde(skip)]
    pub door: Door,
}

impl Default for Through {
    fn default() -> Self {
        Self { seed: 1, partial: false, once: false, flow_timeout: None, json: false, flows: 10, door: Door::default() }
    }
}

/// `mark`
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[command(arg = retired::file(2))]
pub struct Mark {
    /// Capture to read: pcap or pcapng, plain or compressed (.gz); `-` is standard input
    pub input: PathBuf,
    /// Capture to write, in the same format; compressed if its name ends in .gz
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Policy file: `[conditioner]` tables without `at`
    #[arg(long, value_name = "FILE")]
    pub policy: PathBuf,
    /// Replace the output if it exists
    #[arg(long)]
    #[serde(default)]
    pub force: bool,
    /// How.
    #[command(flatten)]
    #[serde(default)]
    pub through: Through,
}

/// `meter`
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Meter {
    /// Captures to read: pcap or pcapng, plain or compressed (.gz); `-` is standard input. Several captures are reported one by
    /// one, then in total
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// Policy file: `[conditioner]` tables without `at`, `[queue]` tables. Without a policy the report has flows, rates and
    /// code points
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Report round-trip times, time-outs and windows of TCP, by flow and by aggregate: a conditioner of the policy, or
    /// a pair of addresses without a policy
    #[arg(long)]
    pub rtt: bool,
    /// Report the largest bursts of all forward traffic within 1, 10 and 100 ms: when, how fast, and which flow sent most
    #[arg(long)]
    pub bursts: bool,
    /// Replay the forward packets, behind the conditioners, into this `[queue.X]` of the policy, and report drops, marks
    /// and delays by flow; needs --link
    #[arg(long, value_name = "NAME", requires = "policy")]
    pub queue: Option<String>,
    /// Rate of the line behind that queue, as in 10Mbit/s
    #[arg(long, value_name = "RATE", requires = "policy")]
    pub link: Option<String>,
    /// Which bytes of a packet that rate counts: l3, l2, l2+fcs or l1 [default: l3, the IP packet]
    #[arg(long, value_name = "BYTES", requires = "policy")]
    pub framing: Option<String>,
    /// Show instead who sends how much, by `host`, `pair` of addresses, `flow`, `dscp` or `ecn`: packets, bytes, rate and share
    #[arg(long, value_name = "WHAT", value_parser = by(), conflicts_with_all = ["rtt", "bursts", "queue"])]
    pub by: Option<By>,
    /// Rows of that table, largest first; the others are in its last line
    #[arg(long, value_name = "N", default_value_t = 20, requires = "by")]
    pub top: usize,
    /// Write all its rows (by flow without --by) as comma-separated values, to FILE (the next word, so put captures first) or
    /// in place of the table
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", conflicts_with_all = ["json", "rtt", "bursts", "queue"])]
    pub csv: Option<PathBuf>,
    /// Also list every sample of --rtt; needs --json
    #[arg(long, requires = "rtt", requires = "json")]
    pub samples: bool,
    /// How.
    #[command(flatten)]
    pub through: Through,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            policy: None,
            rtt: false,
            bursts: false,
            queue: None,
            link: None,
            framing: None,
            by: None,
            top: 20,
            csv: None,
            samples: false,
            through: Through::default(),
        }
    }
}
