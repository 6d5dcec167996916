//! The command line: every verb, defined once.

mod for_python;
/// Examples of each verb.
pub mod examples;
/// The verbs in groups.
pub mod groups;
mod list;

use clap::{ColorChoice, Parser, Subcommand};

pub(crate) use for_python::for_python;
pub use list::{Completions, Man};
use perhop_app::request::{
    Check, Compare, Explain, Forward, Import, Init, Lab, List, Map, Mark, Meter, Plot, Predict, Report, Reproduce,
    Request, Run, Runs, Sweep, Tune,
};

/// A workbench for Differentiated Services: traffic conditioners at the edge, queue management in the core.
#[derive(Debug, Parser)]
#[command(name = "perhop", version, arg_required_else_help = true, max_term_width = 100)]
#[command(help_template = groups::template(), after_help = "`perhop VERB --help` shows a verb's options and examples.")]
pub struct Cli {
    /// When to use colour; `auto` follows NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Print what is asked as JSON, for another process, and carry out nothing
    #[arg(long, hide = true)]
    pub print_request: bool,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs, in the order of [`groups::GROUPS`].
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Write a scenario from a template, commented and ready to run
    #[command(after_help = examples::INIT)]
    Init(Init),
    /// Report all errors and warnings of scenarios and policies at once
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Show every value in force, every queue on a path, bucket times
    #[command(after_help = examples::EXPLAIN)]
    Explain(Explain),
    /// Simulate a scenario
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// Simulate every point of a grid
    #[command(after_help = examples::SWEEP)]
    Sweep(Sweep),
    /// Compare a scenario with a real Linux kernel
    #[command(after_help = examples::LAB)]
    Lab(Lab),
    /// Compute parameters of SVB and MSVB for a link and its flows
    #[command(after_help = examples::TUNE)]
    Tune(Tune),
    /// Turn a Linux or Cisco configuration into a scenario or a policy
    #[command(after_help = examples::IMPORT)]
    Import(Import),
    /// Predict what a Linux or Cisco configuration does to traffic
    #[command(after_help = examples::PREDICT)]
    Predict(Predict),
    /// Send a capture through a policy and write it re-marked
    #[command(after_help = examples::MARK)]
    Mark(Mark),
    /// Report what `mark` would do, without writing a capture
    #[command(after_help = examples::METER)]
    Meter(Meter),
    /// Send the traffic between two interfaces through a policy
    #[command(after_help = examples::FORWARD)]
    Forward(Forward),
    /// List what has been run, and how the runs differ
    #[command(after_help = examples::RUNS)]
    Runs(Runs),
    /// Draw a run
    #[command(after_help = examples::PLOT)]
    Plot(Plot),
    /// Write a run as one HTML page that needs no network
    #[command(after_help = examples::REPORT)]
    Report(Report),
    /// Show paired differences of two runs, or of a swept key's values
    #[command(after_help = examples::COMPARE)]
    Compare(Compare),
    /// Re-run a paper's tables and figures, with a verdict on each claim
    #[command(after_help = examples::REPRODUCE)]
    Reproduce(Reproduce),
    /// Map where a claim of a paper is true, over two parameters
    #[command(after_help = examples::MAP)]
    Map(Map),
    /// List algorithms, units and diagnostics, or show the page of one
    #[command(after_help = examples::LIST)]
    List(List),
    /// Print a shell's script that completes perhop's commands
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
    /// Write man pages, one for each verb
    #[command(after_help = examples::MAN)]
    Man(Man),
}

impl Verb {
    /// What perhop-app is asked; `None` of a verb that Python carries out, or that helps with the command line.
    pub fn request(self) -> Option<Request> {
        Some(match self {
            Self::Init(a) => Request::Init(a),
            Self::Check(a) => Request::Check(a),
            Self::Explain(a) => Request::Explain(a),
            Self::Run(a) => Request::Run(a),
            Self::Sweep(a) => Request::Sweep(a),
            Self::Tune(a) => Request::Tune(a),
            Self::Import(a) => Request::Import(a),
            Self::Predict(a) => Request::Predict(a),
            Self::Mark(a) => Request::Mark(a),
            Self::Meter(a) => Request::Meter(a),
            Self::Forward(a) => Request::Forward(a),
            Self::Runs(a) => Request::Runs(a),
            Self::List(a) => Request::List(a),
            Self::Lab(_) | Self::Plot(_) | Self::Report(_) | Self::Compare(_) | Self::Reproduce(_) | Self::Map(_) => {
                return None;
            }
            Self::Completions(_) | Self::Man(_) => return None,
        })
    }
}
