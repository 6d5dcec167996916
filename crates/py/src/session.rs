//! A simulation that a user steps, as `perhop.Session` has it: Python's lock is released while it runs.

use crate::own::is_interrupted;
use crate::run::{self, POLL, instant};
use crate::{RunError, columns, diagnostics, scenario};
use perhop_results::classes::Classes;
use perhop_results::columns::Table;
use perhop_runs::session::{self, SessionError};
use perhop_scenario::knobs::Goal;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A session of one point.
#[pyclass(frozen, module = "perhop._core")]
pub struct Session(Mutex<session::Session>);

/// A copy of one.
#[pyclass(frozen, module = "perhop._core")]
pub struct Snapshot(Mutex<session::Snapshot>);

/// A point and its replication.
type Finished<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>);

#[pymethods]
impl Session {
    #[new]
    fn new(py: Python<'_>, of: &scenario::Scenario) -> PyResult<Self> {
        let begun = py.detach(|| of.session());
        Ok(Self(Mutex::new(begun.map_err(|it| error(py, it))?)))
    }

    /// The time it has reached, s.
    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<f64> {
        self.held()?.now().map(|now| now.seconds()).map_err(|it| error(py, it))
    }

    /// The names of its ports.
    #[getter]
    fn ports(&self) -> PyResult<Vec<String>> {
        Ok(self.held()?.ports().into_iter().map(str::to_owned).collect())
    }

    /// Runs until a time since the start.
    fn until(&self, py: Python<'_>, time: &str) -> PyResult<()> {
        self.advance(py, Some(Goal::Until(time)))
    }

    /// Runs for a time.
    fn step(&self, py: Python<'_>, time: &str) -> PyResult<()> {
        self.advance(py, Some(Goal::Step(time)))
    }

    /// Makes a change, `KEY=VALUE`; its warnings.
    fn set<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let found = self.held()?.set(text).map_err(|it| error(py, it))?;
        diagnostics::list(py, &found)
    }

    /// What a port counted since this table of it was last asked for.
    fn port_counters<'py>(&self, py: Python<'py>, port: usize, table: &str) -> PyResult<Bound<'py, PyDict>> {
        made(py, self.held()?.port_counters(port, table))
    }

    /// What a sample sees of a port now.
    fn port_gauges<'py>(&self, py: Python<'py>, port: usize) -> PyResult<Bound<'py, PyDict>> {
        made(py, self.held()?.port_gauges(port))
    }

    /// One of these; None where there is none, or it is a scheduler's.
    #[pyo3(signature = (port, quantity, conditioner))]
    fn port_gauge(
        &self,
        py: Python<'_>,
        port: usize,
        quantity: &str,
        conditioner: Option<&str>,
    ) -> PyResult<Option<f64>> {
        self.held()?.port_gauge(port, quantity, conditioner).map_err(|it| error(py, it))
    }

    /// What the flows counted since they were last asked for.
    fn flow_counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        made(py, self.held()?.flow_counters())
    }

    /// What a sample sees of the flows now.
    fn flow_gauges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        made(py, self.held()?.flow_gauges())
    }

    /// A copy as it is now.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        self.held()?.snapshot().map(|copy| Snapshot(Mutex::new(copy))).map_err(|it| error(py, it))
    }

    /// Continues from a copy.
    fn restore(&self, py: Python<'_>, snapshot: &Snapshot) -> PyResult<()> {
        let copy = snapshot.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.held()?.restore(&copy).map_err(|it| error(py, it))
    }

    /// Runs to the end: the point with all that was changed, and its replication.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Finished<'py>> {
        self.advance(py, None)?;
        let mut held = self.held()?;
        let session = &mut *held;
        let (point, mut made) = py.detach(|| session.finish()).map_err(|it| error(py, it))?;
        made.tables.push(Classes::new(&point.scenario).of(&made.tables));
        Ok((scenario::point(py, &point)?, run::dict(py, made)?))
    }
}

impl Session {
    /// One caller has it at a time.
    fn held(&self) -> PyResult<MutexGuard<'_, session::Session>> {
        self.0.try_lock().map_err(|held| match held {
            TryLockError::WouldBlock => RunError::new_err(
                "the session is running: another thread, a signal handler or a hook called it meanwhile; wait until its \
                 call has returned",
            ),
            TryLockError::Poisoned(_) => RunError::new_err("the session has ended with a panic: begin another one"),
        })
    }

    /// Runs to a goal, or to the end; between whiles Ctrl-C is heard.
    fn advance(&self, py: Python<'_>, goal: Option<Goal<'_>>) -> PyResult<()> {
        let mut held = self.held()?;
        let goal = goal.map_or_else(|| held.now().map(|_| held.duration()), |goal| held.goal(goal));
        let (goal, session) = (goal.map_err(|it| error(py, it))?, &mut *held);
        loop {
            // A short step ends before it is asked whether to go on, and reads no clock.
            let mut began = None;
            let go_on = || began.get_or_insert_with(instant).elapsed() < POLL;
            if py.detach(|| session.advance(goal, go_on)).map_err(|it| ended(py, it))? {
                return Ok(());
            }
            py.check_signals()?;
        }
    }
}

/// A stretch that has failed, or a hook that Ctrl-C has ended.
fn ended(py: Python<'_>, error: SessionError) -> PyErr {
    let said = self::error(py, error);
    if is_interrupted() { PyKeyboardInterrupt::new_err(said.value(py).to_string()) } else { said }
}

fn made(py: Python<'_>, table: Result<Table, SessionError>) -> PyResult<Bound<'_, PyDict>> {
    columns::columns(py, &table.map_err(|it| error(py, it))?)
}

fn error(py: Python<'_>, error: SessionError) -> PyErr {
    match error {
        SessionError::Said(found) => diagnostics::error(py, &found),
        SessionError::Asked(message) => PyValueError::new_err(message),
        SessionError::Over(message) => RunError::new_err(message),
        SessionError::Run(error) => run::error(*error),
    }
}
