//! srTCM: single rate three colour marker.
//!
//! Source: RFC 2697 sections 2 and 3 (parameters, metering).
//!
//! Two buckets, C of depth CBS and E of depth EBS, share one rate: CIR fills C, and the overflow of C fills E.
//!
//! ```text
//! colour-blind:  green if Tc >= B, taking B from C; else yellow if Te >= B, taking B from E; else red
//! colour-aware:  the same, but a yellow packet asks only E and a red one stays red
//! ```
//!
//! | symbol | field          | unit  | default |
//! |--------|----------------|-------|---------|
//! | CIR    | `cir`          | bit/s | -       |
//! | CBS    | `cbs`          | B     | -       |
//! | EBS    | `ebs`          | B     | -       |
//! | mode   | `colour-aware` | -     | false   |
//!
//! Deviations: none. CBS or EBS may be 0, not both; one that is not 0 must hold the largest packet (RFC 2697
//! section 2 recommends it). An unmarked packet counts as green.

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
    /// Committed burst size; 0, or at least the largest packet.
    pub cbs: Bytes,
    /// Excess burst size; 0, or at least the largest packet.
    pub ebs: Bytes,
    /// Whether a packet's colour on arrival counts.
    #[param(default = false)]
    pub colour_aware: bool,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct SrTcm {
    committed: TokenBucket,
    excess: TokenBucket,
    colour_aware: bool,
}

impl Params {
    /// # Errors
    /// `cir` zero; `cbs` and `ebs` both zero; one of them not zero and below the largest packet.
    pub fn build(self, scope: &Scope) -> Result<SrTcm, ParamError> {
        ParamError::above_zero("cir", self.cir)?;
        if self.cbs + self.ebs == Bytes::new(0) {
            let error = ParamError::new("cbs", "E201", "`cbs` and `ebs` are both 0B".into());
            return Err(error.help("at least one above 0 (RFC 2697 section 2): every packet would be red"));
        }
        for (field, depth) in [("cbs", self.cbs), ("ebs", self.ebs)] {
            if depth > Bytes::new(0) {
                scope.holds_largest_packet(field, depth)?;
            }
        }
        let committed = TokenBucket::full(self.cir, self.cbs, "cbs")?;
        let excess = TokenBucket::full(BitRate::bps(0), self.ebs, "ebs")?;
        Ok(SrTcm { committed, excess, colour_aware: self.colour_aware })
    }
}

impl SrTcm {
    #[inline]
    fn refill(&mut self, now: Time) {
        let overflow = self.committed.refill(now);
        self.excess.pour(overflow);
    }

    #[inline]
    fn colour(&mut self, size: u32, before: Colour) -> Colour {
        if before == Colour::Green && self.committed.spend(size) {
            Colour::Green
        } else if before != Colour::Red && self.excess.spend(size) {
            Colour::Yellow
        } else {
            Colour::Red
        }
    }
}

impl Conditioner for SrTcm {
    type Params = Params;

    fn forward(&mut self, at: &Passage<'_>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.refill(at.now);
        let before = if self.colour_aware { packet.colour.presumed() } else { Colour::Green };
        packet.colour = self.colour(packet.size, before);
        Verdict::Pass
    }

    fn gives(&self, arriving: Colour) -> &'static [Colour] {
        if self.colour_aware { arriving.or_worse() } else { &Colour::METERED }
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        params.clone().build(scope)?;
        self.refill(now);
        self.committed.retune(now, params.cir, params.cbs, "cbs")?;
        self.excess.retune(now, BitRate::bps(0), params.ebs, "ebs")?;
        self.colour_aware = params.colour_aware;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let mut probe = self.clone();
        probe.refill(now);
        each("bucket_bytes", probe.committed.level());
        each("excess_bucket_bytes", probe.excess.level());
    }
}
