//! Runs: the simulation on separate threads, while Python's thread listens for Ctrl-C.

use crate::RunError;
use crate::columns::Tables;
use perhop_results::Replication;
use perhop_results::classes::Classes;
use perhop_runs::run::{self, Progress, RunOptions, Watch};
use perhop_scenario::Point;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, Thread};
use std::time::{Duration, Instant, SystemTime};

/// How long Ctrl-C and progress may wait.
pub const POLL: Duration = Duration::from_millis(50);

/// The number that Python gives this thread.
pub fn identity(py: Python<'_>) -> PyResult<u64> {
    py.import("threading")?.call_method0("get_ident")?.extract()
}

/// Raises `KeyboardInterrupt` in another thread, as soon as it carries out a line of Python.
pub fn wake(py: Python<'_>, thread: u64) -> PyResult<()> {
    let of = py.import("ctypes")?.getattr("py_object")?;
    raise_in(py, thread, &of.call1((py.get_type::<PyKeyboardInterrupt>(),))?)
}

/// Nothing is raised in this thread that [`wake`] would have raised later.
pub fn calm(py: Python<'_>) -> PyResult<()> {
    raise_in(py, identity(py)?, py.None().bind(py))
}

fn raise_in(py: Python<'_>, thread: u64, what: &Bound<'_, PyAny>) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let number = ctypes.getattr("c_ulong")?.call1((thread,))?;
    ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (number, what)).map(drop)
}

/// The progress of the run, and whether it should end: written on one side, read on the other.
struct Shared {
    /// The number that Python gives the thread of the work.
    worker: AtomicU64,
    done: AtomicUsize,
    stop: AtomicBool,
    began: Instant,
    listener: Thread,
}

impl Watch for Shared {
    fn progress(&self, progress: Progress) {
        self.done.fetch_max(progress.done, Relaxed);
        self.listener.unpark();
    }

    fn stop(&self) -> bool {
        self.stop.load(Relaxed)
    }

    fn clock(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Shared {
    fn new() -> Self {
        let (worker, done, stop) = (AtomicU64::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        Self { worker, done, stop, began: instant(), listener: thread::current() }
    }
}

/// Wall time goes to manifests and decides when Ctrl-C is heard; it is in no result.
#[allow(clippy::disallowed_methods)]
pub fn instant() -> Instant {
    Instant::now()
}

/// The time of day, for manifests.
#[allow(clippy::disallowed_methods)]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// Simulates every point without holding Python's lock.
pub fn run<'py>(
    py: Python<'py>,
    points: &[Point],
    options: &RunOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (shared, total) = (Shared::new(), points.len() * options.replications.len());
    let report = Report { progress, total };
    let (finished, heard) =
        py.detach(|| watched(|| run::run(points, options, &shared).map_err(Box::new), &shared, &report));
    heard?;
    let classes: Vec<_> = points.iter().map(|point| Classes::new(&point.scenario)).collect();
    let out = PyList::empty(py);
    for mut it in finished.map_err(|e| error(*e))? {
        it.tables.push(classes[it.point].of(&it.tables));
        it.point = points[it.point].index;
        out.append(dict(py, it)?)?;
    }
    Ok(out)
}

/// What is not on disk yet, of each point.
pub fn missing(py: Python<'_>, points: &[Point], options: &RunOptions) -> PyResult<Vec<Vec<u32>>> {
    let (shared, report) = (Shared::new(), Report { progress: None, total: 0 });
    let look = || run::missing(points, options, &shared).map_err(Box::new);
    let (found, heard) = py.detach(|| watched(look, &shared, &report));
    heard?;
    found.map_err(|e| error(*e))
}

/// Work that ends early when the flag becomes true, which Ctrl-C does.
///
/// # Errors
/// `KeyboardInterrupt`.
pub fn heard<T: Send>(py: Python<'_>, work: impl FnOnce(&AtomicBool) -> T + Send) -> PyResult<T> {
    let (shared, report) = (Shared::new(), Report { progress: None, total: 0 });
    let (result, heard) = py.detach(|| watched(|| work(&shared.stop), &shared, &report));
    heard.map(|()| result)
}

/// Works on another thread, while this one (Python's main thread, which alone hears Ctrl-C) listens: also after the
/// end, so that the last progress is told however short the work was.
fn watched<T: Send>(work: impl FnOnce() -> T + Send, shared: &Shared, report: &Report) -> (T, PyResult<()>) {
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // Python knows this thread while it works: a hook then calls it at once.
            let result = Python::attach(|py| {
                shared.worker.store(identity(py).unwrap_or(0), Relaxed);
                py.detach(work)
            });
            shared.listener.unpark();
            result
        });
        let listen = || Python::attach(|py| report.listen(py, shared.done.load(Relaxed)));
        let mut heard = Ok(());
        while !worker.is_finished() {
            thread::park_timeout(POLL);
            heard = heard.and_then(|()| listen());
            if heard.is_err() {
                shared.stop.store(true, Relaxed);
                // A hook that does not end hears nothing of that.
                Python::attach(|py| wake(py, shared.worker.load(Relaxed))).unwrap_or_default();
            }
        }
        let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (result, heard.and_then(|()| listen()))
    })
}

/// Receives the progress of the run.
struct Report {
    progress: Option<Py<PyAny>>,
    total: usize,
}

impl Report {
    /// # Errors
    /// `KeyboardInterrupt`, or what the callback raised.
    fn listen(&self, py: Python<'_>, done: usize) -> PyResult<()> {
        py.check_signals()?;
        match &self.progress {
            Some(progress) => progress.call1(py, (done, self.total)).map(drop),
            None => Ok(()),
        }
    }
}

/// The exception of a run that failed.
pub fn error(error: run::RunError) -> PyErr {
    match error {
        run::RunError::Interrupted { .. } => PyKeyboardInterrupt::new_err(error.to_string()),
        run::RunError::Asked(what) => PyValueError::new_err(what.to_string()),
        run::RunError::Write { .. } => PyOSError::new_err(error.to_string()),
        _ => RunError::new_err(error.to_string()),
    }
}

/// A replication as a dictionary.
pub fn dict(py: Python<'_>, replication: Replication) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("point", replication.point)?;
    out.set_item("replication", replication.replication)?;
    out.set_item("hash", replication.hash)?;
    out.set_item("reused", replication.reused)?;
    out.set_item("note", replication.note.as_deref())?;
    out.set_item("directory", replication.dir.as_ref().map(|it| it.as_os_str()))?;
    out.set_item("tables", Tables::new(replication.tables))?;
    Ok(out)
}
