//! App-limited TCP: the application produces data at a constant rate, and TCP sends the data as the window allows.
//!
//! | symbol | field  | unit  | default |
//! |--------|--------|-------|---------|
//! | r      | `rate` | bit/s | -       |
//!
//! One full segment of the connection becomes available every `segment / rate`. Deviations: none.

use super::cbr::check_rate;
use super::{Carrier, Carry, Offer, Step, Traffic, TrafficModel, TrafficScope, mean_gap_ns};
use perhop_core::params::{ParamError, Params as Declared};
use perhop_core::rng::Rng;
use perhop_core::units::{BitRate, Time};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Payload rate of the application.
    pub rate: BitRate,
}

/// One application.
#[derive(Clone, Debug)]
pub struct AppLimited {
    gap_ns: f64,
    carry: Carry,
}

impl Params {
    /// # Errors
    /// `rate` zero, or segments less than 1 ns apart.
    pub fn build(self, scope: &TrafficScope) -> Result<AppLimited, ParamError> {
        check_rate(self.rate, scope.segment)?;
        Ok(AppLimited { gap_ns: mean_gap_ns(scope.segment, self.rate), carry: Carry::default() })
    }
}

impl TrafficModel for Params {
    fn carrier(&self) -> Carrier {
        Carrier::Connection
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn rate(&self) -> Option<f64> {
        None
    }
}

impl Traffic for AppLimited {
    type Params = Params;

    fn wake(&mut self, now: Time, _rng: &mut Rng) -> Step {
        Step { offer: Offer::Segments(1), next: Some(self.carry.after(now, self.gap_ns)) }
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &TrafficScope) -> Result<(), ParamError> {
        *self = Self { carry: self.carry, ..params.clone().build(scope)? };
        Ok(())
    }
}
