//! An AQM that is a Python class.

use super::object::{Class, Object, wrong};
use super::views::{At, Views};
use perhop_core::aqm::foreign::Hooks;
use perhop_core::aqm::{Arrival, Backlog, Departure};
use perhop_core::foreign::Given;
use perhop_core::needs::Needs;
use perhop_core::packet::Packet;
use perhop_core::params::ParamError;
use perhop_core::units::Time;
use perhop_core::{Rng, verdict};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::Arc;
use verdict::{Fate, Reason, Verdict};

#[derive(Debug)]
struct Aqm {
    object: Object,
    on_arrival: Py<PyAny>,
    on_departure: Option<Py<PyAny>>,
    on_fate: Option<Py<PyAny>>,
    at: Py<At>,
    views: Views,
}

/// # Errors
/// What its `__init__` raises.
pub(super) fn make(class: &Arc<Class>, values: &[Given]) -> Result<Box<dyn Hooks>, ParamError> {
    let object = Object::new(class, values)?;
    let made = Python::attach(|py| Aqm::of(py, object));
    made.map(|made| Box::new(made) as _).map_err(|error| super::refused(class.name, values, &error))
}

impl Aqm {
    fn of(py: Python<'_>, object: Object) -> PyResult<Self> {
        let own = |hook: &str| object.class.has(hook).then(|| object.hook(py, hook)).transpose();
        let (on_departure, on_fate) = (own("on_departure")?, own("on_fate")?);
        let on_arrival = object.hook(py, "on_arrival")?;
        let (at, views) = (Py::new(py, At::new(py)?)?, Views::new(py)?);
        Ok(Self { object, on_arrival, on_departure, on_fate, at, views })
    }
}

/// The verdict that a hook gives.
fn verdict(hook: &str, said: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    match said.cast::<PyString>().ok().map(|said| said.to_str()).transpose()? {
        Some("pass") => Ok(Verdict::Pass),
        Some("mark") => Ok(Verdict::Mark),
        Some("drop") => Ok(Verdict::Drop(Reason::Early)),
        _ => Err(wrong(hook, said, "\"pass\", \"mark\" or \"drop\"")),
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
        let Self { object, on_arrival, at: shown, views, .. } = self;
        let said = object.call(Some(at.now), |py, _| {
            shown.borrow_mut(py).arrival(py, at);
            views.during(py, packet, rng, || {
                let said = on_arrival.bind(py).call1((&*shown, &views.packet, &views.rng))?;
                verdict("on_arrival", &said)
            })
        });
        object.plan(at.now);
        said.unwrap_or(Verdict::Pass)
    }

    fn on_fate(&mut self, at: &Arrival, packet: &Packet, of: Fate) {
        let Self { object, on_fate: Some(on_fate), at: shown, views, .. } = self else { return };
        object.call(Some(at.now), |py, _| {
            shown.borrow_mut(py).arrival(py, at);
            views.packet.borrow_mut(py).0 = Some(*packet);
            let done = on_fate.bind(py).call1((&*shown, &views.packet, fate(of)));
            views.packet.borrow_mut(py).0 = None;
            done.map(drop)
        });
        object.plan(at.now);
    }

    fn on_departure(&mut self, at: &Departure, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let Self { object, on_departure: Some(on_departure), at: shown, views, .. } = self else {
            return Verdict::Pass;
        };
        let said = object.call(Some(at.now), |py, _| {
            shown.borrow_mut(py).departure(py, at);
            views.during(py, packet, rng, || {
                let said = on_departure.bind(py).call1((&*shown, &views.packet, &views.rng))?;
                verdict("on_departure", &said)
            })
        });
        object.plan(at.now);
        said.unwrap_or(Verdict::Pass)
    }

    fn on_timer(&mut self, now: Time, backlog: &Backlog) {
        let Self { object, at: shown, .. } = self;
        object.call(Some(now), |py, it| {
            shown.borrow_mut(py).timer(py, now.seconds(), backlog);
            it.instance.bind(py).call_method1("on_timer", (&*shown,)).map(drop)
        });
        object.plan(now);
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES.only_if(self.on_departure.is_some()) | Needs::TIMER.only_if(self.object.class.has("on_timer"))
    }

    fn poll_at(&self) -> Option<Time> {
        self.object.poll_at()
    }

    fn retune(&mut self, now: Time, values: &[Given]) -> Result<(), ParamError> {
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
