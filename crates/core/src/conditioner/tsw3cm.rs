//! TSW3CM: time sliding window three colour marker.
//!
//! Source: RFC 2859 sections 3 and 4 (its CTR is `cir`, its PTR `pir`, its AVG_INTERVAL `window`).
//!
//! ```text
//! avg = (avg W + B) / (T + W)                 this packet included
//! avg <= CTR:        green
//! CTR < avg <= PTR:  yellow with P0 = (avg - CTR)/avg, else green
//! PTR < avg:         red with P1 = (avg - PTR)/avg, yellow with P2 = (PTR - CTR)/avg, else green
//! ```
//!
//! | symbol | field    | unit  | default |
//! |--------|----------|-------|---------|
//! | CTR    | `cir`    | bit/s | -       |
//! | PTR    | `pir`    | bit/s | -       |
//! | W      | `window` | s     | 1s      |
//!
//! Deviations: none. One uniform number v in (0, 1] is drawn, and v avg compared with PTR, then with CTR:
//! P(v avg > PTR) = 1 - PTR/avg = P1 and P(CTR < v avg <= PTR) = (PTR - CTR)/avg = P2, or P0 where avg <= PTR. So the
//! distribution is the RFC's; ns-2 draws the same way. The average starts at CTR, its clock at 0.

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
    /// Committed information rate (the RFC's committed target rate).
    pub cir: BitRate,
    /// Peak information rate (the RFC's peak target rate); at least `cir`.
    pub pir: BitRate,
    /// Window of the rate estimate: from a round-trip time up to seconds.
    #[param(default = "1s")]
    pub window: Span,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct Tsw3Cm {
    cir: f64,
    pir: f64,
    rate: Tsw,
}

impl Params {
    /// # Errors
    /// `cir` or `window` zero; `pir` below `cir`.
    pub fn build(self, _scope: &Scope) -> Result<Tsw3Cm, ParamError> {
        ParamError::above_zero("cir", self.cir)?;
        super::peak_above_committed(self.pir, self.cir)?;
        ParamError::above_zero("window", self.window)?;
        let cir = self.cir.bytes_s();
        Ok(Tsw3Cm { cir, pir: self.pir.bytes_s(), rate: Tsw::new(self.window, cir) })
    }
}

impl Tsw3Cm {
    /// Whether the average, the last packet included, is above `cir`.
    pub(super) fn above_committed(&self) -> bool {
        self.rate.rate() > self.cir
    }
}

impl Conditioner for Tsw3Cm {
    type Params = Params;

    #[inline(always)]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let average = self.rate.update(at.now, f64::from(packet.size));
        packet.colour = match average * (1.0 - rng.uniform()) {
            part if part > self.pir => Colour::Red,
            part if part > self.cir => Colour::Yellow,
            _ => Colour::Green,
        };
        Verdict::Pass
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        self.rate.rewindow(params.window);
        (self.cir, self.pir) = (next.cir, next.pir);
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("average_rate_bytes_s", self.rate.rate());
        each("red_probability", (1.0 - self.pir / self.rate.rate()).max(0.0));
    }
}
