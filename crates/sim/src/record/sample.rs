//! Series: queue lengths, gauges and flows at a fixed interval.
//!
//! Decision: docs/decisions/023-series-are-long.md

use perhop_core::units::{Span, Time};

/// One value at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// Index of the link.
    pub link: u32,
    /// Name of the conditioner; `None` for queues and their AQMs.
    pub conditioner: Option<String>,
    /// Index of the scheduler's class whose queue it is; `None` for all that waits.
    pub queue: Option<usize>,
    /// What, with its unit.
    pub quantity: &'static str,
    /// The value.
    pub value: f64,
}

/// What one flow had delivered by one time, since the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// When.
    pub at: Time,
    /// Index of its `[traffic]` table.
    pub table: u32,
    /// Number within the table.
    pub number: u32,
    /// Arrived at the destination, as `accounting` counts them.
    pub delivered_bytes: u64,
    /// Payload that arrived, in order for TCP, in any order for datagrams.
    pub goodput_bytes: u64,
    /// Current congestion window, segments or full datagrams; `None` where there is none, or it is not known.
    pub cwnd: Option<f64>,
    /// Its smoothed round trip; `None` without TCP and before the first.
    pub srtt: Option<Span>,
}
