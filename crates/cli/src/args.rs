//! The command line: every verb, defined once.

use clap::builder::RangedU64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use perhop_core::units::{BitRate, Bytes, Packets, UnitError};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::str::FromStr;

/// Most threads that can be asked for.
const MOST_JOBS: u64 = 1024;

/// A workbench for Differentiated Services: traffic conditioners at the edge, queue management in the core.
#[derive(Debug, Parser)]
#[command(name = "perhop", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Check a scenario or a policy: all errors and warnings in one pass
    Check(Check),
    /// Show every effective value, every queue on a path, bucket times
    Explain(Explain),
    /// Simulate a scenario
    Run(Run),
    /// Simulate every point of a grid
    Sweep(Sweep),
    /// Compute parameters of SVB and MSVB for a link and its TCP flows, and how stable they are
    Tune(Tune),
    /// Send a capture through a policy and write it re-marked
    Mark(Mark),
    /// The same without an output file: which packets would get which colour; TCP round-trip times and windows
    Meter(Meter),
    /// Re-run a paper's tables and figures, with a verdict on each claim
    Reproduce(Reproduce),
    /// Draw a run
    Plot(Plot),
    /// Write a run as one HTML page that needs no network
    Report(Report),
    /// Show paired differences of two runs on common random numbers
    Compare(Compare),
    /// Measure engine and decision cost on this machine
    Bench(Bench),
    /// List what is available: conditioners, AQMs, traffic models, TCP, units, diagnostics; or one of them by name
    List(List),
}

/// A file and what the command line changes in it.
#[derive(Args, Debug)]
pub struct Source {
    /// Scenario file (TOML)
    pub file: PathBuf,
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
    /// What to check.
    #[command(flatten)]
    pub source: Source,
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
}

/// Where results go and how they are made.
#[derive(Args, Debug)]
pub struct Output {
    /// Directory for all runs
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub out: PathBuf,
    /// Threads; 0 is one for each core. Results do not depend on it
    #[arg(short, long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=MOST_JOBS))]
    pub jobs: usize,
    /// One JSON object per line instead of tables
    #[arg(long)]
    pub json: bool,
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
    /// Write a series of queue lengths and gauges (every 100 ms unless the scenario sets an interval)
    #[arg(long, value_name = "WHAT", value_parser = ["series"])]
    pub trace: Option<String>,
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
    /// An axis of the grid, as in `--vary traffic.bulk.flows=5,10,20`; replaces the file's axis of that key
    #[arg(long, value_name = "KEY=A,B,C")]
    pub vary: Vec<String>,
    /// Run part i of n: points i, i+n, i+2n, ... (from 1)
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Run points again that already have results
    #[arg(long)]
    pub fresh: bool,
}

/// `tune`
#[derive(Args, Debug)]
pub struct Tune {
    /// Which algorithm
    #[arg(value_enum)]
    pub aqm: Tunable,
    /// Scenario file: link, round-trip times, flows and classes are read from it
    #[arg(required_unless_present = "class", conflicts_with = "class")]
    pub file: Option<PathBuf>,
    /// The `[queue]` of FILE, or the link it is at, as in 'C -> E2'; optional if there is only one
    #[arg(long, value_name = "NAME", requires = "file")]
    pub queue: Option<String>,
    /// Set a key of FILE, as in `-s traffic.bulk.flows=20`
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE", requires = "file")]
    pub set: Vec<String>,
    /// Classes and their link, without FILE.
    #[command(flatten)]
    pub by_hand: ByHand,
    /// Target queue, in packets: V0 less the floor; with FILE its delay is added to each round trip
    #[arg(long, default_value = "40p", value_parser = quantity::<Packets>)]
    pub reference: Packets,
    /// A V0 to judge, as in 300p
    #[arg(long, value_parser = quantity::<Packets>)]
    pub v0: Option<Packets>,
    /// A floor to judge, as in 260p
    #[arg(long, value_parser = quantity::<Packets>)]
    pub floor: Option<Packets>,
    /// An alpha to judge, or one for each class: 0.5,0.5,0.2
    #[arg(long, value_delimiter = ',', value_parser = alpha)]
    pub alpha: Vec<f64>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Draw critical V0 over flows and the fluid model: .png, .svg or .pdf
    #[arg(long, value_name = "PICTURE", num_args = 0..=1, default_missing_value = "stability.svg")]
    pub plot: Option<PathBuf>,
}

/// Classes and their link, without a file.
#[derive(Args, Debug)]
pub struct ByHand {
    /// A class without FILE: round-trip time including waiting packets, flows (fewest..most), share, code points,
    /// as in rtt=120ms,flows=5..50,share=0.1,for=AF11+AF12; repeat for more
    #[arg(long, value_name = "CLASS", requires = "rate")]
    pub class: Vec<String>,
    /// Rate of the link, as in 10Mbit/s
    #[arg(long, requires = "class", value_parser = quantity::<BitRate>)]
    pub rate: Option<BitRate>,
    /// A TCP packet with its headers
    #[arg(long, requires = "class", default_value = "1000B", value_parser = quantity::<Bytes>)]
    pub packet: Bytes,
    /// What the queue holds
    #[arg(long, requires = "class", default_value = "100p", value_parser = quantity::<Packets>)]
    pub limit: Packets,
}

/// The algorithms that `tune` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tunable {
    /// One threshold for all.
    Svb,
    /// A threshold for each class.
    Msvb,
}

/// A quantity with its unit.
fn quantity<T: FromStr<Err = UnitError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: UnitError| format!("{}; {}", error.message, error.help))
}

/// A finite number, at least 0.
fn alpha(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
    number.ok_or_else(|| "a number, at least 0".to_owned())
}

/// How a capture is read and what is shown.
#[derive(Args, Debug)]
pub struct Through {
    /// Seed of the conditioners' random streams
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Keep the complete packets of a truncated capture
    #[arg(long)]
    pub partial: bool,
    /// The report as JSON
    #[arg(long)]
    pub json: bool,
    /// Flows shown in a table, largest first
    #[arg(long, default_value_t = 10)]
    pub flows: usize,
}

/// `mark`
#[derive(Args, Debug)]
pub struct Mark {
    /// Capture to read: pcap or pcapng
    pub input: PathBuf,
    /// Capture to write, in the same format
    pub output: PathBuf,
    /// Policy file: `[conditioner]` tables without `at`
    #[arg(long, value_name = "FILE")]
    pub policy: PathBuf,
    /// How.
    #[command(flatten)]
    pub through: Through,
}

/// `meter`
#[derive(Args, Debug)]
pub struct Meter {
    /// Capture to read: pcap or pcapng
    pub input: PathBuf,
    /// Policy file: `[conditioner]` tables without `at`; optional with --rtt
    #[arg(long, value_name = "FILE", required_unless_present = "rtt")]
    pub policy: Option<PathBuf>,
    /// Round-trip times, time-outs and windows of TCP, by flow and by aggregate: a conditioner of the policy, or without one
    /// a pair of addresses
    #[arg(long)]
    pub rtt: bool,
    /// Also list every sample of --rtt
    #[arg(long, requires = "rtt", requires = "json")]
    pub samples: bool,
    /// How.
    #[command(flatten)]
    pub through: Through,
}

/// `reproduce`
#[derive(Args, Debug)]
pub struct Reproduce {
    /// `all`, papers (pam-fsam, pps, msvb-sio, redp, rtt-rto) or studies (pf-fig2)
    #[arg(default_value = "all")]
    pub what: Vec<String>,
    /// 3 seeds instead of 10, full durations
    #[arg(long)]
    pub quick: bool,
    /// Number of seeds
    #[arg(long, value_name = "N")]
    pub seeds: Option<u32>,
    /// First seed of all random streams
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Threads; 0 is one for each core
    #[arg(short, long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=MOST_JOBS))]
    pub jobs: usize,
    /// Where report, figures and samples go
    #[arg(long, default_value = "reproduction", value_name = "DIR")]
    pub out: PathBuf,
    /// Exit 1 if a hard claim is not reproduced
    #[arg(long)]
    pub strict: bool,
    /// Show the studies and their claims, run nothing
    #[arg(long)]
    pub list: bool,
    /// Re-run the grid of open readings and write its table
    #[arg(long)]
    pub readings: bool,
}

/// `plot`
#[derive(Args, Debug)]
pub struct Plot {
    /// Directories of runs
    #[arg(required_unless_present = "list")]
    pub runs: Vec<PathBuf>,
    /// Which plot
    #[arg(long, default_value = "throughput")]
    pub kind: String,
    /// File to write: .png, .svg or .pdf
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// List the available plots
    #[arg(long)]
    pub list: bool,
}

/// `report`
#[derive(Args, Debug)]
pub struct Report {
    /// Directories of runs
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// File to write
    #[arg(short, long, default_value = "report.html", value_name = "FILE")]
    pub output: PathBuf,
}

/// `compare`
#[derive(Args, Debug)]
pub struct Compare {
    /// Directory of a run
    pub a: PathBuf,
    /// Directory of another, of the same seed and replications
    pub b: PathBuf,
    /// What to compare, as in `traffic.goodput_bit_s`; repeat for more
    #[arg(long)]
    pub metric: Vec<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench`
#[derive(Args, Debug)]
pub struct Bench {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Simulated seconds of the engine's workload
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
}

/// `list`
#[derive(Args, Debug)]
pub struct List {
    /// conditioners, aqms, traffic, tcp, studies, units, diagnostics; or a name, for its page
    pub what: Option<String>,
}

/// A verb that Python carries out, with its arguments as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The verb.
    pub verb: &'static str,
    /// Its arguments by name.
    pub arguments: Value,
}

impl Request {
    /// The request that a verb makes, if Python carries it out.
    pub fn of(verb: &Verb) -> Option<Self> {
        let (verb, arguments) = match verb {
            Verb::Reproduce(a) => (
                "reproduce",
                json!({
                    "what": a.what, "quick": a.quick, "seeds": a.seeds, "seed": a.seed, "jobs": a.jobs, "out": a.out,
                    "strict": a.strict, "list": a.list, "readings": a.readings,
                }),
            ),
            Verb::Plot(a) => ("plot", json!({ "runs": a.runs, "kind": a.kind, "output": a.output, "list": a.list })),
            Verb::Report(a) => ("report", json!({ "runs": a.runs, "output": a.output })),
            Verb::Compare(a) => ("compare", json!({ "a": a.a, "b": a.b, "metric": a.metric, "json": a.json })),
            Verb::List(a) if a.what.as_deref() == Some("studies") => ("studies", json!({})),
            _ => return None,
        };
        Some(Self { verb, arguments })
    }
}
