//! srTCM: single rate three colour marker.
//!
//! Source: RFC 2697 sections 2 and 3 (parameters, metering).
//!
//! Two buckets, C of depth CBS and E of depth EBS, share one rate. CIR fills C, and the overflow of C fills E.
//!
//! ```text
//! colour-blind:  green if Tc >= B, taking B from C; else yellow if Te >= B, taking B from E; else red
//! colour-aware:  the same, but a yellow packet asks only E and a red one stays red
//! ```
//!
//! As in `token-bucket`, rates are in bits or packets per second and bursts in bytes, packets or time; `overhead`,
//! `mpu` and `link-layer` say which bytes the rates count.
//!
//! | symbol | field          | unit  | default |
//! |--------|----------------|-------|---------|
//! | CIR    | `cir`          | bit/s | -       |
//! | CBS    | `cbs`          | B     | -       |
//! | EBS    | `ebs`          | B     | -       |
//! | mode   | `colour-aware` | -     | false   |
//! |        | `overhead`     | B     | -       |
//! |        | `mpu`          | B     | -       |
//! |        | `link-layer`   | -     | -       |
//!
//! Deviations: none. CBS or EBS may be 0, but not both. A bucket that is not 0 must hold the largest packet, as RFC
//! 2697 section 2 recommends. An unmarked packet counts as green.

use super::meter::{self, Counting, Stated, Tokens};
use crate::Scope;
use crate::conditioner::{Conditioner, Passage};
use crate::estimate::{Store, TokenBucket};
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
    /// Committed burst size; 0, or at least the largest packet.
    pub cbs: Burst,
    /// Excess burst size; 0, or at least the largest packet.
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
pub struct SrTcm {
    committed: TokenBucket,
    excess: Store,
    colour_aware: bool,
    tokens: Tokens,
}

impl Params {
    /// # Errors
    /// `cir` zero; `cbs` and `ebs` both zero; one of them not zero and below the largest packet.
    pub fn build(self, scope: &Scope) -> Result<SrTcm, ParamError> {
        meter::above_zero("cir", self.cir)?;
        if self.cbs.is_zero() && self.ebs.is_zero() {
            let error = ParamError::new("cbs", "E201", format!("`cbs` and `ebs` are both {}", self.cbs));
            return Err(error.help("at least one must be above 0 (RFC 2697 section 2): otherwise every packet is red"));
        }
        let counting = Counting::new(self.framing, &[("cir", self.cir)], scope)?;
        let [committed, excess] = [("cbs", self.cbs), ("ebs", self.ebs)]
            .map(|(field, burst)| Stated { field, burst, rate: self.cir })
            .map(|stated| Self::bucket(&counting, stated));
        let (committed, excess) = (committed?, excess?.without_rate());
        Ok(SrTcm { committed, excess, colour_aware: self.colour_aware, tokens: counting.tokens })
    }

    /// None at all, or one that holds the largest packet.
    fn bucket(counting: &Counting, stated: Stated) -> Result<TokenBucket, ParamError> {
        if !stated.burst.is_zero() {
            counting.holds_largest(stated, 0)?;
        }
        counting.bucket(stated)
    }
}

impl SrTcm {
    #[inline]
    fn refill(&mut self, now: Time) {
        let overflow = self.committed.refill(now);
        self.excess.pour(overflow);
    }

    #[inline]
    fn colour(&mut self, size: u32, before: Option<Colour>) -> Colour {
        let is = |colour| before == Some(colour);
        if !is(Colour::Yellow) && !is(Colour::Red) && self.committed.spend(size) {
            Colour::Green
        } else if !is(Colour::Red) && self.excess.spend(size) {
            Colour::Yellow
        } else {
            Colour::Red
        }
    }
}

impl Conditioner for SrTcm {
    type Params = Params;

    #[inline(always)]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.refill(at.now);
        let before = self.colour_aware.then_some(packet.colour);
        packet.colour = self.colour(self.tokens.of(packet.size), before);
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
        self.refill(now);
        self.committed.become_at(now, next.committed);
        self.excess.become_as(&next.excess);
        (self.colour_aware, self.tokens) = (next.colour_aware, next.tokens);
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let mut probe = self.clone();
        probe.refill(now);
        each(self.tokens.named(meter::BUCKET), probe.committed.level());
        each(self.tokens.named(meter::EXCESS), probe.excess.level());
    }
}
