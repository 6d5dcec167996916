//! F-SAM: fair stateless aggregate marker, CSFQ with tokens in place of link capacity.
//!
//! Source: Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques"
//! (2002), section on F-SAM; iteration of alpha as in Stoica, Shenker and Zhang, "Core-Stateless Fair Queueing",
//! section II-B. Labels come from [`crate::conditioner::rate_labeller`].
//!
//! A packet says by its label L how fast its flow is. It may ask for tokens with probability min(1, alpha/L), so a
//! flow of rate r gets min(r, alpha) of them. alpha, the fair rate, is found from two rates of the aggregate: A
//! arrives, F passes. Nothing is kept per flow.
//!
//! ```text
//! OUT with probability 1 - alpha/L (0 if alpha is unknown or L <= alpha); else IN if b >= B, taking B tokens; else OUT
//! A, F:  averaged exponentially with K_alpha, at each packet
//! congested (A >= CIR), each K_c:    alpha = min(alpha CIR/F, CIR)
//! uncongested, each K_c:             alpha = largest label of the window; unknown if CBS - b < thr
//! unknown:                           once CBS - b >= thr, alpha = largest label seen, CIR/2 if none
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
//! Deviations: the paper defers to CSFQ and gives no constants; the defaults are CSFQ's or ours. A known alpha is kept
//! between one largest packet a second and CIR wherever it changes, not only under congestion. The overflow credits are
//! refilled each congested window. A packet without a label above 0 counts as slow (1 B/s) where `trusted`, else as
//! the whole aggregate (A).

use crate::Scope;
use crate::conditioner::{Conditioner, Passage, Writes, bucket_threshold};
use crate::estimate::{ExpRate, TokenBucket};
use crate::packet::{Colour, Packet};
use crate::params::{ParamError, Params as Declared};
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Length, Span, Time};
use crate::verdict::Verdict;

/// Label of a flow of which nothing is known yet, bytes/s: slower than any fair rate.
pub const EPS: f32 = 1.0;

/// What a packet that finds no token leaves of alpha.
const OVERFLOW: f64 = 0.99;

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
    /// Tokens missing from the bucket from which on it counts as contended: bytes, or share of `cbs`.
    #[param(default = "25%")]
    pub thr: Length,
    /// Whether a packet that passes the filter and finds no token lowers the fair rate by 1 %.
    #[param(default = true)]
    pub overflow: bool,
    /// How often it may do so in a window.
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
    cir: f64,
    thr: f64,
    floor: f64,
    /// A and F.
    rates: ExpRate<2>,
    /// 0: unknown.
    alpha: f64,
    tmp_alpha: f64,
    congested: bool,
    window: Time,
    credits: u32,
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
            return Err(error.help(format!("at most `cbs` ({}): beyond it the fair rate would never apply", self.cbs)));
        }
        let cir = self.cir.bytes_s();
        Ok(FSam {
            bucket: TokenBucket::full(self.cir, self.cbs, "cbs")?,
            cir,
            thr,
            floor: cir.min(scope.largest_packet.get() as f64),
            rates: ExpRate::new(self.k_alpha, [0.0; 2]),
            alpha: 0.0,
            tmp_alpha: 0.0,
            congested: true,
            window: Time::ZERO,
            credits: self.kdec,
            forced: 0,
            rules: self,
        })
    }
}

impl FSam {
    fn label(&self, packet: &Packet) -> f64 {
        match packet.label() {
            Some(label) if label > 0.0 && label.is_finite() => label.into(),
            _ if self.rules.trusted => EPS.into(),
            _ => self.rates.rates()[0],
        }
    }

    /// A rate as alpha may be: never 0, which means unknown, never above the token rate.
    fn fair(&self, rate: f64) -> f64 {
        rate.clamp(self.floor, self.cir)
    }

    fn nearly_full(&self) -> bool {
        self.bucket.depth() - self.bucket.level() < self.thr
    }

    /// Counts a packet of `size` bytes with label `label`, and moves alpha.
    fn estimate(&mut self, now: Time, (size, label): (u32, f64), accepted: bool) {
        let size = f64::from(size);
        if !self.rates.add(now, [size, if accepted { size } else { 0.0 }]) {
            return;
        }
        if self.alpha == 0.0 && !self.first_alpha(label) {
            return;
        }
        if self.rates.rates()[0] >= self.cir { self.congested(now) } else { self.uncongested(now, label) }
    }

    /// Makes a first alpha once tokens are missing; whether there is one.
    fn first_alpha(&mut self, label: f64) -> bool {
        if self.nearly_full() {
            self.tmp_alpha = self.tmp_alpha.max(label);
            return false;
        }
        self.alpha = self.fair(if self.tmp_alpha > 0.0 { self.tmp_alpha } else { self.cir / 2.0 });
        self.tmp_alpha = 0.0;
        true
    }

    fn congested(&mut self, now: Time) {
        let entered = !self.congested;
        if !entered && now.since(self.window) < self.rules.k_c {
            return;
        }
        self.congested = true;
        self.window = now;
        self.credits = self.rules.kdec;
        let accepted = self.rates.rates()[1];
        if !entered && accepted > 0.0 {
            self.alpha = self.fair(self.alpha * self.cir / accepted);
        }
    }

    fn uncongested(&mut self, now: Time, label: f64) {
        if self.congested {
            self.congested = false;
            self.window = now;
            self.tmp_alpha = 0.0;
        } else if now.since(self.window) < self.rules.k_c {
            self.tmp_alpha = self.tmp_alpha.max(label);
        } else {
            self.relax(now);
        }
    }

    /// An uncongested window is over: its fastest flow sets alpha, or alpha becomes unknown.
    fn relax(&mut self, now: Time) {
        self.window = now;
        if self.nearly_full() {
            self.alpha = 0.0;
            return;
        }
        self.alpha = if self.tmp_alpha > 0.0 { self.fair(self.tmp_alpha) } else { 0.0 };
        self.tmp_alpha = 0.0;
    }

    /// A packet that passed the filter found no token.
    fn overflow(&mut self) {
        self.forced += 1;
        if self.rules.overflow && self.credits > 0 {
            self.credits -= 1;
            if self.alpha > 0.0 {
                self.alpha = self.fair(self.alpha * OVERFLOW);
            }
        }
    }

    #[inline]
    fn is_in(&mut self, now: Time, (size, label): (u32, f64), rng: &mut Rng) -> bool {
        self.bucket.refill(now);
        let filtered = self.alpha > 0.0 && label > self.alpha && rng.uniform() < 1.0 - self.alpha / label;
        let marked = !filtered && self.bucket.spend(size);
        self.estimate(now, (size, label), marked || (!filtered && self.rules.a_rule));
        if !filtered && !marked {
            self.overflow();
        }
        marked
    }
}

impl Conditioner for FSam {
    type Params = Params;

    fn forward(&mut self, at: &Passage<'_>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let label = self.label(packet);
        let alpha = self.alpha;
        let marked = self.is_in(at.now, (packet.size, label), rng);
        if marked && self.rules.relabel_in && alpha > 0.0 && label > alpha {
            packet.set_label(alpha as f32);
        }
        packet.colour = if marked { Colour::Green } else { Colour::Red };
        Verdict::Pass
    }

    fn reads(&self) -> Option<Writes> {
        Some(Writes::Rate)
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        self.bucket.retune(now, (params.cir, params.cbs), "cbs")?;
        self.rates.reaverage(params.k_alpha);
        *self = Self {
            bucket: self.bucket.clone(),
            rates: self.rates,
            alpha: if self.alpha > 0.0 { next.fair(self.alpha) } else { 0.0 },
            tmp_alpha: self.tmp_alpha,
            congested: self.congested,
            window: self.window,
            credits: self.credits,
            forced: self.forced,
            ..next
        };
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let [arriving, accepted] = self.rates.rates();
        each("bucket_bytes", self.bucket.level_at(now));
        each("fair_rate_bytes_s", self.alpha);
        each("arrival_rate_bytes_s", arriving);
        each("accepted_rate_bytes_s", accepted);
        each("forced_out_packets", self.forced as f64);
    }
}
