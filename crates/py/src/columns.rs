//! Tables as NumPy columns. Counts are int64, or float64 with NaN where some are missing; texts are objects, None where
//! missing.

use numpy::PyArray1;
use perhop_scenario::output::columns::{Table, Values};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// `{table: {column: array}}`
pub fn tables<'py>(py: Python<'py>, tables: &[Table]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for table in tables {
        let columns = PyDict::new(py);
        for (name, values) in &table.columns {
            columns.set_item(name, array(py, values)?)?;
        }
        out.set_item(table.name, columns)?;
    }
    Ok(out)
}

fn array<'py>(py: Python<'py>, values: &Values) -> PyResult<Bound<'py, PyAny>> {
    Ok(match values {
        Values::Integers(v) => match v.iter().copied().collect::<Option<Vec<i64>>>() {
            Some(all) => PyArray1::from_vec(py, all).into_any(),
            None => reals(py, v.iter().map(|x| x.map(|x| x as f64))),
        },
        Values::Reals(v) => reals(py, v.iter().copied()),
        Values::Texts(v) => {
            let objects = v.iter().map(|t| Ok(t.as_deref().into_pyobject(py)?.unbind()));
            PyArray1::from_vec(py, objects.collect::<PyResult<Vec<Py<PyAny>>>>()?).into_any()
        }
    })
}

fn reals<'py>(py: Python<'py>, values: impl Iterator<Item = Option<f64>>) -> Bound<'py, PyAny> {
    PyArray1::from_vec(py, values.map(|x| x.unwrap_or(f64::NAN)).collect()).into_any()
}
