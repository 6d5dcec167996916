//! PI: a proportional-integral controller. The probability is adjusted at fixed intervals until the queue settles at its
//! reference, whatever the load.
//!
//! Source: Hollot, Misra, Towsley and Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows",
//! INFOCOM 2001: the digital form of its controller.
//!
//! ```text
//! every T:     p(k) = a (q(k) - qref) - b (q(k-1) - qref) + p(k-1),  0 <= p <= 1
//! on arrival:  mark or drop with probability p
//! ```
//!
//! | symbol | field         | unit       | default    |
//! |--------|---------------|------------|------------|
//! | qref   | `reference`   | p, B, s, % | -          |
//! | a      | `a`           | 1/p        | 0.00001822 |
//! | b      | `b`           | 1/p        | 0.00001816 |
//! | T      | `interval`    | s          | 6250us     |
//! |        | `mean-packet` | B          | 1000B      |
//! |        | `ecn`         | -          | false      |
//!
//! a, b and T (1/160 s) are the paper's, designed for at least 60 flows, a round-trip time of at most 246 ms and 3750
//! packets/s. The paper's reference is 200 packets. ns-2 2.35 has the same a and b, and by default 1/170 s and 50
//! packets. With `reference` in bytes or time the queue is measured in packets of `mean-packet`. b must be below a:
//! their difference is the integral part, without which the queue could settle anywhere.
//!
//! Deviations: none. The queue is sampled when the timer expires, without the packet in transmission.

use super::early::{Level, Unit, same_unit};
use crate::Scope;
use crate::aqm::{Aqm, Arrival, Backlog};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Length, Span, Time};
use crate::verdict::{Reason, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Target queue length.
    pub reference: Length,
    /// Weight of the present distance from the reference, by packet.
    #[param(default = 0.00001822)]
    pub a: f64,
    /// Weight of the distance one interval ago, by packet; below `a`.
    #[param(default = 0.00001816)]
    pub b: f64,
    /// Time between two changes of the probability.
    #[param(default = "6250us")]
    pub interval: Span,
    /// If `reference` is in bytes or time: size of a packet.
    #[param(default = "1000B")]
    pub mean_packet: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped.
    #[param(default = false)]
    pub ecn: bool,
}

/// One queue's PI.
#[derive(Clone, Debug)]
pub struct Pi {
    a: f64,
    b: f64,
    interval: Span,
    unit: Unit,
    /// Of a packet, in the unit.
    one: f64,
    reference: f64,
    early: Verdict,
    p: f64,
    /// Distance from the reference at the last change, packets.
    before: f64,
    next: Time,
}

impl Params {
    /// # Errors
    /// E201 for a negative `b`, an `interval` or `mean-packet` of 0; E214 unless `b` is below `a`; E215 when `reference`
    /// is not below the queue's limit; E218 when it needs a link rate or limit that is not known.
    pub fn build(self, scope: &Scope) -> Result<Pi, ParamError> {
        ParamError::at_least("b", self.b, 0.0)?;
        if self.b >= self.a {
            return Err(ParamError::new("b", "E214", format!("`b` {} is not below `a` {}", self.b, self.a))
                .help("a - b is the integral's gain: it must be above 0"));
        }
        ParamError::above_zero("interval", self.interval)?;
        ParamError::above_zero("mean-packet", self.mean_packet)?;
        let level = Level::of("reference", self.reference, scope)?;
        level.below_limit(("reference", self.reference), scope)?;
        let one = level.unit.of(1, self.mean_packet.get());
        let early = if self.ecn { Verdict::Mark } else { Verdict::Drop(Reason::Early) };
        let (reference, next) = (level.value / one, Time::ZERO + self.interval);
        let Self { a, b, interval, .. } = self;
        Ok(Pi { a, b, interval, unit: level.unit, one, reference, early, p: 0.0, before: -reference, next })
    }
}

impl Aqm for Pi {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, _at: Turn<&Arrival>, _packet: &mut Packet, rng: &mut Rng) -> Verdict {
        if rng.uniform() < self.p { self.early } else { Verdict::Pass }
    }

    fn on_timer(&mut self, now: Turn<Time>, backlog: &Backlog) {
        let distance = self.unit.of(backlog.packets, backlog.bytes) / self.one - self.reference;
        self.p = (self.a * distance - self.b * self.before + self.p).clamp(0.0, 1.0);
        self.before = distance;
        self.next = *now + self.interval;
    }

    fn needs(&self) -> Needs {
        Needs::TIMER
    }

    fn poll_at(&self) -> Option<Time> {
        Some(self.next)
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let reference = Level { unit: self.unit, value: self.reference * self.one };
        reference.out_of_reach("reference", scope).into_iter().collect()
    }

    /// The probability stays, the distance is taken from the new reference; a new interval begins with the next change.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        same_unit(self.unit, new.unit, "reference")?;
        (new.p, new.next) = (self.p, self.next);
        new.before = self.before + (self.reference - new.reference);
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("drop_p", self.p);
    }
}
