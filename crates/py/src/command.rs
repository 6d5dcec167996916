//! Verbs: a request as JSON in, what it answers out.

use crate::columns::Tables;
use crate::scenario::json;
use crate::{own, run};
use perhop_app::mark::{Asker, marked};
use perhop_app::meter::CaptureAnswer;
use perhop_app::request::{Import, Mark, Meter, Request, Tune};
use perhop_app::sweep::Made;
use perhop_app::terminal::{show, watch};
use perhop_app::{Failure, Outcome};
use perhop_core::door::Door;
use perhop_results::captures;
use perhop_scenario::Diagnostics;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// How a request ended: `(exit code, None)`, or `(0, (verb, arguments as JSON))` for Python to carry out.
type Ended = (u8, Option<(&'static str, String)>);

/// Of each capture the report as JSON and its tables; and what the policy was warned of.
type Reports = (Vec<(String, Tables)>, Vec<String>);

/// Carries out a request, `{"verb": .., "request": {..}}`, and prints its answer.
#[pyfunction]
pub fn carry_out(py: Python<'_>, request: &str) -> PyResult<Ended> {
    let request: Request = json(request)?;
    own::resolve_all(perhop_app::texts(&request))?;
    let outcome =
        py.detach(|| own::ending(watch::interrupted(), || perhop_app::ended(perhop_app::carry_out(&request))));
    // A signal that ended it has been heard: Python need not raise anything for it.
    let _ = py.check_signals();
    Ok(match outcome {
        Outcome::Done(exit) => (exit as u8, None),
        Outcome::Python(it) => (0, Some((it.verb, it.arguments.to_string()))),
    })
}

/// Prints the answer to a request that a cluster carried out: `place` has its results, `replications` (point, number) of
/// them were run in `seconds`. The exit code.
#[pyfunction]
pub fn answer(
    py: Python<'_>,
    request: &str,
    place: PathBuf,
    replications: BTreeSet<(usize, u32)>,
    seconds: f64,
) -> PyResult<u8> {
    let request = json(request)?;
    let made = Made { place, replications, took: Duration::from_secs_f64(seconds) };
    let exit = py.detach(|| perhop_app::sweep::of_cluster(&request, &made));
    let _ = py.check_signals();
    Ok(exit as u8)
}

fn refused(failure: Failure) -> PyErr {
    PyValueError::new_err(failure.to_string())
}

/// The answer to a request for parameters, as JSON: numbers, and what the picture shows.
#[pyfunction]
pub fn tune(py: Python<'_>, request: &str) -> PyResult<[String; 2]> {
    let request = Tune { door: Door::Python, ..json(request)? };
    let tuned = py.detach(|| perhop_app::tune::answer(&request)).map_err(refused)?;
    Ok([tuned.to_json(), tuned.picture()].map(|value| value.to_string()))
}

/// The answer to a request for an import, as JSON; of this text in place of the file, if it is given.
///
/// # Errors
/// `ValueError` for what is wrong with it or with the configuration.
#[pyfunction]
pub fn imported(py: Python<'_>, request: &str, text: Option<Vec<u8>>) -> PyResult<String> {
    let mut request: Import = json(request)?;
    request.configuration.door = Door::Python;
    let answer = py.detach(|| perhop_app::import::answer(&request, text)).map_err(refused)?;
    Ok(show::harmless(&answer.to_json().to_string()))
}

/// Refuses an output that is one of the inputs, by whatever name; of a directory, one of the files of its runs.
///
/// # Errors
/// `ValueError` when it is: E025.
#[pyfunction]
pub fn refuse(py: Python<'_>, output: PathBuf, inputs: Vec<PathBuf>) -> PyResult<()> {
    let inputs: Vec<_> = inputs.iter().map(PathBuf::as_path).collect();
    py.detach(|| perhop_app::places::refuse(&output, &inputs)).map_err(refused)
}

/// Marks a capture: the report as JSON, its tables, and what the policy was warned of.
///
/// # Errors
/// `ValueError` for what is wrong with the request, the policy or the capture; `KeyboardInterrupt`.
#[pyfunction]
pub fn marked_capture(py: Python<'_>, request: &str) -> PyResult<Reports> {
    let mut request: Mark = json(request)?;
    request.through.door = Door::Python;
    captured(py, Request::Mark(request.clone()), |asker| {
        let report = marked(&request, asker)?;
        Ok(vec![CaptureAnswer {
            text: perhop_app::mark::json(&report)?,
            tables: Some(captures::Tables::Whole(report.into())),
        }])
    })
}

/// Meters captures: the reports as JSON, their tables, and what the policy was warned of.
///
/// # Errors
/// As [`marked_capture`].
#[pyfunction]
pub fn metered_captures(py: Python<'_>, request: &str) -> PyResult<Reports> {
    let mut request: Meter = json(request)?;
    request.through.door = Door::Python;
    captured(py, Request::Meter(request.clone()), |asker| perhop_app::meter::reports(&request, asker))
}

fn captured(
    py: Python<'_>,
    request: Request,
    reports: impl FnOnce(Asker<'_>) -> Result<Vec<CaptureAnswer>, Failure> + Send,
) -> PyResult<Reports> {
    own::resolve_all(perhop_app::texts(&request))?;
    perhop_app::places::check(request.files()).map_err(refused)?;
    let (answers, warnings) = run::heard(py, |interrupted| {
        let warnings = RefCell::new(Vec::new());
        let warn = |found: &Diagnostics| warnings.borrow_mut().push(found.to_string());
        let answers = reports(Asker { interrupted, warn: &warn })?;
        Ok((answers, warnings.into_inner()))
    })?
    .map_err(refused)?;
    let of_capture = |answer: CaptureAnswer| Some((answer.text, Tables::of_capture(answer.tables?)));
    Ok((answers.into_iter().filter_map(of_capture).collect(), warnings))
}
