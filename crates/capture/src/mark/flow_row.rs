//! What is reported of a flow.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::net::IpAddr;

use perhop_core::dscp::Dscp;
use perhop_edge::flows::flow_name;
use perhop_edge::{FlowKey, Ports};
use serde::Serialize;

use super::rate_report::{self, ExcessRow, When};
use super::records::FlowSums;
use super::volume::{Volume, over};

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
    /// Their bytes over time.
    #[serde(flatten)]
    pub rates: FlowRates,
    /// What their headers said.
    #[serde(flatten)]
    pub codes: FlowCodes,
    /// When they came.
    #[serde(flatten)]
    pub when: When,
    /// Those that exceeded the contract of the conditioner's instance that took them.
    pub excess: ExcessRow,
    /// What became of them.
    #[serde(flatten)]
    pub fates: Fates,
}

impl FlowRow {
    /// Its protocol and ends in words.
    pub fn name(&self) -> String {
        let Self { source, destination, protocol, source_port, destination_port, .. } = *self;
        let ports = source_port.zip(destination_port).map(|(source, destination)| Ports { source, destination });
        flow_name(&FlowKey { source, destination, protocol, ports })
    }
}

/// A flow's bytes over two lengths of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlowRates {
    /// Over the capture's duration; `None` where it is 0.
    pub offered_bit_s: Option<f64>,
    /// Over the time from the flow's first packet to its last; `None` where that is 0.
    pub own_bit_s: Option<f64>,
}

/// A flow's packets by what their headers said as they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowCodes {
    /// By code point.
    pub code_points: Vec<FlowCodePointRow>,
    /// By ECN.
    pub ecn: EcnRow,
}

/// A flow's packets of one code point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowCodePointRow {
    /// Its name, or its number.
    pub name: String,
    /// Its number.
    pub dscp: u8,
    /// How many came with it.
    pub packets: u64,
}

/// Packets by ECN (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EcnRow {
    /// Not ECN-capable.
    pub not_ect: u64,
    /// ECT(0).
    pub ect0: u64,
    /// ECT(1).
    pub ect1: u64,
    /// Congestion experienced.
    pub ce: u64,
}

impl EcnRow {
    /// Of packets counted by the two bits.
    pub(super) const fn new([not_ect, ect1, ect0, ce]: [u64; 4]) -> Self {
        Self { not_ect, ect0, ect1, ce }
    }

    /// Those that are ECN-capable or marked.
    pub const fn capable(&self) -> u64 {
        self.ect0 + self.ect1 + self.ce
    }
}

impl Sum for EcnRow {
    fn sum<I: Iterator<Item = Self>>(rows: I) -> Self {
        rows.fold(Self::default(), |all, it| Self {
            not_ect: all.not_ect + it.not_ect,
            ect0: all.ect0 + it.ect0,
            ect1: all.ect1 + it.ect1,
            ce: all.ce + it.ce,
        })
    }
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

/// Of packets by the octet that holds code point and ECN.
fn codes(octets: &BTreeMap<u8, u64>) -> FlowCodes {
    let (mut by_dscp, mut by_ecn) = (BTreeMap::new(), [0; 4]);
    for (octet, packets) in octets {
        *by_dscp.entry(octet >> 2).or_insert(0) += packets;
        by_ecn[usize::from(octet & 3)] += packets;
    }
    let row = |(dscp, packets)| FlowCodePointRow { name: name_of(dscp), dscp, packets };
    FlowCodes { code_points: by_dscp.into_iter().map(row).collect(), ecn: EcnRow::new(by_ecn) }
}

/// A code point's name, or its number.
pub(super) fn name_of(dscp: u8) -> String {
    Dscp::new(dscp).expect("below 64").to_string()
}

pub(super) fn flow_row(
    key: &FlowKey,
    (sums, octets): (&FlowSums, &BTreeMap<u8, u64>),
    duration_s: Option<f64>,
) -> FlowRow {
    let [green, yellow, red, unmarked, dropped] = sums.outcomes.map(Volume::from);
    let (offered_bit_s, when, excess) = rate_report::of_flow(sums, duration_s);
    let lasted = when.first_s.zip(when.last_s).map(|(from, to)| to - from);
    let own_bit_s = over(sums.offered.count.bytes, lasted);
    FlowRow {
        source: key.source,
        destination: key.destination,
        protocol: key.protocol,
        source_port: key.ports.map(|ports| ports.source),
        destination_port: key.ports.map(|ports| ports.destination),
        direction: if sums.reverse { "reverse" } else { "forward" },
        total: sums.offered.count.into(),
        rates: FlowRates { offered_bit_s, own_bit_s },
        codes: codes(octets),
        when,
        excess,
        fates: Fates { green, yellow, red, unmarked, dropped },
    }
}
