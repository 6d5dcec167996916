//! A service curve moved to where a backlog began, and the least of such, as Linux counts: in ticks of 64 ns and bytes, by
//! slopes in fixed point.
//!
//! ```text
//! sm  = bytes a tick x 2^24, rounded up          y of x ticks = x sm  / 2^24, rounded down
//! ism = ticks a byte x 2^14, rounded up          x of y bytes = y ism / 2^14, rounded down
//! ```

use super::curve::Curve;
use crate::units::BitRate;

const TICKS_PER_S: u64 = 15_625_000;
const US_PER_S: u64 = 1_000_000;
const SLOPE_SHIFT: u32 = 24;
const INVERSE_SHIFT: u32 = 14;

/// A slope and its inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slope {
    sm: u64,
    ism: u64,
}

impl Slope {
    fn of(rate: BitRate) -> Self {
        let bytes_s = rate.bit_s() / 8;
        let ism = match bytes_s {
            0 => u64::MAX,
            _ => (TICKS_PER_S << INVERSE_SHIFT).div_ceil(bytes_s),
        };
        Self { sm: (bytes_s << SLOPE_SHIFT).div_ceil(TICKS_PER_S), ism }
    }

    fn bytes(self, ticks: u64) -> u64 {
        scaled(ticks, self.sm, SLOPE_SHIFT)
    }

    fn ticks(self, bytes: u64) -> u64 {
        if bytes == 0 { 0 } else { scaled(bytes, self.ism, INVERSE_SHIFT) }
    }
}

/// `n` x `by` / 2^`shift`, as the kernel multiplies: without wider numbers.
fn scaled(n: u64, by: u64, shift: u32) -> u64 {
    let rest = n & ((1 << shift) - 1);
    (n >> shift).saturating_mul(by).saturating_add(rest.saturating_mul(by) >> shift)
}

/// The first piece begins at `(x, y)` and ends `(dx, dy)` from there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    first: Slope,
    second: Slope,
    /// The first piece of the curve itself.
    whole: (u64, u64),
    x: u64,
    y: u64,
    dx: u64,
    dy: u64,
}

impl Moved {
    /// Of a curve in whole bytes/s and microseconds.
    pub(super) fn new(curve: Curve) -> Self {
        let (first, second) = (Slope::of(curve.m1), Slope::of(curve.m2));
        let dx = (curve.d.ns() / 1000 * TICKS_PER_S).div_ceil(US_PER_S);
        // tc writes a straight line as its second piece alone.
        let first = if dx == 0 && first == second { Slope::of(BitRate::bps(0)) } else { first };
        let dy = first.bytes(dx);
        Self { first, second, whole: (dx, dy), x: 0, y: 0, dx, dy }
    }

    fn is_concave(&self) -> bool {
        self.first.sm > self.second.sm
    }

    /// Moves it to where it begins again.
    pub(super) fn start(&mut self, x: u64, y: u64) {
        (self.x, self.y, (self.dx, self.dy)) = (x, y, self.whole);
    }

    /// Service by the time `x`.
    fn at(&self, x: u64) -> u64 {
        match x.checked_sub(self.x) {
            None | Some(0) => self.y,
            Some(ticks) if ticks <= self.dx => self.y + self.first.bytes(ticks),
            Some(ticks) => self.y + self.dy + self.second.bytes(ticks - self.dx),
        }
    }

    /// The least of this and of the curve that begins at `(x, y)`.
    pub(super) fn lower(&mut self, x: u64, y: u64) {
        let (here, (dx, dy)) = (self.at(x), self.whole);
        if !self.is_concave() {
            if here >= y {
                (self.x, self.y) = (x, y);
            }
        } else if here > y {
            if self.at(x + dx) >= y + dy {
                self.start(x, y);
            } else {
                self.cross(x, y, here - y);
            }
        }
    }

    /// The curve that begins at `(x, y)`, `above` below this one, until it meets the second piece of this one.
    fn cross(&mut self, x: u64, y: u64, above: u64) {
        let meets = (above << SLOPE_SHIFT) / (self.first.sm - self.second.sm);
        let dx = meets + (self.x + self.dx).saturating_sub(x);
        (self.x, self.y, self.dx, self.dy) = (x, y, dx, self.first.bytes(dx));
    }

    /// When it reaches `y`.
    pub(super) fn reaches(&self, y: u64) -> u64 {
        match y.checked_sub(self.y) {
            None => self.x,
            Some(more) if more > self.dy => self.x + self.dx + self.second.ticks(more - self.dy),
            Some(_) if self.dy == 0 => self.x + self.dx,
            Some(more) => self.x + self.first.ticks(more),
        }
    }

    /// When service up to `y` may be given, so that no packet is late: where it is convex by its second piece alone.
    pub(super) fn allows(&self, y: u64) -> u64 {
        if self.is_concave() {
            return self.reaches(y);
        }
        self.x + self.second.ticks(y.saturating_sub(self.y))
    }
}
