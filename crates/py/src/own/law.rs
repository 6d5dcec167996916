//! A congestion law that is a Python class.

use super::object::{Class, Object, wrong};
use perhop_core::foreign::Argument;
use perhop_core::params::ParamError;
use perhop_core::units::Span;
use perhop_sim::transport::congestion::foreign::Hooks;
use perhop_sim::transport::congestion::{self, Signal};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// The classes of what a hook is shown.
pub(super) fn add_to(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Heard>()?;
    m.add_class::<Window>()
}

/// What has happened to a sender.
#[pyclass(module = "perhop", get_all)]
#[derive(Debug, Default)]
struct Heard {
    /// Now, s.
    now: f64,
    /// Segments newly acknowledged; 0 unless it is an ACK.
    acked: u32,
    /// Those of them that were marked.
    marked: u32,
    /// The least of congestion window and advertised window, segments.
    usable: f64,
    /// Smoothed round trip, s; None without an estimate.
    srtt: Option<f64>,
    /// Least round trip so far, s.
    min_rtt: Option<f64>,
    /// Round trip of the newest segment that this ACK acknowledges, s.
    sample: Option<f64>,
}

impl From<&Signal> for Heard {
    fn from(signal: &Signal) -> Self {
        let of = |span: Option<Span>| span.map(|span| span.seconds());
        Self {
            now: signal.now.seconds(),
            acked: signal.acked,
            marked: signal.marked,
            usable: signal.usable,
            srtt: of(signal.srtt),
            min_rtt: of(signal.min_rtt),
            sample: of(signal.sample),
        }
    }
}

/// The window of a sender, segments.
#[pyclass(module = "perhop", get_all, set_all)]
#[derive(Debug, Default)]
struct Window {
    /// Congestion window.
    cwnd: f64,
    /// Slow-start threshold.
    ssthresh: f64,
}

#[derive(Debug)]
struct Law {
    object: Object,
    heard: Py<Heard>,
    window: Py<Window>,
}

/// # Errors
/// What its `__init__` raises.
pub(super) fn make(class: &Arc<Class>, values: &[Argument]) -> Result<Box<dyn Hooks>, ParamError> {
    let object = Object::new(class, values, None)?;
    let made = Python::attach(|py| Law::of(py, object));
    made.map(|made| Box::new(made) as _).map_err(|error| super::refused(class.name, values, &error))
}

impl Law {
    fn of(py: Python<'_>, object: Object) -> PyResult<Self> {
        Ok(Self { object, heard: Py::new(py, Heard::default())?, window: Py::new(py, Window::default())? })
    }

    /// Calls a hook, which may set the window.
    fn hear(&mut self, hook: &str, signal: &Signal, window: &mut congestion::Window) {
        let Self { object, heard, window: shown } = self;
        let set = object.call(Some(signal.now), |py, it| {
            *heard.borrow_mut(py) = signal.into();
            *shown.borrow_mut(py) = Window { cwnd: window.cwnd, ssthresh: window.ssthresh };
            it.instance.bind(py).call_method1(hook, (&*heard, &*shown))?;
            let Window { cwnd, ssthresh } = *shown.borrow(py);
            let wrong =
                |why| Err(PyValueError::new_err(format!("{hook} left cwnd = {cwnd}, ssthresh = {ssthresh}: {why}")));
            match (cwnd, ssthresh) {
                (cwnd, ssthresh) if !(cwnd.is_finite() && cwnd > 0.0 && ssthresh > 0.0) => {
                    wrong("both are above 0, cwnd is finite")
                }
                (cwnd, _) if matches!(hook, "on_ack" | "on_ecn") && cwnd < 1.0 => {
                    wrong("cwnd is at least 1 there, as with less nothing may ever be sent again")
                }
                (cwnd, ssthresh) => Ok(congestion::Window { cwnd, ssthresh }),
            }
        });
        *window = set.unwrap_or(*window);
    }
}

impl Hooks for Law {
    fn on_ack(&mut self, signal: &Signal, window: &mut congestion::Window) {
        self.hear("on_ack", signal, window);
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut congestion::Window) {
        self.hear("on_loss", signal, window);
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut congestion::Window) {
        self.hear("on_timeout", signal, window);
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut congestion::Window) {
        self.hear("on_ecn", signal, window);
    }

    fn pacing_rate(&self, mss: u16) -> Option<u64> {
        if !self.object.class.has("pacing_rate") {
            return None;
        }
        self.object.ask(|py, it| {
            let said = it.instance.bind(py).call_method1("pacing_rate", (mss,))?;
            let rate: Option<f64> = said.extract().map_err(|_| wrong("pacing_rate", &said, "bytes/s, or None"))?;
            match rate {
                Some(rate) if !(1.0..1e18).contains(&rate) => {
                    Err(wrong("pacing_rate", &said, "at least 1 byte/s, or None"))
                }
                rate => Ok(rate.map(|rate| rate as u64)),
            }
        })?
    }

    fn boxed(&self) -> Box<dyn Hooks> {
        let copy = self.object.copied();
        Python::attach(|py| Law::of(py, copy)).map(|it| Box::new(it) as _).expect("its hooks were there before")
    }
}
