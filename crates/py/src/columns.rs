//! Tables as NumPy columns. Counts are int64, or float64 with NaN where some are missing; texts are objects, None where
//! missing.

use numpy::PyArray1;
use perhop_results::captures;
use perhop_results::tables::columns::{Table, Values};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyIterator, PyList, PyType};
use std::sync::{Arc, Mutex, PoisonError};

/// `{table: {column: array}}`, read-only. A table becomes NumPy's when it is first asked for: a sweep has hundreds of columns
/// a replication, and most are never looked at; a capture may have a million flows.
#[pyclass(mapping, frozen, module = "perhop._core")]
pub struct Tables(Vec<LazyTable>);

/// Name and columns of a table.
type Item<'py> = (&'static str, Bound<'py, PyDict>);

/// Makes a table, or gives the one there is.
type Source = Arc<dyn Fn() -> Arc<Table> + Send + Sync>;

/// A table, and what became of it.
struct LazyTable {
    name: &'static str,
    source: Mutex<Option<Source>>,
    columns: PyOnceLock<Py<PyDict>>,
}

impl LazyTable {
    fn new(name: &'static str, source: Source) -> Self {
        Self { name, source: Mutex::new(Some(source)), columns: PyOnceLock::new() }
    }
}

impl Tables {
    /// Of one replication.
    pub fn new(tables: Vec<Table>) -> Self {
        let lazy = |table: Table| {
            let (name, table) = (table.name, Arc::new(table));
            LazyTable::new(name, Arc::new(move || table.clone()))
        };
        Self(tables.into_iter().map(lazy).collect())
    }

    /// Of a capture.
    pub fn of_capture(tables: captures::Tables) -> Self {
        let tables = Arc::new(tables);
        let lazy = |name| {
            let tables = tables.clone();
            LazyTable::new(name, Arc::new(move || Arc::new(tables.table(name).expect("it has rows"))))
        };
        Self(tables.names().into_iter().map(lazy).collect())
    }

    fn find(&self, name: &str) -> Option<&LazyTable> {
        self.0.iter().find(|asked| asked.name == name)
    }
}

impl LazyTable {
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if let Some(columns) = self.columns.get(py) {
            return Ok(columns.bind(py).clone());
        }
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(source) = source {
            let _ = self.columns.set(py, columns(py, &source())?.unbind());
            self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        Ok(self.columns.get(py).expect("a table is given up for its columns").bind(py).clone())
    }
}

/// A table's columns.
pub fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (name, values) in &table.columns {
        columns.set_item(name, array(py, values)?)?;
    }
    Ok(columns)
}

#[pymethods]
impl Tables {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        self.find(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?.columns(py)
    }

    fn __contains__(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.keys())?.try_iter()
    }

    fn keys(&self) -> Vec<&'static str> {
        self.0.iter().map(|asked| asked.name).collect()
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.0.iter().map(|asked| asked.columns(py)).collect()
    }

    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<Item<'py>>> {
        self.0.iter().map(|asked| Ok((asked.name, asked.columns(py)?))).collect()
    }

    #[pyo3(signature = (name, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.find(name).map_or(Ok(default), |asked| Ok(Some(asked.columns(py)?.into_any())))
    }

    /// As a dictionary: so it travels from a worker.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Vec<Item<'py>>,))> {
        Ok((py.get_type::<PyDict>(), (self.items(py)?,)))
    }
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
