//! F-SAM: fair stateless aggregate marker: CSFQ with tokens in place of link capacity.
//!
//! Source: Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques"
//! (2002), section on F-SAM; alpha as in Stoica, Shenker and Zhang, "Core-Stateless Fair Queueing". F-SAM shares the
//! iteration of alpha, [`crate::estimate::fair_rate`], with [`crate::aqm::csfq`]. Labels come from
//! [`crate::conditioner::rate_labeller`].
//!
//! A packet's label L gives its flow's rate. The packet may ask for tokens with probability min(1, alpha/L), so a
//! flow of rate r gets tokens at min(r, alpha). The fair rate alpha follows from two rates of the aggregate: A
//! arrives, F passes. There is no per-flow state.
//!
//! ```text
//! OUT with probability 1 - alpha/L (0 if alpha is unknown or L <= alpha); else IN if b >= B, taking B tokens; else OUT
//! A, F:  averaged exponentially with K_alpha, at each packet
//! congested (A >= CIR), each K_c:    alpha = min(alpha CIR/F, CIR/w_min)
//! uncongested, each K_c:             alpha = largest label of the window; unknown if CBS - b < thr
//! unknown:                           once CBS - b >= thr, alpha = largest label seen, CIR/2w_min if none
//! overflow (asked, but no token):    alpha = 0.99 alpha, at most kdec times a window
//! ```
//!
//! | symbol  | field        | unit        | default |
//! |---------|--------------|-------------|---------|
//! | CIR     | `cir`        | bit/s       | -       |
//! | CBS     | `cbs`        | B           | -       |
//! | K_alpha | `k-alpha`    | s           | 200ms   |
//! | K_c     | `k-c`        | s           | 100ms   |
//! | thr     | `thr`        | B, % of CBS | 25%     |
//! | -       | `overflow`   | -           | true    |
//! | kdec    | `kdec`       | packets     | 29      |
//! | A_rule  | `a-rule`     | -           | true    |
//! | eps     | `trusted`    | -           | false   |
//! | -       | `relabel-in` | -           | false   |
//!
//! If the labellers divide labels by weights, alpha is the share of one unit of weight. w_min and w_max are the least
//! and the largest weight that a labeller of the file gives, 1 without weights. Only their ratios matter.
//!
//! Deviations: the paper defers to CSFQ and gives no constants; the defaults are CSFQ's or ours. alpha is at most
//! CIR/w_min whenever it changes, not only under congestion. A first alpha allows the heaviest flow at least one
//! largest packet a second. If labels come from elsewhere and their weights are unknown, the largest label bounds
//! alpha. The overflow credits are refilled in each congested window. A packet without a label above 0 counts as a
//! flow of weight w_min. The rate of that flow is 1 B/s if `trusted`, else that of the whole aggregate (A).

use crate::Scope;
use crate::conditioner::{Conditioner, Passage, Writes, bucket_threshold};
use crate::estimate::fair_rate::{Ceiling, EPS, Judged, Rules};
use crate::estimate::{FairRate, TokenBucket};
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
    /// Committed burst size; at least the largest packet.
    pub cbs: Bytes,
    /// Averaging constant of the arrival and acceptance rates.
    #[param(default = "200ms")]
    pub k_alpha: Span,
    /// Window between two changes of the fair rate.
    #[param(default = "100ms")]
    pub k_c: Span,
    /// Shortfall of tokens from which the bucket counts as contended: bytes, or a share of `cbs`.
    #[param(default = "25%")]
    pub thr: Length,
    /// Whether a packet that passes the filter and finds no token lowers the fair rate by 1 %.
    #[param(default = true)]
    pub overflow: bool,
    /// Most reductions by `overflow` in a window.
    #[param(default = 29)]
    pub kdec: u32,
    /// Whether such a packet counts as accepted (CSFQ's code) or not (only bytes that took tokens).
    #[param(default = true)]
    pub a_rule: bool,
    /// Whether the ingress is trusted: a packet without a label then counts as slow, otherwise as the whole aggregate.
    #[param(default = false)]
    pub trusted: bool,
    /// Whether an IN packet leaves with its label cut to the fair rate, for a marker further on.
    #[param(default = false)]
    pub relabel_in: bool,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct FSam {
    rules: Params,
    bucket: TokenBucket,
    thr: f64,
    fair: FairRate,
    forced: u64,
}

impl Params {
    /// # Errors
    /// `cir`, `k-alpha` or `k-c` zero; `cbs` below the largest packet; `thr` above `cbs`, or neither bytes nor a share.
    pub fn build(self, scope: &Scope) -> Result<FSam, ParamError> {
        ParamError::above_zero("cir", self.cir)?;
        ParamError::above_zero("k-alpha", self.k_alpha)?;
        ParamError::above_zero("k-c", self.k_c)?;
        scope.holds_largest_packet("cbs", self.cbs)?;
        let thr = bucket_threshold("thr", self.thr, self.cbs)?;
        if thr > self.cbs.get() as f64 {
            let error = ParamError::new("thr", "E201", format!("`thr` is {}", self.thr));
            return Err(
                error.help(format!("must be at most `cbs` ({}): beyond it the fair rate would never apply", self.cbs))
            );
        }
        let bucket = TokenBucket::full(self.cir, self.cbs, "cbs")?;
        Ok(FSam { bucket, thr, fair: FairRate::new(self.fair(scope)), forced: 0, rules: self })
    }

    fn fair(&self, scope: &Scope) -> Rules {
        let capacity = self.cir.bytes_s();
        Rules {
            capacity,
            weights: scope.weights,
            least: capacity.min(scope.largest_packet.get() as f64),
            ceiling: Ceiling::Capacity,
            k_alpha: self.k_alpha,
            k_c: self.k_c,
            kdec: self.kdec,
        }
    }
}

impl FSam {
    fn label(&self, packet: &Packet) -> f64 {
        match packet.label() {
            Some(label) if label > 0.0 && label.is_finite() => label.into(),
            _ if self.rules.trusted => self.fair.label(EPS),
            _ => self.fair.label(self.fair.arriving()),
        }
    }

    #[inline]
    fn is_in(&mut self, now: Time, size: u32, label: f64, rng: &mut Rng) -> bool {
        self.bucket.refill(now);
        let filtered = self.fair.refuses(label, rng);
        let marked = !filtered && self.bucket.spend(size);
        let accepted = marked || (!filtered && self.rules.a_rule);
        let spare = || self.bucket.depth() - self.bucket.level() < self.thr;
        self.fair.count(&Judged { now, size, label, accepted }, spare);
        if !filtered && !marked {
            self.overflow();
        }
        marked
    }

    /// A packet that passed the filter found no token.
    fn overflow(&mut self) {
        self.forced += 1;
        if self.rules.overflow {
            self.fair.overflow();
        }
    }
}

impl Conditioner for FSam {
    type Params = Params;

    #[inline(always)]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let label = self.label(packet);
        let cut = self.fair.cuts(label).then_some(self.fair.alpha());
        let marked = self.is_in(at.now, packet.size, label, rng);
        if let Some(alpha) = cut.filter(|_| marked && self.rules.relabel_in) {
            packet.set_label(alpha as f32);
        }
        packet.colour = if marked { Colour::Green } else { Colour::Red };
        Verdict::Pass
    }

    fn reads(&self) -> Option<Writes> {
        Some(Writes::Rate)
    }

    fn gives(&self, _: Colour) -> &'static [Colour] {
        &[Colour::Green, Colour::Red]
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        self.bucket.retune(now, params.cir, params.cbs, "cbs")?;
        self.fair.retune(params.fair(scope));
        *self = Self { bucket: self.bucket.clone(), fair: self.fair.clone(), forced: self.forced, ..next };
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("bucket_bytes", self.bucket.level_at(now));
        each("fair_rate_bytes_s", self.fair.alpha());
        each("arrival_rate_bytes_s", self.fair.arriving());
        each("accepted_rate_bytes_s", self.fair.accepted());
        each("forced_out_packets", self.forced as f64);
    }
}
