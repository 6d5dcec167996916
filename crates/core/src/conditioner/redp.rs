//! REDP: early random demotion and promotion at a domain's boundary, with the combined dropper.
//!
//! Source: the paper on REDP with a combined dropper (Hur et al.), section II; REDP itself: Wang, Mohapatra,
//! Mukherjee, Bushmitch, IEEE JSAC 18(12), 2000.
//!
//! Green is in profile, red was out of profile at the source, and yellow was green until a boundary demoted it. A
//! bucket of depth CBS fills at CIR, the rate agreed between the two domains; TK is its level.
//!
//! ```text
//! green:  TK < T_L:  dropped with P_drop while no yellow arrives, else
//!                    yellow if TK < B, or with P_demo = MAX_demo (T_L - TK)/T_L
//!         else stays green and takes B
//! yellow: TK > T_H:  green with P_promo = MAX_promo (TK - T_H)/(CBS - T_H), and takes B
//! red:    unchanged
//! ```
//!
//! So flows of one aggregate are demoted and promoted in proportion to their rates. A demoted or dropped packet takes
//! no tokens. If green arrives at a rate G > CIR and 1 - CIR/G <= MAX_demo, TK settles at T_L (1 - (1 -
//! CIR/G)/MAX_demo).
//!
//! The dropper acts only at the first boundary: yellow packets at the input show that there is another boundary
//! upstream.
//!
//! | symbol     | field           | unit       | default |
//! |------------|-----------------|------------|---------|
//! | R          | `cir`           | bit/s      | -       |
//! | b          | `cbs`           | B          | -       |
//! | T_L        | `low-th`        | B, % of CBS | 25%    |
//! | T_H        | `high-th`       | B, % of CBS | 75%    |
//! | MAX_demo   | `max-demotion`  | -          | 0.5     |
//! | MAX_promo  | `max-promotion` | -          | 0.5     |
//! | P_drop     | `p-drop`        | -          | 0       |
//! | zero(now)  | `yellow-meter`  | -          | window  |
//! | W          | `yellow-window` | s          | 1s      |
//!
//! A `p-drop` of 0 is plain REDP; the paper has 0.02. `low-th = "0B"` and `high-th = "100%"` make the leaky bucket
//! that REDP is compared with: a green packet that finds no tokens becomes yellow, nothing is random and nothing is
//! promoted.
//!
//! Deviations: the paper does not say how the dropper detects that no yellow arrives; `yellow-meter` offers the
//! readings. The bucket starts full. An unmarked packet counts as green.

use crate::Scope;
use crate::conditioner::{Conditioner, Passage, bucket_threshold};
use crate::estimate::{TokenBucket, Tsw};
use crate::packet::{Colour, Packet};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Length, Probability, Span, Time};
use crate::verdict::{Reason, Verdict};

/// How the dropper knows whether yellow arrives.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum YellowMeter {
    /// A yellow packet within the last `yellow-window`.
    Window,
    /// A rate over a sliding window of `yellow-window` of at least 1 kbit/s.
    Rate,
    /// A yellow packet at any time before.
    Ever,
    /// It never arrives: this is the first boundary.
    None,
    /// It always arrives: there are boundaries upstream, and nothing is dropped here.
    Always,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Rate agreed between the domains.
    pub cir: BitRate,
    /// Depth of the bucket; at least the largest packet.
    pub cbs: Bytes,
    /// Level below which green is demoted by chance: bytes, or share of `cbs`; 0 turns it off.
    #[param(default = "25%")]
    pub low_th: Length,
    /// Level above which yellow is promoted by chance; at least `low-th`, at most `cbs`, which turns it off.
    #[param(default = "75%")]
    pub high_th: Length,
    /// Probability of demotion at an empty bucket.
    #[param(default = 0.5)]
    pub max_demotion: Probability,
    /// Probability of promotion at a full bucket.
    #[param(default = 0.5)]
    pub max_promotion: Probability,
    /// Probability that a green packet below `low-th` is dropped before it could be demoted.
    #[param(default = 0.0)]
    pub p_drop: Probability,
    /// How the dropper knows whether yellow arrives; while it does, nothing is dropped.
    #[param(default = "window")]
    pub yellow_meter: YellowMeter,
    /// Memory of the yellow meter, where it has one.
    #[param(default = "1s")]
    pub yellow_window: Span,
}

/// Probabilities by level, bytes.
#[derive(Clone, Copy, Debug)]
struct Law {
    low: f64,
    high: f64,
    depth: f64,
    max_demotion: f64,
    max_promotion: f64,
}

/// Yellow at the input.
#[derive(Clone, Copy, Debug)]
struct Meter {
    kind: YellowMeter,
    window: Span,
    last: Option<Time>,
    rate: Tsw,
}

/// Packets that it recoloured or dropped.
#[derive(Clone, Copy, Debug, Default)]
struct Changed {
    demoted: u64,
    without_token: u64,
    promoted: u64,
    dropped: u64,
}

/// One boundary's marker, for an aggregate.
#[derive(Clone, Debug)]
pub struct Redp {
    bucket: TokenBucket,
    law: Law,
    p_drop: f64,
    meter: Meter,
    changed: Changed,
}

/// A yellow rate below this counts as none, bytes/s: 1 kbit/s.
const NO_RATE: f64 = 125.0;

impl Params {
    fn law(&self) -> Result<Law, ParamError> {
        let low = bucket_threshold("low-th", self.low_th, self.cbs)?;
        let high = bucket_threshold("high-th", self.high_th, self.cbs)?;
        let depth = self.cbs.get() as f64;
        if high < low {
            let error = ParamError::new("high-th", "E214", "`high-th` is below `low-th`".into());
            return Err(error.label(format!("`low-th` is {}", self.low_th)).help(format!("must be at least {low}B")));
        }
        if high > depth {
            let error = ParamError::new("high-th", "E214", "`high-th` is above `cbs`".into());
            return Err(error
                .label(format!("`cbs` is {}", self.cbs))
                .help("must be at most 100%: no level is above a full bucket"));
        }
        let (max_demotion, max_promotion) = (self.max_demotion.get(), self.max_promotion.get());
        Ok(Law { low, high, depth, max_demotion, max_promotion })
    }

    /// # Errors
    /// `cir` or `yellow-window` zero; `cbs` below the largest packet; thresholds out of order or beyond the bucket, or
    /// neither bytes nor a share.
    pub fn build(self, scope: &Scope) -> Result<Redp, ParamError> {
        ParamError::above_zero("cir", self.cir)?;
        ParamError::above_zero("yellow-window", self.yellow_window)?;
        scope.holds_largest_packet("cbs", self.cbs)?;
        Ok(Redp {
            bucket: TokenBucket::full(self.cir, self.cbs, "cbs")?,
            law: self.law()?,
            p_drop: self.p_drop.get(),
            meter: Meter::new(self.yellow_meter, self.yellow_window),
            changed: Changed::default(),
        })
    }
}

impl Law {
    /// P_demo; 0 from the low threshold on.
    fn demotion(&self, level: f64) -> f64 {
        if level < self.low { self.max_demotion * (self.low - level) / self.low } else { 0.0 }
    }

    /// P_promo; 0 up to the high threshold.
    fn promotion(&self, level: f64) -> f64 {
        if level > self.high { self.max_promotion * (level - self.high) / (self.depth - self.high) } else { 0.0 }
    }
}

impl Meter {
    fn new(kind: YellowMeter, window: Span) -> Self {
        Self { kind, window, last: None, rate: Tsw::new(window, 0.0) }
    }

    fn see(&mut self, now: Time, size: u32) {
        self.last = Some(now);
        self.rate.update(now, f64::from(size));
    }

    fn is_zero(&self, now: Time) -> bool {
        match self.kind {
            YellowMeter::Window => self.last.is_none_or(|last| now.since(last) >= self.window),
            YellowMeter::Rate => self.rate.decayed(now) < NO_RATE,
            YellowMeter::Ever => self.last.is_none(),
            YellowMeter::None => true,
            YellowMeter::Always => false,
        }
    }
}

impl Redp {
    /// A green packet: stays so and takes its tokens, is demoted, or dropped.
    fn green(&mut self, now: Time, size: u32, rng: &mut Rng) -> Option<Colour> {
        let level = self.bucket.level();
        if level < self.law.low {
            if self.p_drop > 0.0 && self.meter.is_zero(now) && rng.uniform() < self.p_drop {
                self.changed.dropped += 1;
                return None;
            }
            if self.bucket.has(size) && rng.uniform() < self.law.demotion(level) {
                self.changed.demoted += 1;
                return Some(Colour::Yellow);
            }
        }
        if self.bucket.spend(size) {
            return Some(Colour::Green);
        }
        self.changed.without_token += 1;
        Some(Colour::Yellow)
    }

    /// A yellow packet: stays so, or is promoted and takes its tokens.
    fn yellow(&mut self, size: u32, rng: &mut Rng) -> Colour {
        let p = self.law.promotion(self.bucket.level());
        if p > 0.0 && rng.uniform() < p && self.bucket.spend(size) {
            self.changed.promoted += 1;
            return Colour::Green;
        }
        Colour::Yellow
    }
}

impl Conditioner for Redp {
    type Params = Params;

    #[inline(always)]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.bucket.refill(at.now);
        packet.colour = packet.colour.presumed();
        match packet.colour {
            Colour::Yellow => {
                self.meter.see(at.now, packet.size);
                packet.colour = self.yellow(packet.size, rng);
            }
            Colour::Green => match self.green(at.now, packet.size, rng) {
                Some(colour) => packet.colour = colour,
                None => return Verdict::Drop(Reason::Policer),
            },
            Colour::Red | Colour::Unmarked => {}
        }
        Verdict::Pass
    }

    fn gives(&self, arriving: Colour) -> &'static [Colour] {
        match arriving.presumed() {
            Colour::Red => &[Colour::Red],
            _ => &[Colour::Green, Colour::Yellow],
        }
    }

    /// Yellow is promoted by what green leaves; nothing is asked of red.
    fn meters(&self, arriving: Colour) -> bool {
        arriving.presumed() == Colour::Green
    }

    /// What the meter has seen is kept, also under another reading.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        self.bucket.retune(now, params.cir, params.cbs, "cbs")?;
        (self.law, self.p_drop) = (next.law, next.p_drop);
        (self.meter.kind, self.meter.window) = (params.yellow_meter, params.yellow_window);
        self.meter.rate.rewindow(params.yellow_window);
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let level = self.bucket.level_at(now);
        each("bucket_bytes", level);
        each("demotion_probability", self.law.demotion(level));
        each("promotion_probability", self.law.promotion(level));
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        let Changed { demoted, without_token, promoted, dropped } = self.changed;
        each("demoted", demoted);
        each("demoted_without_token", without_token);
        each("promoted", promoted);
        each("dropped_early", dropped);
    }
}
