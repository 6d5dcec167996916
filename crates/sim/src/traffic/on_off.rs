//! On-off: constant rate while on, silence while off; both times exponential.
//!
//! | symbol | field  | unit  | default |
//! |--------|--------|-------|---------|
//! | r      | `rate` | bit/s | -       |
//! | L      | `size` | B     | -       |
//! | -      | `on`   | s     | -       |
//! | -      | `off`  | s     | -       |
//!
//! The mean rate is `rate * on / (on + off)`. Deviations: none; as ns-2's `Traffic/Exponential`, except that ns-2
//! rounds a burst to whole packets by construction and here it ends at the last packet within it.

use super::cbr::check;
use super::{Carrier, Carry, Offer, Step, Traffic, TrafficScope, mean_gap_ns};
use perhop_core::params::{ParamError, Params as Declared};
use perhop_core::rng::Rng;
use perhop_core::units::{BitRate, Bytes, Span, Time};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Rate while on, headers included (IP length).
    pub rate: BitRate,
    /// Packet size, headers included (IP length).
    pub size: Bytes,
    /// Mean time on.
    pub on: Span,
    /// Mean time off.
    pub off: Span,
}

/// One on-off source.
#[derive(Clone, Debug)]
pub struct OnOff {
    params: Params,
    gap_ns: f64,
    until: Time,
    carry: Carry,
}

impl Params {
    /// # Errors
    /// `rate` or `on` zero; `size` zero or above the largest packet.
    pub fn build(self, scope: &TrafficScope) -> Result<OnOff, ParamError> {
        check(self.rate, self.size, scope)?;
        ParamError::above_zero("on", self.on)?;
        let gap_ns = mean_gap_ns(self.size, self.rate);
        Ok(OnOff { params: self, gap_ns, until: Time::ZERO, carry: Carry::default() })
    }
}

impl OnOff {
    /// The start of the burst after a silence that begins at `now`.
    fn next_burst(&mut self, now: Time, rng: &mut Rng) -> Time {
        let start = self.carry.after(now, rng.exponential(self.params.off.ns() as f64));
        self.until = Carry::default().after(start, rng.exponential(self.params.on.ns() as f64));
        start
    }
}

impl Traffic for OnOff {
    type Params = Params;

    fn carrier(&self) -> Carrier {
        Carrier::Datagrams
    }

    fn largest_datagram(&self) -> Option<Bytes> {
        Some(self.params.size)
    }

    fn first(&mut self, start: Time, rng: &mut Rng) -> Time {
        self.next_burst(start, rng)
    }

    fn wake(&mut self, now: Time, rng: &mut Rng) -> Step {
        let next = self.carry.after(now, self.gap_ns);
        let next = if next <= self.until { next } else { self.next_burst(self.until.max(now), rng) };
        Step { offer: Offer::Datagram(self.params.size.get() as u32), next: Some(next) }
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &TrafficScope) -> Result<(), ParamError> {
        *self = Self { until: self.until, carry: self.carry, ..params.clone().build(scope)? };
        Ok(())
    }
}
