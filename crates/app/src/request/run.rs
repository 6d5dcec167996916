//! What is asked of a run, whoever asks: the command line, Python, a task of a cluster, `--missing`. It is written once,
//! here: clap reads it, serde carries it to other processes, and its answer is printed from it.
//!
//! Decision: docs/decisions/093-one-request.md

use crate::captures;
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
#[cfg(not(target_family = "wasm"))]
use perhop_runs::disk::Identity;
#[cfg(not(target_family = "wasm"))]
use perhop_runs::run::{Probes, RunOptions};
use perhop_scenario::bounds::JOBS;
use perhop_scenario::{Diagnostic, Diagnostics, Options, Point, Sweep};
use serde::ser::Error;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
#[cfg(not(target_family = "wasm"))]
use std::time::SystemTime;

/// A scenario, and what is asked of its runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// What is run.
    pub source: Source,
    /// How.
    pub asked: Terms,
    /// What is printed of it.
    pub shown: View,
}

/// What a scenario is read from.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Source {
    /// Its file's text.
    pub text: String,
    /// What is added to that.
    pub options: Options,
}

/// What is asked of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Terms {
    /// Where results go and how they are made.
    pub output: Output,
    /// What is written beside the results.
    pub traced: Traced,
    /// Numbers of the replications; as many as the file says without.
    pub replications: Option<Range<u32>>,
    /// Numbers of the points; all without.
    pub points: Option<Vec<usize>>,
    /// What is there already is run again.
    pub fresh: bool,
}

/// Where results go and how they are made.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// Directory for all runs; with --cluster also s3://BUCKET/PREFIX
    #[arg(long, default_value = "runs", value_name = "DIR")]
    #[serde(serialize_with = "utf8")]
    pub out: Option<PathBuf>,
    /// Name of this run, with which its directories' names begin; `plot`, `report` and `compare` take DIR/SCENARIO/NAME
    #[arg(long)]
    pub name: Option<String>,
    /// Threads; 0 is one for each core. Results do not depend on it
    #[arg(short, long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(JOBS.range()))]
    pub jobs: usize,
    /// Print JSON: an object per line
    #[arg(long)]
    pub json: bool,
}

/// Which results are shown.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct View {
    /// Columns to show in place of the usual ones, as in `--show arrivals.delay_p999_ms,traffic.jain`
    #[arg(long, value_name = "TABLE.COLUMN", value_delimiter = ',')]
    pub show: Vec<String>,
    /// Write the rows as comma-separated values, to FILE or in place of the tables
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", conflicts_with = "json")]
    #[serde(serialize_with = "utf8")]
    pub csv: Option<PathBuf>,
    /// Their rows.
    #[command(flatten)]
    pub filter: Filter,
}

/// Which rows of results are shown; [`perhop_results::filter`] reads it.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Show only rows with one of these values under KEY, a swept key or a column that names rows (class, colour, traffic,
    /// hop), as in `--where class=voice,video`; repeat for more keys
    #[arg(id = "where", long, value_name = "KEY=VALUE[,..]")]
    #[serde(rename = "where")]
    pub texts: Vec<String>,
}

/// What is written beside the results.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Traced {
    /// Also write series of queue lengths and gauges (every 100 ms unless the scenario sets an interval), a row for each
    /// packet at each port, or the distribution of delays
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub trace: Vec<Trace>,
    /// Also say how far EF stays behind its rate at a port (RFC 3246: E_a, E_p), as in
    /// `--ef 'C -> E2,rate=2Mbit/s,for=EF+CS5'`; with `class=NAME` the packets of a class; repeat for more
    #[arg(long, value_name = "PORT[,rate=RATE][,for=DSCP]")]
    pub ef: Vec<String>,
    /// Also read what `tc -s` would show of each port at the end of the run: in the table `counters`, and in tc's own layout for the
    /// first replication
    #[arg(long)]
    pub tc_stats: bool,
}

/// What may be traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trace {
    /// `series.parquet`, `flow_series.parquet`
    Series,
    /// `events.parquet`
    Events,
    /// `delays.parquet`
    Delays,
}

impl Source {
    /// Reads and checks it, with the warnings.
    ///
    /// # Errors
    /// Everything that is wrong in it.
    pub fn read(&self) -> Result<(Sweep, Diagnostics), Diagnostics> {
        Sweep::parse(&self.text, &self.options())
    }

    /// What is added to the text, with captures read from files.
    pub fn options(&self) -> Options {
        Options { captures: captures::reader(), ..self.options.clone() }
    }
}

impl Terms {
    /// The scenario under the name of this run.
    ///
    /// # Errors
    /// It is unfit for a directory.
    pub fn named(&self, sweep: Sweep) -> Result<Sweep, Diagnostic> {
        match &self.output.name {
            Some(name) => sweep.named(name),
            None => Ok(sweep),
        }
    }

    /// The points that are to be run.
    ///
    /// # Errors
    /// There is no such point.
    pub fn chosen(&self, all: &[Point]) -> Result<Vec<Point>, Diagnostic> {
        let Some(numbers) = &self.points else { return Ok(all.to_vec()) };
        let no = |n| Diagnostic::of_call(format!("no point {n}: there are {}, counted from 0", all.len()), "");
        numbers.iter().map(|&n| all.get(n).cloned().ok_or_else(|| no(n))).collect()
    }

    /// The numbers of the replications of this scenario.
    pub fn replications(&self, sweep: &Sweep) -> Range<u32> {
        self.replications.clone().unwrap_or(0..*sweep.base.settings().replications)
    }
}

/// What the engine is told to do for a run of `sweep`, which was read with `options`, and which begins at `now`.
#[cfg(not(target_family = "wasm"))]
pub fn run_options(asked: &Terms, sweep: &Sweep, options: &Options, now: SystemTime) -> RunOptions {
    let Traced { ef, tc_stats, .. } = asked.traced.clone();
    RunOptions {
        replications: asked.replications(sweep),
        jobs: asked.output.jobs,
        out: asked.output.out.clone(),
        resume: !asked.fresh,
        identity: Identity::of(sweep, options, now),
        taps: Vec::new(),
        probes: Probes { events: asked.traced.has(Trace::Events), ef, counters: tc_stats },
    }
}

impl Output {
    /// The directory for all runs.
    pub fn dir(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new(""))
    }
}

impl Traced {
    /// Whether this is traced.
    pub fn has(&self, what: Trace) -> bool {
        self.trace.contains(&what)
    }
}

/// A path as text, where it becomes part of JSON.
///
/// # Errors
/// It is not UTF-8.
pub fn text(path: &Path) -> Result<&str, Diagnostic> {
    path.to_str().ok_or_else(|| {
        let help = "rename it, or make a link with another name";
        Diagnostic::error("E022", format!("the path `{}` is not UTF-8 text", path.display()), help)
    })
}

/// A path, or several.
pub trait Paths {
    /// As JSON has them, each as `text` has it.
    ///
    /// # Errors
    /// One has no such text.
    fn json(&self, text: Text) -> Result<Value, Diagnostic>;
}

/// A path as text.
pub type Text = fn(&Path) -> Result<Cow<'_, str>, Diagnostic>;

impl Paths for PathBuf {
    fn json(&self, text: Text) -> Result<Value, Diagnostic> {
        text(self).map(Value::from)
    }
}

impl Paths for Option<PathBuf> {
    fn json(&self, text: Text) -> Result<Value, Diagnostic> {
        self.as_ref().map_or(Ok(Value::Null), |path| path.json(text))
    }
}

impl Paths for Vec<PathBuf> {
    fn json(&self, text: Text) -> Result<Value, Diagnostic> {
        self.iter().map(|path| path.json(text)).collect()
    }
}

/// Serializes paths as [`text`] has them.
///
/// # Errors
/// One is not UTF-8.
pub fn utf8<S: Serializer>(paths: &impl Paths, serializer: S) -> Result<S::Ok, S::Error> {
    paths.json(|path| text(path).map(Cow::from)).map_err(S::Error::custom)?.serialize(serializer)
}
