//! Random early detection: the steps that RED, RIO and WRED share.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993, section 4.
//!
//! An arrival moves an average ([`average`], [`averages`]); the average sets a probability p_b ([`ramp`]); p_b and the
//! packets since the last drop decide ([`spacing`]).

pub mod average;
pub mod averages;
pub mod curve;
pub mod level;
pub mod linux;
pub mod ramp;
pub mod shape;
pub mod spacing;
pub mod weight;

use crate::Scope;
use crate::aqm::Arrival;
use crate::counter::Below;
use crate::math;
use crate::params::{Choice, ParamError, Params};
use crate::rng::Rng;
use crate::units::Bytes;
use crate::verdict::{Fate, Reason, Verdict};

pub use average::{Average, Idle};
pub use averages::{Averages, Counted};
pub use curve::Curve;
pub use level::{Level, Unit};
pub use ramp::{Beyond, Profile, Ramp, Zone};
pub use shape::Shape;
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

/// Dropped before the queue was full.
pub fn dropped(below: &Below) -> u64 {
    below.dropped_for(Reason::Early) + below.dropped_for(Reason::Forced)
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
        Ok((self.judge(Drops::Ramp(ramp), None), unit))
    }

    /// The same with a curve for a ramp, or marks apart from drops.
    ///
    /// # Errors
    /// As [`Profile::ramp`] and [`curve::Points::curve`]; E239 for what has no effect.
    pub fn shaped(&self, shape: &Shape, scope: &Scope) -> Result<(Precedence, Unit), ParamError> {
        let (drops, marks, unit) = shape.numbers([self.beyond == Beyond::Gentle, self.ecn], scope)?;
        Ok((self.judge(drops, marks), unit))
    }

    fn judge(&self, drops: Drops, marks: Option<Marks>) -> Precedence {
        let early = if self.ecn { Verdict::Mark } else { Verdict::Drop(Reason::Early) };
        let spacer = Spacer::new(self.spacing);
        Precedence { drops, marks: marks.map(|marks| (marks, spacer.clone())), spacer, early }
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

impl Scaled {
    #[cold]
    #[inline(never)]
    fn factor(self) -> f64 {
        math::pow(self.ratio, self.exponent)
    }
}

/// What drops depend on.
#[derive(Clone, Debug, PartialEq)]
pub enum Drops {
    /// RED's ramp.
    Ramp(Ramp),
    /// Points.
    Curve(Curve),
}

impl Drops {
    #[inline]
    fn zone(&self, average: f64) -> Zone {
        match self {
            Self::Ramp(ramp) => ramp.zone(average),
            Self::Curve(curve) => curve.zone(average),
        }
    }

    /// As [`Ramp::near`].
    #[inline]
    fn near(&self, average: f64) -> Option<f64> {
        match self {
            Self::Ramp(ramp) => ramp.near(average),
            Self::Curve(_) => None,
        }
    }

    fn warnings(&self, unit: Unit, scope: &Scope) -> Vec<ParamError> {
        match self {
            Self::Ramp(ramp) => ramp.warnings(unit, scope),
            Self::Curve(curve) => {
                Level { unit, value: curve.start() }.out_of_reach("curve", scope).into_iter().collect()
            }
        }
    }
}

/// The ramp of marks, where it is not that of drops: all are marked from its end on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marks {
    min: f64,
    max: f64,
    max_p: f64,
}

impl Marks {
    /// Between these two lengths the probability rises to `max_p`.
    pub fn new([min, max]: [f64; 2], max_p: f64) -> Self {
        Self { min, max, max_p }
    }

    fn zone(&self, average: f64) -> Zone {
        if average >= self.max {
            Zone::Beyond
        } else if average < self.min {
            Zone::Below
        } else {
            Zone::Between(self.max_p * (average - self.min) / (self.max - self.min))
        }
    }

    fn warning(&self, unit: Unit, scope: &Scope) -> Option<ParamError> {
        Level { unit, value: self.min }.out_of_reach("ecn-min", scope)
    }
}

/// One drop precedence: thresholds, spacing, and what an early drop is.
#[derive(Clone, Debug)]
pub struct Precedence {
    drops: Drops,
    spacer: Spacer,
    /// Marks that are apart, with a separate count.
    marks: Option<(Marks, Spacer)>,
    early: Verdict,
}

impl Precedence {
    /// The verdict on an arrival that finds `average`; `capable` says whether it is ECN-capable.
    #[inline(always)]
    pub fn decide(&mut self, average: f64, capable: bool, rng: &mut Rng) -> Verdict {
        if capable && self.marks.is_some() {
            return self.mark(average, rng);
        }
        if let Some(near) = self.drops.near(average) {
            let exact = || self.drops.zone(average).p();
            return if self.spacer.hits_near(near, exact, rng) { self.early } else { Verdict::Pass };
        }
        self.decide_beside(average, rng)
    }

    /// The same where p_b is not on the ramp of RED from min to max.
    #[inline(always)]
    fn decide_beside(&mut self, average: f64, rng: &mut Rng) -> Verdict {
        match self.drops.zone(average) {
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

    /// An ECN-capable packet where marks are apart: dropped only where all are.
    #[inline(always)]
    fn mark(&mut self, average: f64, rng: &mut Rng) -> Verdict {
        let zone = self.drops.zone(average);
        let Some((marks, spacer)) = self.marks.as_mut().filter(|_| zone != Zone::Beyond) else {
            self.restart();
            return Verdict::Drop(Reason::Forced);
        };
        match marks.zone(average) {
            Zone::Below => {
                spacer.rest();
                Verdict::Pass
            }
            Zone::Between(p) if spacer.hits(p, rng) => Verdict::Mark,
            Zone::Between(_) => Verdict::Pass,
            Zone::Beyond => {
                spacer.restart();
                Verdict::Mark
            }
        }
    }

    fn restart(&mut self) {
        self.spacer.restart();
        self.marks.iter_mut().for_each(|(_, spacer)| spacer.restart());
    }

    /// The verdict on an arrival whose probability is a multiple of RED's: with a factor of 1 that of
    /// [`Precedence::decide`], draw for draw. Where it reaches 1 the packet is dropped, not marked.
    #[inline]
    pub fn decide_scaled(&mut self, average: f64, scaled: Scaled, rng: &mut Rng) -> Verdict {
        if let (Order::BeforeSpacing, Some(near)) = (scaled.order, self.near(average, scaled)) {
            let exact = || self.drops.zone(average).p() * scaled.factor();
            return match self.spacer.hits_near(near.min(1.0), || exact().min(1.0), rng) {
                true if self.early == Verdict::Mark && exact() >= 1.0 => Verdict::Drop(Reason::Early),
                true => self.early,
                false => Verdict::Pass,
            };
        }
        let Zone::Between(p_b) = self.drops.zone(average) else { return self.decide(average, false, rng) };
        let factor = scaled.factor();
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

    /// The scaled probability to [`spacing::NEAR`], where it is known without a division and a power.
    #[inline]
    fn near(&self, average: f64, scaled: Scaled) -> Option<f64> {
        Some(self.drops.near(average)? * math::little_power(scaled.ratio, scaled.exponent)?)
    }

    /// An arrival that is never dropped, whatever the average: counts as one below the minimum.
    #[inline]
    pub fn spare(&mut self) -> Verdict {
        self.spacer.rest();
        self.marks.iter_mut().for_each(|(_, spacer)| spacer.rest());
        Verdict::Pass
    }

    /// What became of the packet: a drop by the queue's limit restarts the count as any other.
    #[inline]
    pub fn on_fate(&mut self, fate: Fate) {
        if fate == Fate::Dropped(Reason::Overflow) {
            self.restart();
        }
    }

    /// Its ramp, if its drops have one.
    pub fn ramp(&self) -> Option<&Ramp> {
        match &self.drops {
            Drops::Ramp(ramp) => Some(ramp),
            Drops::Curve(_) => None,
        }
    }

    /// Gives its drops another ramp in place of theirs.
    pub fn reshape(&mut self, ramp: Ramp) {
        self.drops = Drops::Ramp(ramp);
    }

    /// The probability p_b at `average`, for series; 1 beyond the maximum.
    pub fn drop_p(&self, average: f64) -> f64 {
        self.drops.zone(average).p()
    }

    /// As [`Ramp::warnings`].
    pub fn warnings(&self, unit: Unit, scope: &Scope) -> Vec<ParamError> {
        let marks = self.marks.as_ref().and_then(|(marks, _)| marks.warning(unit, scope));
        self.drops.warnings(unit, scope).into_iter().chain(marks).collect()
    }

    /// Continues the counts of `other`.
    pub fn resume(&mut self, other: &Self) {
        self.spacer.resume(&other.spacer);
        if let (Some((_, new)), Some((_, old))) = (&mut self.marks, &other.marks) {
            new.resume(old);
        }
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
    let message = format!("`{key}` is measured in {}, the thresholds before it in {}", other.noun(), first.noun());
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
