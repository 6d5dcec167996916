//! What is reported of rates: contracts by instance, and the largest bursts.

use perhop_core::units::NS_PER_S;
use perhop_edge::flows::flow_name;
use serde::Serialize;

use super::bursts::{Burst, Bursts};
use super::demand::Demand;
use super::load::Load;
use super::rates::Got;
use super::records::FlowSums;
use super::round_trip_report::Names;
use super::volume::{Volume, over};
use perhop_core::units::{Bytes, Span};

/// When some packets came, in seconds after time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct When {
    /// The first.
    pub first_s: Option<f64>,
    /// The last.
    pub last_s: Option<f64>,
    /// The second with the most bytes: when it begins.
    pub worst_second_s: u64,
    /// Bits of that second; of a capture that is shorter than a second, over its duration; `None` where that is 0.
    pub worst_second_bit_s: Option<f64>,
}

impl When {
    fn new(load: &Load, duration_s: Option<f64>) -> Self {
        let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
        Self {
            first_s: load.extent.map(|it| seconds(it.first.ns())),
            last_s: load.extent.map(|it| seconds(it.last.ns())),
            worst_second_s: load.worst.number,
            worst_second_bit_s: over(load.worst.bytes, duration_s.map(|s| s.min(1.0))),
        }
    }
}

/// Packets that exceeded a contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ExcessRow {
    /// How many.
    #[serde(flatten)]
    pub volume: Volume,
    /// When.
    #[serde(flatten)]
    pub when: When,
}

impl ExcessRow {
    fn new(load: &Load, duration_s: Option<f64>) -> Self {
        Self { volume: load.count.into(), when: When::new(load, duration_s) }
    }
}

/// A flow's packets over time: their rate, when they came, and those in excess.
pub(super) fn of_flow(sums: &FlowSums, duration_s: Option<f64>) -> (Option<f64>, When, ExcessRow) {
    let FlowSums { offered, excess, .. } = sums;
    let rate = over(offered.count.bytes, duration_s);
    (rate, When::new(offered, duration_s), ExcessRow::new(excess, duration_s))
}

/// One instance of a conditioner that has a committed rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContractRow {
    /// The conditioner's name in the policy.
    pub conditioner: String,
    /// What the instance is for: a flow, a pair of addresses, a protocol and port; `None` for all that the conditioner takes.
    pub instance: Option<String>,
    /// What it took.
    #[serde(flatten)]
    pub offered: Volume,
    /// That over the capture's duration; `None` where it is 0.
    pub offered_bit_s: Option<f64>,
    /// When it came.
    #[serde(flatten)]
    pub when: When,
    /// The committed rate.
    pub cir_bit_s: u64,
    /// Depth of the bucket by which excess is counted: `cbs`, or one second at `cir` if there is none.
    pub depth_bytes: u64,
    /// What found no tokens in that bucket.
    pub excess: ExcessRow,
    /// That over the capture's duration; `None` where it is 0.
    pub excess_bit_s: Option<f64>,
}

/// The largest burst of a width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BurstRow {
    /// Width of the window.
    pub width_s: f64,
    /// What came within it.
    #[serde(flatten)]
    pub volume: Volume,
    /// The bytes over the width.
    pub bit_s: f64,
    /// When its first packet came, in seconds after time zero.
    pub first_s: f64,
    /// When its last packet came.
    pub last_s: f64,
    /// The flow that sent most of it.
    pub flow: String,
    /// Bytes of that flow in it.
    pub flow_bytes: u64,
}

/// An instance of a conditioner, and what it is for: what it got of its contract.
pub(super) fn contract(
    conditioner: &str,
    instance: Option<String>,
    (got, depth): (&Got, Bytes),
    (demand, duration_s): (&Demand, Option<f64>),
) -> ContractRow {
    let Got { offered, excess } = got;
    ContractRow {
        conditioner: conditioner.to_owned(),
        instance,
        offered: offered.count.into(),
        offered_bit_s: over(offered.count.bytes, duration_s),
        when: When::new(offered, duration_s),
        cir_bit_s: demand.cir.map_or(0, |cir| cir.bit_s()),
        depth_bytes: depth.get(),
        excess: ExcessRow::new(excess, duration_s),
        excess_bit_s: over(excess.count.bytes, duration_s),
    }
}

/// The largest bursts, by width.
pub(super) fn bursts(bursts: &Bursts, names: &Names<'_>) -> Vec<BurstRow> {
    let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
    let row = |(width, it): (Span, Burst)| BurstRow {
        width_s: width.seconds(),
        volume: Volume { packets: it.packets, bytes: it.bytes },
        bit_s: it.bytes as f64 * 8.0 / width.seconds(),
        first_s: seconds(it.first.ns()),
        last_s: seconds(it.last.ns()),
        flow: flow_name(&names.flow(it.flow)),
        flow_bytes: it.flow_bytes,
    };
    bursts.largest().map(row).collect()
}
