//! A checked scenario.

use crate::options::options;
use crate::{diagnostics, run};
use perhop_runs::disk::Identity;
use perhop_runs::run::RunOptions;
use perhop_scenario::{Options, Override, Point, Sweep, contracts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::OnceLock;

/// What a scenario is made of, for another process: text, file name, overrides, axes, keys of its lines, run name.
type Recipe = (String, String, Vec<String>, Vec<String>, Vec<Vec<String>>, Option<String>);

/// A checked scenario with the points of its sweep.
#[pyclass(frozen)]
pub struct Scenario {
    text: String,
    sweep: Sweep,
    /// Its points, once they were asked for: a cluster's worker runs some of them at a time, of many.
    points: OnceLock<Vec<Point>>,
    options: Options,
    found: perhop_scenario::Diagnostics,
}

#[pymethods]
impl Scenario {
    /// `keys` are the parts of the key in each line of a text that was written from a dictionary; `axes` are as those of
    /// `vary`, given to `sweep`.
    #[new]
    #[allow(clippy::too_many_arguments)] // a file, or a text with the keys of its lines
    #[pyo3(signature = (text, file_name, overrides, vary, keys=Vec::new(), axes=Vec::new()))]
    fn new(
        py: Python<'_>,
        text: &str,
        file_name: &str,
        overrides: Vec<String>,
        vary: Vec<String>,
        keys: Vec<Vec<String>>,
        axes: Vec<String>,
    ) -> PyResult<Self> {
        let options = Options { keys, ..options(file_name, &overrides, &vary, &axes) };
        let (sweep, found) = Sweep::parse(text, &options).map_err(|found| diagnostics::error(py, &found))?;
        Ok(Self { text: text.to_owned(), sweep, points: OnceLock::new(), options, found })
    }

    /// The same with another seed.
    fn seeded(&self, seed: u64) -> PyResult<Self> {
        let sweep = self.sweep.clone().seeded(seed).map_err(PyValueError::new_err)?;
        let options = self.options.clone().setting("seed", &seed.to_string());
        Ok(Self { text: self.text.clone(), sweep, points: OnceLock::new(), options, found: self.found.clone() })
    }

    /// The same under a name, that of its directories.
    fn named(&self, name: &str) -> PyResult<Self> {
        let sweep = self.sweep.clone().named(name).map_err(PyValueError::new_err)?;
        let (text, options) = (self.text.clone(), self.options.clone());
        Ok(Self { text, sweep, points: OnceLock::new(), options, found: self.found.clone() })
    }

    /// What makes the same scenario in another process.
    #[getter]
    fn recipe(&self) -> Recipe {
        let Options { file_name, overrides, vary, keys } = self.options.clone();
        let texts = |given: Vec<Override>| given.into_iter().map(|it| it.text).collect();
        let (overrides, vary) = (texts(overrides), texts(vary));
        (self.text.clone(), file_name, overrides, vary, keys, self.sweep.run_name().map(str::to_owned))
    }

    /// Name of the run's directory.
    #[getter]
    fn name(&self) -> &str {
        self.sweep.base.name()
    }

    /// `[scenario]` with every effective value, times in seconds.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        settings(py, &self.sweep.base)
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
        diagnostics::list(py, &self.found)
    }

    /// Every value in force, as TOML.
    fn effective(&self) -> String {
        self.sweep.base.effective()
    }

    /// What was stated, overrides applied.
    fn to_toml(&self) -> String {
        self.sweep.to_toml()
    }

    /// The rate that each conditioner commits to, with the classes it may take.
    #[getter]
    fn contracts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let dicts = contracts::contracts(&self.sweep.base).into_iter().map(|c| contract(py, c));
        PyList::new(py, dicts.collect::<PyResult<Vec<_>>>()?)
    }

    /// The ports that each class's data passes.
    #[getter]
    fn passed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let dicts = contracts::passed(&self.sweep.base).into_iter().map(|p| passed(py, p));
        PyList::new(py, dicts.collect::<PyResult<Vec<_>>>()?)
    }

    /// Effective values, every queue on a path, bucket times.
    fn explain(&self) -> String {
        perhop_scenario::explain_sweep(&self.sweep)
    }

    /// Its network on Linux, as JSON: see `perhop_scenario::as_tc::Linux`.
    fn as_tc(&self) -> PyResult<String> {
        let linux = perhop_scenario::as_tc::of_sweep(&self.sweep);
        linux.map(|linux| linux.to_json()).map_err(|refused| PyValueError::new_err(refused.join("\n")))
    }

    /// Simulates every point, or those with these numbers; see `perhop.Scenario.run`.
    #[pyo3(signature = (replications, jobs, out, resume, progress, events = false, ef = Vec::new(), points = None))]
    #[allow(clippy::too_many_arguments)] // Python's keywords
    fn run<'py>(
        &self,
        py: Python<'py>,
        replications: (u32, u32),
        jobs: usize,
        out: Option<PathBuf>,
        resume: bool,
        progress: Option<Py<PyAny>>,
        events: bool,
        ef: Vec<String>,
        points: Option<Vec<usize>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (replications, identity) = (replications.0..replications.1, self.identity());
        let options = RunOptions { replications, jobs, out, resume, identity, taps: Vec::new(), events, ef };
        run::run(py, &self.chosen(points)?, &options, progress)
    }

    /// The replications of each point that are not in `out` yet.
    #[pyo3(signature = (replications, jobs, out, events = false, ef = Vec::new(), points = None))]
    #[allow(clippy::too_many_arguments)] // Python's keywords
    fn missing(
        &self,
        py: Python<'_>,
        replications: (u32, u32),
        jobs: usize,
        out: PathBuf,
        events: bool,
        ef: Vec<String>,
        points: Option<Vec<usize>>,
    ) -> PyResult<Vec<Vec<u32>>> {
        let (replications, identity, out) = (replications.0..replications.1, self.identity(), Some(out));
        let options = RunOptions { replications, jobs, out, resume: true, identity, taps: Vec::new(), events, ef };
        run::missing(py, &self.chosen(points)?, &options)
    }
}

impl Scenario {
    fn identity(&self) -> Identity {
        Identity::of(&self.sweep, &self.options, run::now())
    }

    fn all(&self) -> &[Point] {
        self.points.get_or_init(|| self.sweep.points())
    }

    /// The points with these numbers; all without.
    fn chosen(&self, numbers: Option<Vec<usize>>) -> PyResult<Vec<Point>> {
        let all = self.all();
        let Some(numbers) = numbers else { return Ok(all.to_vec()) };
        let no = |n| PyValueError::new_err(format!("no point {n}: there are {}, counted from 0", all.len()));
        numbers.into_iter().map(|n| all.get(n).cloned().ok_or_else(|| no(n))).collect()
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

fn point<'py>(py: Python<'py>, point: &Point) -> PyResult<Bound<'py, PyDict>> {
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
