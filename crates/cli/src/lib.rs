//! perhop's command line. The stand-alone binary and the wheel's entry point call the same function.

use clap::Parser;
use std::ffi::OsString;

/// Rows of results.
mod answer;
/// The command line.
pub mod args;
/// `init`, `completions`, `man`
mod begin;
/// Captures for Python.
mod captured;
/// `check`
mod check;
/// Diagnostic codes.
pub mod codes;
/// Configurations of devices.
mod configured;
/// Generated pages.
pub mod docs;
/// `explain`
mod explain;
/// `forward`
#[cfg(target_os = "linux")]
mod forward;
/// Signals, the clock, the progress line.
mod watch;
/// `import`
mod import;
/// `list`
mod list;
/// `predict`
mod predict;
/// `mark`
mod mark;
/// `meter`
mod meter;
/// What is read, and what is written.
mod places;
/// Files and standard input.
mod reading;
/// `run`
mod run;
/// What is printed.
mod show;
/// `runs`
mod runs;
/// Packets of a simulated link as a capture.
mod pcap;
/// `sweep`
mod sweep;
/// What `init` writes.
mod templates;
/// `tune`
pub mod tune;

pub use args::ForPython;
pub use captured::{Captured, captured};
pub use import::imported;
use perhop_runs::request::Request;
use perhop_runs::run::RunError;
pub use places::not_read;
use show::{complain, say};
pub use sweep::Made;
pub use watch::interrupted;

/// How a verb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All is well.
    Fine = 0,
    /// Warnings of `check`, a hard claim of `reproduce --strict` that failed, or a port that tc cannot express in full.
    Warnings = 1,
    /// An error.
    Error = 2,
    /// The terminal went away: SIGHUP.
    HungUp = 129,
    /// Ctrl-C: SIGINT.
    Interrupted = 130,
    /// SIGTERM.
    Terminated = 143,
}

/// The outcome of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is done.
    Done(Exit),
    /// Python has to carry it out.
    Python(ForPython),
}

/// Parses and carries out a command line; `args[0]` is the program's name. Output that was lost is an error.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Outcome {
    let outcome = begin(args);
    if printed() { outcome } else { Outcome::Done(Exit::Error) }
}

/// Prints the answer to a request for a sweep that a cluster carried out.
pub fn answer(request: &Request, made: &Made) -> Exit {
    let exit = sweep::answer(request, made).unwrap_or_else(|failure| failure.say());
    if printed() { exit } else { Exit::Error }
}

/// Whether all output arrived; says why if it did not.
fn printed() -> bool {
    show::lost().map(|message| complain!("{message}")).is_none()
}

fn begin(args: impl IntoIterator<Item = OsString>) -> Outcome {
    let cli = match args::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let printed = error.print();
            if error.use_stderr() {
                return Outcome::Done(Exit::Error);
            }
            show::keep(printed);
            return Outcome::Done(Exit::Fine);
        }
    };
    show::colour(cli.color);
    match places::check(&cli.verb).and_then(|()| ForPython::of(&cli.verb)) {
        Ok(Some(handed_over)) => Outcome::Python(handed_over),
        Ok(None) => carry_out(cli.verb),
        Err(failure) => Outcome::Done(failure.say()),
    }
}

fn carry_out(verb: args::Verb) -> Outcome {
    use args::Verb;
    let done = match verb {
        Verb::Tune(args) => match tune::tune(&args) {
            Ok(Some(picture)) => return Outcome::Python(picture),
            Ok(None) => Ok(Exit::Fine),
            Err(failure) => Err(failure),
        },
        Verb::Check(args) => check::check(&args),
        Verb::Explain(args) => explain::explain(&args),
        Verb::Run(args) => run::run(&args),
        Verb::Import(args) => import::import(&args),
        Verb::Predict(args) => match predict::predict(&args) {
            Ok(outcome) => return outcome,
            Err(failure) => Err(failure),
        },
        Verb::Sweep(args) => match sweep::sweep(&args) {
            Ok(outcome) => return outcome,
            Err(failure) => Err(failure),
        },
        Verb::Runs(args) => runs::runs(&args),
        Verb::List(args) => list::list(&args),
        Verb::Init(args) => begin::init(&args),
        Verb::Completions(args) => begin::completions(&args),
        Verb::Man(args) => begin::man(&args),
        Verb::Mark(args) => mark::mark(&args),
        Verb::Meter(args) => meter::meter(&args),
        #[cfg(target_os = "linux")]
        Verb::Forward(args) => forward::forward(&args),
        #[cfg(not(target_os = "linux"))]
        Verb::Forward(_) => Err(Failure::Error("`perhop forward` needs Linux".into())),
        Verb::Reproduce(_) | Verb::Map(_) | Verb::Plot(_) | Verb::Report(_) | Verb::Compare(_) | Verb::Lab(_) => {
            unreachable!("Python's")
        }
    };
    Outcome::Done(done.unwrap_or_else(|failure| failure.say()))
}

/// Why a verb could not be carried out, in words.
#[derive(Debug)]
enum Failure {
    /// What was wrong.
    Error(String),
    /// A signal: Ctrl-C and its kind.
    Interrupted(String),
}

impl Failure {
    /// Why, without colour.
    fn plain(self) -> String {
        let (Self::Error(message) | Self::Interrupted(message)) = self;
        anstream::adapter::strip_str(&message).to_string()
    }

    /// Says why; the exit code.
    fn say(&self) -> Exit {
        let (message, exit) = match self {
            Self::Interrupted(message) => (message, watch::signalled()),
            Self::Error(message) => (message, Exit::Error),
        };
        complain!("{}", show::painted(message));
        exit
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted { .. } => Self::Interrupted(error.to_string()),
            RunError::Algorithm { .. } if watch::has_interrupted() => Self::Interrupted(watch::NOTHING.to_owned()),
            _ => Self::Error(error.told("--out")),
        }
    }
}
