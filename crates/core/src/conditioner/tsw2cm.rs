//! TSW2CM: probabilistic two-colour marker on a time sliding window.
//!
//! Source: Clark and Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", section III-D, in the
//! two-colour form of ns-2. The estimator is that of RFC 2859, see [`crate::estimate::tsw`].
//!
//! ```text
//! avg = (avg W + B) / (T + W)                 this packet included
//! red with probability 1 - CIR/avg if avg > CIR, else green
//! ```
//!
//! | symbol | field    | unit  | default |
//! |--------|----------|-------|---------|
//! | CIR    | `cir`    | bit/s | -       |
//! | W      | `window` | s     | 1s      |
//!
//! Deviations: none. The average starts at CIR, its clock at 0. No bucket bounds the green bytes; only their long-run
//! rate is near CIR.

use crate::Scope;
use crate::conditioner::{Conditioner, Passage};
use crate::estimate::Tsw;
use crate::packet::{Colour, Packet};
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Span, Time};
use crate::verdict::Verdict;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Committed information rate (the target).
    pub cir: BitRate,
    /// Window of the rate estimate: from a round-trip time up to seconds.
    #[param(default = "1s")]
    pub window: Span,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct Tsw2Cm {
    cir: f64,
    rate: Tsw,
}

impl Params {
    /// # Errors
    /// `cir` or `window` zero.
    pub fn build(self, _scope: &Scope) -> Result<Tsw2Cm, ParamError> {
        ParamError::above_zero("cir", self.cir)?;
        ParamError::above_zero("window", self.window)?;
        let cir = self.cir.bytes_s();
        Ok(Tsw2Cm { cir, rate: Tsw::new(self.window, cir) })
    }
}

impl Conditioner for Tsw2Cm {
    type Params = Params;

    #[inline(always)]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let average = self.rate.update(at.now, f64::from(packet.size));
        let red = average > self.cir && rng.exceeds(self.cir, average);
        packet.colour = if red { Colour::Red } else { Colour::Green };
        Verdict::Pass
    }

    fn gives(&self, _: Colour) -> &'static [Colour] {
        &[Colour::Green, Colour::Red]
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        self.cir = params.clone().build(scope)?.cir;
        self.rate.rewindow(params.window);
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("average_rate_bytes_s", self.rate.rate());
        each("out_probability", (1.0 - self.cir / self.rate.rate()).max(0.0));
    }
}
