//! A curve of n points that maps the average queue to the probability p_b, by lines between the points or by steps.
//!
//! ```text
//! before the first point     p_b = 0
//! line: between two points   p_b = p1 + (p2 - p1) (avg - at1) / (at2 - at1)
//! step: from a point on      p_b = p of that point
//! from the last point on     p_b = p of that point; all dropped where it is 1
//! ```
//!
//! Two points at the same length make a jump; the second point holds from there on. RED's ramp is the curve `[[min,
//! 0.0], [max, max-p], [max, 1.0]]`; its gentle variant ends with `[2 max, 1.0]`.

use super::level::{Level, Unit};
use super::ramp::Zone;
use crate::Scope;
use crate::params::{Choice, Kind, Node, ParamError, Problems, Tree, Value};
use crate::units::{Length, Probability};

/// A point, written `["20%", 0.05]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Average queue.
    pub at: Length,
    /// p_b there.
    pub p: Probability,
}

impl Value for Point {
    const KIND: Kind = Kind::List(&Kind::Either(&[Kind::Length, Kind::Probability]));

    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Tree::List(pair) = &node.tree else { return Self::refuse(node, problems) };
        let [at, p] = &pair[..] else { return Self::refuse(node, problems) };
        let (at, p) = (Length::read(at, problems), Probability::read(p, problems));
        Some(Self { at: at?, p: p? })
    }

    fn tree(&self) -> Option<Tree> {
        let pair = [self.at.tree(), self.p.tree()];
        Some(Tree::List(pair.into_iter().flatten().map(Node::from).collect()))
    }
}

impl Point {
    fn refuse(node: &Node, problems: &mut Problems) -> Option<Self> {
        let message = "a point of the curve is not a length and a probability";
        problems.error("E003", node.place, message).help("write it as [\"20%\", 0.05]").none()
    }
}

/// What is between two points.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// A line.
    #[default]
    Line,
    /// The probability of the point before.
    Step,
}

impl Interpolation {
    /// Index of the point at which a curve with these probabilities leaves 0.
    fn start(self, mut p: impl Iterator<Item = f64>) -> usize {
        let first = p.position(|p| p > 0.0).unwrap_or_default();
        if self == Self::Line { first.saturating_sub(1) } else { first }
    }
}

/// What a scenario states.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// In order.
    pub points: Vec<Point>,
    /// Between them.
    pub interpolation: Interpolation,
}

/// The same as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Length and p_b.
    points: Vec<[f64; 2]>,
    interpolation: Interpolation,
}

impl Points {
    /// The points as numbers, and the unit they are in.
    ///
    /// # Errors
    /// E214 where length or probability fall; E201 when no point has a probability above 0; E219 for points in
    /// different units; E218 when a unit needs what `scope` does not know.
    pub fn curve(&self, scope: &Scope) -> Result<(Curve, Unit), ParamError> {
        let levels = self.points.iter().map(|point| Level::of("curve", point.at, scope));
        let levels = levels.collect::<Result<Vec<_>, _>>()?;
        let unit = levels[0].unit;
        for (i, pair) in levels.windows(2).enumerate() {
            super::one_unit(unit, pair[1].unit, "curve")?;
            self.rises(i, pair)?;
        }
        if self.points.iter().all(|point| point.p.get() == 0.0) {
            let message = "no point of `curve` has a probability above 0".to_owned();
            return Err(ParamError::new("curve", "E201", message).help("such a curve never drops: raise the last one"));
        }
        let number = |(level, point): (Level, &Point)| [level.value, point.p.get()];
        let points = levels.into_iter().zip(&self.points).map(number).collect();
        Ok((Curve { points, interpolation: self.interpolation }, unit))
    }

    /// Whether point i + 2, counted from 1, is at no lower place than the one before it.
    fn rises(&self, i: usize, levels: &[Level]) -> Result<(), ParamError> {
        let [before, point] = [self.points[i], self.points[i + 1]];
        let fault = |what: String, help: &str| {
            let message = format!("point {} of `curve` has {what} of point {}", i + 2, i + 1);
            Err(ParamError::new("curve", "E214", message).help(help))
        };
        if levels[1].value < levels[0].value {
            let what = format!("length {}, below {}", point.at, before.at);
            return fault(what, "write the points in the order of their lengths");
        }
        if point.p < before.p {
            let what = format!("probability {}, below {}", point.p.get(), before.p.get());
            return fault(what, "the probability of a longer queue is at least that of a shorter one");
        }
        Ok(())
    }

    /// The longest queue at which nothing is dropped.
    pub fn start(&self) -> Length {
        self.points[self.interpolation.start(self.points.iter().map(|point| point.p.get()))].at
    }
}

impl Curve {
    /// Where `average` is.
    #[inline(always)]
    pub fn zone(&self, average: f64) -> Zone {
        let after = self.points.iter().position(|[at, _]| average < *at).unwrap_or(self.points.len());
        let Some([at, p]) = after.checked_sub(1).map(|before| self.points[before]) else { return Zone::Below };
        let p = match (self.interpolation, self.points.get(after)) {
            (Interpolation::Line, Some([next, rise])) => p + (rise - p) * (average - at) / (next - at),
            _ => p,
        };
        if p >= 1.0 { Zone::Beyond } else { Zone::Between(p) }
    }

    /// The longest queue at which nothing is dropped.
    pub fn start(&self) -> f64 {
        self.points[self.interpolation.start(self.points.iter().map(|[_, p]| *p))][0]
    }
}
