//! RFC 4115 marker: two rates, three colours, in-profile traffic untouched by the excess.
//!
//! Source: RFC 4115 section 3.
//!
//! Two independent buckets: C of depth CBS fills at CIR, E of depth EBS at EIR. A green packet takes from C alone, so
//! a host's yellow packets cannot cost it any green.
//!
//! ```text
//! green packet:   green if Tc - B > 0, taking B from C; else as a yellow packet
//! yellow packet:  yellow if Te - B > 0, taking B from E; else red
//! red packet:     red
//! colour-blind:   every packet counts as green
//! ```
//!
//! | symbol | field          | unit  | default |
//! |--------|----------------|-------|---------|
//! | CIR    | `cir`          | bit/s | -       |
//! | CBS    | `cbs`          | B     | -       |
//! | EIR    | `eir`          | bit/s | -       |
//! | EBS    | `ebs`          | B     | -       |
//! | mode   | `colour-aware` | -     | false   |
//!
//! Deviations: none. As the RFC is worded, "exactly enough" is not enough, unlike in RFC 2697 and 2698; so a bucket
//! must hold one byte more than the largest packet. One rate may be 0 if its burst is 0, which removes its colour; not
//! both. An unmarked packet counts as green.

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
    /// Committed information rate; 0 only with `cbs` 0.
    pub cir: BitRate,
    /// Committed burst size; more than the largest packet.
    pub cbs: Bytes,
    /// Excess information rate, on top of `cir`; 0 only with `ebs` 0.
    pub eir: BitRate,
    /// Excess burst size; more than the largest packet.
    pub ebs: Bytes,
    /// Whether a packet's colour on arrival counts.
    #[param(default = false)]
    pub colour_aware: bool,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct TrTcm4115 {
    committed: TokenBucket,
    excess: TokenBucket,
    colour_aware: bool,
}

/// No bucket at all, or one that lets the largest packet through.
fn bucket(
    rate: (&'static str, BitRate),
    burst: (&'static str, Bytes),
    scope: &Scope,
) -> Result<TokenBucket, ParamError> {
    let (field, depth) = burst;
    if rate.1 == BitRate::bps(0) && depth == Bytes::new(0) {
        return TokenBucket::full(rate.1, depth, field);
    }
    ParamError::above_zero(rate.0, rate.1).map_err(|e| e.help(format!("above 0, or 0 together with `{field}`")))?;
    let largest = scope.largest_packet.get();
    scope.holds_largest_packet(field, Bytes::new(depth.get().saturating_sub(1))).map_err(|e| {
        e.help(format!("RFC 4115 requires more tokens than the packet has bytes: at least {}B", largest + 1))
    })?;
    TokenBucket::full(rate.1, depth, field)
}

impl Params {
    /// # Errors
    /// `cir` and `eir` both zero; a rate zero whose burst is not, or the reverse; a burst not above the largest packet.
    pub fn build(self, scope: &Scope) -> Result<TrTcm4115, ParamError> {
        if self.cir == BitRate::bps(0) && self.eir == BitRate::bps(0) {
            let error = ParamError::new("cir", "E201", "`cir` and `eir` are both 0bit/s".into());
            return Err(error.help("at least one above 0: every packet would be red"));
        }
        let committed = bucket(("cir", self.cir), ("cbs", self.cbs), scope)?;
        let excess = bucket(("eir", self.eir), ("ebs", self.ebs), scope)?;
        Ok(TrTcm4115 { committed, excess, colour_aware: self.colour_aware })
    }
}

impl TrTcm4115 {
    #[inline]
    fn colour(&mut self, size: u32, before: Colour) -> Colour {
        if before == Colour::Green && self.committed.exceeds(size) {
            self.committed.spend(size);
            Colour::Green
        } else if before != Colour::Red && self.excess.exceeds(size) {
            self.excess.spend(size);
            Colour::Yellow
        } else {
            Colour::Red
        }
    }
}

impl Conditioner for TrTcm4115 {
    type Params = Params;

    fn forward(&mut self, at: &Passage<'_>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.committed.refill(at.now);
        self.excess.refill(at.now);
        let before = if self.colour_aware { packet.colour.presumed() } else { Colour::Green };
        packet.colour = self.colour(packet.size, before);
        Verdict::Pass
    }

    fn gives(&self, arriving: Colour) -> &'static [Colour] {
        if self.colour_aware { arriving.or_worse() } else { &Colour::METERED }
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        params.clone().build(scope)?;
        self.committed.retune(now, params.cir, params.cbs, "cbs")?;
        self.excess.retune(now, params.eir, params.ebs, "ebs")?;
        self.colour_aware = params.colour_aware;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("bucket_bytes", self.committed.level_at(now));
        each("excess_bucket_bytes", self.excess.level_at(now));
    }
}
