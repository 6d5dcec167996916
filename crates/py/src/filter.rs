//! `--where`, for what Python shows.

use crate::diagnostics;
use perhop_core::door::Door;
use perhop_results::filter::{Key, Known, Where};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The values that rows must have, by key: of each `KEY=VALUE[,VALUE..]`, which must be among the swept keys and their labels
/// or the columns that name rows and their values (`None`: any).
///
/// # Errors
/// `ValueError`: E010, E006.
#[pyfunction]
#[pyo3(name = "where")]
pub fn chosen<'py>(
    py: Python<'py>,
    texts: Vec<String>,
    swept: &Bound<'py, PyDict>,
    rows: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let known = Known { swept: keys(swept)?, rows: keys(rows)? };
    let read = Where::read(&texts, &known).map_err(|found| diagnostics::refused(found.at(Door::Python)))?;
    let out = PyDict::new(py);
    read.terms.iter().try_for_each(|term| out.set_item(&term.key, &term.values))?;
    Ok(out)
}

/// The message that no row is left; E028.
#[pyfunction]
pub fn where_left_nothing(texts: Vec<String>) -> String {
    Where::left_nothing(&texts).at(Door::Python).to_string()
}

fn keys(of: &Bound<'_, PyDict>) -> PyResult<Vec<Key>> {
    of.iter().map(|(key, values)| Ok((key.extract()?, values.extract()?))).collect()
}
