//! What is counted and recorded while it runs, and what a run gives.

/// Distributions of delays.
mod delays;
/// What a run gives.
mod outcome;
/// Queue lengths, gauges and flows at an interval.
mod sample;
/// Packets recorded at a link.
mod tap;
/// Counts.
mod totals;

pub use delays::{Delays, Quantiles};
pub use outcome::{
    ArrivalRow, ConditionerRow, Faults, FlowRow, HopRow, Outcome, PortRows, QueueRow, Series, SessionRow, TableRow,
    Work,
};
pub use sample::{FlowSample, Sample};
pub use tap::Captured;
pub(crate) use totals::Arrivals;
pub use totals::{FlowCounts, Retired, Tally, Transfer};
