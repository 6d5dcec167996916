//! RFC 4115 marker: two rates and three colours; excess traffic never takes tokens from traffic in profile.
//!
//! Source: RFC 4115 section 3.
//!
//! Two buckets are independent: C of depth CBS fills at CIR, E of depth EBS at EIR. A green packet takes tokens from
//! C alone, so the yellow packets of a host cannot cost it any green.
//!
//! ```text
//! green packet:   green if Tc - B > 0, taking B from C; else as a yellow packet
//! yellow packet:  yellow if Te - B > 0, taking B from E; else red
//! red packet:     red
//! colour-blind:   every packet counts as green
//! ```
//!
//! As in `token-bucket`, rates are in bits or packets per second and bursts in bytes, packets or time; `overhead`,
//! `mpu` and `link-layer` say which bytes the rates count.
//!
//! | symbol | field          | unit  | default |
//! |--------|----------------|-------|---------|
//! | CIR    | `cir`          | bit/s | -       |
//! | CBS    | `cbs`          | B     | -       |
//! | EIR    | `eir`          | bit/s | -       |
//! | EBS    | `ebs`          | B     | -       |
//! | mode   | `colour-aware` | -     | false   |
//! |        | `overhead`     | B     | -       |
//! |        | `mpu`          | B     | -       |
//! |        | `link-layer`   | -     | -       |
//!
//! Deviations: none. By the RFC's wording "exactly enough" is not enough, unlike in RFC 2697 and 2698, so a bucket
//! must hold one byte more than the largest packet. One of the two rates may be 0 if its burst is 0; that removes its
//! colour. An unmarked packet counts as green.

use super::meter::{self, Counting, Stated, Tokens};
use crate::Scope;
use crate::conditioner::{Conditioner, Passage};
use crate::estimate::{Store, TokenBucket, TokenBuckets};
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
    /// Committed information rate; 0 only with `cbs` 0.
    pub cir: MeterRate,
    /// Committed burst size; more than the largest packet.
    pub cbs: Burst,
    /// Excess information rate, on top of `cir`; 0 only with `ebs` 0.
    pub eir: MeterRate,
    /// Excess burst size; more than the largest packet.
    pub ebs: Burst,
    /// Whether a packet's colour on arrival counts.
    #[param(default = false)]
    pub colour_aware: bool,
    /// Which bytes the rates count.
    #[param(flatten)]
    pub framing: Framing,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct TrTcm4115 {
    /// Committed, excess.
    buckets: TokenBuckets,
    colour_aware: bool,
    tokens: Tokens,
}

/// No bucket at all, or one that lets the largest packet through; `field` is the key of its rate.
fn bucket(counting: &Counting, field: &'static str, stated: Stated) -> Result<TokenBucket, ParamError> {
    let burst = stated.field;
    if !(stated.rate.is_zero() && stated.burst.is_zero()) {
        meter::above_zero(field, stated.rate)
            .map_err(|e| e.help(format!("must be above 0, or 0 together with `{burst}`")))?;
        counting.holds_largest(stated, 1).map_err(|e| {
            let help = e.help.replacen(
                "such packets could never conform;",
                "RFC 4115 requires more tokens than the packet has bytes:",
                1,
            );
            e.help(help)
        })?;
    }
    counting.bucket(stated)
}

impl Params {
    /// # Errors
    /// `cir` and `eir` both zero; a rate zero whose burst is not, or the reverse; a burst not above the largest packet.
    pub fn build(self, scope: &Scope) -> Result<TrTcm4115, ParamError> {
        if self.cir.is_zero() && self.eir.is_zero() {
            let error = ParamError::new("cir", "E201", format!("`cir` and `eir` are both {}", self.cir));
            return Err(error.help("at least one must be above 0: otherwise every packet is red"));
        }
        let counting = Counting::new(self.framing, &[("cir", self.cir), ("eir", self.eir)], scope)?;
        let committed = bucket(&counting, "cir", Stated { field: "cbs", burst: self.cbs, rate: self.cir })?;
        let excess = bucket(&counting, "eir", Stated { field: "ebs", burst: self.ebs, rate: self.eir })?;
        Ok(TrTcm4115 {
            buckets: TokenBuckets::new(committed, excess),
            colour_aware: self.colour_aware,
            tokens: counting.tokens,
        })
    }
}

#[inline]
fn colour([committed, excess]: &mut [Store; 2], size: u32, before: Option<Colour>) -> Colour {
    let is = |colour| before == Some(colour);
    if !is(Colour::Yellow) && !is(Colour::Red) && committed.exceeds(size) {
        committed.spend(size);
        Colour::Green
    } else if !is(Colour::Red) && excess.exceeds(size) {
        excess.spend(size);
        Colour::Yellow
    } else {
        Colour::Red
    }
}

impl Conditioner for TrTcm4115 {
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
        let [committed, excess] = self.buckets.levels_at(now);
        each(self.tokens.named(meter::BUCKET), committed);
        each(self.tokens.named(meter::EXCESS), excess);
    }
}
