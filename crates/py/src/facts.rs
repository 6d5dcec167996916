//! What columns, quantities and estimates are, for Python, which knows nothing of them itself.

use perhop_config::tc_stats::{Row, text};
use perhop_core::units;
use perhop_results::stats;
use perhop_results::tables::column::{Absent, Column};
use perhop_results::tables::{declaration, declared};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A quantity as a column has it, with the ending of the column's name; its unit as it is written, and what one of that is in
/// the column. None if the text is not one.
#[pyfunction]
pub fn quantity(text: &str) -> Option<(f64, &'static str, &'static str, f64)> {
    units::column(text).map(|it| (it.value, it.ending, it.unit, it.one))
}

/// Every column of every table, in their order.
#[pyfunction]
pub fn columns(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let out = PyList::empty(py);
    for table in declared() {
        for column in &table.columns {
            let place = table.by.iter().position(|key| *key == column.name);
            out.append(described(py, (table.name, column), place)?)?;
        }
    }
    Ok(out)
}

/// `key` is its place among those that tell the table's rows apart.
fn described<'py>(py: Python<'py>, of: (&str, &Column), key: Option<usize>) -> PyResult<Bound<'py, PyDict>> {
    let (out, column) = (PyDict::new(py), of.1);
    out.set_item("table", of.0)?;
    out.set_item("name", &*column.name)?;
    out.set_item("key", key)?;
    out.set_item("role", column.role.name())?;
    out.set_item("words", column.words())?;
    out.set_item("unit", column.unit.name())?;
    out.set_item("steps", column.unit.steps().to_vec())?;
    out.set_item("usual", column.usual())?;
    out.set_item("zero", column.role.absent() == Absent::Zero)?;
    out.set_item("accounted", column.accounted)?;
    out.set_item("doc", column.doc)?;
    Ok(out)
}

/// A counter of a port: hop, object, what is stated of it, name, value.
type Counter = (String, String, String, String, f64);

fn counter((hop, object, stated, counter, value): &Counter) -> Row<'_> {
    Row { hop, object, stated, counter, value: *value }
}

/// Counters of ports as tc writes them.
#[pyfunction]
pub fn tc_stats(rows: Vec<Counter>) -> String {
    text(&rows.iter().map(counter).collect::<Vec<_>>())
}

/// By how much the mean of a column's values may be above that of the exact ones, and the bounds of its interval.
///
/// # Errors
/// `KeyError` when there is no such column.
#[pyfunction]
pub fn known(table: &str, column: &str, values: Vec<f64>) -> PyResult<(f64, [f64; 2])> {
    let found = declaration(table).and_then(|of| of.column(column));
    let found = found.ok_or_else(|| PyKeyError::new_err(format!("no column {table}.{column}")))?;
    Ok(stats::known(found, &values))
}

/// The one form of a mean with its interval; `cut` has the ends of one that ends at bounds.
#[pyfunction]
#[pyo3(signature = (mean, half = None, cut = None))]
pub fn estimate(mean: f64, half: Option<f64>, cut: Option<[f64; 2]>) -> String {
    stats::text(mean, half, cut)
}
