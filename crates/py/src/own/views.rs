//! What a hook is shown: the same few objects at each call, so that none is made on a packet's way.
//!
//! Packet and generator hold something only while a hook runs: who keeps one finds it empty.

use perhop_core::colour::Colour;
use perhop_core::dscp::Dscp;
use perhop_core::packet;
use perhop_core::{Rng, aqm, conditioner};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The classes of these objects, for whose types a hook is annotated.
pub(super) fn add_to(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Backlog>()?;
    m.add_class::<At>()?;
    m.add_class::<Passage>()?;
    m.add_class::<Packet>()?;
    m.add_class::<Random>()
}

/// The queue as an AQM sees it, without the packet in transmission.
#[pyclass(module = "perhop", get_all)]
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// Packets waiting.
    packets: u32,
    /// Bytes waiting.
    bytes: u64,
    /// Since when queue and link have been empty, s; None while busy.
    idle_since: Option<f64>,
    /// Whether the packet that arrives fits.
    room: bool,
    /// Whether the packet is ECN-capable.
    ecn: bool,
}

impl Backlog {
    fn set(&mut self, of: &aqm::Backlog) {
        let idle_since = of.idle_since.map(|since| since.seconds());
        *self = Self { packets: of.packets, bytes: of.bytes, idle_since, room: of.room, ecn: of.ecn };
    }
}

/// An arrival at a queue, or a departure from it.
#[pyclass(module = "perhop", get_all)]
#[derive(Debug)]
pub(super) struct At {
    /// Now, s.
    now: f64,
    /// When the packet arrived, s.
    arrived: f64,
    /// How long it has waited, s: 0 at its arrival.
    sojourn: f64,
    /// The queue without this packet.
    backlog: Py<Backlog>,
}

impl At {
    pub(super) fn new(py: Python<'_>) -> PyResult<Self> {
        Ok(Self { now: 0.0, arrived: 0.0, sojourn: 0.0, backlog: Py::new(py, Backlog::default())? })
    }

    pub(super) fn arrival(&mut self, py: Python<'_>, at: &aqm::Arrival) {
        (self.now, self.arrived, self.sojourn) = (at.now.seconds(), at.now.seconds(), 0.0);
        self.backlog.borrow_mut(py).set(&at.backlog);
    }

    pub(super) fn departure(&mut self, py: Python<'_>, at: &aqm::Departure) {
        let sojourn = at.now.since(at.arrived).seconds();
        (self.now, self.arrived, self.sojourn) = (at.now.seconds(), at.arrived.seconds(), sojourn);
        self.backlog.borrow_mut(py).set(&at.backlog);
    }

    pub(super) fn timer(&mut self, py: Python<'_>, now: f64, backlog: &aqm::Backlog) {
        (self.now, self.arrived, self.sojourn) = (now, now, 0.0);
        self.backlog.borrow_mut(py).set(backlog);
    }
}

/// A packet's passage by a conditioner.
#[pyclass(module = "perhop", get_all)]
#[derive(Debug, Default)]
pub(super) struct Passage {
    /// Now, s.
    now: f64,
    /// The flow in the port's direction, by number.
    flow: u32,
    /// The sender's smoothed round-trip time, s, of a class with `truth = True` and in the simulator.
    srtt: Option<f64>,
    /// Its retransmission time-out, s.
    rto: Option<f64>,
    /// Its congestion window, segments.
    cwnd: Option<f64>,
}

impl Passage {
    pub(super) fn set(&mut self, at: &conditioner::Passage<'_>) {
        let of = |what: fn(&conditioner::SenderTruth) -> f64| at.truth.map(what);
        *self = Self {
            now: at.now.seconds(),
            flow: at.flow.0,
            srtt: of(|it| it.srtt.seconds()),
            rto: of(|it| it.rto.seconds()),
            cwnd: of(|it| it.cwnd),
        };
    }
}

/// The packet. What is written to it outside of a hook is refused.
#[pyclass(module = "perhop")]
#[derive(Debug, Default)]
pub(super) struct Packet(pub(super) Option<packet::Packet>);

impl Packet {
    fn now(&self) -> PyResult<&packet::Packet> {
        self.0.as_ref().ok_or_else(gone)
    }

    fn now_mut(&mut self) -> PyResult<&mut packet::Packet> {
        self.0.as_mut().ok_or_else(gone)
    }
}

#[cold]
fn gone() -> PyErr {
    PyRuntimeError::new_err("a packet and a generator are there while their hook runs: keep what you need of them")
}

#[pymethods]
impl Packet {
    /// Bytes that meters count.
    #[getter]
    fn size(&self) -> PyResult<u32> {
        Ok(self.now()?.size)
    }

    /// Its flow, by number.
    #[getter]
    fn flow(&self) -> PyResult<u32> {
        Ok(self.now()?.flow.0)
    }

    /// Bytes of transport payload.
    #[getter]
    fn payload(&self) -> PyResult<u16> {
        Ok(self.now()?.payload)
    }

    /// TCP sequence number after its last byte.
    #[getter]
    fn seq_end(&self) -> PyResult<u32> {
        Ok(self.now()?.seq_end)
    }

    /// TCP acknowledgement number.
    #[getter]
    fn ack(&self) -> PyResult<u32> {
        Ok(self.now()?.ack)
    }

    /// Whether it is an ACK without data.
    #[getter]
    fn pure_ack(&self) -> PyResult<bool> {
        Ok(self.now()?.pure_ack())
    }

    /// Whether it is ECN-capable.
    #[getter]
    fn ecn(&self) -> PyResult<bool> {
        Ok(self.now()?.ecn.capable())
    }

    /// "green", "yellow", "red" or "unmarked".
    #[getter]
    fn colour(&self) -> PyResult<&'static str> {
        Ok(self.now()?.colour.name())
    }

    #[setter]
    fn set_colour(&mut self, name: &str) -> PyResult<()> {
        let colour = colour(name).ok_or_else(|| {
            PyValueError::new_err(format!("colour = {name:?}: it is \"green\", \"yellow\", \"red\" or \"unmarked\""))
        })?;
        self.now_mut()?.colour = colour;
        Ok(())
    }

    /// DSCP, 0 to 63.
    #[getter]
    fn dscp(&self) -> PyResult<u8> {
        Ok(self.now()?.dscp.get())
    }

    #[setter]
    fn set_dscp(&mut self, dscp: u8) -> PyResult<()> {
        let value = Dscp::new(dscp).ok_or_else(|| PyValueError::new_err(format!("dscp = {dscp}: it is 0 to 63")))?;
        self.now_mut()?.dscp = value;
        Ok(())
    }

    /// The label written at the ingress: a rate in bytes/s or tickets; None without one.
    #[getter]
    fn label(&self) -> PyResult<Option<f32>> {
        Ok(self.now()?.label())
    }

    #[setter]
    fn set_label(&mut self, label: f32) -> PyResult<()> {
        self.now_mut()?.set_label(label);
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A colour by its name.
pub(super) fn colour(name: &str) -> Option<Colour> {
    Colour::ALL.into_iter().find(|colour| colour.name() == name)
}

/// The random stream of the algorithm: the same seed, the same draws.
#[pyclass(module = "perhop")]
#[derive(Debug, Default)]
pub(super) struct Random(pub(super) Option<Rng>);

#[pymethods]
impl Random {
    /// Uniform in [0, 1).
    fn random(&mut self) -> PyResult<f64> {
        self.0.as_mut().map(Rng::uniform).ok_or_else(gone)
    }

    /// Exponential with this mean.
    fn exponential(&mut self, mean: f64) -> PyResult<f64> {
        self.0.as_mut().map(|rng| rng.exponential(mean)).ok_or_else(gone)
    }
}

/// The objects that packets' hooks share.
#[derive(Debug)]
pub(super) struct Views {
    pub(super) packet: Py<Packet>,
    pub(super) rng: Py<Random>,
}

impl Views {
    pub(super) fn new(py: Python<'_>) -> PyResult<Self> {
        Ok(Self { packet: Py::new(py, Packet::default())?, rng: Py::new(py, Random::default())? })
    }

    /// Shows packet and generator while `hook` runs, and takes back what it did to them.
    pub(super) fn during<T>(
        &self,
        py: Python<'_>,
        packet: &mut packet::Packet,
        rng: &mut Rng,
        hook: impl FnOnce() -> PyResult<T>,
    ) -> PyResult<T> {
        self.packet.borrow_mut(py).0 = Some(*packet);
        self.rng.borrow_mut(py).0 = Some(rng.clone());
        let made = hook();
        if let Some(shown) = self.packet.borrow_mut(py).0.take() {
            *packet = shown;
        }
        if let Some(shown) = self.rng.borrow_mut(py).0.take() {
            *rng = shown;
        }
        made
    }
}
