//! Poisson: packets of one size with exponential gaps.
//!
//! | symbol | field  | unit  | default |
//! |--------|--------|-------|---------|
//! | r      | `rate` | bit/s | -       |
//! | L      | `size` | B     | -       |
//!
//! Deviations: two packets are at least 1 ns apart.

use super::cbr::check;
use super::{Carrier, Carry, Offer, Step, Traffic, TrafficModel, TrafficScope, mean_gap_ns};
use perhop_core::params::{ParamError, Params as Declared};
use perhop_core::rng::Rng;
use perhop_core::units::{BitRate, Bytes, NS_PER_S, Span, Time};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Mean rate, headers included (IP length).
    pub rate: BitRate,
    /// Packet size, headers included (IP length).
    pub size: Bytes,
}

/// One Poisson source.
#[derive(Clone, Debug)]
pub struct Poisson {
    size: Bytes,
    gap_ns: f64,
    carry: Carry,
}

impl Params {
    /// # Errors
    /// `rate` zero; `size` zero or above the largest packet; packets less than 1 ns apart.
    pub fn build(self, scope: &TrafficScope) -> Result<Poisson, ParamError> {
        check(self.rate, self.size, scope)?;
        Ok(Poisson { size: self.size, gap_ns: mean_gap_ns(self.size, self.rate), carry: Carry::default() })
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
        Some(self.rate.bit_s() as f64)
    }

    fn first_pause(&self) -> Option<(&'static str, Span)> {
        let ns = self.size.get().saturating_mul(8 * NS_PER_S) / self.rate.bit_s().max(1);
        Some(("rate", Span::from_ns(ns)))
    }

    fn largest_datagram(&self) -> Option<Bytes> {
        Some(self.size)
    }
}

impl Traffic for Poisson {
    type Params = Params;

    fn first(&mut self, start: Time, rng: &mut Rng) -> Time {
        self.carry.after(start, rng.exponential(self.gap_ns))
    }

    fn wake(&mut self, now: Time, rng: &mut Rng) -> Step {
        let next = self.carry.after(now, rng.exponential(self.gap_ns));
        Step { offer: Offer::Datagram(self.size.get() as u32), next: Some(next) }
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &TrafficScope) -> Result<(), ParamError> {
        *self = Self { carry: self.carry, ..params.clone().build(scope)? };
        Ok(())
    }
}
