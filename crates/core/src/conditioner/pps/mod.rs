//! Probabilistic packet scheduling (PPS): the common parts of its taggers and relabellers.
//!
//! Source: Zhang, Wang, Peterson and Krishnamurthy, "Probabilistic Packet Scheduling: Achieving Proportional Share
//! Bandwidth Allocation for TCP Flows", INFOCOM 2002.
//!
//! Each entity, host or router, has its own currency and issues ticket rates (tickets/s) to its inputs, or in the
//! receiver-based scheme to its outputs. A source spreads its rate over its packets ([`super::pps_tagger`]); each hop
//! exchanges the tickets of one currency for those of the next ([`super::pps_relabeller`]); a congested queue prefers
//! to drop packets that carry fewer tickets than it expects ([`crate::aqm::tred`]).

pub mod first_tag;
pub mod issuer;
pub mod tags;
pub mod untagged;

pub use first_tag::FirstTag;
pub use issuer::{Issuer, Issuing, Scarce};
pub use tags::{Tagging, Tags};
pub use untagged::{Door, Untagged};

use crate::packet::Packet;

/// The tickets on a packet, if it is tagged; a tag of 0 is one too (`least-tag`).
#[inline]
pub fn tickets(packet: &Packet) -> Option<f64> {
    of_tag(packet.label())
}

/// The tickets on an ACK, if it is tagged.
#[inline]
pub fn ack_tickets(packet: &Packet) -> Option<f64> {
    of_tag(packet.ack_label())
}

#[inline]
fn of_tag(label: Option<f32>) -> Option<f64> {
    label.map(f64::from).filter(|tickets| tickets.is_finite() && *tickets >= 0.0).map(f64::abs)
}

/// Whether it should carry tickets and does not. Pure ACKs should not: no tagger tags them (section II-F).
#[inline]
pub fn is_untagged(packet: &Packet) -> bool {
    tickets(packet).is_none() && !packet.pure_ack()
}
