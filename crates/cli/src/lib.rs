//! perhop's command line. The stand-alone binary and the wheel's entry point call the same function.

use clap::Parser;
use std::ffi::OsString;

/// Rows of results.
mod answer;
/// The command line.
pub mod args;
/// `init`, `completions`, `man`
mod begin;
/// `check`
mod check;
/// Generated pages.
pub mod docs;
/// `explain`
mod explain;
/// Signals, the clock, the progress line.
mod watch;
/// `list`
mod list;
/// `mark`, `meter`
mod mark;
/// What is read, and what is written.
mod places;
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
/// `tune`
pub mod tune;

pub use args::Request;
pub use check::Given;
use show::{complain, say};

/// How a verb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All is well.
    Fine = 0,
    /// Warnings of `check`, or a hard claim of `reproduce --strict` that failed.
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
    Python(Request),
}

/// Parses and carries out a command line; `args[0]` is the program's name. Output that was lost is an error.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Outcome {
    let outcome = begin(args);
    let Some(message) = show::lost() else { return outcome };
    complain!("{message}");
    Outcome::Done(Exit::Error)
}

/// Carries out the command line of a sweep that a cluster ran: prints its answer.
pub fn answer(args: impl IntoIterator<Item = OsString>, given: Given) -> Outcome {
    check::give(Some(given));
    let outcome = main(args);
    check::give(None);
    outcome
}

fn begin(args: impl IntoIterator<Item = OsString>) -> Outcome {
    let args: Vec<_> = args.into_iter().collect();
    let cli = match args::Cli::try_parse_from(&args) {
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
    match places::check(&cli.verb).and_then(|()| Request::of(&cli.verb)) {
        Ok(Some(request)) => Outcome::Python(request),
        Ok(None) => carry_out(cli.verb, &args),
        Err(failure) => Outcome::Done(failure.say()),
    }
}

fn carry_out(verb: args::Verb, line: &[OsString]) -> Outcome {
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
        Verb::Sweep(args) => match sweep::sweep(&args, line) {
            Ok(Outcome::Done(exit)) => Ok(exit),
            Ok(python) => return python,
            Err(failure) => Err(failure),
        },
        Verb::Runs(args) => runs::runs(&args),
        Verb::List(args) => list::list(&args),
        Verb::Init(args) => begin::init(&args),
        Verb::Completions(args) => begin::completions(&args),
        Verb::Man(args) => begin::man(&args),
        Verb::Mark(args) => mark::mark(&args),
        Verb::Meter(args) => mark::meter(&args),
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

impl From<perhop_runs::run::RunError> for Failure {
    fn from(error: perhop_runs::run::RunError) -> Self {
        match error {
            perhop_runs::run::RunError::Interrupted { .. } => Self::Interrupted(error.to_string()),
            _ => Self::Error(error.told("--out")),
        }
    }
}
