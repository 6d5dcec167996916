//! The command line: every verb, defined once.

mod capture;
mod list;
mod request;
mod results;
mod simulate;
mod tune;

use clap::{Parser, Subcommand};

pub use capture::{Mark, Meter, Through};
pub use list::{Bench, List};
pub use request::Request;
pub use results::{Compare, Plot, Report, Reproduce};
pub use simulate::{Check, Explain, Format, Output, Run, Shown, Source, Sweep};
pub use tune::{ByHand, Tunable, Tune};

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
