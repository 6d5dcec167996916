//! Results: `reproduce`, `runs`, `plot`, `report`, `compare`.

use super::Cluster;
use crate::request::run::{Filter, utf8};
use clap::Args;
use clap::builder::{RangedI64ValueParser, RangedU64ValueParser};
use perhop_scenario::bounds::{JOBS, SEED, SEEDS};
use serde::Serialize;
use std::path::PathBuf;

/// `reproduce`
#[derive(Args, Debug, Serialize)]
pub struct Reproduce {
    /// What to run: `all` papers, papers by name (pam-fsam, pps, msvb-sio, redp, rtt-rto), studies (pf-fig2), `today`, or
    /// `everything` (the papers in all settings, `today` and every map)
    #[arg(default_value = "all")]
    pub what: Vec<String>,
    /// How many runs of each point.
    #[command(flatten)]
    #[serde(flatten)]
    pub seeds: Seeds,
    /// Threads; 0 is one for each core
    #[arg(short, long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(JOBS.range()))]
    pub jobs: usize,
    /// Where else replications run.
    #[command(flatten)]
    pub cluster: Cluster,
    /// Directory for report, figures and samples
    #[arg(long, default_value = "reproduction", value_name = "DIR")]
    #[serde(serialize_with = "utf8")]
    pub out: PathBuf,
    /// Exit with code 1 if a hard claim is not reproduced
    #[arg(long)]
    pub strict: bool,
    /// Show the studies and their claims, run nothing
    #[arg(long)]
    pub list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    pub json: bool,
    /// Choose the answers where a paper is silent: frozen, era, lemma, kindest, or all
    #[arg(long, default_value = "frozen", value_name = "NAME")]
    pub setting: String,
    /// Set a key in every scenario of the studies, as in `run`, to try an idea; repeat for more. The report names the keys
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What is changed, one thing at a time.
    #[command(flatten)]
    #[serde(flatten)]
    pub variants: Variants,
}

/// Runs of `reproduce` that change one thing at a time, and report which verdicts change with it.
#[derive(Args, Debug, Serialize)]
pub struct Variants {
    /// Try every other answer to the questions that a paper leaves open, one at a time: 3 seeds, 10 where a hard verdict
    /// changes. An interrupted run continues where it stopped
    #[arg(long, conflicts_with_all = ["set", "mutants"])]
    pub readings: bool,
    /// Break the mechanisms of a paper on purpose, and report which criteria notice. An interrupted run continues where it
    /// stopped
    #[arg(long, conflicts_with = "set")]
    pub mutants: bool,
    /// Take the suspected causes of failed claims away, one at a time, and report which claims then hold. An interrupted run
    /// continues where it stopped
    #[arg(long, conflicts_with_all = ["set", "readings", "mutants"])]
    pub causes: bool,
}

/// A number of seeds; an interval needs two.
fn seeds(least: i64) -> RangedI64ValueParser<u32> {
    RangedI64ValueParser::new().range(least..=SEEDS.most as i64)
}

/// Seeds of `reproduce`.
#[derive(Args, Debug, Serialize)]
pub struct Seeds {
    /// Run 3 seeds instead of 10, at full durations
    #[arg(long)]
    pub quick: bool,
    /// Number of seeds
    #[arg(long, value_name = "N", value_parser = seeds(1))]
    pub seeds: Option<u32>,
    /// First seed of all random streams
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(SEED.range()))]
    pub seed: u64,
}

/// `map`
#[derive(Args, Debug, Serialize)]
pub struct Map {
    /// Maps by name, or the maps of a claim (pf-fig7/tcp-order-n10), a study or a paper; all maps by default
    pub what: Vec<String>,
    /// Number of seeds at each point
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = seeds(2))]
    pub seeds: u32,
    /// First seed of all random streams
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(SEED.range()))]
    pub seed: u64,
    /// Threads; 0 is one for each core
    #[arg(short, long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(JOBS.range()))]
    pub jobs: usize,
    /// Where else replications run.
    #[command(flatten)]
    pub cluster: Cluster,
    /// Directory for pictures and points; an interrupted map in it continues where it stopped
    #[arg(long, default_value = "maps", value_name = "DIR")]
    #[serde(serialize_with = "utf8")]
    pub out: PathBuf,
    /// Show the maps, run nothing
    #[arg(long)]
    pub list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    pub json: bool,
}

/// A length; its bounds are Python's, for the command line and for `Runs.plot` alike.
fn inches(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|x: &f64| x.is_finite());
    number.ok_or_else(|| "a number of inches is expected, such as 3.5".to_owned())
}

/// `plot`
#[derive(Args, Debug, Default, Serialize)]
pub struct Plot {
    /// Directories or names of runs: runs/SCENARIO, runs/SCENARIO/NAME
    #[arg(required_unless_present = "list")]
    #[serde(serialize_with = "utf8")]
    pub runs: Vec<PathBuf>,
    /// Which plot [default: delivered]
    #[arg(long, conflicts_with_all = ["y", "x", "by"])]
    pub kind: Option<String>,
    /// What to draw in place of a plot by name: any column of a table, as in `arrivals.delay_p99_ms`
    #[arg(long, value_name = "TABLE.COLUMN")]
    pub y: Option<String>,
    /// What runs along x, with --y: a swept key or what identifies the table's rows (`class`); the swept numbers by default
    #[arg(long, value_name = "KEY", requires = "y")]
    pub x: Option<String>,
    /// A line for each, with --y: swept keys, or what identifies the table's rows; counts are summed over the others
    #[arg(long, value_name = "KEY", value_delimiter = ',', requires = "y")]
    pub by: Vec<String>,
    /// Which rows.
    #[command(flatten)]
    #[serde(flatten)]
    pub filter: Filter,
    /// How it looks.
    #[command(flatten)]
    #[serde(flatten)]
    pub look: Look,
    /// File to write: .png, .svg or .pdf
    #[arg(short, long, value_name = "FILE")]
    #[serde(serialize_with = "utf8")]
    pub output: Option<PathBuf>,
    /// List the available plots, and what --y takes
    #[arg(long)]
    pub list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    pub json: bool,
}

/// How a picture looks.
#[derive(Args, Debug, Default, Serialize)]
pub struct Look {
    /// What is written above the picture, in place of the run's name and of what is shown; `''` for nothing
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Width in inches, 2.5 to 30; a paper's column has 3.5
    #[arg(long, value_name = "INCHES", value_parser = inches)]
    pub width: Option<f64>,
    /// Height in inches, 1.5 to 60; by default what the panels need
    #[arg(long, value_name = "INCHES", value_parser = inches)]
    pub height: Option<f64>,
    /// A logarithmic axis for the quantity; delays have one where the largest is 20 times the smallest
    #[arg(long)]
    pub log_y: bool,
}

/// `report`
#[derive(Args, Debug, Serialize)]
pub struct Report {
    /// Directories or names of runs: runs/SCENARIO, runs/SCENARIO/NAME
    #[arg(required = true)]
    #[serde(serialize_with = "utf8")]
    pub runs: Vec<PathBuf>,
    /// Which rows.
    #[command(flatten)]
    #[serde(flatten)]
    pub filter: Filter,
    /// File to write
    #[arg(short, long, default_value = "report.html", value_name = "FILE")]
    #[serde(serialize_with = "utf8")]
    pub output: PathBuf,
}

/// `compare`
#[derive(Args, Debug, Serialize)]
pub struct Compare {
    /// Directory of a run
    #[serde(serialize_with = "utf8")]
    pub a: PathBuf,
    /// Directory of another run, with the same seed and replications; or use --by
    #[serde(serialize_with = "utf8")]
    pub b: Option<PathBuf>,
    /// Compare the values of a swept key within the first run, at each point of the rest
    #[arg(long, value_name = "KEY", conflicts_with = "b")]
    pub by: Option<String>,
    /// The value of that key that the others are compared with [default: the first of the sweep]
    #[arg(long, value_name = "VALUE", requires = "by")]
    pub base: Option<String>,
    /// Which rows.
    #[command(flatten)]
    #[serde(flatten)]
    pub filter: Filter,
    /// What to compare, as in `traffic.goodput_bit_s`; repeat for more
    #[arg(long)]
    pub metric: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
