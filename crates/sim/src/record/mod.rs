//! What is counted and recorded during a run, and its results.

/// What arrives at hosts.
mod arrivals;
/// Distributions of delays.
mod delays;
/// Aggregates held against their rates.
mod ef;
/// Packets at ports.
mod events;
/// Counts of values by size.
mod histogram;
/// The results of a run.
mod outcome;
/// The owner of what is recorded.
mod recorder;
/// Queue lengths, gauges and flows at an interval.
mod sample;
/// Packets recorded at a link.
mod tap;
/// Counts.
mod totals;

pub use arrivals::{Arrivals, Delivered, OneWay};
pub use delays::{Delays, Quantiles};
pub use ef::{EfRow, EfWatch};
pub use events::{Came, EventSink, Events, FlowOf, PortEvent, PortFate, Went};
pub use histogram::bucket_width;
pub use outcome::{
    ArrivalRow, ConditionerRow, CounterRow, Faults, FlowRow, HopRow, NodeRow, Outcome, PortRows, QueueRow, Sending,
    Series, SessionRow, TableRow, Work,
};
pub use recorder::{Recorded, Recorder};
pub use sample::{FlowSample, Sample};
pub use tap::Captured;
pub use totals::{FlowCounts, Retired, Tally, Transfer};
