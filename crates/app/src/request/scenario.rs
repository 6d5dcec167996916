//! Scenarios: `check`, `explain`, `run`, `sweep`.

use super::{Cluster, Configuration, quantity, retired, text};
use crate::request::run::{Output, Traced, View, utf8};
use clap::{Args, ValueEnum};
use perhop_core::units::Span;
use serde::{Deserialize, Serialize, Serializer};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// A file and what the command line changes in it.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Source {
    /// Scenario file (TOML); - is standard input
    #[serde(serialize_with = "utf8")]
    pub file: PathBuf,
    /// What is changed in it.
    #[command(flatten)]
    pub settings: Settings,
}

/// What the command line changes in a file.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Set a key before the checks, as in `-s traffic.bulk.flows=20`, or a key of every section with an
    /// algorithm, as in `-s @red.max-p=0.1`
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Seed of all random streams, together with the number of the replication
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
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(arg = retired::option("format", "--json"))]
pub struct Check {
    /// Scenario and policy files (TOML), or configurations of devices (tc, Cisco IOS); - is standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// How configurations are read.
    #[command(flatten)]
    pub configuration: Configuration,
    /// What is changed in each.
    #[command(flatten)]
    pub settings: Settings,
    /// Print JSON: a list of what was found
    #[arg(long)]
    pub json: bool,
}

/// `explain`
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Explain {
    /// What to explain.
    #[command(flatten)]
    pub source: Source,
    /// Write the scenario for another system: `tc` prints the commands that make its nodes, links and ports on Linux, `ios` its
    /// ports with queues or conditioners as the configuration of a Cisco router
    #[arg(long = "as", value_name = "SYSTEM")]
    pub written_as: Option<System>,
    /// With --as: only this port, as in 'a -> b', for an interface that there is, whatever the load is
    #[arg(long, value_name = "PORT")]
    pub port: Option<String>,
    /// Interface of the port [default: eth0; with --as ios one as fast as the link]
    #[arg(long, value_name = "INTERFACE")]
    pub dev: Option<String>,
    /// With --as ios: whose defaults count where the scenario states nothing [default: ios-xe]
    #[arg(long, value_name = "SYSTEM", value_parser = super::configuration::platforms())]
    pub platform: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Whose words a scenario is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// `ip`, `tc` and `sysctl` of Linux.
    Tc,
    /// The configuration of Cisco IOS.
    Ios,
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
    /// Print JSON: what both did, port by port
    #[arg(long)]
    pub json: bool,
}

/// `run`
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// What to run.
    #[command(flatten)]
    pub source: Source,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
    /// Which are shown.
    #[command(flatten)]
    pub shown: View,
    /// What else is written.
    #[command(flatten)]
    pub traced: Traced,
    /// Write a capture of the packets that passed a link in the first replication, as in `--pcap 'C -> E2'`
    #[arg(long, value_name = "LINK")]
    pub pcap: Vec<String>,
    /// Write a capture of the packets that arrived at a link's port in the first replication, before its conditioners
    #[arg(long, value_name = "LINK")]
    pub pcap_in: Vec<String>,
    /// First print a row for each class at this interval of simulated time, as in `1s`; the first replication is simulated for
    /// it, from the start of the warm-up
    #[arg(long, value_name = "TIME", value_parser = quantity::<Span>, conflicts_with = "csv")]
    #[serde(with = "text")]
    pub every: Option<Span>,
}

/// `sweep`
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sweep {
    /// What to sweep.
    #[command(flatten)]
    pub source: Source,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
    /// Which are shown.
    #[command(flatten)]
    pub shown: View,
    /// Add an axis to the grid, as in `--vary traffic.bulk.flows=5,10,20`, in place of the file's axis of that key
    #[arg(long, value_name = "KEY=A,B,C")]
    pub vary: Vec<String>,
    /// What else is written.
    #[command(flatten)]
    pub traced: Traced,
    /// Run part i of n: points i, i+n, i+2n, ... (from 1)
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Run nothing: report what is missing in DIR, and which parts of a job array of N (`--shard I/N`) must run again.
    /// Without a value, N is the number of points
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, conflicts_with_all = ["fresh", "shard"])]
    #[serde(with = "parts")]
    pub missing: Option<Option<NonZeroUsize>>,
    /// Run also the points that already have results
    #[arg(long)]
    pub fresh: bool,
    /// Where else replications run.
    #[command(flatten)]
    pub cluster: Cluster,
}

/// `--missing` in JSON: false, true without a number of parts, or that number.
mod parts {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::num::NonZeroUsize;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Parts {
        Stated(bool),
        Number(NonZeroUsize),
    }

    pub(super) fn serialize<S: Serializer>(
        parts: &Option<Option<NonZeroUsize>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        parts
            .map_or(Parts::Stated(false), |number| number.map_or(Parts::Stated(true), Parts::Number))
            .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<NonZeroUsize>>, D::Error> {
        Ok(match Parts::deserialize(from)? {
            Parts::Stated(stated) => stated.then_some(None),
            Parts::Number(number) => Some(Some(number)),
        })
    }
}

/// What `lab` hands to Python.
#[derive(Serialize)]
struct LabArguments {
    #[serde(serialize_with = "utf8")]
    file: PathBuf,
    settings: Vec<String>,
    #[serde(serialize_with = "utf8")]
    keep: Option<PathBuf>,
    json: bool,
}

impl Serialize for Lab {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { source: Source { file, settings }, keep, json } = self;
        LabArguments { file: file.clone(), settings: settings.assignments(), keep: keep.clone(), json: *json }
            .serialize(serializer)
    }
}

impl Settings {
    /// As assignments of keys.
    fn assignments(&self) -> Vec<String> {
        let own = [("seed", &self.seed), ("duration", &self.duration), ("warmup", &self.warmup)];
        let own = own.into_iter().filter_map(|(key, value)| value.as_ref().map(|value| format!("{key}={value}")));
        self.set.iter().cloned().chain(own).collect()
    }
}
