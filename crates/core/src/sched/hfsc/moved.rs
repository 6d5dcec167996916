//! A service curve moved to where a backlog began, and the least of such, in either arithmetic: time in its ticks, service
//! in bytes.

use super::curve::Curve;
use super::{exact, linux};
use crate::arithmetic::Arithmetic;
use crate::units::Time;

/// The unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// A tick has 2^shift ns.
    shift: u32,
}

impl Clock {
    pub(super) fn of(arithmetic: Arithmetic) -> Self {
        Self { shift: if arithmetic == Arithmetic::Linux { 6 } else { 0 } }
    }

    #[inline]
    pub(super) fn ticks(self, now: Time) -> u64 {
        now.ns() >> self.shift
    }

    #[inline]
    pub(super) fn time(self, ticks: u64) -> Time {
        Time::from_ns(ticks << self.shift)
    }
}

/// The deadline, eligible, virtual or fit curve of a class.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moved {
    Exact(exact::Moved),
    Linux(linux::Moved),
}

impl Moved {
    pub(super) fn new(curve: Curve, arithmetic: Arithmetic) -> Self {
        match arithmetic {
            Arithmetic::Exact => Self::Exact(exact::Moved::new(curve)),
            Arithmetic::Linux => Self::Linux(linux::Moved::new(curve)),
        }
    }

    /// Moves it to where it begins again.
    pub(super) fn start(&mut self, x: u64, y: u64) {
        match self {
            Self::Exact(it) => it.start(x, y),
            Self::Linux(it) => it.start(x, y),
        }
    }

    /// The least of this and of the curve that begins at `(x, y)`.
    pub(super) fn lower(&mut self, x: u64, y: u64) {
        match self {
            Self::Exact(it) => it.lower(x, y),
            Self::Linux(it) => it.lower(x, y),
        }
    }

    /// When it reaches `y`.
    pub(super) fn reaches(&self, y: u64) -> u64 {
        match self {
            Self::Exact(it) => it.reaches(y),
            Self::Linux(it) => it.reaches(y),
        }
    }

    /// When service up to `y` may be given, so that no packet is late.
    pub(super) fn allows(&self, y: u64) -> u64 {
        match self {
            Self::Exact(it) => it.allows(y),
            Self::Linux(it) => it.allows(y),
        }
    }
}
