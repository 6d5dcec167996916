//! How a text is read, and the bounds of what is asked of a run.

use perhop_capture::replay::Files;
use perhop_scenario::{Options, bounds};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// Options of a file whose captures are files.
fn of_file(name: &str) -> Options {
    Options::new(name).captures(&Files)
}

/// Overrides (`KEY=VALUE`) and axes (`KEY=A,B,C`) for the text of `file_name`; messages name Python's arguments.
pub fn options(file_name: &str, overrides: &[String], vary: &[String]) -> Options {
    let options = overrides.iter().fold(of_file(file_name), |options, text| options.set_by("overrides", text));
    vary.iter().fold(options, |options, text| options.axis("vary", text))
}

/// A number within the bounds that have this name.
///
/// # Errors
/// `ValueError`: it is not; E269.
#[pyfunction]
pub fn bounded(name: &str, number: &Bound<'_, PyInt>) -> PyResult<u64> {
    let bound = bounds::ALL.into_iter().find(|bound| bound.name == name);
    let bound = bound.ok_or_else(|| PyValueError::new_err(format!("no bounds are called {name}")))?;
    let within = number.extract::<u64>().ok().filter(|number| bound.range().contains(number));
    within.ok_or_else(|| {
        let shown = number.str().map_or_else(|_| "of thousands of digits".to_owned(), |shown| shown.to_string());
        PyValueError::new_err(bound.refused(shown).to_string())
    })
}
