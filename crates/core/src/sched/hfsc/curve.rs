//! Service curves as a scenario states them.

use crate::arithmetic::Arithmetic;
use crate::params::{Kind, Node, Params, Problems, Tree, Value, read_table, show_table};
use crate::units::{BitRate, Bytes, NS_PER_S, Span};

/// The most that tc hands over: 32 bits of B/s and of microseconds.
const MOST_TC: u64 = u32::MAX as u64;
/// The largest `umax` whose time tc computes right.
pub(super) const MOST_UMAX: Bytes = Bytes::new(MOST_TC / 1_000_000);

/// `"500kbit/s"`, or a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stated {
    /// A straight line.
    Rate(BitRate),
    /// Two pieces.
    Pieces(Pieces),
}

/// Two pieces in either form of tc: `m1`, `d`, `m2`, or `umax`, `dmax`, `rate`.
#[derive(Params, Clone, Copy, Debug, Default, PartialEq)]
pub struct Pieces {
    /// Rate of the first piece; with `d`.
    pub m1: Option<BitRate>,
    /// Length of the first piece; with `m1`.
    pub d: Option<Span>,
    /// Rate of the second piece, for good.
    pub m2: Option<BitRate>,
    /// Bytes that are to leave within `dmax`; with `dmax`.
    pub umax: Option<Bytes>,
    /// Time within which `umax` are to leave; with `umax`.
    pub dmax: Option<Span>,
    /// Rate for good, in the form with `umax`.
    pub rate: Option<BitRate>,
}

/// A curve from the origin: at rate `m1` for the time `d`, then at `m2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Curve {
    pub(super) m1: BitRate,
    pub(super) d: Span,
    pub(super) m2: BitRate,
}

/// What is wrong with a curve: code, the words after ``class 1: `rt` ``, help.
pub(super) type Fault = (&'static str, String, String);

impl Value for Stated {
    const KIND: Kind = Kind::Either(&[Kind::Rate, Kind::Table(Pieces::FIELDS)]);

    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(_) => BitRate::read(node, problems).map(Self::Rate),
            Tree::Table(_) => read_table(node, problems).map(Self::Pieces),
            _ => problems.wrong_type(node, &Self::KIND),
        }
    }

    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Rate(rate) => rate.tree(),
            Self::Pieces(pieces) => Some(show_table(pieces)),
        }
    }
}

impl Stated {
    /// As the scheduler has it; with Linux's arithmetic as tc hands it to the kernel.
    ///
    /// # Errors
    /// E289 for a curve that is not whole, or in both forms; E201 for a rate or time of 0, or one that tc has no room for.
    pub(super) fn curve(&self, arithmetic: Arithmetic) -> Result<Curve, Fault> {
        let grain = if arithmetic == Arithmetic::Linux { Grain::TC } else { Grain::EXACT };
        let curve = match *self {
            Self::Rate(rate) => Curve::line(rate),
            Self::Pieces(pieces) => pieces.curve(grain)?,
        };
        grain.cut(curve)
    }
}

impl Pieces {
    fn curve(self, grain: Grain) -> Result<Curve, Fault> {
        let Self { m1, d, m2, umax, dmax, rate } = self;
        let slopes = m1.is_some() || d.is_some() || m2.is_some();
        if slopes && (umax.is_some() || dmax.is_some() || rate.is_some()) {
            let help = "write either `m1`, `d` and `m2`, or `umax`, `dmax` and `rate`";
            return Err(broken("mixes the two forms of a curve", help));
        }
        if slopes { of_slopes(m1, d, m2) } else { of_work(umax, dmax, rate, grain) }
    }
}

fn of_slopes(m1: Option<BitRate>, d: Option<Span>, m2: Option<BitRate>) -> Result<Curve, Fault> {
    match (m1, d, m2) {
        (Some(_), Some(Span::ZERO), _) => Err(zero("d", "0s")),
        (Some(m1), Some(d), Some(m2)) => Ok(Curve { m1, d, m2 }),
        (None, None, Some(m2)) => Ok(Curve::line(m2)),
        (Some(_), None, _) => {
            Err(broken("has `m1` without `d`", "state `d`, how long the class has the rate `m1`, as in d = \"10ms\""))
        }
        (None, Some(_), _) => {
            Err(broken("has `d` without `m1`", "state `m1`, the rate for that time; \"0bit/s\" for none"))
        }
        (_, _, None) => Err(broken("has no `m2`", "state `m2`, the rate once `d` has passed")),
    }
}

fn of_work(umax: Option<Bytes>, dmax: Option<Span>, rate: Option<BitRate>, grain: Grain) -> Result<Curve, Fault> {
    let Some(rate) = rate else {
        return Err(broken("has no `rate`", "state `rate`, or `m2` in the form of `m1`, `d` and `m2`"));
    };
    match (umax, dmax) {
        (Some(_), None) => Err(broken("has `umax` without `dmax`", "state `dmax`, the time within which `umax` leave")),
        (None, Some(_)) => Err(broken("has `dmax` without `umax`", "state `umax`, the bytes that leave within `dmax`")),
        (Some(umax), _) if umax == Bytes::new(0) => Err(zero("umax", "0B")),
        (_, Some(Span::ZERO)) => Err(zero("dmax", "0s")),
        (Some(umax), Some(dmax)) => Ok(grain.of_work(umax, dmax, rate)),
        (None, None) => Ok(Curve::line(rate)),
    }
}

fn broken(what: &str, help: &str) -> Fault {
    ("E289", what.into(), help.into())
}

fn zero(key: &str, value: &str) -> Fault {
    ("E201", format!("has a `{key}` of {value}"), "must be above 0".into())
}

/// The units in which a curve is counted: bits/s and nanoseconds, or tc's bytes/s and microseconds.
#[derive(Clone, Copy)]
struct Grain {
    bits: u64,
    ns: u64,
}

/// The time of bytes at a byte a second, in microseconds: tc has 32 bits of it, so beyond [`MOST_UMAX`] it begins again at 0.
fn us_at_byte_s(umax: Bytes) -> u32 {
    umax.get().wrapping_mul(1_000_000) as u32
}

impl Grain {
    const EXACT: Self = Self { bits: 1, ns: 1 };
    const TC: Self = Self { bits: 8, ns: 1000 };

    fn is_tc(self) -> bool {
        self.ns > 1
    }

    fn rate(self, rate: BitRate) -> BitRate {
        BitRate::bps(rate.bit_s() / self.bits * self.bits)
    }

    fn time(self, time: Span) -> Span {
        Span::from_ns(time.ns() / self.ns * self.ns)
    }

    /// `umax` bytes within `dmax`: at first `umax` / `dmax`, rounded up, if that is above `rate`; else nothing for so long
    /// that `umax` bytes at `rate` are done at `dmax`.
    fn of_work(self, umax: Bytes, dmax: Span, rate: BitRate) -> Curve {
        let (work, dmax, m2) = (u128::from(umax.get()) * 8 * u128::from(NS_PER_S), self.time(dmax), self.rate(rate));
        let per_unit = u128::from(dmax.ns() * self.bits).max(1);
        let m1 = BitRate::bps(u64::try_from(work.div_ceil(per_unit)).unwrap_or(u64::MAX / 8).saturating_mul(self.bits));
        if m1 > m2 {
            return Curve { m1, d: dmax, m2 };
        }
        let takes = match self.is_tc() {
            true => Span::from_us(u64::from(us_at_byte_s(umax)) / (m2.bit_s() / 8).max(1)),
            false => Span::from_ns((work / u128::from(m2.bit_s().max(1))) as u64),
        };
        Curve { m1: BitRate::bps(0), d: Span::from_ns(dmax.ns() - takes.ns().min(dmax.ns())), m2 }
    }

    /// A curve in whole units.
    fn cut(self, curve: Curve) -> Result<Curve, Fault> {
        let (m1, d, m2) = (self.rate(curve.m1), self.time(curve.d), self.rate(curve.m2));
        if m2 == BitRate::bps(0) {
            let help = format!("must be at least {}: the class would get nothing", BitRate::bps(self.bits));
            return Err(("E201", format!("has a lasting rate of {}", curve.m2), help));
        }
        let most = BitRate::bps(MOST_TC * self.bits);
        if let Some(over) = [m1, m2].into_iter().find(|&rate| self.is_tc() && rate > most) {
            let help = format!("must be at most {most}: tc has 32 bits of bytes/s");
            return Err(("E201", format!("has a rate of {over}"), help));
        }
        if self.is_tc() && d > Span::from_us(MOST_TC) {
            let help = format!("must be at most {}: tc has 32 bits of microseconds", Span::from_us(MOST_TC));
            return Err(("E201", format!("has a first piece of {d}"), help));
        }
        Ok(Curve { m1, d, m2 })
    }
}

impl Curve {
    /// A straight line.
    pub(super) fn line(rate: BitRate) -> Self {
        Self { m1: rate, d: Span::ZERO, m2: rate }
    }

    /// Whether the class gets more at first than later.
    pub(super) fn is_concave(self) -> bool {
        self.m1 > self.m2
    }

    /// Its rate after `ns`, bit/s.
    pub(super) fn rate(self, ns: u64) -> u64 {
        if ns < self.d.ns() { self.m1.bit_s() } else { self.m2.bit_s() }
    }

    /// Service after `ns`, in bits x 1e-9.
    pub(super) fn at(self, ns: u64) -> u128 {
        let first = ns.min(self.d.ns());
        u128::from(self.m1.bit_s()) * u128::from(first) + u128::from(self.m2.bit_s()) * u128::from(ns - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    /// What tc sent for curves in both forms: whole bytes/s, whole microseconds, and `umax` in 32 bits.
    #[test]
    fn curves_have_what_tc_sends() {
        for it in wire::sent("hfsc") {
            let (m1, m2) = (it.rate("m1"), it.rate("m2"));
            let time = |key: &str| it.us(key).map(Span::from_us);
            let (umax, rate) = (it.bytes("umax"), it.rate("rate"));
            let pieces = Pieces { m1, d: time("d"), m2, umax, dmax: time("dmax"), rate };
            let Ok(Curve { m1, d, m2 }) = Stated::Pieces(pieces).curve(Arithmetic::Linux) else {
                assert!(!it.taken(), "{pieces:?}");
                continue;
            };
            let field = |name: &str| ["rt", "ls", "ul"].iter().find_map(|of| it.field(&format!("{of}.{name}")));
            if !it.taken() {
                // tc takes no rate below 8 bit/s; here it is 0.
                assert_eq!(m1, BitRate::bps(0));
                continue;
            }
            assert_eq!(field("m2"), Some(i128::from(m2.bit_s() / 8)), "{pieces:?}");
            assert_eq!(field("d"), Some(i128::from(d.ns() / 1000)), "{pieces:?}");
            if d > Span::ZERO {
                assert_eq!(field("m1"), Some(i128::from(m1.bit_s() / 8)), "{pieces:?}");
            }
        }
    }
}
