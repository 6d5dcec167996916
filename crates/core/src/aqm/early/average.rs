//! The average queue of RED, with the correction for idle time.
//!
//! Source: Floyd and Jacobson 1993, section 4 and figure 2.
//!
//! ```text
//! queue idle before this arrival:  avg = avg (1 - wq)^m,  m = idle time x link rate / mean packet
//! then, at every arrival:          avg = avg + wq (q - avg)
//! ```
//!
//! q is the queue length before the arriving packet is added.
//!
//! Deviations: m is a real number (ns-2 rounds it down). Idle time counts once: after a packet was dropped at an idle
//! link, the m of the next arrival starts from that drop. In the paper both start from the beginning of the idle
//! time.

use super::found;
use super::level::{Unit, link_rate};
use crate::Scope;
use crate::aqm::Arrival;
use crate::estimate::Ewma;
use crate::params::ParamError;
use crate::units::{Bytes, NS_PER_S, Time};

/// Names of the series of a whole queue's average, in packets and in bytes.
pub const WHOLE: [&str; 2] = ["avg_queue_packets", "avg_queue_bytes"];

/// Name of the series of a whole queue's average in `unit`.
pub fn whole(unit: Unit) -> &'static str {
    WHOLE[usize::from(unit == Unit::Bytes)]
}

/// Counts the packets that an idle link could have sent.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    packets_per_ns: f64,
    last: Time,
}

impl Idle {
    /// A clock for packets of `mean_packet` on the link of `scope`.
    ///
    /// # Errors
    /// E201 when `mean_packet` is zero, E218 when the link's rate is not known.
    pub fn new(mean_packet: Bytes, scope: &Scope) -> Result<Self, ParamError> {
        ParamError::above_zero("mean-packet", mean_packet)?;
        let rate = link_rate("mean-packet", scope)?;
        let packets_per_ns = rate.bytes_s() / mean_packet.get() as f64 / NS_PER_S as f64;
        Ok(Self { packets_per_ns, last: Time::ZERO })
    }

    /// m of this arrival; zero if queue or link was busy.
    #[inline]
    pub fn missed(&mut self, at: &Arrival) -> f64 {
        let missed = self.since(at.now, at.backlog.idle_since);
        self.last = at.now;
        missed
    }

    /// m of an arrival at `now` at a queue that has been idle since then.
    #[inline]
    fn since(&self, now: Time, idle_since: Option<Time>) -> f64 {
        idle_since.map_or(0.0, |since| now.since(since.max(self.last)).ns() as f64 * self.packets_per_ns)
    }

    /// Continues from the state of `other`: idle time not yet counted will count at the new rate.
    pub fn resume(&mut self, other: &Self) {
        self.last = other.last;
    }
}

/// The average length of a whole queue.
#[derive(Clone, Debug)]
pub struct Average {
    unit: Unit,
    ewma: Ewma,
    idle: Idle,
}

impl Average {
    /// An average at zero.
    pub fn new(unit: Unit, weight: f64, idle: Idle) -> Self {
        Self { unit, ewma: Ewma::new(weight, 0.0), idle }
    }

    /// Takes an arrival; returns the new average.
    #[inline]
    pub fn on_arrival(&mut self, at: &Arrival) -> f64 {
        let missed = self.idle.missed(at);
        if missed > 0.0 {
            self.ewma.decay(0.0, missed);
        }
        self.ewma.update(found(at, self.unit))
    }

    /// Takes a sample at another time than an arrival; returns the new average.
    #[inline]
    pub fn sample(&mut self, queue: f64) -> f64 {
        self.ewma.update(queue)
    }

    /// The average at the last sample.
    pub fn value(&self) -> f64 {
        self.ewma.value()
    }

    /// The average that an arrival would find before it is counted: of a queue that is idle it has fallen since the last one.
    pub fn at(&self, now: Time, idle_since: Option<Time>) -> f64 {
        { self.ewma }.decay(0.0, self.idle.since(now, idle_since))
    }

    /// What it is measured in.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Continues from the value of `other`.
    pub fn resume(&mut self, other: &Self) {
        self.ewma = Ewma::new(self.ewma.weight(), other.ewma.value());
        self.idle.resume(&other.idle);
    }

    /// Name of its series.
    pub fn gauge(&self) -> &'static str {
        whole(self.unit)
    }
}
