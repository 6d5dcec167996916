//! The command line, the same function as the stand-alone binary's.

use crate::scenario::json;
use crate::{own, run};
use perhop::{Captured, Made, Outcome};
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
    let outcome = py.detach(|| own::ending(perhop::interrupted(), || perhop::main(argv)));
    // A signal that ended it has been heard: Python need not raise anything for it.
    let _ = py.check_signals();
    match outcome {
        Outcome::Done(exit) => (exit as u8, None),
        Outcome::Python(it) => (0, Some((it.verb, it.arguments.to_string()))),
    }
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
    let exit = py.detach(|| perhop::answer(&request, &made));
    let _ = py.check_signals();
    Ok(exit as u8)
}

/// The answer of `perhop tune` to its arguments, as JSON: numbers, and what the picture shows.
#[pyfunction]
pub fn tune(py: Python<'_>, args: Vec<OsString>) -> PyResult<(String, String)> {
    let numbers = py.detach(|| perhop::tune::numbers(args));
    numbers.map(|[numbers, picture]| (numbers, picture)).map_err(PyValueError::new_err)
}

/// What `perhop import --json` says, from its arguments; of this text in place of the file, if it is given.
///
/// # Errors
/// `ValueError` for what is wrong with them or with the configuration.
#[pyfunction]
pub fn imported(py: Python<'_>, args: Vec<OsString>, text: Option<Vec<u8>>) -> PyResult<String> {
    py.detach(|| perhop::imported(args, text)).map_err(PyValueError::new_err)
}

/// Refuses an output that is one of the inputs, by whatever name; of a directory, one of the files of its runs.
///
/// # Errors
/// `ValueError` when it is: E025.
#[pyfunction]
pub fn refuse(py: Python<'_>, output: PathBuf, inputs: Vec<PathBuf>) -> PyResult<()> {
    let inputs: Vec<_> = inputs.iter().map(PathBuf::as_path).collect();
    py.detach(|| perhop::not_read(&output, &inputs)).map_err(PyValueError::new_err)
}

/// What `perhop mark --json` or `perhop meter --json` says, and what the policy was warned of, from the verb and its
/// arguments.
///
/// # Errors
/// `ValueError` for what is wrong with them or with the capture; `KeyboardInterrupt`.
#[pyfunction]
pub fn captured(py: Python<'_>, args: Vec<OsString>) -> PyResult<Captured> {
    run::heard(py, |interrupted| perhop::captured(args, interrupted))?.map_err(PyValueError::new_err)
}
