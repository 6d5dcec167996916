//! From a request to its verb.

use crate::request::Request;
use crate::{Exit, Failure, Outcome, places, reading};
use crate::{check, explain, import, init, list, mark, meter, predict, run, runs, sweep, tune};
use perhop_capture::is_capture;
use perhop_scenario::text::file::MOST;
use std::fs;
use std::path::Path;

/// Carries out a request, and prints its answer.
///
/// # Errors
/// What is wrong with it, or with what it reads; it would replace what it reads; it was interrupted.
pub fn carry_out(request: &Request) -> Result<Outcome, Failure> {
    places::check(request.files())?;
    let exit = match request {
        Request::Tune(request) => return tune::tune(request),
        Request::Predict(request) => return predict::predict(request),
        Request::Sweep(request) => return sweep::sweep(request),
        Request::Check(request) => Ok(check::check(request)),
        Request::Explain(request) => explain::explain(request),
        Request::Run(request) => run::run(request),
        Request::Import(request) => import::import(request),
        Request::Runs(request) => runs::runs(request),
        Request::List(request) => list::list(request),
        Request::Init(request) => init::init(request),
        Request::Mark(request) => mark::mark(request),
        Request::Meter(request) => meter::meter(request),
        #[cfg(target_os = "linux")]
        Request::Forward(request) => crate::forward::forward(request),
        #[cfg(not(target_os = "linux"))]
        Request::Forward(_) => Err(Failure::of_call("`perhop forward` needs Linux", "")),
    };
    exit.map(Outcome::Done)
}

/// The texts of a request that may name algorithms: its own, and those of its files. A pipe is not read before it is its verb's turn.
pub fn texts(request: &Request) -> impl Iterator<Item = String> {
    let can_wait = |path: &Path| path == Path::new("-") || fs::metadata(path).is_ok_and(|it| it.is_file());
    let read = move |path: &Path| {
        let bytes = can_wait(path).then(|| reading::read(path).ok()).flatten();
        bytes.filter(|bytes| bytes.len() <= MOST && !is_capture(bytes))
    };
    let files = request.files().texts().into_iter().filter_map(read);
    let own = serde_json::to_string(request).unwrap_or_default();
    files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).chain([own])
}

/// What a verb ended with; what is wrong is printed.
pub fn ended(outcome: Result<Outcome, Failure>) -> Outcome {
    let outcome = outcome.unwrap_or_else(|failure| Outcome::Done(failure.say()));
    if crate::terminal::show::printed() { outcome } else { Outcome::Done(Exit::Error) }
}
