//! Simulated time as quinn knows time. Only differences count: it begins at some instant, the same for the whole process.

use perhop_core::units::Time;
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

/// The simulated time of an instant, to the ns.
pub fn time(at: Instant) -> Time {
    let since = at.duration_since(beginning()).as_nanos();
    Time::from_ns(u64::try_from(since).unwrap_or(u64::MAX))
}
