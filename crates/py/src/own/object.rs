//! An instance of a class, and the calls of its hooks.

use super::callers::attach;
use super::{arguments, refused};
use perhop_core::fault::{self, Fault};
use perhop_core::foreign::Argument;
use perhop_core::params::ParamError;
use perhop_core::units::Time;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

thread_local! {
    static INTERRUPTED: Cell<bool> = const { Cell::new(false) };
    static LOOKS: Cell<Looks> = const { Cell::new(Looks { calls: 0, next: 1 }) };
}

/// Which calls of hooks are looked at, as looking costs as much as a hundred of them: ever fewer, some 300 of a million.
#[derive(Clone, Copy, Debug)]
struct Looks {
    calls: u64,
    next: u64,
}

impl Looks {
    const fn next(self) -> Self {
        let (calls, next) = (self.calls + 1, self.next);
        Self { calls, next: if calls > next { next + 1 + next / 20 } else { next } }
    }

    const fn is_now(self) -> bool {
        self.calls == self.next
    }
}

/// Calls a hook, which must not draw from generators that all of Python shares: what comes of it could not be repeated.
#[cold]
fn repeatable<T>(py: Python<'_>, hook: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let state = || py.import("perhop.own")?.call_method0("generators");
    let before = state()?;
    let made = hook()?;
    if before.eq(state()?)? {
        return Ok(made);
    }
    let said = "it draws from `random` or `numpy.random`, which are not the replication's, so no run could be repeated";
    Err(PyRuntimeError::new_err(format!(
        "{said}: draw from the hook's `rng`, or from random.Random(1) made in __init__"
    )))
}

/// Whether Ctrl-C has ended a hook on this thread since this was last asked.
pub fn is_interrupted() -> bool {
    INTERRUPTED.take()
}

/// A class that is registered.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: &'static str,
    pub(super) object: Py<PyAny>,
    /// The hooks that it defines.
    pub(super) hooks: Vec<String>,
}

impl Class {
    pub(super) fn has(&self, hook: &str) -> bool {
        self.hooks.iter().any(|it| it == hook)
    }
}

/// A running instance.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) class: Arc<Class>,
    pub(super) instance: Py<PyAny>,
    /// Where it stands, if that is a port.
    port: Option<Arc<str>>,
    /// A hook has failed: no more is asked, and each call says so again, as a fault of the set-up is no fault of the run yet.
    broken: Option<Box<Fault>>,
    /// It has a timer.
    timed: bool,
    /// What its `poll_at` said last.
    next: Option<Time>,
}

impl Object {
    /// # Errors
    /// What `__init__` raises.
    pub(super) fn new(class: &Arc<Class>, values: &[Argument], port: Option<Arc<str>>) -> Result<Self, ParamError> {
        LOOKS.set(Looks { calls: 0, next: 1 });
        INTERRUPTED.set(false);
        let made = attach(|py| {
            let made = class.object.call(py, (), Some(&arguments(py, values)?));
            made.inspect_err(|error| INTERRUPTED.set(is_interrupt(py, error)))
        });
        let instance = made.map_err(|error| refused(class.name, values, &error))?;
        let (class, timed) = (class.clone(), class.has("on_timer"));
        let mut object = Self { class, instance, port, broken: None, timed, next: None };
        object.plan(Time::ZERO);
        Ok(object)
    }

    /// A hook as it is called.
    pub(super) fn hook(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        Ok(self.instance.bind(py).getattr(name)?.unbind())
    }

    /// Calls what may fail; `None` where it fails now or has before.
    pub(super) fn call<T>(
        &mut self,
        at: Option<Time>,
        work: impl FnOnce(Python<'_>, &Self) -> PyResult<T>,
    ) -> Option<T> {
        if self.is_broken() {
            return None;
        }
        let looks = LOOKS.get().next();
        LOOKS.set(looks);
        attach(|py| {
            let made = if looks.is_now() { repeatable(py, || work(py, self)) } else { work(py, self) };
            made.inspect_err(|error| self.fail(py, at, error)).ok()
        })
    }

    fn is_broken(&self) -> bool {
        self.broken.iter().for_each(|fault| fault::raise((**fault).clone()));
        self.broken.is_some() || self.is_over()
    }

    /// Whether a signal ends the run: no other hook of it is called then.
    fn is_over(&self) -> bool {
        let over = INTERRUPTED.get() || perhop_app::terminal::watch::interrupted().load(Relaxed);
        if over {
            fault::raise(self.fault(None, "interrupted".to_owned()));
        }
        over
    }

    #[cold]
    fn fail(&mut self, py: Python<'_>, at: Option<Time>, error: &PyErr) {
        INTERRUPTED.set(is_interrupt(py, error));
        let fault = self.fault(at, traceback(py, error));
        self.broken = Some(Box::new(fault.clone()));
        fault::raise(fault);
    }

    fn fault(&self, at: Option<Time>, what: String) -> Fault {
        Fault { at, algorithm: self.class.name, port: self.port.clone(), what }
    }

    /// As [`Object::plan`], after `on_timer`: the next time is later, as else the simulation's time would stand still.
    pub(super) fn plan_again(&mut self, now: Time) {
        self.plan(now);
        if self.next.is_some_and(|next| next <= now) {
            self.next = None;
            let said = format!("poll_at gave {} s again, after on_timer at that time", now.seconds());
            let error = PyValueError::new_err(format!("{said}: it must give a later time, or None"));
            attach(|py| self.fail(py, Some(now), &error));
        }
    }

    /// Asks when it wants its timer; after every hook, of a class that has one.
    pub(super) fn plan(&mut self, now: Time) {
        if !self.timed {
            return;
        }
        let asked = self.call(Some(now), |py, it| {
            let said = it.instance.bind(py).call_method0("poll_at")?;
            let at: Option<f64> = said.extract().map_err(|_| wrong("poll_at", &said, "a time in s, or None"))?;
            at.map(|at| time(at, now)).transpose()
        });
        self.next = asked.flatten();
    }

    pub(super) fn poll_at(&self) -> Option<Time> {
        self.next
    }

    /// # Errors
    /// The class has no `retune`, or it refuses.
    pub(super) fn retune(&mut self, now: Time, values: &[Argument]) -> Result<(), ParamError> {
        let field = values.first().map_or("", |given| given.name);
        if !self.class.has("retune") {
            let message = format!("`{}` takes no new parameters while it runs", self.class.name);
            let help = "give the class a method retune(self, now, **parameters)";
            return Err(ParamError::new(field, "E202", message).help(help));
        }
        let done = attach(|py| {
            let given = arguments(py, values)?;
            self.instance.bind(py).call_method("retune", (now.seconds(),), Some(&given)).map(drop)
        });
        done.map_err(|error| refused(self.class.name, values, &error))?;
        self.plan(now);
        Ok(())
    }

    pub(super) fn gauges(&self, each: &mut dyn FnMut(&'static str, f64)) {
        if !self.class.has("gauges") {
            return;
        }
        let values = self.ask(|py, it| {
            let said = it.instance.bind(py).call_method0("gauges")?;
            let values = said.cast::<PyDict>().ok().and_then(|said| {
                let value =
                    |(name, value): (Bound<'_, _>, Bound<'_, _>)| Some((name.extract().ok()?, value.extract().ok()?));
                said.iter().map(value).collect::<Option<Vec<(String, f64)>>>()
            });
            values.ok_or_else(|| wrong("gauges", &said, "a dictionary of numbers by name"))
        });
        values.unwrap_or_default().into_iter().for_each(|(name, value)| each(named(name), value));
    }

    /// Asks without changing anything; `None` where it fails.
    pub(super) fn ask<T>(&self, work: impl FnOnce(Python<'_>, &Self) -> PyResult<T>) -> Option<T> {
        if self.is_broken() {
            return None;
        }
        attach(|py| {
            let made = work(py, self);
            made.inspect_err(|error| fault::raise(self.fault(None, traceback(py, error)))).ok()
        })
    }

    /// The same with a separate state: Python's `copy.deepcopy`. One that cannot be copied fails at its next hook.
    pub(super) fn copied(&self) -> Self {
        let copy = |py: Python<'_>| py.import("copy")?.call_method1("deepcopy", (&self.instance,)).map(Bound::unbind);
        let (class, port, timed, next) = (self.class.clone(), self.port.clone(), self.timed, self.next);
        let made = attach(|py| copy(py).map_err(|error| traceback(py, &error)));
        match made {
            Ok(instance) => Self { class, instance, port, broken: self.broken.clone(), timed, next },
            Err(what) => {
                let fault = self.fault(None, what);
                fault::raise(fault.clone());
                let instance = attach(|py| self.instance.clone_ref(py));
                Self { class, instance, port, broken: Some(Box::new(fault)), timed, next: None }
            }
        }
    }
}

fn is_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyKeyboardInterrupt>(py)
}

/// A time that a hook gives.
fn time(at: f64, now: Time) -> PyResult<Time> {
    let ns = at * 1e9;
    if !(0.0..1e19).contains(&ns) {
        return Err(PyValueError::new_err(format!("poll_at gave {at}: a time in s, from 0 on")));
    }
    let at = Time::from_ns(ns.round() as u64);
    if at < now {
        let said = format!("poll_at gave {} s at {} s: it must not be in the past", at.seconds(), now.seconds());
        return Err(PyValueError::new_err(said));
    }
    Ok(at)
}

/// The answer of a hook is not what it gives.
#[cold]
pub(super) fn wrong(hook: &str, said: &Bound<'_, PyAny>, gives: &str) -> PyErr {
    let shown = said.repr().map_or_else(|_| "something".to_owned(), |shown| shown.to_string());
    PyTypeError::new_err(format!("{hook} gave {shown}: it gives {gives}"))
}

/// Python's own words for what went wrong.
fn traceback(py: Python<'_>, error: &PyErr) -> String {
    let lines = || -> PyResult<Vec<String>> {
        let parts = (error.get_type(py), error.value(py), error.traceback(py));
        py.import("traceback")?.call_method1("format_exception", parts)?.extract()
    };
    lines().map_or_else(|_| error.to_string(), |lines| lines.concat().trim_end().to_owned())
}

/// A name that lives as long as the program, each once.
fn named(name: String) -> &'static str {
    static NAMES: std::sync::Mutex<Vec<&'static str>> = std::sync::Mutex::new(Vec::new());
    let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == name) {
        return known;
    }
    let name: &'static str = Box::leak(name.into_boxed_str());
    names.push(name);
    name
}
