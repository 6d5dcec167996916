//! The ramp of RED: from the average queue to the probability p_b.
//!
//! Sources: Floyd and Jacobson 1993, section 4; S. Floyd, "Recommendation on using the gentle variant of RED", 2000.
//!
//! ```text
//! avg < min           p_b = 0
//! min <= avg < max    p_b = maxp (avg - min) / (max - min)
//! max <= avg          all dropped; gentle: p_b = maxp + (1 - maxp) (avg - max) / max up to 2 max, then all
//! ```
//!
//! Deviations: none.

use super::level::{Level, Unit};
use crate::Scope;
use crate::params::{Choice, ParamError, Params};
use crate::units::{Length, Probability};

/// The thresholds of one drop precedence.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Profile {
    /// Average queue below which nothing is dropped early.
    pub min: Length,
    /// Average queue at which p_b is `max-p`; in the unit of `min`.
    pub max: Length,
    /// p_b when the average reaches `max`.
    #[param(default = 0.1)]
    pub max_p: Probability,
}

/// What happens when the average is at its maximum or above.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Every packet is dropped (RED as published).
    Drop,
    /// p_b continues to rise, to 1 at twice the maximum (ns-2 `gentle_`).
    Gentle,
}

/// Where an average is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zone {
    /// Nothing is dropped.
    Below,
    /// Packets are dropped by chance, p_b.
    Between(f64),
    /// Every packet is dropped.
    Beyond,
}

impl Zone {
    /// The probability p_b; 1 beyond the maximum.
    pub fn p(self) -> f64 {
        match self {
            Self::Below => 0.0,
            Self::Between(p_b) => p_b,
            Self::Beyond => 1.0,
        }
    }
}

/// Thresholds as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    min: f64,
    max: f64,
    max_p: f64,
    end: f64,
    /// max_p / (max - min).
    slope: f64,
}

impl Profile {
    /// The thresholds as numbers, and the unit they are in.
    ///
    /// # Errors
    /// E214 unless min < max; E219 when one is in packets and the other in bytes; E218 when a unit needs what `scope`
    /// does not know.
    pub fn ramp(&self, beyond: Beyond, scope: &Scope) -> Result<(Ramp, Unit), ParamError> {
        let (min, max) = (Level::of("min", self.min, scope)?, Level::of("max", self.max, scope)?);
        if min.unit != max.unit {
            return Err(self.mixed([min.unit, max.unit]));
        }
        if min.value >= max.value {
            return Err(self.not_below());
        }
        let end = match beyond {
            Beyond::Drop => max.value,
            Beyond::Gentle => 2.0 * max.value,
        };
        let ramp = Ramp { min: min.value, max: max.value, max_p: 0.0, end, slope: 0.0 };
        Ok((ramp.with_max_p(self.max_p.get()), min.unit))
    }

    /// Whether a queue can be long enough for any of these profiles to drop.
    ///
    /// # Errors
    /// E215 when the `min` of none is below the queue's limit: nothing would ever be dropped early. One of several may
    /// be beyond it, which keeps its packets from early drops, and is a warning.
    pub fn any_in_reach<'a>(profiles: impl IntoIterator<Item = &'a Self>, scope: &Scope) -> Result<(), ParamError> {
        let mut found = Ok(());
        for profile in profiles {
            found = Level::of("min", profile.min, scope)?.below_limit(("min", profile.min), scope);
            if found.is_ok() {
                break;
            }
        }
        found
    }

    fn not_below(&self) -> ParamError {
        ParamError::new("min", "E214", format!("`min` {} is not below `max` {}", self.min, self.max))
            .help("the ramp of the drop probability needs min < max")
    }

    fn mixed(&self, [min, max]: [Unit; 2]) -> ParamError {
        let message = format!("`min` {} is measured in {}, `max` {} in {}", self.min, min.noun(), self.max, max.noun());
        ParamError::new("max", "E219", message)
            .help("one average is compared with both: write both in packets, or both in bytes or time")
    }
}

impl Ramp {
    /// The same with another p_b at `max`.
    pub fn with_max_p(self, max_p: f64) -> Self {
        Self { max_p, slope: max_p / (self.max - self.min), ..self }
    }

    /// p_b at `max`.
    pub fn max_p(&self) -> f64 {
        self.max_p
    }

    /// The average at this part of the ramp, from `min` to `max`.
    pub fn part(&self, part: f64) -> f64 {
        self.min + part * (self.max - self.min)
    }

    /// Where `average` is.
    #[inline]
    pub fn zone(&self, average: f64) -> Zone {
        if average < self.min {
            Zone::Below
        } else if average < self.max {
            Zone::Between(self.max_p * (average - self.min) / (self.max - self.min))
        } else if average < self.end {
            Zone::Between(self.max_p + (1.0 - self.max_p) * (average - self.max) / self.max)
        } else {
            Zone::Beyond
        }
    }

    /// p_b between min and max, to 2^-51 of it, without a division.
    #[inline]
    pub fn near(&self, average: f64) -> Option<f64> {
        (self.min <= average && average < self.max).then_some((average - self.min) * self.slope)
    }

    /// W316 for thresholds that the queue keeps out of reach.
    pub fn warnings(&self, unit: Unit, scope: &Scope) -> Vec<ParamError> {
        let min = Level { unit, value: self.min }.out_of_reach("min", scope);
        let max = || Level { unit, value: self.max }.above_limit("max", scope);
        min.or_else(|| self.flat(unit, scope)).or_else(max).into_iter().collect()
    }

    /// With a `max-p` of 0 the ramp drops nothing below `max`.
    fn flat(&self, unit: Unit, scope: &Scope) -> Option<ParamError> {
        let beyond = Level { unit, value: self.max }.is_beyond(scope);
        let message = "`max-p` is 0 and the queue never reaches `max`".to_owned();
        let error = ParamError::new("max-p", "W316", message).label("nothing is ever dropped early");
        (self.max_p == 0.0 && beyond)
            .then(|| error.help("raise `max-p` above 0, or lower `max` below the queue's limit"))
    }

    /// The probability p_b at `average`, for series; 1 beyond the maximum.
    pub fn drop_p(&self, average: f64) -> f64 {
        self.zone(average).p()
    }
}
