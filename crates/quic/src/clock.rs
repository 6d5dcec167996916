//! Simulated time as quinn knows time. Only differences count: it begins at some instant, the same for the whole process.

use perhop_core::units::{Span, Time};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

static BEGINNING: OnceLock<Instant> = OnceLock::new();

/// An instant can be had from the operating system only; which one it is changes nothing.
#[allow(clippy::disallowed_methods)]
fn beginning() -> Instant {
    *BEGINNING.get_or_init(Instant::now)
}

/// A simulated time.
pub fn instant(at: Time) -> Instant {
    beginning() + Duration::from_nanos(at.ns())
}

/// A duration, to the ns.
pub fn span(of: Duration) -> Span {
    Span::from_ns(u64::try_from(of.as_nanos()).unwrap_or(u64::MAX))
}

/// The simulated time of an instant, to the ns.
pub fn time(at: Instant) -> Time {
    Time::ZERO + span(at.duration_since(beginning()))
}
