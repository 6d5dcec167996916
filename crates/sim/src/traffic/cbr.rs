//! CBR: packets of one size at a constant rate.
//!
//! Gaps are `size / rate`, each times a uniform draw from `[1 - jitter, 1 + jitter]`; ns-2's
//! `random_ 1` is a jitter of 0.5. Without jitter the first packet waits a random part of a gap if `random-phase` is
//! set, so that sources are not synchronised.
//!
//! | symbol | field          | unit  | default |
//! |--------|----------------|-------|---------|
//! | r      | `rate`         | bit/s | -       |
//! | L      | `size`         | B     | -       |
//! | -      | `jitter`       | -     | 0       |
//! | -      | `random-phase` | -     | true    |
//!
//! Deviations: a gap is a whole number of nanoseconds; the remainder is carried to the next gap.

use super::{Carrier, Carry, Offer, Step, Traffic, TrafficModel, TrafficScope, mean_gap_ns};
use perhop_core::params::{ParamError, Params as Declared};
use perhop_core::rng::Rng;
use perhop_core::units::{BitRate, Bytes, NS_PER_S, Probability, Time};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Rate, headers included (IP length).
    pub rate: BitRate,
    /// Packet size, headers included (IP length).
    pub size: Bytes,
    /// Each gap is multiplied by a uniform draw from [1 - jitter, 1 + jitter].
    #[param(default = 0.0)]
    pub jitter: Probability,
    /// Whether the first packet waits a uniform part of a gap.
    #[param(default = true)]
    pub random_phase: bool,
}

/// One constant-rate source.
#[derive(Clone, Debug)]
pub struct Cbr {
    params: Params,
    gap_ns: f64,
    carry: Carry,
}

impl Params {
    /// # Errors
    /// `rate` zero; `size` zero or above the largest packet; packets less than 1 ns apart.
    pub fn build(self, scope: &TrafficScope) -> Result<Cbr, ParamError> {
        check(self.rate, self.size, scope)?;
        let gap_ns = mean_gap_ns(self.size, self.rate);
        Ok(Cbr { params: self, gap_ns, carry: Carry::default() })
    }
}

/// # Errors
/// `rate` zero; `size` zero or above the largest packet; packets less than 1 ns apart.
pub(super) fn check(rate: BitRate, size: Bytes, scope: &TrafficScope) -> Result<(), ParamError> {
    ParamError::above_zero("size", size)?;
    if size > scope.largest {
        let error = ParamError::new("size", "E201", format!("`size` is {size}"));
        return Err(error.help(format!("must be at most {}", scope.largest)));
    }
    check_rate(rate, size)
}

/// # Errors
/// `rate` zero, or packets of `size` less than 1 ns apart, which is the shortest gap.
pub(super) fn check_rate(rate: BitRate, size: Bytes) -> Result<(), ParamError> {
    ParamError::above_zero("rate", rate)?;
    if mean_gap_ns(size, rate) >= 1.0 {
        return Ok(());
    }
    let most = BitRate::bps(size.get().saturating_mul(8 * NS_PER_S));
    let error = ParamError::new("rate", "E201", format!("`rate` is {rate}: packets of {size} less than 1 ns apart"));
    Err(error.help(format!("must be at most {most}")))
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

    fn largest_datagram(&self) -> Option<Bytes> {
        Some(self.size)
    }
}

impl Traffic for Cbr {
    type Params = Params;

    fn first(&mut self, start: Time, rng: &mut Rng) -> Time {
        if !self.params.random_phase {
            return start;
        }
        self.carry.after(start, rng.uniform() * self.gap_ns)
    }

    fn wake(&mut self, now: Time, rng: &mut Rng) -> Step {
        let jitter = self.params.jitter.get();
        let factor = if jitter == 0.0 { 1.0 } else { 1.0 + jitter * (2.0 * rng.uniform() - 1.0) };
        let next = self.carry.after(now, self.gap_ns * factor);
        Step { offer: Offer::Datagram(self.params.size.get() as u32), next: Some(next) }
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &TrafficScope) -> Result<(), ParamError> {
        *self = Self { carry: self.carry, ..params.clone().build(scope)? };
        Ok(())
    }
}
