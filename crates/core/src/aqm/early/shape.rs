//! The thresholds of RED and WRED as written: a ramp (`min`, `max`, `max-p`) or a curve of points, and the separate
//! ramp for marks if there is one.

use super::curve::{Interpolation, Point, Points};
use super::level::{Level, Unit};
use super::ramp::{Beyond, Profile};
use super::{Drops, Marks};
use crate::Scope;
use crate::params::{Field, Kind, Literal, Node, ParamError, Params, Reader, Tree, Value};
use crate::units::{Length, Probability};

/// What a scenario states of one drop precedence.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Drops, and marks if they are not apart.
    pub drops: Stated,
    /// Marks, if they are apart.
    pub marks: Option<MarkRamp>,
}

/// A ramp or a curve.
#[derive(Clone, Debug, PartialEq)]
pub enum Stated {
    /// `min`, `max`, `max-p`.
    Ramp(Profile),
    /// `curve`, `interpolate`.
    Curve(Points),
}

/// Thresholds for ECN-capable packets. The two may be equal: a step.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkRamp {
    /// Average queue below which none is marked.
    pub min: Length,
    /// Average queue from which on all are.
    pub max: Length,
    /// Probability when the average reaches `max`.
    pub max_p: Probability,
}

impl From<Profile> for Shape {
    fn from(profile: Profile) -> Self {
        Self { drops: Stated::Ramp(profile), marks: None }
    }
}

const DEFAULT_P: f64 = 0.1;

/// A threshold that is there unless another key replaces it.
const fn needed(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc, kind: Kind::Length, default: None, optional: false }
}

/// A field that may be absent.
const fn field(name: &'static str, doc: &'static str, kind: Kind) -> Field {
    Field { name, doc, kind, default: None, optional: true }
}

const RAMP: [&str; 3] = ["min", "max", "max-p"];

impl Params for Shape {
    const FIELDS: &'static [Field] = &[
        needed("min", "Average queue below which nothing is dropped early; needed without `curve`."),
        needed("max", "Average queue at which p_b is `max-p`; in the unit of `min`; needed without `curve`."),
        Field {
            name: "max-p",
            doc: "p_b when the average reaches `max`.",
            kind: Kind::Probability,
            default: Some(Literal::Float(DEFAULT_P)),
            optional: false,
        },
        field(
            "curve",
            "Instead of `min`, `max` and `max-p`: points of average queue and p_b, both rising.",
            <Vec<Point> as Value>::KIND,
        ),
        field("interpolate", "Between the points of `curve`: lines, or steps.", <Interpolation as Value>::KIND),
        field("ecn-min", "With `ecn`: average queue below which none is marked.", Kind::Length),
        field("ecn-max", "With `ecn`: average queue from which on all are marked; at least `ecn-min`.", Kind::Length),
        field("ecn-p", "With `ecn`: probability of a mark when the average reaches `ecn-max`.", Kind::Probability),
    ];

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let curve = reader.take("curve");
        let drops = match curve {
            Some(curve) => Self::read_curve(curve, reader),
            None => Self::read_ramp(reader),
        };
        let marks = MarkRamp::read(reader);
        Some(Self { drops: drops?, marks: marks? })
    }

    fn show(&self, out: &mut Vec<(&'static str, Tree)>) {
        match &self.drops {
            Stated::Ramp(profile) => profile.show(out),
            Stated::Curve(points) => {
                out.extend(points.points.tree().map(|tree| ("curve", tree)));
                out.extend(points.interpolation.tree().map(|tree| ("interpolate", tree)));
            }
        }
        if let Some(MarkRamp { min, max, max_p }) = &self.marks {
            let trees = [("ecn-min", min.tree()), ("ecn-max", max.tree()), ("ecn-p", max_p.tree())];
            out.extend(trees.into_iter().filter_map(|(name, tree)| Some((name, tree?))));
        }
    }
}

impl Shape {
    fn read_ramp(reader: &mut Reader<'_>) -> Option<Stated> {
        let alone = reader.take("interpolate");
        let profile = <Profile as Params>::read(reader);
        if let Some(node) = alone {
            let message = "`interpolate` without `curve`";
            return reader.problems.error("E239", node.place, message).help("remove it, or write a `curve`").none();
        }
        profile.map(Stated::Ramp)
    }

    fn read_curve(curve: &Node, reader: &mut Reader<'_>) -> Option<Stated> {
        let beside = RAMP.map(|name| (name, reader.take(name)));
        for (name, node) in beside.iter().filter_map(|(name, node)| Some((name, (*node)?))) {
            let message = format!("`{name}` has no effect beside `curve`");
            reader.problems.error("E239", node.place, message).help(format!("remove `{name}` or `curve`"));
        }
        let points = Vec::read(curve, reader.problems);
        let interpolation = match reader.take("interpolate") {
            Some(node) => Interpolation::read(node, reader.problems),
            None => Some(Interpolation::default()),
        };
        let points = points.filter(|_| beside.iter().all(|(_, node)| node.is_none()));
        Some(Stated::Curve(Points { points: points?, interpolation: interpolation? }))
    }

    /// Its drops and marks as numbers, and the unit they are in.
    ///
    /// # Errors
    /// As [`Profile::ramp`] and [`Points::curve`]; E239 for `beyond = "gentle"` with a curve and for thresholds of marks
    /// without `ecn`; E214 when `ecn-min` is above `ecn-max`.
    pub(super) fn numbers(
        &self,
        [gentle, ecn]: [bool; 2],
        scope: &Scope,
    ) -> Result<(Drops, Option<Marks>, Unit), ParamError> {
        let beyond = if gentle { Beyond::Gentle } else { Beyond::Drop };
        let (drops, unit) = match &self.drops {
            Stated::Ramp(profile) => profile.ramp(beyond, scope).map(|(ramp, unit)| (Drops::Ramp(ramp), unit))?,
            Stated::Curve(_) if gentle => {
                return Err(no_effect("beyond", "its last point says what is beyond it", "`curve`"));
            }
            Stated::Curve(points) => points.curve(scope).map(|(curve, unit)| (Drops::Curve(curve), unit))?,
        };
        let marks = self.marks.as_ref().map(|marks| marks.numbers(ecn, unit, scope)).transpose()?;
        Ok((drops, marks, unit))
    }

    /// As [`Profile::any_in_reach`].
    ///
    /// # Errors
    /// E215 when none can drop or mark anything within the queue's limit.
    pub fn any_in_reach<'a>(shapes: impl IntoIterator<Item = &'a Self>, scope: &Scope) -> Result<(), ParamError> {
        let mut found = Ok(());
        for shape in shapes {
            let (field, start) = shape.start();
            found = Level::of(field, start, scope)?.below_limit((field, start), scope);
            if found.is_ok() {
                break;
            }
        }
        found
    }

    fn start(&self) -> (&'static str, Length) {
        match &self.drops {
            Stated::Ramp(profile) => ("min", profile.min),
            Stated::Curve(points) => ("curve", points.start()),
        }
    }
}

fn no_effect(field: &'static str, why: &str, beside: &str) -> ParamError {
    ParamError::new(field, "E239", format!("`{field}` has no effect beside {beside}: {why}"))
        .help(format!("remove `{field}`"))
}

impl MarkRamp {
    /// `Some(None)` where none of its keys is there.
    fn read(reader: &mut Reader<'_>) -> Option<Option<Self>> {
        static NEEDED: [Field; 2] =
            [Field { optional: false, ..Shape::FIELDS[5] }, Field { optional: false, ..Shape::FIELDS[6] }];
        let [min, max, p] = ["ecn-min", "ecn-max", "ecn-p"].map(|name| reader.take(name));
        if min.is_none() && max.is_none() && p.is_none() {
            return Some(None);
        }
        let (min, max) = (reader.field(&NEEDED[0]), reader.field(&NEEDED[1]));
        let max_p = match p {
            Some(node) => Probability::read(node, reader.problems),
            None => Probability::new(DEFAULT_P),
        };
        Some(Some(Self { min: min?, max: max?, max_p: max_p? }))
    }

    fn numbers(&self, ecn: bool, unit: Unit, scope: &Scope) -> Result<Marks, ParamError> {
        if !ecn {
            return Err(ParamError::new("ecn-min", "E239", "`ecn-min` and `ecn-max` without `ecn`".into())
                .help("add `ecn = true`: nothing is marked without it"));
        }
        let (min, max) = (Level::of("ecn-min", self.min, scope)?, Level::of("ecn-max", self.max, scope)?);
        super::one_unit(unit, min.unit, "ecn-min")?;
        super::one_unit(unit, max.unit, "ecn-max")?;
        if min.value > max.value {
            let message = format!("`ecn-min` {} is above `ecn-max` {}", self.min, self.max);
            return Err(ParamError::new("ecn-min", "E214", message)
                .help("must be at most `ecn-max`; for a step make the two equal"));
        }
        Ok(Marks::new([min.value, max.value], self.max_p.get()))
    }
}
