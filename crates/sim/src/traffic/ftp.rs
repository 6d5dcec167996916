//! FTP: bulk transfer over one TCP connection that always has another segment to send.
//!
//! Deviations: none; as ns-2's `Application/FTP`.

use super::{Carrier, Offer, Step, Traffic, TrafficModel, TrafficScope};
use perhop_core::params::{ParamError, Params as Declared};
use perhop_core::rng::Rng;
use perhop_core::units::Time;

/// No parameters.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {}

/// A bulk sender.
#[derive(Clone, Debug)]
pub struct Ftp;

impl Params {
    /// # Errors
    /// Never.
    pub fn build(self, _scope: &TrafficScope) -> Result<Ftp, ParamError> {
        Ok(Ftp)
    }
}

impl TrafficModel for Params {
    fn carrier(&self) -> Carrier {
        Carrier::Connection
    }

    fn is_endless(&self) -> bool {
        true
    }

    fn rate(&self) -> Option<f64> {
        None
    }
}

impl Traffic for Ftp {
    type Params = Params;

    fn wake(&mut self, _now: Time, _rng: &mut Rng) -> Step {
        Step { offer: Offer::Endless, next: None }
    }

    fn retune(&mut self, _now: Time, _params: &Params, _scope: &TrafficScope) -> Result<(), ParamError> {
        Ok(())
    }
}
