//! A conditioner that is a Python class.

use super::object::{Class, Object, wrong};
use super::views;
use perhop_core::conditioner::{self, foreign::Hooks};
use perhop_core::foreign::Argument;
use perhop_core::needs::Needs;
use perhop_core::packet::{FlowId, Packet};
use perhop_core::params::ParamError;
use perhop_core::units::Time;
use perhop_core::verdict::{Reason, Verdict};
use perhop_core::{Rng, Scope};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::sync::Arc;

#[derive(Debug)]
struct Conditioner {
    object: Object,
    forward: Py<PyAny>,
    /// Of hooks on packets.
    arguments: Py<PyTuple>,
    /// Whether it asks for what the simulator knows of senders.
    truth: bool,
}

/// # Errors
/// What its `__init__` raises.
pub(super) fn make(class: &Arc<Class>, values: &[Argument], scope: &Scope) -> Result<Box<dyn Hooks>, ParamError> {
    let object = Object::new(class, values, scope.port.clone())?;
    let made = Python::attach(|py| Conditioner::of(py, object));
    made.map(|made| Box::new(made) as _).map_err(|error| super::refused(class.name, values, &error))
}

impl Conditioner {
    fn of(py: Python<'_>, object: Object) -> PyResult<Self> {
        let truth = object.instance.bind(py).getattr("truth")?.is_truthy()?;
        let (forward, arguments) = (object.hook(py, "forward")?, views::of_conditioner(py)?);
        Ok(Self { object, forward, arguments, truth })
    }

    /// A hook that changes the packet and gives nothing.
    fn rewrite(&mut self, hook: &str, at: &conditioner::Passage<'_>, packet: &mut Packet, rng: &mut Rng) {
        let Self { object, arguments, .. } = self;
        object.call(Some(at.now), |py, it| {
            let call = || it.hook(py, hook)?.bind(py).call1(arguments.bind(py)).map(drop);
            views::during(at.into(), packet, rng, call)
        });
        object.plan(at.now);
    }
}

/// The verdict that `forward` gives: a colour is written on the packet.
fn verdict(said: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    let name = said.cast::<PyString>().ok().map(|said| said.to_str()).transpose()?;
    match (name, name.and_then(views::colour)) {
        (_, Some(colour)) => {
            views::colour_packet(colour);
            Ok(Verdict::Pass)
        }
        (Some("pass"), None) => Ok(Verdict::Pass),
        (Some("drop"), None) => Ok(Verdict::Drop(Reason::Policer)),
        _ => Err(wrong("forward", said, "a colour (\"green\", \"yellow\", \"red\"), \"pass\" or \"drop\"")),
    }
}

impl Hooks for Conditioner {
    fn forward(&mut self, at: &conditioner::Passage<'_>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let Self { object, forward, arguments, .. } = self;
        let said = object.call(Some(at.now), |py, _| {
            let call = || verdict(&forward.bind(py).call1(arguments.bind(py))?);
            views::during(at.into(), packet, rng, call)
        });
        object.plan(at.now);
        said.unwrap_or(Verdict::Pass)
    }

    fn reverse(&mut self, at: &conditioner::Passage<'_>, packet: &mut Packet, rng: &mut Rng) {
        self.rewrite("reverse", at, packet, rng);
    }

    fn departing(&mut self, at: &conditioner::Passage<'_>, packet: &mut Packet, rng: &mut Rng) {
        self.rewrite("departing", at, packet, rng);
    }

    fn on_timer(&mut self, now: Time) {
        self.object.call(Some(now), |py, it| it.instance.bind(py).call_method1("on_timer", (now.seconds(),)).map(drop));
        self.object.plan_again(now);
    }

    fn needs(&self) -> Needs {
        let has = |hook| self.object.class.has(hook);
        Needs::REVERSE.only_if(has("reverse"))
            | Needs::DEPARTURES.only_if(has("departing"))
            | Needs::TIMER.only_if(has("on_timer"))
            | Needs::TRUTH.only_if(self.truth)
    }

    fn poll_at(&self) -> Option<Time> {
        self.object.poll_at()
    }

    fn retune(&mut self, now: Time, values: &[Argument]) -> Result<(), ParamError> {
        self.object.retune(now, values)
    }

    fn forget(&mut self, flow: FlowId) {
        if self.object.class.has("forget") {
            self.object.call(None, |py, it| it.instance.bind(py).call_method1("forget", (flow.0,)).map(drop));
        }
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.object.gauges(each);
    }

    fn boxed(&self) -> Box<dyn Hooks> {
        let copy = self.object.copied();
        Python::attach(|py| Conditioner::of(py, copy)).map(|it| Box::new(it) as _).expect("its hooks were there before")
    }
}
