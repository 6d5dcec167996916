//! Token bucket: the two-colour marker every DiffServ edge starts from.
//!
//! Source: RFC 2697 section 3 with EBS = 0. The papers call it TB.
//!
//! A bucket of depth CBS fills at CIR. A packet that finds its whole size in tokens takes them
//! and is green; any other is red and takes nothing.
//!
//! | symbol | field   | unit  | default |
//! |--------|---------|-------|---------|
//! | CIR    | `cir`   | bit/s | -       |
//! | CBS    | `cbs`   | B     | -       |
//!
//! Deviations: none. The bucket starts full and "exactly enough" is green, as in RFC 2697.

use crate::Scope;
use crate::conditioner::{Conditioner, Passage};
use crate::estimate::TokenBucket;
use crate::packet::{Colour, Packet};
use crate::params::{ParamError, Params as Declared};
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Time};
use crate::verdict::Verdict;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Committed information rate.
    pub cir: BitRate,
    /// Committed burst size; at least the largest packet of the traffic it meters.
    pub cbs: Bytes,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct TokenBucketMarker {
    bucket: TokenBucket,
}

impl Params {
    /// # Errors
    /// `cir` zero; `cbs` below the largest packet: such packets could never be green.
    pub fn build(self, scope: &Scope) -> Result<TokenBucketMarker, ParamError> {
        ParamError::above_zero("cir", self.cir)?;
        scope.holds_largest_packet("cbs", self.cbs)?;
        Ok(TokenBucketMarker { bucket: TokenBucket::full(self.cir, self.cbs, "cbs")? })
    }
}

impl Conditioner for TokenBucketMarker {
    type Params = Params;

    fn forward(&mut self, at: &Passage<'_>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        packet.colour = if self.bucket.take(at.now, packet.size) { Colour::Green } else { Colour::Red };
        Verdict::Pass
    }

    fn gives(&self, _: Colour) -> &'static [Colour] {
        &[Colour::Green, Colour::Red]
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        params.clone().build(scope)?;
        self.bucket.retune(now, params.cir, params.cbs, "cbs")
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("bucket_bytes", self.bucket.level_at(now));
    }
}
