//! Long times without packets in a capture: rates over all of it are low for them.

use perhop_core::units::counted;
use serde::Serialize;

use super::clock::Clock;
use crate::pump::Gaps;

/// Long times without packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GapsReport {
    /// How many.
    pub count: u64,
    /// Together.
    pub total_s: f64,
    /// The longest.
    pub longest_s: f64,
    /// When that began, in seconds after time zero.
    pub longest_from_s: f64,
}

/// Gaps that take less of a capture are not mentioned.
const MUCH: f64 = 0.1;

impl GapsReport {
    pub(super) fn new(gaps: &Gaps, clock: &Clock) -> Option<Self> {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let zero = clock.zero_ns().unwrap_or(0);
        (gaps.count > 0).then(|| Self {
            count: gaps.count,
            total_s: seconds(gaps.total_ns),
            longest_s: seconds(gaps.longest_ns),
            longest_from_s: seconds(gaps.begun_ns.saturating_sub(zero)),
        })
    }

    pub(super) fn warning(&self, duration_s: Option<f64>) -> Option<String> {
        duration_s.filter(|all| self.total_s >= MUCH * all).map(|all| {
            format!(
                "{} without packets ({} of {all} s, the longest of {} s from {} s on): rates over the whole capture are low \
                 for that, or its clock jumped; a flow's Mbit/s are those of its own time; `editcap -A -B` cuts a capture",
                counted(self.count, ["time of more than a minute is", "times of more than a minute are"]),
                self.total_s,
                self.longest_s,
                self.longest_from_s
            )
        })
    }
}
