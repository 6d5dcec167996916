//! Results on disk.

use crate::columns::Tables;
use perhop_runs::classes::Classes;
use perhop_runs::disk::{self, Stored};
use perhop_scenario::{Options, Scenario};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::HashMap;
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
    let (out, mut known) = (PyList::empty(py), HashMap::new());
    for batch in directories.chunks(BATCH) {
        let stored = py.detach(|| disk::load_all(batch));
        for mut stored in stored.map_err(|damaged| PyValueError::new_err(damaged.to_string()))? {
            py.detach(|| add_classes(&mut stored, &mut known));
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

/// Adds what each class got, as far as the scenario in force can be read: by its text.
fn add_classes(stored: &mut Stored, known: &mut HashMap<String, Option<Classes>>) {
    let text = &stored.manifest.common.effective;
    if !known.contains_key(text) {
        let scenario = Scenario::parse(text, &Options::new(disk::MANIFEST)).ok();
        known.insert(text.clone(), scenario.map(|(scenario, _)| Classes::new(&scenario)));
    }
    if let Some(classes) = &known[text] {
        stored.tables.iter_mut().for_each(|tables| tables.push(classes.of(tables)));
    }
}

fn replications(py: Python<'_>, stored: Stored) -> PyResult<Bound<'_, PyList>> {
    let of = stored.manifest.replications.into_iter().zip(stored.tables);
    PyList::new(
        py,
        of.map(|(entry, tables)| (entry.replication, entry.result_hash, Tables::new(tables))).collect::<Vec<_>>(),
    )
}
