//! Results on disk.

use crate::columns::Tables;
use perhop_runs::disk::{self, Stored};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;

/// How many directories are read on all threads before the interpreter has its turn.
const BATCH: usize = 32;

/// The replications in directories, each compared with the hashes in its manifest: for each directory, number, hash and
/// tables of each.
///
/// # Errors
/// `ValueError` for the first that is damaged.
#[pyfunction]
pub fn load(py: Python<'_>, directories: Vec<PathBuf>) -> PyResult<Bound<'_, PyList>> {
    let out = PyList::empty(py);
    for batch in directories.chunks(BATCH) {
        let stored = py.detach(|| disk::load_all(batch));
        for stored in stored.map_err(|damaged| PyValueError::new_err(damaged.to_string()))? {
            out.append(replications(py, stored)?)?;
        }
    }
    Ok(out)
}

/// The text of a directory's manifest, when it is the one that was written, every field of its type.
///
/// # Errors
/// `ValueError` when it is not; E023.
#[pyfunction]
pub fn manifest(directory: PathBuf) -> PyResult<String> {
    disk::load::manifest_text(&directory).map_err(|damaged| PyValueError::new_err(damaged.to_string()))
}

fn replications(py: Python<'_>, stored: Stored) -> PyResult<Bound<'_, PyList>> {
    let of = stored.manifest.replications.into_iter().zip(stored.tables);
    PyList::new(
        py,
        of.map(|(entry, tables)| (entry.replication, entry.result_hash, Tables::new(tables))).collect::<Vec<_>>(),
    )
}
