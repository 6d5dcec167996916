//! What is asked for: a policy, checked.

use perhop_core::accounting::Accounting;
use perhop_core::classify::Prefix;
use perhop_core::flow_label::Encoding;
use perhop_core::port::edge::StageSpec;
use perhop_core::units::Span;
use perhop_edge::{Behind, Direction, IpHeaders, Policy};

use super::clock::Origin;

/// What is reported about a capture in addition to its colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoundTripsOf {
    /// Nothing.
    #[default]
    Nothing,
    /// Round-trip times and windows of flows and aggregates.
    Flows,
    /// The same with a list of all samples.
    Samples,
}

/// What is done to a capture: a policy, checked.
#[derive(Clone, Debug, Default)]
pub struct Marking {
    /// Conditioners in the policy's order.
    pub stages: Vec<StageSpec>,
    /// Which bytes of a packet meters and queues count. Beyond l3 the VLAN tags that a captured Ethernet header has count
    /// too; padding never does.
    pub accounting: Accounting,
    /// Forward is from these prefixes to any other address; everything else is reverse. Without prefixes everything is
    /// forward.
    pub inside: Vec<Prefix>,
    /// How IPv6 flow labels carry labels; `None`: they are neither read nor written.
    pub flow_label: Option<Encoding>,
    /// With each conditioner's name, the key of a random stream, as in replication 0 of a run.
    pub seed: u64,
    /// Where time zero lies.
    pub origin: Origin,
    /// Round-trip times and windows of TCP.
    pub round_trips: RoundTripsOf,
    /// Whether the largest bursts are looked for.
    pub bursts: bool,
    /// Silence after which a flow is forgotten; `None`: none is.
    pub flow_timeout: Option<Span>,
    /// Whether packets that the capture holds twice count once, and are written once.
    pub once: bool,
    /// The queue on a line behind the conditioners; `None`: what passes leaves at once.
    pub queue: Option<Behind>,
}

impl Marking {
    /// What the edge is told.
    pub(crate) fn policy(&self) -> Policy {
        let Self { stages, seed, accounting, flow_label, flow_timeout, queue, .. } = self.clone();
        Policy { stages, seed, accounting, flow_label, flow_timeout, queue, ..Policy::default() }
    }

    /// Which way a packet goes.
    #[inline]
    pub(crate) fn direction(&self, headers: &IpHeaders) -> Direction {
        let inside = |address| self.inside.iter().any(|prefix| prefix.0.contains(address));
        let forward = self.inside.is_empty() || inside(&headers.source) && !inside(&headers.destination);
        if forward { Direction::Forward } else { Direction::Reverse }
    }
}
