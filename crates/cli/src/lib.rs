//! perhop's command line: clap reads a request, perhop-app carries it out.

use args::Verb;
use clap::Parser;
use perhop_app::request::Request;
use perhop_app::terminal::show;
use perhop_app::{Exit, Failure, ForPython, Outcome};
use serde_json::{Map, json};
use std::ffi::OsString;
use std::path::Path;

/// The command line.
pub mod args;
/// `completions`, `man`
mod begin;
/// Generated pages.
pub mod docs;
/// Algorithms of installed Python packages.
mod packages;

/// Parses and carries out a command line; `args[0]` is the program's name. Output that was lost is an error.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Outcome {
    let cli = match args::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Error } else { Exit::Fine };
            show::keep(error.print());
            return perhop_app::ended(Ok(Outcome::Done(exit)));
        }
    };
    show::colour(cli.color);
    perhop_app::ended(carry_out(cli))
}

fn carry_out(cli: args::Cli) -> Result<Outcome, Failure> {
    if let Some(request) = args::for_python(&cli.verb)? {
        return Ok(handed_over(request, cli.print_request));
    }
    match cli.verb {
        Verb::Completions(args) => begin::completions(&args).map(Outcome::Done),
        Verb::Man(args) => begin::man(&args).map(Outcome::Done),
        verb => {
            let request = verb.request().expect("a verb is Python's, perhop-app's, or a help");
            if cli.print_request {
                return Ok(handed_over(ForPython::new(CARRY_OUT, &request)?, true));
            }
            match packages::mentioned(perhop_app::texts(&request)) {
                Some(algorithm) => of_package(&algorithm, &request),
                None => perhop_app::carry_out(&request),
            }
        }
    }
}

/// Python's verb for a request that perhop-app carries out there.
const CARRY_OUT: &str = "carry_out";

/// A request that Python carries out; or printed, for a process that carries it out.
fn handed_over(request: ForPython, printed: bool) -> Outcome {
    if !printed {
        return Outcome::Python(request);
    }
    let environment: Map<_, _> =
        show::colour_variables().iter().map(|(name, value)| ((*name).into(), json!(value))).collect();
    let handed = json!({ "verb": request.verb, "arguments": request.arguments, "environment": environment });
    show::line(format_args!("{handed}"));
    Outcome::Done(Exit::Fine)
}

/// A request that needs an algorithm which is a Python class: Python carries it out.
fn of_package(algorithm: &str, request: &Request) -> Result<Outcome, Failure> {
    if request.files().texts().contains(&Path::new("-")) {
        let message =
            format!("error: `{algorithm}` is a Python class, and standard input is read already: give a file");
        return Err(Failure::of_call(message, ""));
    }
    show::aside(format_args!(
        "note: `{algorithm}` is a Python class, so perhop-python runs this: each hook costs a fraction of a microsecond"
    ));
    ForPython::new(CARRY_OUT, request).map(Outcome::Python)
}
