//! On-off: a constant rate while on and silence while off; both periods are exponential.
//!
//! | symbol | field  | unit  | default |
//! |--------|--------|-------|---------|
//! | r      | `rate` | bit/s | -       |
//! | L      | `size` | B     | -       |
//! | -      | `on`   | s     | -       |
//! | -      | `off`  | s     | -       |
//!
//! A source produces data at `rate` while it is on, and a packet leaves when its last bit is produced. An incomplete
//! packet waits for the next burst. So the mean rate is `rate * on / (on + off)` for bursts of any length, even
//! shorter than a packet. A uniform part of the first packet counts as already produced.
//!
//! Deviations: none from this definition. ns-2's `Traffic/Exponential` draws the packets of a burst, an exponential
//! number of mean m = on / gap, rounded and at least 1: 1 + exp(-1.5/m) / (1 - exp(-1/m)) on average, each followed by a
//! gap. The difference is 7 % of the mean rate for `on` of two gaps and `off` of six, and below 0.01 % for `on` of a
//! hundred gaps.
//!
//! Decision: docs/decisions/033-on-off-keeps-its-mean.md

use super::cbr::check;
use super::{Carrier, Carry, Offer, Step, Traffic, TrafficModel, TrafficScope, mean_gap_ns};
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
    /// Time on before the next packet is whole, ns; below 1 it is.
    lacks_ns: f64,
    /// End of the burst.
    until: Time,
    on: Carry,
    off: Carry,
}

impl Params {
    /// # Errors
    /// `rate` or `on` zero; `size` zero or above the largest packet; packets less than 1 ns apart.
    pub fn build(self, scope: &TrafficScope) -> Result<OnOff, ParamError> {
        check(self.rate, self.size, scope)?;
        ParamError::above_zero("on", self.on)?;
        let gap_ns = mean_gap_ns(self.size, self.rate);
        let (on, off) = (Carry::default(), Carry::default());
        Ok(OnOff { params: self, gap_ns, lacks_ns: gap_ns, until: Time::ZERO, on, off })
    }
}

impl OnOff {
    /// The start of the burst after a silence that begins at `now`.
    fn next_burst(&mut self, now: Time, rng: &mut Rng) -> Time {
        let start = self.off.after(now, rng.exponential(self.params.off.ns() as f64));
        self.until = self.on.after(start, rng.exponential(self.params.on.ns() as f64));
        start
    }

    /// When the packet is whole, or the next burst begins.
    fn next(&mut self, now: Time, rng: &mut Rng) -> Time {
        let (lacks, left) = (self.lacks_ns.max(1.0) as u64, self.until.ns() - now.ns());
        self.lacks_ns -= lacks.min(left) as f64;
        if lacks <= left { now + Span::from_ns(lacks) } else { self.next_burst(self.until, rng) }
    }
}

impl TrafficModel for Params {
    fn carrier(&self) -> Carrier {
        Carrier::Datagrams
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn rate(&self) -> Option<f64> {
        Some(self.rate.bit_s() as f64 * self.on.seconds() / (self.on + self.off).seconds())
    }

    fn first_pause(&self) -> Option<(&'static str, Span)> {
        Some(("off", self.off))
    }

    fn largest_datagram(&self) -> Option<Bytes> {
        Some(self.size)
    }
}

impl Traffic for OnOff {
    type Params = Params;

    fn first(&mut self, start: Time, rng: &mut Rng) -> Time {
        self.lacks_ns = rng.uniform() * self.gap_ns;
        self.next_burst(start, rng)
    }

    fn wake(&mut self, now: Time, rng: &mut Rng) -> Step {
        let mut offer = Offer::Nothing;
        if self.lacks_ns < 1.0 {
            self.lacks_ns += self.gap_ns;
            offer = Offer::Datagram(self.params.size.get() as u32);
        }
        Step { offer, next: Some(self.next(now, rng)) }
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &TrafficScope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        let lacks_ns = self.lacks_ns * new.gap_ns / self.gap_ns;
        *self = Self { lacks_ns, until: self.until, on: self.on, off: self.off, ..new };
        Ok(())
    }
}
