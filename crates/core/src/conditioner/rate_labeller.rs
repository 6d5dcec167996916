//! Rate labeller: writes the flow's rate on each packet where it enters the domain.
//!
//! Source: Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques"
//! (2002), section on F-SAM; estimator of Stoica, Shenker and Zhang, "Core-Stateless Fair Queueing", equation (1), see
//! [`crate::estimate::exp_rate`].
//!
//! ```text
//! T > 0:         r = (1 - e^(-T/K)) l/T + e^(-T/K) r       l: bytes since the last gap
//! T = 0:         l grows, r stays
//! label:         max(r, 1 B/s)/w
//! first packet:  r = 0, l/K, as if the gap had begun at time 0, or half the link: `first-label`
//! ```
//!
//! One instance measures one rate. With `per = "flow"` that is the rate of a flow, as F-SAM and CSFQ need; with
//! another `per` it is the total rate of the flows that share the instance.
//!
//! | symbol | field         | unit  | default |
//! |--------|---------------|-------|---------|
//! | K      | `k`           | s     | 100ms   |
//! | r_0    | `first-label` | -     | zero    |
//! | w      | `weight`      | -     | 1       |
//! | -      | `link`        | bit/s | -       |
//! | -      | `expire`      | s     | 60s     |
//!
//! Deviations: the paper gives no K; 100 ms is CSFQ's. `half-link` follows CSFQ's code, which starts a flow at half
//! of the rate that the router accepts at that moment. A labeller does not know that rate, so it takes half of `link`
//! at every first packet. After an idle time longer than `expire` the next packet counts as a first one.

use crate::Scope;
use crate::conditioner::{Conditioner, Passage, Writes};
use crate::estimate::ExpRate;
use crate::estimate::fair_rate::EPS;
use crate::packet::Packet;
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Span, Time};
use crate::verdict::Verdict;
use std::ops::RangeInclusive;

/// Weights whose labels a 32-bit number holds at any rate.
const WEIGHTS: RangeInclusive<f64> = 1e-12..=1e12;

/// Rate on a flow's first label.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstLabel {
    /// 0: short flows pass for slow ones.
    Zero,
    /// The packet's size divided by K, the formula's limit for a single packet: an upper bound.
    LOverK,
    /// As if the gap before the first packet had begun at time 0 (ns-2's CSFQ).
    SinceStart,
    /// Half the rate of the link.
    HalfLink,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Averaging constant.
    #[param(default = "100ms")]
    pub k: Span,
    /// Rate on a flow's first label.
    #[param(default = "zero")]
    pub first_label: FirstLabel,
    /// Weight of the flow: its label is its rate divided by it, so its fair share grows with it; 1e-12 to 1e12.
    #[param(default = 1.0)]
    pub weight: f64,
    /// Rate of the link, only for `first-label = "half-link"`; default: the port's, if known.
    pub link: Option<BitRate>,
    /// Idle time after which a flow is forgotten.
    #[param(default = "60s")]
    pub expire: Span,
}

/// One flow's rate.
#[derive(Clone, Debug)]
pub struct RateLabeller {
    rate: ExpRate<1>,
    weight: f64,
    expire: Span,
    /// What a flow's first packet needs.
    first: Box<First>,
}

/// How a flow starts.
#[derive(Clone, Debug)]
struct First {
    label: FirstLabel,
    k: Span,
    half_link: f64,
}

impl Params {
    fn half_link(&self, scope: &Scope) -> Result<f64, ParamError> {
        match (self.first_label, self.link) {
            (FirstLabel::HalfLink, link) => {
                let missing = ParamError::new("link", "E201", "`first-label = \"half-link\"` without `link`".into())
                    .help("give the rate of the link, as in link = \"10Mbit/s\"");
                let link = link.or(scope.link_rate).ok_or(missing)?;
                ParamError::above_zero("link", link).map(|()| link.bytes_s() / 2.0)
            }
            (other, Some(_)) => {
                let error =
                    ParamError::new("link", "E201", format!("`link` with `first-label = \"{}\"`", other.name()));
                Err(error.help("remove it, or write first-label = \"half-link\""))
            }
            (_, None) => Ok(0.0),
        }
    }

    /// # Errors
    /// `k` or `expire` not above zero; `weight` outside [`WEIGHTS`]; `link` missing with `half-link`, or given without.
    pub fn build(self, scope: &Scope) -> Result<RateLabeller, ParamError> {
        ParamError::above_zero("k", self.k)?;
        if !WEIGHTS.contains(&self.weight) {
            let error = ParamError::new("weight", "E201", format!("`weight` is {}", self.weight));
            return Err(error.help("must be between 1e-12 and 1e12: only the ratios of weights matter"));
        }
        ParamError::above_zero("expire", self.expire)?;
        let rate = ExpRate::new(self.k, [0.0]);
        let first = Box::new(First { label: self.first_label, k: self.k, half_link: self.half_link(scope)? });
        Ok(RateLabeller { rate, weight: self.weight, expire: self.expire, first })
    }
}

impl RateLabeller {
    /// A flow's first packet: sets the rate it starts with.
    #[inline(never)]
    fn first(&mut self, now: Time, size: f64) {
        let First { label, k, half_link } = *self.first;
        let start = |rate| ExpRate::new(k, [rate]);
        self.rate = match label {
            FirstLabel::Zero => start(0.0).since(now),
            FirstLabel::LOverK => start(size / k.seconds()).since(now),
            FirstLabel::HalfLink => start(half_link).since(now),
            FirstLabel::SinceStart => {
                let mut rate = start(0.0).since(Time::ZERO);
                rate.add(now, [size]);
                rate
            }
        };
    }

    /// The estimate's clock is that of the last packet.
    #[inline]
    fn measure(&mut self, now: Time, size: u32) -> f64 {
        let size = f64::from(size);
        match self.rate.last() {
            Some(last) if now.since(last) <= self.expire => {
                self.rate.add(now, [size]);
            }
            _ => self.first(now, size),
        }
        self.rate.rates()[0]
    }
}

impl Conditioner for RateLabeller {
    type Params = Params;

    #[inline(always)]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let rate = self.measure(at.now, packet.size);
        packet.set_label((rate.max(EPS) / self.weight) as f32);
        Verdict::Pass
    }

    fn writes(&self) -> Writes {
        Writes::Rate
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        self.rate.reaverage(params.k);
        *self = Self { rate: self.rate, ..next };
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("rate_bytes_s", self.rate.rates()[0]);
    }
}
