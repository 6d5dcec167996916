//! PI-PAM: PAM with a proportional-integral controller on the token level in place of RED's curve.
//!
//! Source: named as future work in section VII of Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using
//! Active Queue Management Techniques" (2002), which give no equations; the controller is that of Hollot, Misra, Towsley
//! and Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows", INFOCOM 2001.
//!
//! The missing tokens, q = CBS - b, act as a queue that IN packets fill and CIR serves. PAM's level settles at a
//! value that depends on the load. Here the probability of OUT moves until the level is at its reference, whatever
//! the load.
//!
//! ```text
//! on arrival:  e = b_ref - b = q - q_ref     b refilled, this packet not yet taken
//!              I = I + K t e,  0 <= I <= 1   t since the packet before
//!              P = I + (K/z) e,  0 <= P <= 1
//!              z = 1/(2 tau),  K = 1/(tau^2 C),  C = CIR in bytes/s
//! IN unless U(0,1) < P, or b < B ("forced OUT": chosen IN, but without tokens). IN takes B tokens, OUT none.
//! ```
//!
//! | symbol | field       | unit        | default |
//! |--------|-------------|-------------|---------|
//! | CIR    | `cir`       | bit/s       | -       |
//! | CBS    | `cbs`       | B           | -       |
//! | b_ref  | `reference` | B, % of CBS | 50%     |
//! | tau    | `response`  | s           | -       |
//!
//! Without `response`, tau is CBS/(4 CIR), a quarter of the time in which the bucket fills, and at least 2 B/C.
//!
//! The gains follow the paper's derivation, with CIR in place of the link's rate. A load of A bytes/s gives dq/dt =
//! (1 - P) A - C, so the plant from P to q is -A/s. The plant has no pole at 1/R, since no round trip grows with q.
//! TCP whose OUT packets are lost follows P too. That multiplies the plant by 1 + rho e^(-sR)/(1 + s R^2 A/(2N)), the
//! paper's window with A for C, where rho = (1 - P)/(2P) in equilibrium: below 1 if A is above 1.5 C. With the
//! controller K (1 + s/z)/s the closed loop is s^2 + (A K/z) s + A K. Both poles are at 1/tau if A = C, the least
//! load that needs marking; at larger loads the damping is sqrt(A/C).
//!
//! Sampled by packets of B bytes, the loop is stable at every A >= C if B/(C tau) < 2 sqrt(2) - 2, whatever the
//! packet rate. `response` must be at least 2 B/C, so that the tokens of one packet move P by at most 1.
//!
//! Deviations: the paper samples at fixed intervals. Here each packet is a sample and t the interval, so no timer is
//! needed; the integral takes the present error for all of t (the paper: the mean of both). The paper's sum, P = P +
//! a e - a' e' with a = K/z + K t and a' = K/z, is the same until P is clipped at 0 or 1. From then on that sum
//! forgets the clipped part: with few packets and a nearly full bucket it marks OUT, and at 20 CIR its level settles
//! 10 % of CBS too low. Here I is clipped separately. In both forms the integral does not wind up while the load is
//! below CIR. The bucket starts full and I at 0.

use crate::Scope;
use crate::conditioner::{Conditioner, Passage, bucket_threshold};
use crate::estimate::TokenBucket;
use crate::packet::{Colour, Packet};
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Length, Span, Time};
use crate::verdict::Verdict;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Committed information rate.
    pub cir: BitRate,
    /// Committed burst size.
    pub cbs: Bytes,
    /// Level to hold: bytes, or share of `cbs`; above 0 and below `cbs`.
    #[param(default = "50%")]
    pub reference: Length,
    /// Time constant of the loop. Default: a quarter of `cbs` / `cir`, at least what two of the largest packets take at `cir`.
    pub response: Option<Span>,
}

/// The controller.
#[derive(Clone, Copy, Debug)]
struct Law {
    /// b_ref, bytes.
    reference: f64,
    /// K/z, by byte.
    proportional: f64,
    /// K, by byte and second.
    integral: f64,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct PiPam {
    bucket: TokenBucket,
    law: Law,
    /// I, and P of the last packet and its time.
    sum: f64,
    p: f64,
    last: Time,
    forced: u64,
}

impl Params {
    fn level(&self) -> Result<f64, ParamError> {
        let level = bucket_threshold("reference", self.reference, self.cbs)?;
        if level > 0.0 && level < self.cbs.get() as f64 {
            return Ok(level);
        }
        let error = ParamError::new("reference", "E201", format!("`reference` is {}", self.reference));
        Err(error
            .label(format!("`cbs` is {}", self.cbs))
            .help("must lie between an empty and a full bucket, as in \"50%\""))
    }

    /// tau, at least 2 B/C.
    fn time_constant(&self, scope: &Scope) -> Result<Span, ParamError> {
        let two = Bytes::new(2 * scope.largest_packet.get()) / self.cir;
        let tau = self.response.unwrap_or((self.cbs / self.cir / 4).max(two));
        if tau >= two && tau > Span::ZERO {
            return Ok(tau);
        }
        let error = ParamError::new("response", "E201", format!("`response` {tau} is too small to steer by"));
        let error = error.label(format!("the largest packet of {} is {}", scope.largest_of, scope.largest_packet));
        Err(error.help(format!("must be at least two such packets' time at `cir`, {two}")))
    }

    /// # Errors
    /// `cir` zero; `cbs` below the largest packet; a `reference` that is neither bytes nor a share, or not inside the bucket;
    /// a `response` too small for the largest packet.
    pub fn build(self, scope: &Scope) -> Result<PiPam, ParamError> {
        ParamError::above_zero("cir", self.cir)?;
        scope.holds_largest_packet("cbs", self.cbs)?;
        let bucket = TokenBucket::full(self.cir, self.cbs, "cbs")?;
        let law = Law::new(self.level()?, self.time_constant(scope)?, self.cir);
        Ok(PiPam { bucket, law, sum: 0.0, p: 0.0, last: Time::ZERO, forced: 0 })
    }
}

impl Law {
    fn new(reference: f64, response: Span, cir: BitRate) -> Self {
        let (tau, rate) = (response.seconds(), cir.bytes_s());
        Self { reference, proportional: 2.0 / (tau * rate), integral: 1.0 / (tau * tau * rate) }
    }
}

impl PiPam {
    /// P after a packet has found the bucket, which is refilled, at its level.
    #[inline]
    fn probability(&mut self, now: Time) -> f64 {
        let Law { reference, proportional, integral } = self.law;
        let e = reference - self.bucket.level();
        self.sum = (self.sum + integral * now.since(self.last).seconds() * e).clamp(0.0, 1.0);
        self.p = (self.sum + proportional * e).clamp(0.0, 1.0);
        self.last = now;
        self.p
    }

    #[inline]
    fn is_in(&mut self, now: Time, size: u32, rng: &mut Rng) -> bool {
        self.bucket.refill(now);
        let p = self.probability(now);
        if p > 0.0 && rng.uniform() < p {
            return false;
        }
        let has = self.bucket.spend(size);
        self.forced += u64::from(!has);
        has
    }
}

impl Conditioner for PiPam {
    type Params = Params;

    #[inline(always)]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        packet.colour = if self.is_in(at.now, packet.size, rng) { Colour::Green } else { Colour::Red };
        Verdict::Pass
    }

    fn gives(&self, _: Colour) -> &'static [Colour] {
        &[Colour::Green, Colour::Red]
    }

    /// The integral stays.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let law = params.clone().build(scope)?.law;
        self.bucket.retune(now, params.cir, params.cbs, "cbs")?;
        self.law = law;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("bucket_bytes", self.bucket.level_at(now));
        each("out_probability", self.p);
        each("forced_out_packets", self.forced as f64);
    }
}
