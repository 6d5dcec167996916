//! Design rules: a loop of TCP flows with a queue of the SVB family.

use perhop_core::design::fluid::Fluid;
use perhop_core::design::lemma31;
use pyo3::prelude::*;

/// TCP flows before a link: N, R in seconds, C in packets/s, all of the link theirs.
#[pyclass(frozen, module = "perhop._core")]
pub struct Loop(lemma31::Loop);

#[pymethods]
impl Loop {
    #[new]
    fn new(flows: f64, rtt: f64, capacity: f64) -> Self {
        Self(lemma31::Loop { flows, rtt, capacity, share: 1.0 })
    }

    /// p* of the fluid model; None without an equilibrium.
    fn equilibrium_p(&self) -> Option<f64> {
        self.0.equilibrium_p()
    }

    /// Lemma 3.1's threshold, packets; None without an equilibrium.
    fn critical_threshold(&self, alpha: f64) -> Option<f64> {
        self.0.critical_threshold(alpha)
    }

    /// The fluid model under a threshold of `v0` packets in equilibrium, its rate moved by 0.1 %: times in seconds, and
    /// the load as a share of the link; None without an equilibrium.
    fn fluid(&self, alpha: f64, v0: f64, seconds: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let queue = v0 / (1.0 - self.0.equilibrium_p()?);
        let model = Fluid { classes: vec![self.0], alpha: vec![alpha], queue, disturbance: 1e-3 };
        Some(model.run(seconds, EVERY)?.into_iter().map(|it| (it.at, it.load)).unzip())
    }
}

/// Distance of the instants of a trajectory, s.
const EVERY: f64 = 0.01;
