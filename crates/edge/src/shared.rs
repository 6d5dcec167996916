//! What the packets of a conditioner's instance have in common.

use std::net::IpAddr;

use perhop_core::packet::FlowId;
use perhop_core::port::edge::Per;

use crate::flows::FlowTable;

/// What an instance is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shared {
    /// All that the conditioner takes.
    Everything,
    /// A flow.
    Flow(FlowId),
    /// Source and destination.
    Pair(IpAddr, IpAddr),
    /// Source.
    Source(IpAddr),
    /// Destination.
    Destination(IpAddr),
    /// Protocol and destination port.
    Class(u8, u16),
}

impl Shared {
    /// By flow, pair or class: what packets of `flow` share.
    pub fn of(per: Per, flows: &FlowTable, flow: FlowId) -> Self {
        let key = || flows.key(flow.0).expect("the table has numbered it");
        match per {
            Per::Aggregate => Self::Everything,
            Per::Flow => Self::Flow(flow),
            Per::Pair => Self::Pair(key().source, key().destination),
            Per::Source => Self::Source(key().source),
            Per::Destination => Self::Destination(key().destination),
            Per::Class => Self::Class(key().protocol, key().ports.map_or(0, |ports| ports.destination)),
        }
    }
}
