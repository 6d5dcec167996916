//! A service curve moved to where a backlog began, and the least of such, without rounding: service in bits x ns.

use super::curve::Curve;
use crate::units::NS_PER_S;

/// Of a byte: what a bit/s sends in a nanosecond is the unit.
const BYTE: i128 = 8 * NS_PER_S as i128;

/// The first piece begins at `(x, y)`. The second is the straight line through `knee`: where the first one ends, unless an
/// earlier curve's second piece was lower and was kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    curve: Curve,
    /// ns
    x: u64,
    /// B
    y: u64,
    /// ns, and in units of [`BYTE`].
    knee: (u64, i128),
}

/// Time for `work` at `rate`, rounded up; below 0 down.
fn time(work: i128, rate: u64) -> i128 {
    match u64::try_from(work) {
        Ok(work) => work.div_ceil(rate).into(),
        Err(_) => -(-work).div_euclid(rate.into()),
    }
}

impl Moved {
    pub(super) fn new(curve: Curve) -> Self {
        let mut moved = Self { curve, x: 0, y: 0, knee: (0, 0) };
        moved.start(0, 0);
        moved
    }

    /// Moves it to where it begins again.
    pub(super) fn start(&mut self, x: u64, y: u64) {
        (self.x, self.y, self.knee) = (x, y, self.knee_from(x, y));
    }

    fn knee_from(&self, x: u64, y: u64) -> (u64, i128) {
        let first = i128::from(self.curve.m1.bit_s()) * i128::from(self.curve.d.ns());
        (x + self.curve.d.ns(), i128::from(y) * BYTE + first)
    }

    /// Service by the time `x`, in units of [`BYTE`].
    fn at(&self, x: u64) -> i128 {
        let first =
            i128::from(self.y) * BYTE + i128::from(self.curve.m1.bit_s()) * i128::from(x.saturating_sub(self.x));
        let second = self.second(x);
        match () {
            () if x <= self.x => i128::from(self.y) * BYTE,
            () if self.curve.is_concave() => first.min(second),
            () => first.max(second),
        }
    }

    fn second(&self, x: u64) -> i128 {
        self.knee.1 + i128::from(self.curve.m2.bit_s()) * (i128::from(x) - i128::from(self.knee.0))
    }

    /// The least of this and of the curve that begins at `(x, y)`. Of convex curves the one that is lower there: the other
    /// may become the lower one later.
    pub(super) fn lower(&mut self, x: u64, y: u64) {
        let (here, begins) = (self.at(x), i128::from(y) * BYTE);
        if !self.curve.is_concave() {
            if here >= begins {
                self.start(x, y);
            }
        } else if here > begins {
            let knee = self.knee_from(x, y);
            if self.second(knee.0) >= knee.1 {
                self.knee = knee;
            }
            (self.x, self.y) = (x, y);
        }
    }

    /// When it reaches `y`.
    pub(super) fn reaches(&self, y: u64) -> u64 {
        let Some(more) = y.checked_sub(self.y) else { return self.x };
        let beyond = i128::from(y) * BYTE - self.knee.1;
        let second = || i128::from(self.knee.0) + time(beyond, self.curve.m2.bit_s());
        let first = || i128::from(self.x) + time(i128::from(more) * BYTE, self.curve.m1.bit_s());
        let at = match () {
            () if self.curve.is_concave() => first().max(second()),
            () if beyond > 0 || self.knee.1 == i128::from(self.y) * BYTE => second(),
            () => first(),
        };
        at as u64
    }

    /// When service up to `y` may be given, so that no packet is late: where it is convex by its second piece alone.
    pub(super) fn allows(&self, y: u64) -> u64 {
        if self.curve.is_concave() {
            return self.reaches(y);
        }
        let more = i128::from(y.saturating_sub(self.y)) * BYTE;
        self.x + time(more, self.curve.m2.bit_s()) as u64
    }
}
