//! perhop for Python, as the module `perhop._core`: handles in, columns out; no logic.

/// Verbs.
mod command;
/// How a text is read.
mod options;
/// Scenarios.
mod scenario;
/// Runs, watched for Ctrl-C.
mod run;
/// Simulations that a user steps.
mod session;
/// Work cut into tasks.
mod cut;
/// Results on disk.
mod stored;
/// Tables as NumPy columns.
mod columns;
/// Design rules.
mod design;
/// Columns, quantities, estimates.
mod facts;
/// Rows that are shown.
mod filter;
/// Algorithms that are Python classes.
mod own;
/// Problems of a file as dictionaries.
mod diagnostics;

use perhop_scenario::text::file;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

pyo3::create_exception!(perhop._core, RunError, pyo3::exceptions::PyRuntimeError, "A run that failed.");
pyo3::create_exception!(
    perhop._core,
    ScenarioError,
    pyo3::exceptions::PyValueError,
    "A scenario that cannot run; `.diagnostics` has everything that is wrong in it."
);

/// The Rust side of perhop.
#[pymodule]
#[pyo3(name = "_core")]
fn core_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("RunError", m.py().get_type::<RunError>())?;
    m.add("ScenarioError", m.py().get_type::<ScenarioError>())?;
    m.add_class::<scenario::Scenario>()?;
    m.add_class::<session::Session>()?;
    m.add_class::<session::Snapshot>()?;
    m.add_class::<cut::Cut>()?;
    m.add_class::<columns::Tables>()?;
    PyMapping::register::<columns::Tables>(m.py())?;
    m.add_class::<design::Loop>()?;
    m.add_function(wrap_pyfunction!(command::carry_out, m)?)?;
    m.add_function(wrap_pyfunction!(command::answer, m)?)?;
    m.add("MOST_TEXT", file::MOST)?;
    m.add_function(wrap_pyfunction!(command::marked_capture, m)?)?;
    m.add_function(wrap_pyfunction!(command::metered_captures, m)?)?;
    m.add_function(wrap_pyfunction!(command::imported, m)?)?;
    m.add_function(wrap_pyfunction!(command::refuse, m)?)?;
    m.add_function(wrap_pyfunction!(command::tune, m)?)?;
    m.add_function(wrap_pyfunction!(diagnostics::check, m)?)?;
    m.add_function(wrap_pyfunction!(diagnostics::text, m)?)?;
    m.add_function(wrap_pyfunction!(facts::quantity, m)?)?;
    m.add_function(wrap_pyfunction!(facts::columns, m)?)?;
    m.add_function(wrap_pyfunction!(facts::known, m)?)?;
    m.add_function(wrap_pyfunction!(facts::tc_stats, m)?)?;
    m.add_function(wrap_pyfunction!(facts::estimate, m)?)?;
    m.add_function(wrap_pyfunction!(filter::chosen, m)?)?;
    m.add_function(wrap_pyfunction!(filter::where_left_nothing, m)?)?;
    m.add_function(wrap_pyfunction!(options::bounded, m)?)?;
    m.add_function(wrap_pyfunction!(stored::opened, m)?)?;
    m.add_function(wrap_pyfunction!(stored::damaged, m)?)?;
    m.add_function(wrap_pyfunction!(stored::utf8, m)?)?;
    own::add_to(m)?;
    Ok(())
}
