//! Results on disk.

use crate::columns;
use perhop_scenario::output::disk;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;

/// How many directories are read before their tables become NumPy's.
const BATCH: usize = 256;

/// The tables of replications' directories, each compared with the hash in its manifest.
///
/// # Errors
/// `ValueError` for the first that is damaged.
#[pyfunction]
pub fn load(py: Python<'_>, directories: Vec<PathBuf>) -> PyResult<Bound<'_, PyList>> {
    let out = PyList::empty(py);
    for batch in directories.chunks(BATCH) {
        let stored = py.detach(|| disk::load_all(batch));
        for stored in stored.map_err(|damaged| PyValueError::new_err(damaged.to_string()))? {
            out.append(columns::tables(py, &stored.tables)?)?;
        }
    }
    Ok(out)
}
