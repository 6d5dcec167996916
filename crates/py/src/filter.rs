//! `--where`, for what Python shows.

use perhop_runs::filter::{Key, Known, Where};
use pyo3::exceptions::PyValueError;
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
    let read = Where::read(&texts, &known).map_err(|error| PyValueError::new_err(plain(&error)))?;
    let out = PyDict::new(py);
    read.terms.iter().try_for_each(|term| out.set_item(&term.key, &term.values))?;
    Ok(out)
}

/// The message that no row is left; E028.
#[pyfunction]
pub fn where_left_nothing(texts: Vec<String>) -> String {
    plain(&Where::left_nothing(&texts))
}

/// In Python it is no option.
fn plain(message: &str) -> String {
    message.replace("--where ", "where ")
}

fn keys(of: &Bound<'_, PyDict>) -> PyResult<Vec<Key>> {
    of.iter().map(|(key, values)| Ok((key.extract()?, values.extract()?))).collect()
}
