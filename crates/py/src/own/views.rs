//! What a hook is shown: handles of what this thread is at, so that nothing is made on a packet's way and nothing is
//! read that the hook does not ask for.
//!
//! Packet and generator are there only while a hook runs: who keeps a handle finds nothing behind it.

use perhop_core::Rng;
use perhop_core::aqm::{self, Arrival, Departure};
use perhop_core::colour::Colour;
use perhop_core::conditioner::{self, SenderTruth};
use perhop_core::dscp::Dscp;
use perhop_core::packet::{self, FlowId};
use perhop_core::units::Time;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::RefCell;

/// When and where a hook is called.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    now: Time,
    arrived: Time,
    backlog: aqm::Backlog,
    flow: FlowId,
    truth: Option<SenderTruth>,
}

impl From<&Arrival> for Moment {
    fn from(at: &Arrival) -> Self {
        Self { now: at.now, arrived: at.now, backlog: at.backlog, ..Self::default() }
    }
}

impl From<&Departure> for Moment {
    fn from(at: &Departure) -> Self {
        Self { now: at.now, arrived: at.arrived, backlog: at.backlog, ..Self::default() }
    }
}

impl From<&conditioner::Passage<'_>> for Moment {
    fn from(at: &conditioner::Passage<'_>) -> Self {
        Self { now: at.now, flow: at.flow, truth: at.truth.copied(), ..Self::default() }
    }
}

impl Moment {
    /// That of a timer.
    pub(super) fn of_timer(now: Time, backlog: &aqm::Backlog) -> Self {
        Self { now, arrived: now, backlog: *backlog, ..Self::default() }
    }
}

/// What this thread's hook is called with.
#[derive(Debug, Default)]
struct HookArguments {
    moment: Moment,
    packet: Option<packet::Packet>,
    rng: Option<Rng>,
}

thread_local! {
    static SHOWN: RefCell<HookArguments> = RefCell::default();
}

fn moment<T>(of: impl FnOnce(&Moment) -> T) -> T {
    SHOWN.with_borrow(|shown| of(&shown.moment))
}

/// Shows packet and generator while `hook` runs, and takes back what it did to them.
pub(super) fn during<T>(moment: Moment, packet: &mut packet::Packet, rng: &mut Rng, hook: impl FnOnce() -> T) -> T {
    let shown = HookArguments { moment, packet: Some(*packet), rng: Some(rng.clone()) };
    let before = SHOWN.replace(shown);
    let made = hook();
    let after = SHOWN.replace(before);
    *packet = after.packet.unwrap_or(*packet);
    if let Some(after) = after.rng {
        *rng = after;
    }
    made
}

/// Shows a packet that cannot be changed, or none, while `hook` runs.
pub(super) fn showing<T>(moment: Moment, packet: Option<&packet::Packet>, hook: impl FnOnce() -> T) -> T {
    let before = SHOWN.replace(HookArguments { moment, packet: packet.copied(), rng: None });
    let made = hook();
    SHOWN.replace(before);
    made
}

/// The colour that a hook gives is written on the packet.
pub(super) fn colour_packet(colour: Colour) {
    SHOWN.with_borrow_mut(|shown| shown.packet.iter_mut().for_each(|packet| packet.colour = colour));
}

/// The classes of these handles, for whose types a hook is annotated.
pub(super) fn add_to(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Backlog>()?;
    m.add_class::<At>()?;
    m.add_class::<Passage>()?;
    m.add_class::<Packet>()?;
    m.add_class::<Random>()
}

/// The queue as an AQM sees it, without this packet and without the one in transmission.
#[pyclass(module = "perhop", frozen)]
#[derive(Debug)]
struct Backlog;

#[pymethods]
impl Backlog {
    /// Packets waiting.
    #[getter]
    fn packets(&self) -> u32 {
        moment(|it| it.backlog.packets)
    }

    /// Bytes waiting.
    #[getter]
    fn bytes(&self) -> u64 {
        moment(|it| it.backlog.bytes)
    }

    /// Since when queue and link have been empty, s; None while busy.
    #[getter]
    fn idle_since(&self) -> Option<f64> {
        moment(|it| it.backlog.idle_since.map(|since| since.seconds()))
    }

    /// Whether the packet that arrives fits.
    #[getter]
    fn room(&self) -> bool {
        moment(|it| it.backlog.room)
    }

    /// Whether the packet is ECN-capable.
    #[getter]
    fn ecn(&self) -> bool {
        moment(|it| it.backlog.ecn)
    }
}

/// An arrival at a queue, a departure from it, or the time of a timer.
#[pyclass(module = "perhop", frozen)]
#[derive(Debug)]
pub(super) struct At {
    backlog: Py<Backlog>,
}

#[pymethods]
impl At {
    /// Now, s.
    #[getter]
    fn now(&self) -> f64 {
        moment(|it| it.now.seconds())
    }

    /// When the packet arrived, s.
    #[getter]
    fn arrived(&self) -> f64 {
        moment(|it| it.arrived.seconds())
    }

    /// How long it has waited, s: 0 at its arrival.
    #[getter]
    fn sojourn(&self) -> f64 {
        moment(|it| it.now.since(it.arrived).seconds())
    }

    /// The queue without this packet.
    #[getter]
    fn backlog(&self, py: Python<'_>) -> Py<Backlog> {
        self.backlog.clone_ref(py)
    }
}

/// A packet's passage by a conditioner.
#[pyclass(module = "perhop", frozen)]
#[derive(Debug)]
pub(super) struct Passage;

#[pymethods]
impl Passage {
    /// Now, s.
    #[getter]
    fn now(&self) -> f64 {
        moment(|it| it.now.seconds())
    }

    /// The flow in the port's direction, by number.
    #[getter]
    fn flow(&self) -> u32 {
        moment(|it| it.flow.0)
    }

    /// The sender's smoothed round-trip time, s, of a class with `truth = True` and in the simulator.
    #[getter]
    fn srtt(&self) -> Option<f64> {
        moment(|it| it.truth.map(|truth| truth.srtt.seconds()))
    }

    /// Its retransmission time-out, s.
    #[getter]
    fn rto(&self) -> Option<f64> {
        moment(|it| it.truth.map(|truth| truth.rto.seconds()))
    }

    /// Its congestion window, segments.
    #[getter]
    fn cwnd(&self) -> Option<f64> {
        moment(|it| it.truth.map(|truth| truth.cwnd))
    }
}

#[cold]
fn gone() -> PyErr {
    PyRuntimeError::new_err("a packet and a generator are there while their hook runs: keep what you need of them")
}

fn packet<T>(of: impl FnOnce(&packet::Packet) -> T) -> PyResult<T> {
    SHOWN.with_borrow(|shown| shown.packet.as_ref().map(of)).ok_or_else(gone)
}

fn change(what: impl FnOnce(&mut packet::Packet)) -> PyResult<()> {
    SHOWN.with_borrow_mut(|shown| shown.packet.as_mut().map(what)).ok_or_else(gone)
}

/// The packet, while a hook runs.
#[pyclass(module = "perhop", frozen)]
#[derive(Debug)]
pub(super) struct Packet;

#[pymethods]
impl Packet {
    /// Bytes that meters count.
    #[getter]
    fn size(&self) -> PyResult<u32> {
        packet(|it| it.size)
    }

    /// Its flow, by number.
    #[getter]
    fn flow(&self) -> PyResult<u32> {
        packet(|it| it.flow.0)
    }

    /// Bytes of transport payload.
    #[getter]
    fn payload(&self) -> PyResult<u16> {
        packet(|it| it.payload)
    }

    /// TCP sequence number after its last byte.
    #[getter]
    fn seq_end(&self) -> PyResult<u32> {
        packet(|it| it.seq_end)
    }

    /// TCP acknowledgement number.
    #[getter]
    fn ack(&self) -> PyResult<u32> {
        packet(|it| it.ack)
    }

    /// Whether it is an ACK without data.
    #[getter]
    fn pure_ack(&self) -> PyResult<bool> {
        packet(packet::Packet::pure_ack)
    }

    /// Whether it is ECN-capable.
    #[getter]
    fn ecn(&self) -> PyResult<bool> {
        packet(|it| it.ecn.capable())
    }

    /// "green", "yellow", "red" or "unmarked".
    #[getter]
    fn colour(&self) -> PyResult<&'static str> {
        packet(|it| it.colour.name())
    }

    #[setter]
    fn set_colour(&self, name: &str) -> PyResult<()> {
        let colour = colour(name).ok_or_else(|| {
            PyValueError::new_err(format!("colour = {name:?}: it is \"green\", \"yellow\", \"red\" or \"unmarked\""))
        })?;
        change(|it| it.colour = colour)
    }

    /// DSCP, 0 to 63.
    #[getter]
    fn dscp(&self) -> PyResult<u8> {
        packet(|it| it.dscp.get())
    }

    #[setter]
    fn set_dscp(&self, dscp: u8) -> PyResult<()> {
        let value = Dscp::new(dscp).ok_or_else(|| PyValueError::new_err(format!("dscp = {dscp}: it is 0 to 63")))?;
        change(|it| it.dscp = value)
    }

    /// The label written at the ingress: a rate in bytes/s or tickets; None without one.
    #[getter]
    fn label(&self) -> PyResult<Option<f32>> {
        packet(packet::Packet::label)
    }

    #[setter]
    fn set_label(&self, label: f32) -> PyResult<()> {
        if !(0.0..=f32::MAX).contains(&label) {
            return Err(PyValueError::new_err(format!("label = {label}: it is a finite number from 0 on")));
        }
        change(|it| it.set_label(label))
    }

    fn __repr__(&self) -> String {
        SHOWN.with_borrow(|shown| format!("{:?}", shown.packet))
    }
}

/// A colour by its name.
pub(super) fn colour(name: &str) -> Option<Colour> {
    Colour::ALL.into_iter().find(|colour| colour.name() == name)
}

fn draw(of: impl FnOnce(&mut Rng) -> f64) -> PyResult<f64> {
    SHOWN.with_borrow_mut(|shown| shown.rng.as_mut().map(of)).ok_or_else(gone)
}

/// The random stream of the algorithm, while a hook runs: the same seed, the same draws.
#[pyclass(module = "perhop", frozen)]
#[derive(Debug)]
pub(super) struct Random;

#[pymethods]
impl Random {
    /// Uniform in [0, 1).
    fn random(&self) -> PyResult<f64> {
        draw(Rng::uniform)
    }

    /// Exponential with this mean.
    fn exponential(&self, mean: f64) -> PyResult<f64> {
        draw(|rng| rng.exponential(mean))
    }
}

/// The arguments of an AQM's hooks on packets, made once.
pub(super) fn of_aqm(py: Python<'_>) -> PyResult<Py<PyTuple>> {
    let at = At { backlog: Py::new(py, Backlog)? };
    Ok((Py::new(py, at)?, Py::new(py, Packet)?, Py::new(py, Random)?).into_pyobject(py)?.unbind())
}

/// Those of a conditioner's.
pub(super) fn of_conditioner(py: Python<'_>) -> PyResult<Py<PyTuple>> {
    Ok((Py::new(py, Passage)?, Py::new(py, Packet)?, Py::new(py, Random)?).into_pyobject(py)?.unbind())
}
