//! Probabilistic packet scheduling: what its taggers and relabellers share.
//!
//! Source: Zhang, Wang, Peterson and Krishnamurthy, "Probabilistic Packet Scheduling: Achieving Proportional Share
//! Bandwidth Allocation for TCP Flows", INFOCOM 2002.
//!
//! Each entity, host or router, has its own currency and issues ticket rates (tickets/s) to its inputs, or in the
//! receiver-based scheme to its outputs. A source spreads its rate over its packets ([`super::pps_tagger`]); each hop
//! exchanges the tickets of one currency for those of the next ([`super::pps_relabeller`]); a congested queue drops
//! those packets that carry fewer tickets than it expects ([`crate::aqm::tred`]).

pub mod first_tag;
pub mod issuer;
pub mod tags;

pub use first_tag::FirstTag;
pub use issuer::{Issuer, Issuing, Scarce};
pub use tags::{Tagging, Tags};

use crate::packet::Packet;

/// The tickets on a packet, if it has any.
#[inline]
pub fn tickets(packet: &Packet) -> Option<f64> {
    packet.label().map(f64::from).filter(|tickets| tickets.is_finite() && *tickets > 0.0)
}

/// The tickets on an ACK, if it has any.
#[inline]
pub fn ack_tickets(packet: &Packet) -> Option<f64> {
    packet.ack_label().map(f64::from).filter(|tickets| tickets.is_finite() && *tickets > 0.0)
}
