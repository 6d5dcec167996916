//! The command line: every verb, defined once.

mod capture;
mod cluster;
mod for_python;
/// Examples of each verb.
pub mod examples;
mod list;
mod results;
mod simulate;
mod tune;

use clap::{ColorChoice, Parser, Subcommand};
use perhop_core::units::UnitError;
use std::str::FromStr;

pub use capture::{Mark, Meter, Through};
pub use cluster::Cluster;
pub use for_python::ForPython;
pub use list::{Completions, Init, List, Man};
pub use results::{Compare, Map, Plot, Report, Reproduce, Runs};
pub use simulate::{Check, Explain, Format, Lab, Run, Settings, Source, Sweep, System};
pub use tune::{ByHand, Tunable, Tune};

/// A quantity with its unit.
fn quantity<T: FromStr<Err = UnitError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: UnitError| format!("{}; {}", error.message, error.help))
}

/// A workbench for Differentiated Services: traffic conditioners at the edge, queue management in the core.
#[derive(Debug, Parser)]
#[command(name = "perhop", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// When to use colour; `auto` follows NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Check a scenario or a policy: all errors in one pass, and warnings
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Show every effective value, every queue on a path, bucket times
    #[command(after_help = examples::EXPLAIN)]
    Explain(Explain),
    /// Simulate a scenario
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// Hold a scenario against a real Linux kernel in virtual time: the simulator's answer and the kernel's, side by side
    #[command(after_help = examples::LAB)]
    Lab(Lab),
    /// Simulate every point of a grid
    #[command(after_help = examples::SWEEP)]
    Sweep(Sweep),
    /// Compute parameters of SVB and MSVB for a link and its TCP flows, and how stable they are
    #[command(after_help = examples::TUNE)]
    Tune(Tune),
    /// Send a capture through a policy and write it re-marked
    #[command(after_help = examples::MARK)]
    Mark(Mark),
    /// The same without an output file: which packets would get which colour; TCP round-trip times and windows
    #[command(after_help = examples::METER)]
    Meter(Meter),
    /// Re-run a paper's tables and figures, with a verdict on each claim
    #[command(after_help = examples::REPRODUCE)]
    Reproduce(Reproduce),
    /// Map where a claim of a paper is true, over two parameters
    #[command(after_help = examples::MAP)]
    Map(Map),
    /// List what has been run, and how the runs differ
    #[command(after_help = examples::RUNS)]
    Runs(Runs),
    /// Draw a run
    #[command(after_help = examples::PLOT)]
    Plot(Plot),
    /// Write a run as one HTML page that needs no network
    #[command(after_help = examples::REPORT)]
    Report(Report),
    /// Show paired differences of two runs on common random numbers
    #[command(after_help = examples::COMPARE)]
    Compare(Compare),
    /// Write a first scenario, commented and ready to run
    #[command(after_help = examples::INIT)]
    Init(Init),
    /// List what is available: conditioners, AQMs, traffic models, TCP, units, diagnostics; or one of them by name
    #[command(after_help = examples::LIST)]
    List(List),
    /// Print what a shell needs to complete perhop's commands
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
    /// Write man pages, one for each verb
    #[command(after_help = examples::MAN)]
    Man(Man),
}
