//! Transfers: fixed-size transfers over TCP, each on a separate connection ("mice", HTTP/1.0).
//!
//! Open loop: transfers arrive as a Poisson process with the given mean gap, whatever happened to the earlier ones.
//! Closed loop: the next transfer starts an exponential think time after the last is complete.
//!
//! | symbol | field  | unit | default  |
//! |--------|--------|------|----------|
//! | -      | `size` | B    | -        |
//! | -      | `gap`  | s    | -        |
//! | -      | `loop` | -    | `"open"` |
//!
//! Source: PAM and F-SAM, section VI (20 kB, mean 1 s). Deviations: none.

use super::{Carrier, Carry, Offer, Step, Traffic, TrafficModel, TrafficScope};
use perhop_core::params::{Choice, ParamError, Params as Declared};
use perhop_core::rng::Rng;
use perhop_core::units::{Bytes, Span, Time};

/// What the next transfer waits for.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// Only for its time.
    Open,
    /// For the end of the one before.
    Closed,
}

impl Loop {
    /// Mean number of transfers within `time`, one `gap` after the beginning, or after the end, of the one before.
    pub(super) fn transfers(self, time: Span, gap: Span, trip: Span) -> f64 {
        let each = if self == Self::Closed { gap + trip } else { gap };
        time.seconds() / each.seconds()
    }
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Payload of one transfer.
    pub size: Bytes,
    /// Mean of the exponential gap between transfers (open loop) or of the think time (closed loop).
    pub gap: Span,
    /// What the next transfer waits for.
    #[param(name = "loop", default = "open")]
    pub waits: Loop,
}

/// One client.
#[derive(Clone, Debug)]
pub struct Transfers {
    params: Params,
    carry: Carry,
}

impl Params {
    /// # Errors
    /// `size` or `gap` zero.
    pub fn build(self, _scope: &TrafficScope) -> Result<Transfers, ParamError> {
        ParamError::above_zero("size", self.size)?;
        ParamError::above_zero("gap", self.gap)?;
        Ok(Transfers { params: self, carry: Carry::default() })
    }
}

impl Transfers {
    fn after_gap(&mut self, now: Time, rng: &mut Rng) -> Time {
        self.carry.after(now, rng.exponential(self.params.gap.ns() as f64))
    }
}

impl TrafficModel for Params {
    fn carrier(&self) -> Carrier {
        Carrier::Transfers
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn rate(&self) -> Option<f64> {
        None
    }
}

impl Traffic for Transfers {
    type Params = Params;

    fn transfers(&self, time: Span, trip: Span) -> Option<f64> {
        Some(self.params.waits.transfers(time, self.params.gap, trip))
    }

    fn first(&mut self, start: Time, rng: &mut Rng) -> Time {
        self.after_gap(start, rng)
    }

    fn wake(&mut self, now: Time, rng: &mut Rng) -> Step {
        let next = (self.params.waits == Loop::Open).then(|| self.after_gap(now, rng));
        Step { offer: Offer::Transfer(self.params.size.get()), next }
    }

    fn on_complete(&mut self, now: Time, rng: &mut Rng) -> Option<Time> {
        (self.params.waits == Loop::Closed).then(|| self.after_gap(now, rng))
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &TrafficScope) -> Result<(), ParamError> {
        *self = Self { carry: self.carry, ..params.clone().build(scope)? };
        Ok(())
    }
}
