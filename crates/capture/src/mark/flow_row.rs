//! What is reported of a flow.

use std::net::IpAddr;

use serde::Serialize;

use super::rate_report::{self, ExcessRow, When};
use super::records::FlowSums;
use super::volume::Volume;
use crate::flows::FlowKey;

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowRow {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// IP protocol number.
    pub protocol: u8,
    /// Source port; `None` for protocols without.
    pub source_port: Option<u16>,
    /// Destination port.
    pub destination_port: Option<u16>,
    /// `forward` or `reverse`.
    pub direction: &'static str,
    /// All its packets.
    #[serde(flatten)]
    pub total: Volume,
    /// Their bytes over the capture's duration; `None` where it is 0.
    pub offered_bit_s: Option<f64>,
    /// When they came.
    #[serde(flatten)]
    pub when: When,
    /// Those that exceeded the contract of the conditioner's instance that took them.
    pub excess: ExcessRow,
    /// What became of them.
    #[serde(flatten)]
    pub fates: Fates,
}

/// Packets of a flow by what became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fates {
    /// Left green.
    pub green: Volume,
    /// Left yellow.
    pub yellow: Volume,
    /// Left red.
    pub red: Volume,
    /// Left without a colour.
    pub unmarked: Volume,
    /// Dropped.
    pub dropped: Volume,
}

pub(super) fn flow_row(key: &FlowKey, sums: &FlowSums, duration_s: Option<f64>) -> FlowRow {
    let [green, yellow, red, unmarked, dropped] = sums.outcomes.map(Volume::from);
    let (offered_bit_s, when, excess) = rate_report::of_flow(sums, duration_s);
    FlowRow {
        source: key.source,
        destination: key.destination,
        protocol: key.protocol,
        source_port: key.ports.map(|ports| ports.source),
        destination_port: key.ports.map(|ports| ports.destination),
        direction: if sums.reverse { "reverse" } else { "forward" },
        total: sums.offered.count.into(),
        offered_bit_s,
        when,
        excess,
        fates: Fates { green, yellow, red, unmarked, dropped },
    }
}
