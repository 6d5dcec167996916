//! A checked scenario, and what is asked of its runs.

use crate::cut::Cut;
use crate::options::options;
use crate::own::is_interrupted;
use crate::{diagnostics, own, run};
use perhop_app::request::run::{Request, Source, Terms, run_options};
use perhop_config::as_tc;
use perhop_runs::cut;
use perhop_runs::run::RunOptions;
use perhop_runs::session::{Session, SessionError};
use perhop_scenario::{Diagnostics, Host, Point, Sweep, contracts};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// A checked scenario with the points of its sweep, and what is asked of its runs.
#[pyclass(frozen)]
pub struct Scenario {
    request: Request,
    read: Arc<Read>,
}

/// What was read.
struct Read {
    sweep: Sweep,
    /// Its points, once they were asked for: a cluster's worker runs some of them at a time, of many.
    points: OnceLock<Vec<Point>>,
    found: Diagnostics,
}

#[pymethods]
impl Scenario {
    #[new]
    fn new(py: Python<'_>, text: String, file_name: &str, overrides: Vec<String>, vary: Vec<String>) -> PyResult<Self> {
        let source = Source { text, options: options(file_name, &overrides, &vary) };
        Self::read(py, Request { source, ..Request::default() })
    }

    /// The scenario of a request, in another process too.
    #[staticmethod]
    fn of(py: Python<'_>, request: &str) -> PyResult<Self> {
        Self::read(py, json(request)?)
    }

    /// The request, as JSON.
    #[getter]
    fn request(&self) -> PyResult<String> {
        serde_json::to_string(&self.request).map_err(invalid)
    }

    /// The same scenario, of which more is asked: `changes` to what is asked, as JSON.
    fn asking(&self, changes: &str) -> PyResult<Self> {
        let mut asked = serde_json::to_value(&self.request.asked).map_err(invalid)?;
        merge(&mut asked, json(changes)?);
        let asked: Terms = serde_json::from_value(asked).map_err(invalid)?;
        let read = match asked.output.name == self.request.asked.output.name {
            true => self.read.clone(),
            false => self.with(asked.named(self.read.sweep.clone()).map_err(diagnostics::refused)?),
        };
        Ok(Self { request: Request { asked, ..self.request.clone() }, read })
    }

    /// The same with another seed.
    fn seeded(&self, seed: u64) -> PyResult<Self> {
        let mut request = self.request.clone();
        request.source.options = request.source.options.setting("seed", &seed.to_string());
        let sweep = self.read.sweep.clone().seeded(seed).map_err(diagnostics::refused)?;
        Ok(Self { request, read: self.with(sweep) })
    }

    /// Name of the run's directory.
    #[getter]
    fn name(&self) -> &str {
        self.read.sweep.base.name()
    }

    /// `[scenario]` with every effective value, times in seconds.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        settings(py, &self.read.sweep.base)
    }

    /// The points of its sweep; one without labels if it has none.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let dicts = self.all().iter().map(|p| point(py, p)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, dicts)
    }

    /// Settings that run, but probably not as intended.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        diagnostics::list(py, &self.read.found)
    }

    /// Those of them that mean something of packets that passed between interfaces.
    #[getter]
    fn recorded_warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        diagnostics::list(py, &self.read.found.clone().of(Host::Interfaces))
    }

    /// Every value in force, as TOML.
    fn effective(&self) -> String {
        self.read.sweep.base.effective()
    }

    /// What was stated, overrides applied.
    fn to_toml(&self) -> String {
        self.read.sweep.to_toml()
    }

    /// The rate that each conditioner commits to, with the classes it may take.
    #[getter]
    fn contracts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let dicts = contracts::contracts(&self.read.sweep.base).into_iter().map(|c| contract(py, c));
        PyList::new(py, dicts.collect::<PyResult<Vec<_>>>()?)
    }

    /// The ports that each class's data passes.
    #[getter]
    fn passed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let dicts = contracts::passed(&self.read.sweep.base).into_iter().map(|p| passed(py, p));
        PyList::new(py, dicts.collect::<PyResult<Vec<_>>>()?)
    }

    /// Effective values, every queue on a path, bucket times.
    fn explain(&self) -> String {
        perhop_scenario::explain_sweep(&self.read.sweep)
    }

    /// Its network on Linux, as JSON: see `perhop_config::as_tc::Linux`; a port alone: see `LinuxPort` there.
    #[pyo3(signature = (port, dev))]
    fn as_tc(&self, port: Option<&str>, dev: Option<&str>) -> PyResult<String> {
        let made = match port {
            Some(port) => as_tc::port_of_sweep(&self.read.sweep, port, dev)
                .map(|port| port.to_json())
                .map_err(|found| found.to_string()),
            None => as_tc::of_sweep(&self.read.sweep).map(|linux| linux.to_json()).map_err(|said| said.join("\n")),
        };
        made.map_err(PyValueError::new_err)
    }

    /// Carries out what is asked; see `perhop.Scenario.run`.
    fn run<'py>(&self, py: Python<'py>, progress: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyList>> {
        run::run(py, &self.chosen()?, &self.run_options(), progress)
    }

    /// What would have to be simulated, to be cut into tasks.
    fn cut(&self, py: Python<'_>) -> PyResult<Cut> {
        let points = self.chosen()?;
        let found = run::missing(py, &points, &self.run_options())?;
        Ok(Cut(cut::Cut::new(points.iter().map(|point| point.index).zip(found))))
    }
}

impl Scenario {
    fn read(py: Python<'_>, request: Request) -> PyResult<Self> {
        let Source { text, options } = &request.source;
        let given = options.overrides.iter().chain(&options.vary).map(|given| given.text.as_str());
        own::resolve(&given.fold(text.clone(), |all, text| all + "\n" + text))?;
        let refused = |found| match is_interrupted() {
            true => PyKeyboardInterrupt::new_err(()),
            false => diagnostics::error(py, &found),
        };
        let (sweep, found) = request.source.read().map_err(refused)?;
        let sweep = request.asked.named(sweep).map_err(diagnostics::refused)?;
        Ok(Self { request, read: Arc::new(Read { sweep, points: OnceLock::new(), found }) })
    }

    /// What was read, changed to this.
    fn with(&self, sweep: Sweep) -> Arc<Read> {
        Arc::new(Read { sweep, points: OnceLock::new(), found: self.read.found.clone() })
    }

    fn all(&self) -> &[Point] {
        self.read.points.get_or_init(|| self.read.sweep.points())
    }

    fn chosen(&self) -> PyResult<Vec<Point>> {
        self.request.asked.chosen(self.all()).map_err(diagnostics::refused)
    }

    /// A session of it, at time zero.
    pub fn session(&self) -> Result<Session, SessionError> {
        Session::begin(&self.read.sweep, &self.request.source.text, &self.request.source.options())
    }

    fn run_options(&self) -> RunOptions {
        run_options(&self.request.asked, &self.read.sweep, &self.request.source.options, run::now())
    }
}

/// What Python states as JSON.
///
/// # Errors
/// `ValueError`: it is something else.
pub fn json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn invalid(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Lays an object over another, down to single values.
fn merge(at: &mut Value, changes: Value) {
    match (at, changes) {
        (Value::Object(at), Value::Object(changes)) => {
            changes.into_iter().for_each(|(key, value)| merge(at.entry(key).or_insert(Value::Null), value));
        }
        (at, changes) => *at = changes,
    }
}

/// `[scenario]` with every effective value, times in seconds.
pub fn settings<'py>(py: Python<'py>, scenario: &perhop_scenario::Scenario) -> PyResult<Bound<'py, PyDict>> {
    let (settings, out) = (scenario.settings(), PyDict::new(py));
    out.set_item("name", scenario.name())?;
    out.set_item("duration_s", settings.duration.seconds())?;
    out.set_item("warmup_s", settings.warmup.seconds())?;
    out.set_item("seed", settings.seed)?;
    out.set_item("replications", *settings.replications)?;
    out.set_item("accounting", settings.accounting.name())?;
    out.set_item("sample_s", settings.sample.map(|every| every.seconds()))?;
    Ok(out)
}

/// A point as a dictionary.
pub fn point<'py>(py: Python<'py>, point: &Point) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("labels", point.labels.clone())?;
    out.set_item("name", point.directory())?;
    out.set_item("hash", &point.hash)?;
    out.set_item("effective", point.scenario.effective())?;
    out.set_item("settings", settings(py, &point.scenario)?)?;
    Ok(out)
}

fn contract(py: Python<'_>, contract: contracts::Contract) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("conditioner", contract.conditioner)?;
    out.set_item("hop", contract.hop)?;
    out.set_item("rate_bit_s", contract.rate.bit_s())?;
    out.set_item("per", contract.per.name())?;
    out.set_item("classes", contract.classes)?;
    Ok(out)
}

fn passed(py: Python<'_>, passed: contracts::Passed) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("class", passed.class)?;
    out.set_item("hop", passed.hop)?;
    out.set_item("entry", passed.entry)?;
    out.set_item("acks", passed.acks)?;
    Ok(out)
}
