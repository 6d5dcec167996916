//! An AQM that is a Python class.

use super::object::{Class, Object, wrong};
use super::views::{self, Moment};
use perhop_core::aqm::foreign::Hooks;
use perhop_core::aqm::{Arrival, Backlog, Departure};
use perhop_core::foreign::Argument;
use perhop_core::needs::Needs;
use perhop_core::packet::Packet;
use perhop_core::params::ParamError;
use perhop_core::units::Time;
use perhop_core::{Rng, Scope, verdict};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::sync::Arc;
use verdict::{Fate, Reason, Verdict};

#[derive(Debug)]
struct Aqm {
    object: Object,
    on_arrival: Py<PyAny>,
    on_departure: Option<Py<PyAny>>,
    on_fate: Option<Py<PyAny>>,
    /// Of hooks on packets.
    arguments: Py<PyTuple>,
}

/// # Errors
/// What its `__init__` raises.
pub(super) fn make(class: &Arc<Class>, values: &[Argument], scope: &Scope) -> Result<Box<dyn Hooks>, ParamError> {
    let object = Object::new(class, values, scope.port.clone())?;
    let made = Python::attach(|py| Aqm::of(py, object));
    made.map(|made| Box::new(made) as _).map_err(|error| super::refused(class.name, values, &error))
}

impl Aqm {
    fn of(py: Python<'_>, object: Object) -> PyResult<Self> {
        let own = |hook: &str| object.class.has(hook).then(|| object.hook(py, hook)).transpose();
        let (on_departure, on_fate) = (own("on_departure")?, own("on_fate")?);
        let on_arrival = object.hook(py, "on_arrival")?;
        let arguments = views::of_aqm(py)?;
        Ok(Self { object, on_arrival, on_departure, on_fate, arguments })
    }
}

/// The verdict that a hook gives: mostly one of these very texts.
fn verdict(hook: &str, said: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    let py = said.py();
    let same = |text: &Bound<'_, PyString>| said.is(text) || said.eq(text).unwrap_or(false);
    match () {
        () if said.is(intern!(py, "pass")) => Ok(Verdict::Pass),
        () if same(intern!(py, "drop")) => Ok(Verdict::Drop(Reason::Early)),
        () if same(intern!(py, "mark")) => Ok(Verdict::Mark),
        () if same(intern!(py, "pass")) => Ok(Verdict::Pass),
        () => Err(wrong(hook, said, "\"pass\", \"mark\" or \"drop\"")),
    }
}

/// The fate of a packet, in words.
const fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Queued => "queued",
        Fate::Marked => "marked",
        Fate::Dropped(_) => "dropped",
    }
}

impl Hooks for Aqm {
    fn on_arrival(&mut self, at: &Arrival, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let Self { object, on_arrival, arguments, .. } = self;
        let said = object.call(Some(at.now), |py, _| {
            let call = || verdict("on_arrival", &on_arrival.bind(py).call1(arguments.bind(py))?);
            views::during(at.into(), packet, rng, call)
        });
        object.plan(at.now);
        said.unwrap_or(Verdict::Pass)
    }

    fn on_fate(&mut self, at: &Arrival, packet: &Packet, of: Fate) {
        let Self { object, on_fate: Some(on_fate), arguments, .. } = self else { return };
        object.call(Some(at.now), |py, _| {
            let shown = arguments.bind(py);
            let call = || on_fate.bind(py).call1((shown.get_item(0)?, shown.get_item(1)?, fate(of))).map(drop);
            views::showing(at.into(), Some(packet), call)
        });
        object.plan(at.now);
    }

    fn on_departure(&mut self, at: &Departure, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let Self { object, on_departure: Some(on_departure), arguments, .. } = self else { return Verdict::Pass };
        let said = object.call(Some(at.now), |py, _| {
            let call = || verdict("on_departure", &on_departure.bind(py).call1(arguments.bind(py))?);
            views::during(at.into(), packet, rng, call)
        });
        object.plan(at.now);
        said.unwrap_or(Verdict::Pass)
    }

    fn on_timer(&mut self, now: Time, backlog: &Backlog) {
        let Self { object, arguments, .. } = self;
        object.call(Some(now), |py, it| {
            let at = arguments.bind(py).get_item(0)?;
            let call = || it.instance.bind(py).call_method1("on_timer", (at,)).map(drop);
            views::showing(Moment::of_timer(now, backlog), None, call)
        });
        object.plan_again(now);
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES.only_if(self.on_departure.is_some()) | Needs::TIMER.only_if(self.object.class.has("on_timer"))
    }

    fn poll_at(&self) -> Option<Time> {
        self.object.poll_at()
    }

    fn retune(&mut self, now: Time, values: &[Argument]) -> Result<(), ParamError> {
        self.object.retune(now, values)
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.object.gauges(each);
    }

    fn boxed(&self) -> Box<dyn Hooks> {
        let copy = self.object.copied();
        Python::attach(|py| Aqm::of(py, copy)).map(|it| Box::new(it) as _).expect("its hooks were there before")
    }
}
