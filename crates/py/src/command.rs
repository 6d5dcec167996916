//! The command line, the same function as the stand-alone binary's.

use perhop::Outcome;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How a command line ended: `(exit code, None)`, or `(0, (verb, arguments as JSON))` for Python to carry out.
type Ended = (u8, Option<(&'static str, String)>);

/// Carries out a command line; `argv[0]` is the program's name.
#[pyfunction]
pub fn main(py: Python<'_>, argv: Vec<OsString>) -> Ended {
    let outcome = py.detach(|| perhop::main(argv));
    // A signal that ended it has been heard: Python need not raise anything for it.
    let _ = py.check_signals();
    match outcome {
        Outcome::Done(exit) => (exit as u8, None),
        Outcome::Python(request) => (0, Some((request.verb, request.arguments.to_string()))),
    }
}

/// A scenario's text, the directory of its results, what was made of them, seconds.
type GivenByPython = (String, PathBuf, BTreeSet<(usize, u32)>, f64);

/// Prints the answer of a sweep that a cluster ran; its scenario's text and its results are given, which of them (point,
/// replication) it made, and the seconds it took. The exit code.
#[pyfunction]
pub fn answer(py: Python<'_>, argv: Vec<OsString>, given: GivenByPython) -> u8 {
    let (text, out, made, took) = given;
    let given = perhop::Given { text, out, made, took: Duration::from_secs_f64(took) };
    let outcome = py.detach(|| perhop::answer(argv, given));
    let _ = py.check_signals();
    match outcome {
        Outcome::Done(exit) => exit as u8,
        Outcome::Python(_) => unreachable!("it has run"),
    }
}

/// The answer of `perhop tune` to its arguments, as JSON: numbers, and what the picture shows.
#[pyfunction]
pub fn tune(py: Python<'_>, args: Vec<OsString>) -> PyResult<(String, String)> {
    let numbers = py.detach(|| perhop::tune::numbers(args));
    numbers.map(|[numbers, picture]| (numbers, picture)).map_err(PyValueError::new_err)
}
