//! Results on disk.

use crate::{diagnostics, own, run, scenario};
use perhop_app::request::run as request;
use perhop_runs::disk::Damaged;
use perhop_runs::inventory::ReplicationDir;
use perhop_runs::opened::{Refused, open};
use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// The newest run in a directory, or the one of this name in the directory above.
///
/// # Errors
/// `FileNotFoundError` when there is none; `ValueError` when there are several scenarios, or something is damaged: E023.
#[pyfunction]
pub fn opened(py: Python<'_>, directory: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let found = py.detach(|| open(&directory, &|text| drop(own::resolve(text)))).map_err(|refused| match refused {
        Refused::Missing(what) => PyFileNotFoundError::new_err(what),
        Refused::Unfit(what) => PyValueError::new_err(what),
    })?;
    let points = found.points.iter().map(|p| point(py, p)).collect::<PyResult<Vec<_>>>()?;
    let replications = found.replications.into_iter().map(|r| run::dict(py, r)).collect::<PyResult<Vec<_>>>()?;
    let out = PyDict::new(py);
    out.set_item("settings", scenario::settings(py, &found.scenario)?)?;
    out.set_item("points", points)?;
    out.set_item("replications", replications)?;
    out.set_item("notes", Vec::from_iter(found.note))?;
    out.set_item("unread", found.unread)?;
    Ok(out)
}

/// The message for a directory of results that are not those that were written; E023.
#[pyfunction]
pub fn damaged(directory: PathBuf, what: String) -> String {
    Damaged { dir: directory, what }.to_string()
}

/// A path as text.
///
/// # Errors
/// `ValueError` when it is not UTF-8: E022.
#[pyfunction]
pub fn utf8(path: PathBuf) -> PyResult<String> {
    request::text(&path).map(str::to_owned).map_err(diagnostics::refused)
}

fn point<'py>(py: Python<'py>, found: &ReplicationDir) -> PyResult<Bound<'py, PyDict>> {
    let (common, out) = (&found.common, PyDict::new(py));
    out.set_item("labels", common.point.0.clone())?;
    out.set_item("name", found.point_dir().file_name().unwrap_or_default().to_string_lossy())?;
    out.set_item("hash", &common.point_hash)?;
    out.set_item("effective", &common.effective)?;
    out.set_item("origin", (&common.identity.file, &common.identity.overrides, common.identity.recorded))?;
    Ok(out)
}
