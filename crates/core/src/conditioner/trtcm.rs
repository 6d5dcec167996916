//! trTCM: two rate three colour marker.
//!
//! Source: RFC 2698 sections 2 and 3 (parameters, metering).
//!
//! Two buckets have separate rates: P of depth PBS fills at PIR, C of depth CBS at CIR. P is checked first. A green
//! packet takes tokens from both.
//!
//! ```text
//! colour-blind:  red if Tp < B; else yellow if Tc < B, taking B from P; else green, taking B from P and C
//! colour-aware:  the same, but a red packet stays red and a yellow one is at best yellow
//! ```
//!
//! As in `token-bucket`, rates are in bits or packets per second and bursts in bytes, packets or time; `overhead`,
//! `mpu` and `link-layer` say which bytes the rates count.
//!
//! | symbol | field          | unit  | default |
//! |--------|----------------|-------|---------|
//! | CIR    | `cir`          | bit/s | -       |
//! | CBS    | `cbs`          | B     | -       |
//! | PIR    | `pir`          | bit/s | -       |
//! | PBS    | `pbs`          | B     | -       |
//! | mode   | `colour-aware` | -     | false   |
//! |        | `overhead`     | B     | -       |
//! |        | `mpu`          | B     | -       |
//! |        | `link-layer`   | -     | -       |
//!
//! Deviations: none. CBS and PBS must hold the largest packet, as the RFC recommends. An unmarked packet counts as
//! green.

use super::meter::{self, Counting, Stated, Tokens};
use crate::Scope;
use crate::conditioner::{Conditioner, Passage};
use crate::estimate::{Store, TokenBuckets};
use crate::framing::Framing;
use crate::packet::{Colour, Packet};
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Burst, MeterRate, Time};
use crate::verdict::Verdict;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Committed information rate.
    pub cir: MeterRate,
    /// Committed burst size; at least the largest packet.
    pub cbs: Burst,
    /// Peak information rate; at least `cir`.
    pub pir: MeterRate,
    /// Peak burst size; at least the largest packet.
    pub pbs: Burst,
    /// Whether a packet's colour on arrival counts.
    #[param(default = false)]
    pub colour_aware: bool,
    /// Which bytes the rates count.
    #[param(flatten)]
    pub framing: Framing,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct TrTcm {
    /// Committed, peak.
    buckets: TokenBuckets,
    colour_aware: bool,
    tokens: Tokens,
}

impl Params {
    /// # Errors
    /// `cir` zero; `pir` below `cir`; `cbs` or `pbs` below the largest packet.
    pub fn build(self, scope: &Scope) -> Result<TrTcm, ParamError> {
        meter::above_zero("cir", self.cir)?;
        let counting = Counting::new(self.framing, &[("cir", self.cir), ("pir", self.pir)], scope)?;
        meter::peak_above_committed(self.pir, self.cir)?;
        let committed = Stated { field: "cbs", burst: self.cbs, rate: self.cir };
        let peak = Stated { field: "pbs", burst: self.pbs, rate: self.pir };
        counting.holds_largest(committed, 0)?;
        counting.holds_largest(peak, 0)?;
        let buckets = TokenBuckets::new(counting.bucket(committed)?, counting.bucket(peak)?);
        Ok(TrTcm { buckets, colour_aware: self.colour_aware, tokens: counting.tokens })
    }
}

#[inline]
fn colour([committed, peak]: &mut [Store; 2], size: u32, before: Option<Colour>) -> Colour {
    if before == Some(Colour::Red) || !peak.spend(size) {
        Colour::Red
    } else if before == Some(Colour::Yellow) || !committed.spend(size) {
        Colour::Yellow
    } else {
        Colour::Green
    }
}

impl Conditioner for TrTcm {
    type Params = Params;

    #[inline(always)]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let before = self.colour_aware.then_some(packet.colour);
        packet.colour = colour(self.buckets.refill(at.now), self.tokens.of(packet.size), before);
        Verdict::Pass
    }

    fn tokens(&self) -> Tokens {
        self.tokens
    }

    fn gives(&self, arriving: Colour) -> &'static [Colour] {
        if self.colour_aware { arriving.or_worse() } else { &Colour::METERED }
    }

    fn meters(&self, arriving: Colour) -> bool {
        !self.colour_aware || arriving.presumed() == Colour::Green
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        meter::same_tokens("cir", self.tokens, next.tokens)?;
        self.buckets.become_at(now, &next.buckets);
        (self.colour_aware, self.tokens) = (next.colour_aware, next.tokens);
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let [committed, peak] = self.buckets.levels_at(now);
        each(self.tokens.named(meter::BUCKET), committed);
        each(self.tokens.named(meter::PEAK), peak);
    }
}
