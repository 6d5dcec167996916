//! Series: queue lengths and gauges at a fixed interval.

use crate::engine::Simulation;
use perhop_core::aqm::Aqm as _;
use perhop_core::units::Time;

/// One value at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// Index of the link.
    pub link: u32,
    /// Name of the conditioner; `None` for the queue and its AQM.
    pub conditioner: Option<String>,
    /// What, with its unit.
    pub quantity: &'static str,
    /// The value.
    pub value: f64,
}

impl Simulation {
    /// Samples every link's queue, its AQM's gauges and its conditioners' gauges.
    pub(crate) fn sample(&mut self, at: Time) {
        for (i, link) in self.links.iter_mut().enumerate() {
            let samples = &mut self.samples;
            let mut add = |conditioner: Option<&str>, quantity, value| {
                samples.push(Sample { at, link: i as u32, conditioner: conditioner.map(Into::into), quantity, value });
            };
            let backlog = link.backlog(at);
            add(None, "queue_packets", f64::from(backlog.packets));
            add(None, "queue_bytes", backlog.bytes as f64);
            link.gate.aqm().gauges(at, &mut |quantity, value| add(None, quantity, value));
            link.edge.gauges(at, &mut |name, quantity, value| add(Some(name), quantity, value));
        }
    }
}
