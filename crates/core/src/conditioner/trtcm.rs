//! trTCM: two rate three colour marker.
//!
//! Source: RFC 2698 sections 2 and 3 (parameters, metering).
//!
//! Two buckets with separate rates: P of depth PBS fills at PIR, C of depth CBS at CIR. P is asked first; a green packet
//! takes from both.
//!
//! ```text
//! colour-blind:  red if Tp < B; else yellow if Tc < B, taking B from P; else green, taking B from P and C
//! colour-aware:  the same, but a red packet stays red and a yellow one is at best yellow
//! ```
//!
//! | symbol | field          | unit  | default |
//! |--------|----------------|-------|---------|
//! | CIR    | `cir`          | bit/s | -       |
//! | CBS    | `cbs`          | B     | -       |
//! | PIR    | `pir`          | bit/s | -       |
//! | PBS    | `pbs`          | B     | -       |
//! | mode   | `colour-aware` | -     | false   |
//!
//! Deviations: none. CBS and PBS must hold the largest packet (the RFC recommends it). An unmarked packet counts as
//! green.

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
    /// Committed burst size; at least the largest packet.
    pub cbs: Bytes,
    /// Peak information rate; at least `cir`.
    pub pir: BitRate,
    /// Peak burst size; at least the largest packet.
    pub pbs: Bytes,
    /// Whether a packet's colour on arrival counts.
    #[param(default = false)]
    pub colour_aware: bool,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct TrTcm {
    committed: TokenBucket,
    peak: TokenBucket,
    colour_aware: bool,
}

impl Params {
    /// # Errors
    /// `cir` zero; `pir` below `cir`; `cbs` or `pbs` below the largest packet.
    pub fn build(self, scope: &Scope) -> Result<TrTcm, ParamError> {
        ParamError::above_zero("cir", self.cir)?;
        super::peak_above_committed(self.pir, self.cir)?;
        scope.holds_largest_packet("cbs", self.cbs)?;
        scope.holds_largest_packet("pbs", self.pbs)?;
        let committed = TokenBucket::full(self.cir, self.cbs, "cbs")?;
        let peak = TokenBucket::full(self.pir, self.pbs, "pbs")?;
        Ok(TrTcm { committed, peak, colour_aware: self.colour_aware })
    }
}

impl TrTcm {
    #[inline]
    fn colour(&mut self, size: u32, before: Colour) -> Colour {
        if before == Colour::Red || !self.peak.spend(size) {
            Colour::Red
        } else if before == Colour::Yellow || !self.committed.spend(size) {
            Colour::Yellow
        } else {
            Colour::Green
        }
    }
}

impl Conditioner for TrTcm {
    type Params = Params;

    fn forward(&mut self, at: &Passage<'_>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.peak.refill(at.now);
        self.committed.refill(at.now);
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
        self.peak.retune(now, params.pir, params.pbs, "pbs")?;
        self.colour_aware = params.colour_aware;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("bucket_bytes", self.committed.level_at(now));
        each("peak_bucket_bytes", self.peak.level_at(now));
    }
}
