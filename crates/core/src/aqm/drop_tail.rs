//! Drop-tail: no active management. A packet is dropped if and only if the queue is full.
//!
//! The queue's own limit does the work; this verdict is always "pass".
//!
//! Deviations: none.

use crate::Scope;
use crate::aqm::{Aqm, Arrival};
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::Verdict;

/// No parameters.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {}

/// Always passes.
#[derive(Clone, Debug)]
pub struct DropTail;

impl Params {
    /// # Errors
    /// Never.
    pub fn build(self, _scope: &Scope) -> Result<DropTail, ParamError> {
        Ok(DropTail)
    }
}

impl Aqm for DropTail {
    type Params = Params;

    fn on_arrival(&mut self, _at: Turn<&Arrival>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }

    fn retune(&mut self, _now: Time, _params: &Params, _scope: &Scope) -> Result<(), ParamError> {
        Ok(())
    }
}
