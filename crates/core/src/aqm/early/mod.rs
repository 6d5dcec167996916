//! Random early detection: the steps that RED, RIO and WRED share.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993, section 4.
//!
//! An arrival moves an average ([`average`], [`averages`]); the average sets a probability p_b ([`ramp`]); p_b and the
//! packets since the last drop decide ([`spacing`]).

pub mod average;
pub mod averages;
pub mod level;
pub mod ramp;
pub mod spacing;
pub mod weight;

use crate::Scope;
use crate::aqm::Arrival;
use crate::math;
use crate::params::{Choice, ParamError, Params};
use crate::rng::Rng;
use crate::units::Bytes;
use crate::verdict::{Fate, Reason, Verdict};

pub use average::{Average, Idle};
pub use averages::{Averages, Counted};
pub use level::{Level, Unit};
pub use ramp::{Beyond, Profile, Ramp, Zone};
pub use spacing::{Spacer, Spacing};
pub use weight::Weight;

/// What RED, RIO and WRED state in the same words.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Common {
    /// Weight of one arrival in the average.
    #[param(flatten)]
    pub weight: Weight,
    /// Packet size used to count what an idle link could have sent (ns-2 `mean_pktsize_`).
    #[param(default = "500B")]
    pub mean_packet: Bytes,
    /// How early drops are spread over the arrivals.
    #[param(default = "uniformised")]
    pub spacing: Spacing,
    /// What happens when the average is at its maximum or above.
    #[param(default = "drop")]
    pub beyond: Beyond,
    /// Whether ECN-capable packets are marked where others are dropped early.
    #[param(default = false)]
    pub ecn: bool,
}

impl Common {
    /// The average of a queue measured in `unit`, at zero.
    ///
    /// # Errors
    /// E201 for weight or `mean-packet`, E218 without a link rate.
    pub fn average(&self, unit: Unit, scope: &Scope) -> Result<Average, ParamError> {
        Ok(Average::new(unit, self.weight.checked()?, self.idle(scope)?))
    }

    /// The averages of `places` drop precedences, as [`Common::average`].
    ///
    /// # Errors
    /// E201 for weight or `mean-packet`, E218 without a link rate.
    pub fn averages(&self, counted: Counted, places: usize, unit: Unit, scope: &Scope) -> Result<Averages, ParamError> {
        Ok(Averages::new(counted, places, unit, self.weight.checked()?, self.idle(scope)?))
    }

    /// The idle clock of the link.
    ///
    /// # Errors
    /// E201 for `mean-packet`, E218 without a link rate.
    pub fn idle(&self, scope: &Scope) -> Result<Idle, ParamError> {
        Idle::new(self.mean_packet, scope)
    }

    /// A drop precedence with `profile`'s thresholds, and the unit they are in.
    ///
    /// # Errors
    /// As [`Profile::ramp`].
    pub fn precedence(&self, profile: &Profile, scope: &Scope) -> Result<(Precedence, Unit), ParamError> {
        let (ramp, unit) = profile.ramp(self.beyond, scope)?;
        let early = if self.ecn { Verdict::Mark } else { Verdict::Drop(Reason::Early) };
        Ok((Precedence { ramp, spacer: Spacer::new(self.spacing), early }, unit))
    }
}

/// Whether a probability is scaled before or after its drops are spaced.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The spacing takes the scaled p_b.
    BeforeSpacing,
    /// The spacing takes RED's p_b, and its result is scaled.
    AfterSpacing,
}

/// By how much a packet's probability differs from RED's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    /// Its base,
    pub ratio: f64,
    /// raised to this.
    pub exponent: f64,
    /// Where in the order.
    pub order: Order,
}

/// One drop precedence: thresholds, spacing, and what an early drop is.
#[derive(Clone, Debug)]
pub struct Precedence {
    ramp: Ramp,
    spacer: Spacer,
    early: Verdict,
}

impl Precedence {
    /// The verdict on an arrival that finds `average`.
    #[inline]
    pub fn decide(&mut self, average: f64, rng: &mut Rng) -> Verdict {
        match self.ramp.zone(average) {
            Zone::Below => {
                self.spacer.rest();
                Verdict::Pass
            }
            Zone::Between(p_b) if self.spacer.hits(p_b, rng) => self.early,
            Zone::Between(_) => Verdict::Pass,
            Zone::Beyond => {
                self.spacer.restart();
                Verdict::Drop(Reason::Forced)
            }
        }
    }

    /// The verdict on an arrival whose probability is a multiple of RED's: with a factor of 1 that of
    /// [`Precedence::decide`], draw for draw. Where it reaches 1 the packet is dropped, not marked.
    #[inline]
    pub fn decide_scaled(&mut self, average: f64, scaled: Scaled, rng: &mut Rng) -> Verdict {
        let Zone::Between(p_b) = self.ramp.zone(average) else { return self.decide(average, rng) };
        let factor = math::pow(scaled.ratio, scaled.exponent);
        let hit = match scaled.order {
            Order::BeforeSpacing => self.spacer.hits((p_b * factor).min(1.0), rng),
            Order::AfterSpacing => self.spacer.hits_scaled(p_b, factor, rng),
        };
        match hit {
            true if p_b * factor >= 1.0 => Verdict::Drop(Reason::Early),
            true => self.early,
            false => Verdict::Pass,
        }
    }

    /// An arrival that is never dropped, whatever the average: counts as one below the minimum.
    #[inline]
    pub fn spare(&mut self) -> Verdict {
        self.spacer.rest();
        Verdict::Pass
    }

    /// What became of the packet: a drop by the queue's limit restarts the count as any other.
    #[inline]
    pub fn on_fate(&mut self, fate: Fate) {
        if fate == Fate::Dropped(Reason::Overflow) {
            self.spacer.restart();
        }
    }

    /// The probability p_b at `average`, for series; 1 beyond the maximum.
    pub fn drop_p(&self, average: f64) -> f64 {
        self.ramp.drop_p(average)
    }

    /// As [`Ramp::warnings`].
    pub fn warnings(&self, unit: Unit, scope: &Scope) -> Vec<ParamError> {
        self.ramp.warnings(unit, scope)
    }

    /// Continues the count of `other`.
    pub fn resume(&mut self, other: &Self) {
        self.spacer.resume(&other.spacer);
    }
}

/// An error of a profile, reported on the key that holds it.
pub fn inside(key: &'static str, name: &str) -> impl Fn(ParamError) -> ParamError {
    move |error| ParamError { field: key, message: format!("{name}: {}", error.message), ..error }
}

/// # Errors
/// E219 on `key` when two profiles measure the same queue in different units.
pub fn one_unit(first: Unit, other: Unit, key: &'static str) -> Result<(), ParamError> {
    if first == other {
        return Ok(());
    }
    let message = format!("`{key}` is measured in {}, what comes before it in {}", other.noun(), first.noun());
    Err(ParamError::new(key, "E219", message).help("write all thresholds in packets, or all in bytes or time"))
}

/// # Errors
/// E202 when new parameters measure the queue in another unit than the average, which is kept.
pub fn same_unit(old: Unit, new: Unit, key: &'static str) -> Result<(), ParamError> {
    if old == new {
        return Ok(());
    }
    let message = format!("thresholds change from {} to {} while running", old.noun(), new.noun());
    Err(ParamError::new(key, "E202", message).help(format!("write them in {}, as before", old.noun())))
}

/// The length of the queue that `at` found, in `unit`.
#[inline]
pub fn found(at: &Arrival, unit: Unit) -> f64 {
    unit.of(at.backlog.packets, at.backlog.bytes)
}
