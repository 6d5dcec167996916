//! Problems of a file as dictionaries.

use crate::ScenarioError;
use crate::options::options;
use crate::own;
use perhop_capture::replay::Files;
use perhop_core::door::Door;
use perhop_core::params::Severity;
use perhop_scenario::text::file;
use perhop_scenario::text::options::Captures;
use perhop_scenario::{Diagnostic, Diagnostics, Document};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// All errors and warnings of a file, in the order of their places.
#[pyfunction]
pub fn check<'py>(
    py: Python<'py>,
    text: &str,
    file_name: &str,
    overrides: Vec<String>,
    vary: Vec<String>,
) -> PyResult<Bound<'py, PyList>> {
    own::resolve(&[&[text.to_owned()][..], &overrides, &vary].concat().join("\n"))?;
    let options = options(file_name, &overrides, &vary);
    let (Ok((found, _)) | Err(found)) = Document::check(text, &options);
    list(py, &found)
}

/// The text of a file of which these bytes were read.
///
/// # Errors
/// `ScenarioError`: it is a capture, or not UTF-8.
#[pyfunction]
pub fn text(py: Python<'_>, file_name: &str, read: &[u8]) -> PyResult<String> {
    file::decoded(file_name, Ok(read), Captures::read_by(&Files)).map_err(|found| error(py, &found))
}

/// Problems as a list of dictionaries.
pub fn list<'py>(py: Python<'py>, found: &Diagnostics) -> PyResult<Bound<'py, PyList>> {
    let dicts = found.list.iter().map(|d| dict(py, d)).collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, dicts)
}

/// The exception of what cannot be done as it is asked.
pub fn refused(found: Diagnostic) -> PyErr {
    PyValueError::new_err(found.to_string())
}

/// The exception of a scenario that cannot run.
pub fn error(py: Python<'_>, found: &Diagnostics) -> PyErr {
    let error = ScenarioError::new_err(format!("{found}\n{}", found.summary()));
    match list(py, found).and_then(|dicts| error.value(py).setattr("diagnostics", dicts)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

fn dict<'py>(py: Python<'py>, d: &Diagnostic) -> PyResult<Bound<'py, PyDict>> {
    let (out, d) = (PyDict::new(py), &d.clone().at(Door::Python));
    let severity = if d.severity == Severity::Error { "error" } else { "warning" };
    out.set_item("severity", severity)?;
    out.set_item("code", d.code)?;
    out.set_item("message", &d.message)?;
    out.set_item("class", d.class.as_ref().map(ToString::to_string))?;
    out.set_item("file", d.spot.as_ref().map_or(&d.file, |s| &s.name))?;
    let in_file = d.spot.as_ref().filter(|s| s.path.is_empty());
    out.set_item("line", in_file.map(|s| s.line))?;
    out.set_item("column", in_file.map(|s| s.column))?;
    out.set_item("path", d.spot.as_ref().map(|s| &s.path).filter(|path| !path.is_empty()))?;
    out.set_item("label", &d.label)?;
    out.set_item("help", &d.help)?;
    Ok(out)
}
